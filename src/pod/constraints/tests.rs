use std::collections::BTreeMap;

use super::*;
use rstest::rstest;
use serde_json::{Value, json};

fn constraints(node_selector: Value, terms: Value) -> Constraints {
    let required = serde_json::from_value(terms).unwrap();
    let node_selector: BTreeMap<String, String> = serde_json::from_value(node_selector).unwrap();
    Constraints::new(node_selector.into_iter().collect(), required, &[], None)
}

fn term(key: &str, operator: &str, values: &[&str]) -> Value {
    json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]})
}

fn architecture(name: &str) -> Architecture {
    Architecture::parse(name).unwrap()
}

#[rstest]
#[case::node_selector(json!({"kubernetes.io/arch": "arm64"}), json!(null), true)]
#[case::alias_in_the_node_selector(json!({"beta.kubernetes.io/arch": "arm64"}), json!(null), true)]
#[case::another_label(json!({"kubernetes.io/os": "linux"}), json!(null), false)]
#[case::in_every_term(json!({}), json!([term("kubernetes.io/arch", "In", &["amd64"]), term("beta.kubernetes.io/arch", "In", &["arm64"])]), true)]
#[case::empty_terms_do_not_count(json!({}), json!([{}, term("kubernetes.io/arch", "In", &["amd64"])]), true)]
#[case::in_one_of_two_terms(json!({}), json!([term("zone", "In", &["a"]), term("kubernetes.io/arch", "In", &["amd64"])]), false)]
#[case::only_empty_terms(json!({}), json!([{}]), false)]
#[case::no_terms(json!({}), json!([]), false)]
#[case::not_in(json!({}), json!([term("kubernetes.io/arch", "NotIn", &["amd64"])]), false)]
#[case::exists(json!({}), json!([term("kubernetes.io/arch", "Exists", &[])]), false)]
fn a_pod_selects_its_architecture_by_selector_or_in_every_term(
    #[case] node_selector: Value,
    #[case] terms: Value,
    #[case] selects: bool,
) {
    let constraints = constraints(node_selector, terms);
    assert_eq!(constraints.selects(Dimension::Architecture), selects);
}

