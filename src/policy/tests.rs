use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::{host::table::TableHost, placement::ANNOTATION};

fn host() -> TableHost {
    TableHost::default()
        .index("app:1", &["linux/amd64", "linux/arm64"])
        .index("app:2", &["linux/arm64"])
        .index("legacy:1", &["linux/s390x"])
}

fn pod(image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"}, "spec": {"containers": [{"image": image}]}})
}

fn create(object: Value) -> Value {
    json!({
        "uid": "1",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "CREATE",
        "namespace": "default",
        "object": object,
    })
}

/// The response to a payload.
fn answer(payload: &[u8], host: &mut TableHost) -> Value {
    serde_json::from_slice(&validate(payload, host)).unwrap()
}

fn validate_with(host: &mut TableHost, request: &Value, settings: &Value) -> Value {
    let payload = json!({"request": request, "settings": settings}).to_string();
    answer(payload.as_bytes(), host)
}

fn evaluate(request: &Value, settings: &Value) -> Value {
    validate_with(&mut host(), request, settings)
}

#[test]
fn a_pod_is_placed() {
    let response = evaluate(&create(pod("app:1")), &json!({}));
    assert_eq!(response["accepted"], json!(true));
    let spec = &response["mutated_object"]["spec"];
    assert_eq!(spec["nodeSelector"], json!({"kubernetes.io/arch": "amd64"}));
    assert_eq!(spec["containers"], json!([{"image": "app:1"}]));
    assert_eq!(
        response["audit_annotations"],
        json!({"architectures": "amd64,arm64", "placement": "nodeSelector=amd64"})
    );
    assert_eq!(response.get("warnings"), None);
}

#[test]
fn a_mutation_and_warnings_come_together() {
    let mut object = pod("app:1");
    object["spec"]["initContainers"] = json!([{"image": "private:1"}]);
    let response = evaluate(&create(object), &json!({}));
    assert!(response["mutated_object"].is_object());
    assert_eq!(
        response["warnings"],
        json!(["image private:1 ignored: manifest unknown: private:1"])
    );
    assert_eq!(response["audit_annotations"]["failed-lookups"], json!("1"));
}

#[test]
fn an_object_that_passes_unchanged_is_not_sent_back() {
    let response = evaluate(&create(pod("private:1")), &json!({}));
    assert_eq!(response["accepted"], json!(true));
    assert_eq!(response.get("mutated_object"), None);
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("unchanged: no image had a say")
    );
}

#[rstest]
#[case::not_json(
    "{",
    400,
    "cannot read the request: EOF while parsing an object at line 1 column 1"
)]
#[case::no_object(
    "[]",
    400,
    "cannot read the request: payload: expected an object, got a list"
)]
#[case::no_request("{}", 400, "cannot read the request: request: missing")]
#[case::odd_request(
    r#"{"request": 1}"#,
    400,
    "cannot read the request: request: expected an object, got a number"
)]
#[case::odd_settings(
    r#"{"request": {}, "settings": {"annotate": 1}}"#,
    500,
    "the settings of the policy are invalid: annotate: 1 is a number, use true or false"
)]
fn what_cannot_be_read_is_rejected_in_one_line(
    #[case] payload: &str,
    #[case] code: u16,
    #[case] message: &str,
) {
    let response = answer(payload.as_bytes(), &mut host());
    assert_eq!(response["accepted"], json!(false));
    assert_eq!(response["code"], json!(code));
    assert_eq!(response["message"], json!(message));
}

#[test]
fn bytes_that_are_not_utf8_are_rejected() {
    let response = answer(b"\xff", &mut host());
    assert_eq!(response["code"], json!(400));
}

#[rstest]
#[case::containers(json!({"containers": "app"}), "spec.containers: expected a list, got a string")]
#[case::node_selector(json!({"nodeSelector": 1}), "spec.nodeSelector: expected an object, got a number")]
#[case::selected_value(json!({"nodeSelector": {"a": 1}}), "spec.nodeSelector.a: expected a string, got a number")]
#[case::affinity(json!({"affinity": []}), "spec.affinity: expected an object, got a list")]
#[case::terms(json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": {}}}}}), "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: expected a list, got an object")]
#[case::term(json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": ["a"]}}}}), "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]: expected an object, got a string")]
#[case::tolerations(json!({"tolerations": "x"}), "spec.tolerations: expected a list, got a string")]
#[case::os(json!({"os": "linux"}), "spec.os: expected an object, got a string")]
fn a_pod_of_another_shape_than_the_api_gives_it_is_rejected_by_field(
    #[case] spec: Value,
    #[case] message: &str,
) {
    let settings = json!({"tolerations": {"arm64": [{"operator": "Exists"}]}});
    let response = evaluate(&create(json!({"spec": spec})), &settings);
    assert_eq!(response["code"], json!(400));
    assert_eq!(
        response["message"],
        json!(format!("cannot read the request: {message}"))
    );
}

