use std::collections::BTreeMap;

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::platform::Architecture;

fn constraints(node_selector: Value, terms: Value) -> NodeConstraints {
    let required: Option<Vec<NodeSelectorTerm>> = serde_json::from_value(terms).unwrap();
    let node_selector: BTreeMap<String, String> = serde_json::from_value(node_selector).unwrap();
    let node_selector: Vec<(String, String)> = node_selector.into_iter().collect();
    NodeConstraints::new(&node_selector, required.as_deref(), &[], None)
}

fn term(key: &str, operator: &str, values: &[&str]) -> Value {
    json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]})
}

fn arch(operator: &str, values: &[&str]) -> Value {
    term("kubernetes.io/arch", operator, values)
}

#[rstest]
#[case::node_selector(json!({"kubernetes.io/arch": "arm64"}), json!(null), true)]
#[case::alias_in_the_node_selector(json!({"beta.kubernetes.io/arch": "arm64"}), json!(null), true)]
#[case::another_label(json!({"kubernetes.io/os": "linux"}), json!(null), false)]
#[case::in_every_term(json!({}), json!([arch("In", &["amd64"]), term("beta.kubernetes.io/arch", "In", &["arm64"])]), true)]
#[case::empty_terms_do_not_count(json!({}), json!([{}, arch("In", &["amd64"])]), true)]
#[case::terms_that_match_nothing_do_not_count(json!({}), json!([arch("DoesNotExist", &[]), arch("In", &["amd64"])]), true)]
#[case::in_one_of_two_terms(json!({}), json!([term("zone", "In", &["a"]), arch("In", &["amd64"])]), false)]
#[case::only_a_word_that_no_node_has(json!({}), json!([arch("In", &["foo"])]), true)]
#[case::only_empty_terms(json!({}), json!([{}]), false)]
#[case::no_terms(json!({}), json!([]), false)]
#[case::not_in(json!({}), json!([arch("NotIn", &["amd64"])]), false)]
#[case::exists(json!({}), json!([arch("Exists", &[])]), false)]
fn a_pod_selects_its_architecture_by_selector_or_in_every_live_term(
    #[case] node_selector: Value,
    #[case] terms: Value,
    #[case] selects: bool,
) {
    assert_eq!(
        constraints(node_selector, terms).selects_architecture,
        selects
    );
}

#[rstest]
#[case::nothing(json!({}), json!(null), true)]
#[case::selector_for_it(json!({"kubernetes.io/arch": "arm64"}), json!(null), true)]
#[case::selector_for_another(json!({"kubernetes.io/arch": "amd64"}), json!(null), false)]
#[case::both_keys_disagreeing(json!({"kubernetes.io/arch": "arm64", "beta.kubernetes.io/arch": "amd64"}), json!(null), false)]
#[case::not_in_another(json!({}), json!([arch("NotIn", &["amd64"])]), true)]
#[case::not_in_it(json!({}), json!([arch("NotIn", &["arm64"])]), false)]
#[case::not_in_a_word_that_no_node_has(json!({}), json!([arch("NotIn", &["foo"])]), true)]
#[case::one_of_two_terms(json!({}), json!([arch("NotIn", &["arm64"]), term("zone", "In", &["a"])]), true)]
#[case::exists(json!({}), json!([arch("Exists", &[])]), true)]
#[case::does_not_exist(json!({}), json!([arch("DoesNotExist", &[])]), false)]
#[case::greater_than_a_name(json!({}), json!([arch("Gt", &["1"])]), false)]
#[case::in_nothing(json!({}), json!([arch("In", &[])]), false)]
#[case::unknown_operator(json!({}), json!([arch("Like", &["arm64"])]), false)]
#[case::only_an_empty_term(json!({}), json!([{}]), false)]
#[case::no_terms(json!({}), json!([]), false)]
#[case::null_match_expressions(json!({}), json!([{"matchExpressions": null, "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]), true)]
#[case::selector_and_affinity_disagree(json!({"beta.kubernetes.io/arch": "arm64"}), json!([arch("In", &["amd64"])]), false)]
fn arm64_nodes_are_admitted_as_the_scheduler_would(
    #[case] node_selector: Value,
    #[case] terms: Value,
    #[case] admitted: bool,
) {
    let arm64 = Architecture::parse("arm64").unwrap();
    let constraints = constraints(node_selector, terms);
    let mut terms = constraints.terms.iter();
    assert_eq!(
        terms.any(|term| term.architectures.contains(arm64)),
        admitted
    );
}

