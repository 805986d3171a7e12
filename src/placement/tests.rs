use k8s_openapi::api::core::v1::{NodeSelectorRequirement, PreferredSchedulingTerm, Toleration};
use node_architecture_json::{Document, Draft};
use rstest::rstest;
use serde_json::{Value, json};

use super::{ANNOTATION, Additions, Base, PlacementRecord, annotate, apply};
use crate::{
    decision::{Placement, Requirement},
    platform::{Platform, Platforms},
    settings::Settings,
};

fn requirement(key: &str, values: &[&str], terms: &[usize]) -> Requirement {
    Requirement {
        requirement: NodeSelectorRequirement {
            key: key.to_owned(),
            operator: "In".to_owned(),
            values: Some(values.iter().map(|value| (*value).to_owned()).collect()),
        },
        terms: (!terms.is_empty()).then(|| terms.to_vec()),
    }
}

fn architectures(terms: &[usize]) -> Placement {
    Placement {
        requirements: vec![requirement(
            "kubernetes.io/arch",
            &["amd64", "arm64"],
            terms,
        )],
        ..Placement::default()
    }
}

fn pin() -> Placement {
    Placement {
        node_selector: vec![("kubernetes.io/arch".to_owned(), "amd64".to_owned())],
        ..Placement::default()
    }
}

fn preference() -> PreferredSchedulingTerm {
    serde_json::from_value(json!({
        "weight": 100,
        "preference": {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}]}
    }))
    .unwrap()
}

fn toleration() -> Toleration {
    serde_json::from_value(json!({
        "key": "arch", "operator": "Equal", "value": "arm64", "effect": "NoExecute", "tolerationSeconds": 5
    }))
    .unwrap()
}

fn everything(terms: &[usize]) -> Placement {
    Placement {
        node_selector: vec![("zone".to_owned(), "a".to_owned())],
        requirements: vec![
            requirement("kubernetes.io/arch", &["amd64", "arm64"], terms),
            requirement("kubernetes.io/os", &["linux"], terms),
        ],
        preferences: vec![preference()],
        tolerations: vec![toleration()],
    }
}

/// Settings by which the label `zone` is matched.
fn settings() -> Settings {
    Settings::parse(r#"{"matchNodeLabels": ["zone"]}"#).unwrap()
}

/// The template after `placement`, with its record.
fn applied(template: &str, placement: &Placement) -> String {
    let document = Document::parse(template).unwrap();
    let base = Base::of(document.root(), None);
    let mut draft = Draft::from(document.root());
    let mut added = Additions::default();
    apply(&mut draft, placement, Some(&mut added)).unwrap();
    let record = PlacementRecord::new(&base.canonical, added, Vec::new());
    annotate(&mut draft, &record.to_annotation().unwrap()).unwrap();
    draft.to_string()
}

fn record_of(template: &str) -> Option<PlacementRecord> {
    PlacementRecord::of(Document::parse(template).unwrap().root(), &settings())
}

fn base_of(template: &str) -> Base {
    let record = record_of(template);
    Base::of(Document::parse(template).unwrap().root(), record.as_ref())
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The template after `placement`, without its annotation.
fn placed(template: Value, placement: &Placement) -> Value {
    let text = template.to_string();
    let document = Document::parse(&text).unwrap();
    let mut draft = Draft::from(document.root());
    apply(&mut draft, placement, None).unwrap();
    value(&draft.to_string())
}

fn term(key: &str) -> Value {
    json!({"matchExpressions": [{"key": key, "operator": "Exists"}]})
}

fn required(terms: Value) -> Value {
    json!({"spec": {"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
    }}}})
}

fn terms_of(template: &Value) -> &Value {
    &template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"]
}

fn ours() -> Value {
    json!({"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"]})
}

#[test]
fn a_pin_is_a_node_selector_beside_the_users() {
    let template = json!({"spec": {"nodeSelector": {"disk": "ssd"}}});
    let expected =
        json!({"spec": {"nodeSelector": {"disk": "ssd", "kubernetes.io/arch": "amd64"}}});
    assert_eq!(placed(template, &pin()), expected);
}