#[rstest]
#[case::selected_label(json!({"zone": "a"}), json!({}), json!({"zone": "a", "kubernetes.io/arch": "amd64"}))]
#[case::users_own_value(json!({"zone": "a"}), json!({"zone": "b"}), json!({"zone": "b", "kubernetes.io/arch": "amd64"}))]
#[case::absent_label(json!({"team": "x"}), json!({}), json!({"kubernetes.io/arch": "amd64"}))]
#[case::architecture_as_selection(json!({"kubernetes.io/arch": "arm64"}), json!({}), json!({"kubernetes.io/arch": "arm64"}))]
fn labels_to_match_become_node_selectors(
    #[case] labels: Value,
    #[case] node_selector: Value,
    #[case] expected: Value,
) {
    let mut object = pod("app:1");
    object["metadata"]["labels"] = labels;
    object["spec"]["nodeSelector"] = node_selector;
    let settings = json!({"matchNodeLabels": ["zone", "kubernetes.io/arch"]});
    let response = evaluate(&create(object), &settings);
    assert_eq!(response["mutated_object"]["spec"]["nodeSelector"], expected);
}

#[test]
fn labels_to_match_apply_where_no_image_has_a_say_but_not_to_the_rejected() {
    let settings = json!({"matchNodeLabels": ["zone"]});
    let mut object = pod("private:1");
    object["metadata"]["labels"] = json!({"zone": "a"});
    let response = evaluate(&create(object.clone()), &settings);
    assert_eq!(
        response["mutated_object"]["spec"]["nodeSelector"],
        json!({"zone": "a"})
    );
    object["spec"]["containers"] = json!([{"image": "app:1"}, {"image": "legacy:1"}]);
    let response = evaluate(&create(object), &settings);
    assert_eq!(response["accepted"], json!(false));
    assert_eq!(response.get("mutated_object"), None);
}

#[test]
fn the_label_of_the_pod_is_read() {
    let mut object = pod("app:1");
    object["metadata"]["labels"] = json!({"arch.noe.adevinta.com/preferred": "arm64"});
    let response = evaluate(&create(object), &json!({}));
    assert_eq!(
        response["mutated_object"]["spec"]["nodeSelector"],
        json!({"kubernetes.io/arch": "arm64"})
    );
}

#[test]
fn a_pod_that_names_its_nodes_is_left_alone_without_a_lookup() {
    let mut object = pod("app:1");
    object["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
    ]}}});
    let mut host = host();
    let response = validate_with(
        &mut host,
        &create(object),
        &json!({"matchNodeLabels": ["zone"]}),
    );
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("unchanged: its node affinity names its nodes")
    );
    assert_eq!(response.get("mutated_object"), None);
    assert_eq!(host.lookups, [""; 0]);
}

#[test]
fn decisions_that_change_or_refuse_are_logged_in_one_event_and_others_in_none() {
    let mut placed = host();
    validate_with(&mut placed, &create(pod("app:1")), &json!({}));
    assert_eq!(
        placed.events,
        [
            json!({"level": "info", "message": "placed Pod default/app: nodeSelector=amd64", "kind": "Pod", "namespace": "default", "name": "app"})
        ]
    );
    let mut refused = host();
    let mut object = pod("app:1");
    object["metadata"] = json!({"generateName": "app-"});
    object["spec"]["initContainers"] = json!([{"image": "legacy:1"}]);
    validate_with(&mut refused, &create(object), &json!({}));
    assert_eq!(refused.events.len(), 1);
    assert_eq!(refused.events[0]["level"], json!("warning"));
    assert_eq!(refused.events[0]["name"], json!("app-"));
    let mut unchanged = host();
    validate_with(&mut unchanged, &create(pod("private:1")), &json!({}));
    assert_eq!(unchanged.events.len(), 0);
}