#[rstest]
#[case::greater("Gt", "385", true)]
#[case::not_greater("Gt", "386", false)]
#[case::less("Lt", "387", true)]
#[case::not_less("Lt", "386", false)]
fn the_386_label_is_a_number_to_gt_and_lt(
    #[case] operator: &str,
    #[case] bound: &str,
    #[case] admitted: bool,
) {
    let constraints = constraints(json!({}), json!([arch(operator, &[bound])]));
    assert_eq!(constraints.terms.len(), usize::from(admitted));
}

#[test]
fn a_live_term_has_a_requirement_and_admits_a_platform_together_with_the_selector() {
    let terms = json!([
        term("zone", "In", &["a"]),
        {},
        arch("In", &["amd64"]),
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]},
        term("beta.kubernetes.io/arch", "NotIn", &["arm64"]),
        term("kubernetes.io/os", "In", &["plan10"])
    ]);
    let indices = |selector| {
        let live = constraints(selector, terms.clone()).terms;
        live.iter().map(|term| term.index).collect::<Vec<_>>()
    };
    assert_eq!(indices(json!({})), [Some(0), Some(2), Some(3), Some(4)]);
    assert_eq!(
        indices(json!({"kubernetes.io/arch": "arm64"})),
        [Some(0), Some(3)]
    );
}

#[test]
fn a_pod_without_terms_has_one_that_is_empty_but_live() {
    let constraints = constraints(json!({"kubernetes.io/os": "linux"}), json!(null));
    let [term] = constraints.terms.as_slice() else {
        panic!("{constraints:?}");
    };
    assert_eq!(term.index, None);
    assert_eq!(term.systems.iter().collect::<Vec<_>>(), [Os::LINUX]);
    assert!(term.names_systems && !term.selects_architecture);
}

#[rstest]
#[case::nothing(json!({}), json!(null), false, false)]
#[case::platform(json!({"kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64"}), json!(null), false, false)]
#[case::zone(json!({"topology.kubernetes.io/zone": "a"}), json!([term("failure-domain.beta.kubernetes.io/region", "In", &["r"])]), false, false)]
#[case::pool(json!({"pool": "a"}), json!(null), true, false)]
#[case::pool_in_the_term(json!({}), json!([term("zone", "In", &["a"])]), true, false)]
#[case::hostname(json!({"kubernetes.io/hostname": "n"}), json!(null), true, true)]
#[case::hostname_in_the_term(json!({}), json!([term("kubernetes.io/hostname", "In", &["n"])]), true, true)]
#[case::name_in_the_term(json!({}), json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]), true, true)]
#[case::not_that_host(json!({}), json!([term("kubernetes.io/hostname", "NotIn", &["n"])]), true, false)]
fn a_term_is_placed_by_labels_other_than_platform_and_topology(
    #[case] node_selector: Value,
    #[case] terms: Value,
    #[case] is_placed: bool,
    #[case] names_hosts: bool,
) {
    let constraints = constraints(node_selector, terms);
    let [term] = constraints.terms.as_slice() else {
        panic!("{constraints:?}");
    };
    assert_eq!(term.is_placed_by_labels, is_placed);
    assert_eq!(term.names_hosts, names_hosts);
}

#[rstest]
#[case::no_affinity(json!(null), true)]
#[case::another_key(json!([term("pool", "In", &["a"])]), true)]
#[case::the_value(json!([term("zone", "In", &["a", "b"])]), true)]
#[case::another_value(json!([term("zone", "In", &["b"])]), false)]
#[case::beside_an_empty_term(json!([{}, term("zone", "In", &["b"])]), false)]
#[case::one_of_two(json!([term("zone", "In", &["b"]), term("zone", "NotIn", &["b"])]), true)]
fn a_label_is_admitted_where_some_term_admits_it(#[case] terms: Value, #[case] admitted: bool) {
    let terms: Option<Vec<NodeSelectorTerm>> = serde_json::from_value(terms).unwrap();
    assert_eq!(admit_label(terms.as_deref(), "zone", "a"), admitted);
}

#[test]
fn thousands_of_values_are_read_once_and_few_are_named() {
    let values: Vec<String> = (0..8_000).map(|number| format!("a{number}")).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let constraints = constraints(json!({}), json!([arch("In", &values)]));
    assert_eq!(constraints.selected.iter().len(), MOST_NAMES);
}