#[test]
fn a_requirement_is_added_to_the_terms_it_is_for() {
    let template = required(json!([term("a"), {}, {"matchFields": [{"key": "metadata.name"}]}]));
    let placed = placed(template, &architectures(&[0, 2]));
    let expected = json!([
        {"matchExpressions": [{"key": "a", "operator": "Exists"}, ours()]},
        {},
        {"matchFields": [{"key": "metadata.name"}], "matchExpressions": [ours()]}
    ]);
    assert_eq!(*terms_of(&placed), expected);
}

#[test]
fn a_term_is_made_where_there_is_none() {
    let template = json!({"spec": {"affinity": {"podAffinity": {"x": 1}}}});
    let placed = placed(template, &architectures(&[]));
    assert_eq!(placed["spec"]["affinity"]["podAffinity"], json!({"x": 1}));
    assert_eq!(*terms_of(&placed), json!([{"matchExpressions": [ours()]}]));
}

#[test]
fn preferences_and_tolerations_come_after_the_users() {
    let template = json!({"spec": {
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}},
        "tolerations": [{"key": "own"}]
    }});
    let placed = placed(template, &everything(&[]));
    let soft = &placed["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!(soft[0], json!({"weight": 1}));
    assert_eq!(soft[1]["weight"], json!(100));
    assert_eq!(placed["spec"]["tolerations"][0], json!({"key": "own"}));
    assert_eq!(
        placed["spec"]["tolerations"][1]["tolerationSeconds"],
        json!(5)
    );
}