#[test]
fn the_budget_is_spent_across_images() {
    let mut host = TableHost {
        latency: Duration::from_millis(400),
        ..host()
    };
    let mut object = pod("app:1");
    object["spec"]["containers"] =
        json!([{"image": "app:1"}, {"image": "app:2"}, {"image": "legacy:1"}]);
    let response = validate_with(&mut host, &create(object), &json!({}));
    assert_eq!(host.lookups.len(), 2);
    assert_eq!(
        response["warnings"],
        json!(["image legacy:1 ignored: the lookup budget of 700 ms was spent"])
    );
}

// --- workloads, over their life

fn deployment(image: &str) -> Value {
    json!({
        "metadata": {"name": "app", "labels": {"a": "b"}},
        "spec": {"replicas": 1, "template": {
            "metadata": {"labels": {"app": "x"}},
            "spec": {"containers": [{"image": image}]}
        }}
    })
}

fn update(object: &Value, old_object: &Value) -> Value {
    let mut request = create(object.clone());
    request["kind"] = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    if !old_object.is_null() {
        request["operation"] = json!("UPDATE");
        request["oldObject"] = old_object.clone();
    }
    request
}

fn stored(image: &str) -> Value {
    evaluate(&update(&deployment(image), &Value::Null), &json!({}))["mutated_object"].clone()
}

#[test]
fn a_new_image_of_a_deployment_is_placed_afresh() {
    let old = stored("app:1");
    let mut new = old.clone();
    new["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:2");
    let response = evaluate(&update(&new, &old), &json!({}));
    assert_eq!(response["mutated_object"], stored("app:2"));
    let rolled_back = evaluate(&update(&old, &response["mutated_object"]), &json!({}));
    // What is rolled back to was placed already, and comes out the same.
    assert_eq!(rolled_back["accepted"], json!(true));
    assert_eq!(rolled_back.get("mutated_object"), None);
}

#[test]
fn a_scale_or_a_label_of_a_deployment_changes_nothing() {
    let old = stored("app:1");
    let mut new = old.clone();
    new["spec"]["replicas"] = json!(9);
    new["metadata"]["labels"] = json!({"a": "c"});
    let mut host = host();
    let response = validate_with(
        &mut host,
        &update(&new, &old),
        &json!({"preferredArchitecture": "arm64"}),
    );
    assert_eq!(response.get("mutated_object"), None);
    assert_eq!(host.lookups, [""; 0]);
}

#[test]
fn a_deployment_replaced_without_our_fields_is_placed_again() {
    let response = evaluate(&update(&deployment("app:1"), &stored("app:1")), &json!({}));
    assert_eq!(response["mutated_object"], stored("app:1"));
}

#[test]
fn what_the_user_changes_of_ours_is_theirs_from_then_on() {
    let old = stored("app:1");
    let mut new = old.clone();
    new["spec"]["template"]["spec"]["nodeSelector"]["kubernetes.io/arch"] = json!("arm64");
    let response = evaluate(&update(&new, &old), &json!({}));
    let template = &response["mutated_object"]["spec"]["template"];
    assert_eq!(
        template["spec"]["nodeSelector"],
        json!({"kubernetes.io/arch": "arm64"})
    );
    assert_eq!(template["metadata"].get("annotations"), None);
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("unchanged: the Pod selects its architecture")
    );
}

#[test]
fn an_earlier_placement_is_taken_back_where_no_image_has_a_say_any_more() {
    let old = stored("app:1");
    let mut new = old.clone();
    new["spec"]["template"]["spec"]["containers"][0]["image"] = json!("private:1");
    let response = evaluate(&update(&new, &old), &json!({}));
    assert_eq!(response["mutated_object"], deployment("private:1"));
}

#[test]
fn an_earlier_placement_stands_while_the_same_images_cannot_be_read() {
    let old = stored("app:2");
    let mut out_of_order = TableHost::default();
    let mut restarted = old.clone();
    restarted["spec"]["template"]["metadata"]["labels"]["restarted"] = json!("now");
    let response = validate_with(&mut out_of_order, &update(&restarted, &old), &json!({}));
    assert_eq!(response.get("mutated_object"), None);
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("unchanged: its earlier placement stands")
    );
    assert_eq!(
        response["warnings"],
        json!(["image app:2 ignored: manifest unknown: app:2"])
    );

    let mut pod = old["spec"]["template"].clone();
    pod["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true}]);
    let response = validate_with(&mut out_of_order, &create(pod), &json!({}));
    assert_eq!(response.get("mutated_object"), None);
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("unchanged: its earlier placement stands")
    );
}