#[rstest]
#[case::nothing(json!({}), json!(null), true)]
#[case::selector_for_it(json!({"kubernetes.io/arch": "arm64"}), json!(null), true)]
#[case::selector_for_another(json!({"kubernetes.io/arch": "amd64"}), json!(null), false)]
#[case::both_keys_disagreeing(json!({"kubernetes.io/arch": "arm64", "beta.kubernetes.io/arch": "amd64"}), json!(null), false)]
#[case::not_in_another(json!({}), json!([term("kubernetes.io/arch", "NotIn", &["amd64"])]), true)]
#[case::not_in_it(json!({}), json!([term("kubernetes.io/arch", "NotIn", &["arm64"])]), false)]
#[case::one_of_two_terms(json!({}), json!([term("kubernetes.io/arch", "NotIn", &["arm64"]), term("zone", "In", &["a"])]), true)]
#[case::exists(json!({}), json!([term("kubernetes.io/arch", "Exists", &[])]), true)]
#[case::does_not_exist(json!({}), json!([term("kubernetes.io/arch", "DoesNotExist", &[])]), false)]
#[case::greater_than_a_name(json!({}), json!([term("kubernetes.io/arch", "Gt", &["1"])]), false)]
#[case::only_an_empty_term(json!({}), json!([{}]), false)]
#[case::no_terms(json!({}), json!([]), false)]
#[case::null_match_expressions(json!({}), json!([{"matchExpressions": null, "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]), true)]
#[case::selector_and_affinity_disagree(json!({"beta.kubernetes.io/arch": "arm64"}), json!([term("kubernetes.io/arch", "In", &["amd64"])]), false)]
fn arm64_nodes_are_admitted_as_the_scheduler_would(
    #[case] node_selector: Value,
    #[case] terms: Value,
    #[case] admitted: bool,
) {
    let constraints = constraints(node_selector, terms);
    assert_eq!(
        constraints.admits_platform(&Os::linux(), &architecture("arm64")),
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
    let terms = json!([term("kubernetes.io/arch", operator, &[bound])]);
    assert_eq!(
        constraints(json!({}), terms).admits_platform(&Os::linux(), &architecture("386")),
        admitted
    );
}

#[test]
fn an_architecture_on_one_os_is_judged_by_the_terms_of_that_os() {
    let terms = json!([
        {"matchExpressions": [
            {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
            {"key": "kubernetes.io/arch", "operator": "NotIn", "values": ["arm64"]}
        ]},
        {"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["windows"]}]}
    ]);
    let constraints = constraints(json!({}), terms);
    let windows = Os::parse("windows").unwrap();
    assert!(!constraints.admits_platform(&Os::linux(), &architecture("arm64")));
    assert!(constraints.admits_platform(&windows, &architecture("arm64")));
    let both: Architectures = ["amd64", "arm64"].into_iter().map(architecture).collect();
    assert!(constraints.every_live_term_admits(&windows, &both, &architecture("arm64")));
    assert!(!constraints.every_live_term_admits(&Os::linux(), &both, &architecture("arm64")));
}

#[test]
fn a_requirement_goes_into_terms_that_can_match_and_select_nothing() {
    let terms = json!([
        term("zone", "In", &["a"]),
        {},
        term("kubernetes.io/arch", "In", &["amd64"]),
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]},
        term("beta.kubernetes.io/arch", "NotIn", &["amd64"])
    ]);
    let constraints = constraints(json!({}), terms);
    assert_eq!(
        constraints.terms_to_constrain(Dimension::Architecture),
        Some(vec![0, 3, 4])
    );
    assert!(constraints.selects_in_a_term(Dimension::Architecture));
}

#[rstest]
#[case::open(json!({}), json!(null), &["windows", "linux"], true)]
#[case::selected(json!({"kubernetes.io/os": "linux"}), json!(null), &["linux"], false)]
#[case::excluded(json!({}), json!([term("kubernetes.io/os", "NotIn", &["windows"])]), &["linux"], false)]
#[case::foreign(json!({"kubernetes.io/os": "freebsd"}), json!(null), &["freebsd"], false)]
fn the_operating_systems_are_those_the_pod_admits(
    #[case] node_selector: Value,
    #[case] terms: Value,
    #[case] expected: &[&str],
    #[case] open: bool,
) {
    let cluster: Vec<Os> = ["windows", "linux"]
        .iter()
        .filter_map(|os| Os::parse(os))
        .collect();
    let constraints = constraints(node_selector, terms);
    let systems = constraints.operating_systems(&cluster);
    assert_eq!(systems.iter().map(Os::as_str).collect::<Vec<_>>(), expected);
    let gap = constraints.os_gap(systems.last().unwrap(), &cluster, |_| true);
    assert_eq!(gap.is_some(), open);
}

#[test]
fn the_os_of_the_pod_does_not_move_the_scheduler_so_it_stays_open() {
    let cluster = [Os::linux(), Os::parse("windows").unwrap()];
    let constraints = Constraints::new(Vec::new(), None, &[], Os::parse("windows"));
    assert_eq!(
        constraints.operating_systems(&cluster),
        [Os::parse("windows").unwrap()]
    );
    let windows = Os::parse("windows").unwrap();
    let everywhere = Some(OsGap {
        terms: None,
        is_everywhere: true,
    });
    assert_eq!(constraints.os_gap(&windows, &cluster, |_| true), everywhere);
    assert_eq!(
        constraints.os_gap(&windows, &[Os::linux()], |_| true),
        everywhere
    );
}

#[test]
fn a_term_that_selects_its_own_systems_is_open_only_to_those_that_are_not_safe() {
    let cluster = [Os::linux(), Os::parse("windows").unwrap()];
    let terms = json!([
        term("kubernetes.io/os", "In", &["linux"]),
        term("kubernetes.io/os", "In", &["linux", "windows"]),
        term("zone", "Exists", &[]),
        term("kubernetes.io/os", "NotIn", &["windows"])
    ]);
    let constraints = constraints(json!({}), terms);
    let open_in = |is_safe: bool| constraints.os_gap(&Os::linux(), &cluster, |_| is_safe);
    assert_eq!(open_in(true).unwrap().terms, Some(vec![2]));
    let unsafe_gap = open_in(false).unwrap();
    assert_eq!(unsafe_gap.terms, Some(vec![1, 2]));
    assert!(!unsafe_gap.is_everywhere);
}