/// Templates of every shape that a placement meets on its way, with the indices of terms it goes into.
const SHAPES: &[(&str, &[usize])] = &[
    (r#"{"spec":{}}"#, &[]),
    (
        r#"{"metadata":null,"spec":{"nodeSelector":null,"affinity":null,"tolerations":null}}"#,
        &[],
    ),
    (
        r#"{"metadata":{},"spec":{"nodeSelector":{},"affinity":{},"tolerations":[]}}"#,
        &[],
    ),
    (
        r#"{"metadata":{"annotations":null},"spec":{"affinity":{"nodeAffinity":null}}}"#,
        &[],
    ),
    (
        r#"{"metadata":{"annotations":{"a":"b"},"labels":{"n":1e999}},"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":null,"preferredDuringSchedulingIgnoredDuringExecution":null}}}}"#,
        &[],
    ),
    (
        r#"{"spec":{"nodeSelector":{"disk":"ssd"},"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[]},"podAffinity":{}},"tolerations":[{"operator":"Exists"}]}}"#,
        &[],
    ),
    (
        r#"{"spec":{"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{}}]}}}}"#,
        &[],
    ),
    (
        r#"{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists","new":1}]},{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}],"future":true}}}}}"#,
        &[0, 1],
    ),
    (
        r#"{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":null,"matchFields":[{}]},{"matchExpressions":[],"matchFields":[{}]},{}]}}}}}"#,
        &[0, 1],
    ),
];

#[test]
fn the_base_of_a_placed_template_is_that_of_the_template_before() {
    for (template, terms) in SHAPES {
        let before = base_of(template).canonical;
        for placement in [architectures(terms), everything(terms)] {
            let after = applied(template, &placement);
            assert_eq!(base_of(&after).canonical, before, "{after}");
            // The API server sorts keys, and its clients indent.
            if let Ok(stored) = serde_json::from_str::<Value>(&after) {
                let stored = serde_json::to_string_pretty(&stored).unwrap();
                assert_eq!(base_of(&stored).canonical, before, "{stored}");
            }
            let record = record_of(&after).unwrap();
            assert!(record.is_for(&before), "{after}");
        }
    }
}

#[test]
fn what_was_never_added_survives_byte_for_byte() {
    for (template, _) in SHAPES {
        let base = base_of(&applied(template, &Placement::default())).text;
        let kept = template.contains("1e999");
        assert_eq!(base.contains("1e999"), kept, "{base}");
    }
}

/// The base of what `edit` leaves of a placed template.
fn edited(template: &str, placement: &Placement, edit: impl FnOnce(&mut Value)) -> Value {
    let mut placed = value(&applied(template, placement));
    edit(&mut placed);
    value(&base_of(&placed.to_string()).text)
}

fn terms_mut(template: &mut Value) -> &mut Vec<Value> {
    template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"]
        .as_array_mut()
        .unwrap()
}

#[test]
fn a_label_that_the_author_changed_is_theirs() {
    let template = edited(SHAPES[0].0, &pin(), |template| {
        template["spec"]["nodeSelector"]["kubernetes.io/arch"] = json!("arm64");
    });
    let expected = json!({"spec": {"nodeSelector": {"kubernetes.io/arch": "arm64"}}});
    assert_eq!(template, expected);
}

#[test]
fn what_the_author_added_beside_ours_stays() {
    let template = edited(SHAPES[0].0, &everything(&[]), |template| {
        template["spec"]["nodeSelector"]["disk"] = json!("ssd");
        template["spec"]["tolerations"]
            .as_array_mut()
            .unwrap()
            .push(json!({"key": "own"}));
        template["spec"]["affinity"]["podAffinity"] = json!({});
        template["metadata"]["annotations"]["own"] = json!("x");
    });
    let expected = json!({
        "spec": {
            "nodeSelector": {"disk": "ssd"},
            "tolerations": [{"key": "own"}],
            "affinity": {"podAffinity": {}}
        },
        "metadata": {"annotations": {"own": "x"}}
    });
    assert_eq!(template, expected);
}

#[test]
fn a_term_that_the_author_edited_is_theirs_addition_included() {
    let template = required(json!([term("a")])).to_string();
    let edited = edited(&template, &architectures(&[0]), |template| {
        terms_mut(template)[0]["matchExpressions"][0]["key"] = json!("b");
    });
    let expected = json!([{"matchExpressions": [{"key": "b", "operator": "Exists"}, ours()]}]);
    assert_eq!(*terms_of(&edited), expected);
}

#[test]
fn ours_comes_out_of_its_term_wherever_that_is_now() {
    let template = required(json!([term("a"), term("c")])).to_string();
    let edited = edited(&template, &architectures(&[0, 1]), |template| {
        terms_mut(template).insert(0, term("b"));
        terms_mut(template).swap(1, 2);
    });
    assert_eq!(*terms_of(&edited), json!([term("b"), term("c"), term("a")]));
}

#[test]
fn a_list_that_the_policy_made_is_the_authors_once_they_wrote_into_it() {
    let edited = edited(SHAPES[0].0, &architectures(&[]), |template| {
        terms_mut(template).push(term("b"));
    });
    let expected = json!([{"matchExpressions": [ours()]}, term("b")]);
    assert_eq!(*terms_of(&edited), expected);
}

#[test]
fn a_list_that_the_author_wrote_whole_is_theirs() {
    let edited = edited(SHAPES[0].0, &architectures(&[]), |template| {
        *template = required(json!([{}]));
        template["metadata"] =
            json!({"annotations": {ANNOTATION: annotation(SHAPES[0].0, &architectures(&[]))}});
    });
    assert_eq!(*terms_of(&edited), json!([{}]));
}

fn annotation(template: &str, placement: &Placement) -> String {
    let template = value(&applied(template, placement));
    template["metadata"]["annotations"][ANNOTATION]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_forged_record_takes_out_nothing_that_the_policy_never_writes() {
    let pool = json!({"key": "pool", "operator": "In", "values": ["tenant-a"]});
    let mut template = required(json!([{"matchExpressions": [pool]}]));
    template["spec"]["nodeSelector"] = json!({"pool": "tenant-a"});
    let soft = json!({"weight": 1, "preference": {"matchExpressions": [pool]}});
    template["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
        json!([soft]);
    let expected = template.clone();
    let record = json!({
        "version": 2,
        "base": "0",
        "nodeSelector": {"pool": "tenant-a"},
        "terms": [{"rest": super::json::hash("{}"), "added": [pool]}],
        "preferences": [soft]
    });
    template["metadata"] = json!({"annotations": {ANNOTATION: record.to_string()}});
    assert_eq!(value(&base_of(&template.to_string()).text), expected);
}

#[rstest]
#[case::not_json("nonsense")]
#[case::not_an_object("[]")]
#[case::first_format(
    r#"{"nodeSelector":{"kubernetes.io/arch":"amd64"},"absent":["spec.nodeSelector"]}"#
)]
#[case::another_version(
    r#"{"version":3,"base":"0","nodeSelector":{"kubernetes.io/arch":"amd64"}}"#
)]
#[case::no_base(r#"{"version":2,"nodeSelector":{"kubernetes.io/arch":"amd64"}}"#)]
#[case::too_long(&format!(r#"{{"version":2,"base":"{}"}}"#, "0".repeat(16 * 1024)))]
fn an_annotation_that_is_no_record_takes_nothing_out_but_itself(#[case] annotation: &str) {
    let template = json!({
        "metadata": {"annotations": {ANNOTATION: annotation}},
        "spec": {"nodeSelector": {"kubernetes.io/arch": "amd64"}}
    });
    assert_eq!(record_of(&template.to_string()), None);
    let expected = json!({"spec": {"nodeSelector": {"kubernetes.io/arch": "amd64"}}});
    assert_eq!(value(&base_of(&template.to_string()).text), expected);
}