#[test]
fn what_comes_out_the_same_is_not_sent_back_and_not_logged() {
    let mut host = host();
    let template = stored("app:1")["spec"]["template"].clone();
    let response = validate_with(&mut host, &create(template), &json!({}));
    assert_eq!(response.get("mutated_object"), None);
    assert_eq!(host.events.len(), 0);
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("nodeSelector=amd64")
    );
}

#[test]
fn an_object_that_only_got_labels_or_tolerations_is_not_called_unchanged() {
    let mut object = pod("app:1");
    object["metadata"]["labels"] = json!({"zone": "a"});
    object["spec"]["nodeSelector"] = json!({"kubernetes.io/arch": "arm64"});
    let settings =
        json!({"matchNodeLabels": ["zone"], "tolerations": {"arm64": [{"operator": "Exists"}]}});
    let response = evaluate(&create(object), &settings);
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("only matchNodeLabels,tolerations: the Pod selects its architecture")
    );
}

#[test]
fn a_log_event_is_one_bounded_line() {
    let mut host = host();
    let mut object = pod("app:1");
    object["metadata"]["name"] = json!(format!("p\nERROR forged{}", "x".repeat(5_000)));
    validate_with(&mut host, &create(object), &json!({}));
    let message = host.events[0]["message"].as_str().unwrap();
    assert!(message.len() < 400 && !message.contains('\n'), "{message}");
}

#[test]
fn without_annotations_an_earlier_placement_reads_as_the_users_own() {
    let settings = json!({"annotate": false});
    let old =
        evaluate(&update(&deployment("app:1"), &Value::Null), &settings)["mutated_object"].clone();
    assert_eq!(
        old["spec"]["template"]["metadata"],
        json!({"labels": {"app": "x"}})
    );
    let mut new = old.clone();
    new["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:2");
    let response = evaluate(&update(&new, &old), &settings);
    assert_eq!(response.get("mutated_object"), None);
    assert_eq!(
        response["warnings"],
        json!([
            "the Pod selects amd64, which excludes every architecture that its images support on linux: app:2 (linux/arm64)"
        ])
    );
}

#[test]
fn a_pod_made_from_a_placed_template_comes_out_the_same() {
    let template = &stored("app:1")["spec"]["template"];
    let response = evaluate(&create(template.clone()), &json!({}));
    assert_eq!(response.get("mutated_object"), None);
    assert!(template["metadata"]["annotations"][ANNOTATION].is_string());
}

#[test]
fn a_pod_with_a_runtime_class_runs_wasm_images_anywhere() {
    let mut host = host().index("module:1", &["wasi/wasm"]);
    let mut object = pod("module:1");
    object["spec"]["runtimeClassName"] = json!("wasmtime");
    let response = validate_with(&mut host, &create(object), &json!({}));
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("unchanged: no image had a say")
    );
}

#[test]
fn image_volumes_are_not_looked_up_when_switched_off() {
    let mut object = pod("app:1");
    object["spec"]["volumes"] = json!([{"image": {"reference": "legacy:1"}}]);
    let response = evaluate(&create(object.clone()), &json!({}));
    assert_eq!(response["accepted"], json!(false));
    let response = evaluate(&create(object), &json!({"imageVolumes": false}));
    assert_eq!(response["accepted"], json!(true));
}

#[test]
fn fields_and_numbers_that_no_parser_knows_survive() {
    let object = r#"{"spec":{"future":{"n":123456789012345678901234567890,"f":1e999,"z":1.0},"containers":[{"image":"app:1","x":"\u00fc"}]}}"#;
    let payload = format!(
        r#"{{"request":{{"kind":{{"group":"","kind":"Pod"}},"operation":"CREATE","object":{object}}}}}"#
    );
    let response = String::from_utf8(validate(payload.as_bytes(), &mut host())).unwrap();
    let kept = object.trim_end_matches("}}");
    assert!(response.contains(kept), "{response}");
}
