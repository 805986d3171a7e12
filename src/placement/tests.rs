use rstest::rstest;
use serde_json::{Value, json};

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, PreferredSchedulingTerm, Toleration};
use node_architecture_json::{Draft, Json};

use super::{ANNOTATION, PlacementRecord, apply, strip};
use crate::{
    decision::{Placement, Requirement},
    settings::Settings,
};

fn requirement(key: &str, values: &[&str], terms: Option<&[usize]>) -> Requirement {
    Requirement {
        requirement: NodeSelectorRequirement {
            key: key.to_owned(),
            operator: "In".to_owned(),
            values: Some(values.iter().map(|value| (*value).to_owned()).collect()),
        },
        terms: terms.map(<[usize]>::to_vec),
    }
}

fn architectures(terms: Option<&[usize]>) -> Placement {
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

fn everything(terms: Option<&[usize]>) -> Placement {
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

/// `template` after `change`, as text.
fn after(template: &str, change: impl FnOnce(&mut Draft<'_>)) -> String {
    let mut draft = Draft::from(Json::parse(template).unwrap());
    change(&mut draft);
    draft.to_string()
}

fn applied(template: &str, placement: &Placement) -> String {
    after(template, |template| {
        apply(template, placement, true).unwrap();
    })
}

/// Settings by which the label `zone` is matched.
fn settings() -> Settings {
    Settings::parse(r#"{"matchNodeLabels": ["zone"]}"#).unwrap()
}

fn stripped(template: &str) -> String {
    after(template, |draft| {
        let record = PlacementRecord::of(Json::parse(template).unwrap(), &settings());
        if let Some(record) = record {
            strip(draft, &record);
        }
    })
}

/// The template after `placement`, without its annotation.
fn placed(template: Value, placement: &Placement) -> Value {
    let text = after(&template.to_string(), |template| {
        apply(template, placement, false).unwrap();
    });
    serde_json::from_str(&text).unwrap()
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
    let placed = placed(template, &architectures(Some(&[0, 2])));
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
    let placed = placed(template, &architectures(None));
    assert_eq!(placed["spec"]["affinity"]["podAffinity"], json!({"x": 1}));
    assert_eq!(*terms_of(&placed), json!([{"matchExpressions": [ours()]}]));
}

#[test]
fn preferences_and_tolerations_come_after_the_users() {
    let template = json!({"spec": {
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}},
        "tolerations": [{"key": "own"}]
    }});
    let placed = placed(template, &everything(None));
    let soft = &placed["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!(soft[0], json!({"weight": 1}));
    assert_eq!(soft[1]["weight"], json!(100));
    assert_eq!(placed["spec"]["tolerations"][0], json!({"key": "own"}));
    assert_eq!(
        placed["spec"]["tolerations"][1]["tolerationSeconds"],
        json!(5)
    );
}

#[test]
fn an_empty_placement_changes_nothing() {
    let template = r#"{"spec":{"nodeSelector":null},"metadata":{}}"#;
    assert_eq!(applied(template, &Placement::default()), template);
}

/// Templates of every shape that a placement meets on its way, as text: what strip leaves must be the same text.
const SHAPES: &[&str] = &[
    r#"{"spec":{}}"#,
    r#"{"metadata":null,"spec":{"nodeSelector":null,"affinity":null,"tolerations":null}}"#,
    r#"{"metadata":{},"spec":{"nodeSelector":{},"affinity":{},"tolerations":[]}}"#,
    r#"{"metadata":{"annotations":null},"spec":{"affinity":{"nodeAffinity":null}}}"#,
    r#"{"metadata":{"annotations":{}},"spec":{"affinity":{"nodeAffinity":{}}}}"#,
    r#"{"metadata":{"annotations":{"a":"b"},"labels":{"n":1e999}},"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":null,"preferredDuringSchedulingIgnoredDuringExecution":null}}}}"#,
    r#"{"spec":{"nodeSelector":{"disk":"ssd"},"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[]},"podAffinity":{}},"tolerations":[{"operator":"Exists"}]}}"#,
    r#"{"spec":{"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{}}]}}}}"#,
];

/// Templates with required terms, to which indices 0 and 1 belong.
const SHAPES_WITH_TERMS: &[&str] = &[
    r#"{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists","new":1}]},{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}],"future":true}}}}}"#,
    r#"{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":null,"matchFields":[{}]},{"matchExpressions":[],"matchFields":[{}]},{}]}}}}}"#,
];

#[test]
fn strip_takes_out_exactly_what_apply_put_in() {
    for template in SHAPES {
        for placement in [pin(), architectures(None), everything(None)] {
            assert_eq!(stripped(&applied(template, &placement)), *template);
        }
    }
    for template in SHAPES_WITH_TERMS {
        let placement = everything(Some(&[0, 1]));
        assert_eq!(stripped(&applied(template, &placement)), *template);
    }
}

#[test]
fn strip_works_on_what_the_api_server_stored() {
    // It sorts keys, and its clients indent.
    for template in SHAPES {
        let stored: Value = match serde_json::from_str(&applied(template, &everything(None))) {
            Ok(stored) => stored,
            Err(_) => continue, // A number that `Value` can't hold.
        };
        let stripped: Value =
            serde_json::from_str(&stripped(&serde_json::to_string_pretty(&stored).unwrap()))
                .unwrap();
        let original: Value = serde_json::from_str(template).unwrap();
        assert_eq!(stripped, original);
    }
}

#[test]
fn applying_again_after_strip_is_the_same() {
    for template in SHAPES {
        let once = applied(template, &everything(None));
        assert_eq!(applied(&stripped(&once), &everything(None)), once);
    }
}

fn edited(template: &str, placement: &Placement, edit: impl FnOnce(&mut Value)) -> Value {
    let mut value: Value = serde_json::from_str(&applied(template, placement)).unwrap();
    edit(&mut value);
    serde_json::from_str(&stripped(&value.to_string())).unwrap()
}

#[test]
fn a_label_that_the_user_changed_is_theirs() {
    let template = edited(SHAPES[0], &pin(), |template| {
        template["spec"]["nodeSelector"]["kubernetes.io/arch"] = json!("arm64");
    });
    let expected = json!({"spec": {"nodeSelector": {"kubernetes.io/arch": "arm64"}}});
    assert_eq!(template, expected);
}

#[test]
fn what_the_user_added_beside_ours_stays() {
    let template = edited(SHAPES[0], &everything(None), |template| {
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
fn a_requirement_that_the_user_changed_is_theirs() {
    let template = edited(SHAPES[0], &architectures(None), |template| {
        template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            ["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] = json!(["arm64"]);
    });
    assert_eq!(
        *terms_of(&template),
        json!([{"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}]}])
    );
}

#[test]
fn a_term_that_the_user_put_before_ours_stays() {
    let template = required(json!([term("a")])).to_string();
    let template = edited(&template, &architectures(Some(&[0])), |template| {
        let mut terms = terms_of(template).clone();
        terms.as_array_mut().unwrap().insert(0, term("b"));
        *template = required(terms);
        template["metadata"] = json!({"annotations": {ANNOTATION: applied_annotation()}});
    });
    let terms = terms_of(&template).as_array().unwrap();
    assert_eq!(terms[0], term("b"));
    assert_eq!(terms.len(), 2);
}

fn applied_annotation() -> String {
    let template: Value = serde_json::from_str(&applied(
        &required(json!([term("a")])).to_string(),
        &architectures(Some(&[0])),
    ))
    .unwrap();
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
    let expected = template.clone();
    let record = json!({
        "nodeSelector": {"pool": "tenant-a"},
        "requirements": [{"requirement": pool, "terms": [0]}]
    });
    template["metadata"] = json!({"annotations": {ANNOTATION: record.to_string()}});
    let stripped: Value = serde_json::from_str(&stripped(&template.to_string())).unwrap();
    assert_eq!(stripped["spec"], expected["spec"]);
}

#[rstest]
#[case::the_longest(16 * 1024, true)]
#[case::longer_by_a_byte(16 * 1024 + 1, false)]
fn a_record_that_is_too_long_to_be_ours_is_left_alone(
    #[case] length: usize,
    #[case] is_taken_out: bool,
) {
    let mut record = json!({"absent": [""]}).to_string();
    record.insert_str(12, &"a".repeat(length - record.len()));
    assert_eq!(record.len(), length);
    let template = json!({"metadata": {"annotations": {ANNOTATION: record}}}).to_string();
    assert_eq!(stripped(&template) != template, is_taken_out);
}

#[rstest]
#[case::not_json("nonsense")]
#[case::not_an_object("[]")]
#[case::odd_terms(r#"{"requirements":[{"requirement":{},"terms":[-1]}]}"#)]
#[case::odd_label(r#"{"nodeSelector":{"a":1}}"#)]
fn an_annotation_that_is_no_record_is_left_alone(#[case] annotation: &str) {
    let template = json!({"metadata": {"annotations": {ANNOTATION: annotation}}, "spec": {"nodeSelector": {"a": "b"}}});
    assert_eq!(stripped(&template.to_string()), template.to_string());
}

#[rstest]
#[case::nothing_there(r#"{"nodeSelector":{"a":"b"},"requirements":[{"requirement":{"key":"k"},"terms":[0,9]}],"preferences":[{}],"tolerations":[{}],"absent":["spec.affinity"],"null":["spec"]}"#)]
#[case::empty("{}")]
fn a_record_of_things_that_are_gone_removes_only_itself(#[case] annotation: &str) {
    let template = json!({
        "metadata": {"annotations": {ANNOTATION: annotation}},
        "spec": {"containers": [], "nodeSelector": {"a": "other"}}
    });
    let expected = json!({
        "metadata": {"annotations": {}},
        "spec": {"containers": [], "nodeSelector": {"a": "other"}}
    });
    let stripped: Value = serde_json::from_str(&stripped(&template.to_string())).unwrap();
    assert_eq!(stripped, expected);
}

#[test]
fn the_annotation_says_what_was_added() {
    let template: Value = serde_json::from_str(&applied(SHAPES[0], &pin())).unwrap();
    assert_eq!(
        template["metadata"]["annotations"][ANNOTATION],
        json!(
            r#"{"nodeSelector":{"kubernetes.io/arch":"amd64"},"absent":["spec.nodeSelector","metadata"]}"#
        )
    );
}