fn platforms(texts: &[&str]) -> Platforms {
    texts
        .iter()
        .map(|text| Platform::parse(text).unwrap())
        .collect()
}

#[test]
fn a_record_remembers_the_platforms_of_images() {
    let mut any = platforms(&["linux/arm/v7"]);
    any.insert(Platform::on_any_os(
        crate::platform::Architecture::parse("arm64").unwrap(),
    ));
    let images = vec![("a:1".to_owned(), any.clone())];
    let record = PlacementRecord::new("{}", Default::default(), images);
    let annotation = record.to_annotation().unwrap();
    let template = json!({"metadata": {"annotations": {ANNOTATION: annotation}}}).to_string();
    assert_eq!(
        record_of(&template).unwrap().platforms_of("a:1"),
        Some(&any)
    );
}

#[test]
fn a_record_that_would_be_too_long_leaves_the_images_out_first() {
    let images = |count: usize| {
        (0..count)
            .map(|number| {
                (
                    format!("registry.example.com/image-{number}:1"),
                    platforms(&["linux/amd64"]),
                )
            })
            .collect::<Vec<_>>()
    };
    let record = PlacementRecord::new("{}", Default::default(), images(1_000));
    assert!(!record.to_annotation().unwrap().contains("images"));
    let mut record = PlacementRecord::new("{}", Default::default(), Vec::new());
    for number in 0..1_000 {
        record
            .added
            .terms
            .push((format!("{number:016}"), "[{}]".to_owned()));
    }
    assert_eq!(record.to_annotation(), None);
}

#[test]
fn the_annotation_says_what_was_added_and_for_which_base() {
    let template = value(&applied(SHAPES[0].0, &pin()));
    assert_eq!(
        template["metadata"]["annotations"][ANNOTATION],
        json!(r#"{"version":2,"base":"d3b3e2a1b4e5c6f7","nodeSelector":{"kubernetes.io/arch":"amd64"}}"#
            .replace("d3b3e2a1b4e5c6f7", &super::json::hash(r#"{"spec":{}}"#)))
    );
}

#[test]
fn the_hash_is_fnv_1a() {
    assert_eq!(super::json::hash(""), "cbf29ce484222325");
    assert_eq!(super::json::hash("foobar"), "85944171f73967e8");
}
