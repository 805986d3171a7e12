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
    "UnreadableRequest: cannot read the request: EOF while parsing an object at line 1 column 1"
)]
#[case::no_object(
    "[]",
    400,
    "UnreadableRequest: cannot read the request: payload: expected an object, got a list"
)]
#[case::no_request(
    "{}",
    400,
    "UnreadableRequest: cannot read the request: request: missing"
)]
#[case::odd_request(
    r#"{"request": 1}"#,
    400,
    "UnreadableRequest: cannot read the request: request: expected an object, got a number"
)]
#[case::odd_settings(
    r#"{"request": {}, "settings": {"annotate": 1}}"#,
    400,
    "InvalidSettings: the settings of the policy are invalid: annotate: 1 is a number, use true or false"
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
        json!(format!(
            "UnreadableRequest: cannot read the request: {message}"
        ))
    );
}

#[rstest]
#[case::selected_label(json!({"topology.kubernetes.io/zone": "a"}), json!({}), json!({"topology.kubernetes.io/zone": "a", "kubernetes.io/arch": "amd64"}))]
#[case::users_own_value(json!({"topology.kubernetes.io/zone": "a"}), json!({"topology.kubernetes.io/zone": "b"}), json!({"topology.kubernetes.io/zone": "b", "kubernetes.io/arch": "amd64"}))]
#[case::pool_leaves_the_preference_soft(json!({"pool": "a"}), json!({}), json!({"pool": "a"}))]
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
    let settings =
        json!({"matchNodeLabels": ["topology.kubernetes.io/zone", "pool", "kubernetes.io/arch"]});
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
fn a_pod_that_names_its_nodes_has_no_preference_and_is_narrowed_to_those_that_run_it() {
    let name = |name: &str| json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]});
    let mut object = pod("app:1");
    object["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [name("n"), name("m")]}}});
    let response = evaluate(&create(object), &json!({}));
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("nodeAffinity=amd64,arm64")
    );
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

fn of_three_images() -> Value {
    let mut object = pod("app:1");
    object["spec"]["containers"] =
        json!([{"image": "app:1"}, {"image": "app:2"}, {"image": "legacy:1"}]);
    object
}

fn slow_host() -> TableHost {
    TableHost {
        latency: Duration::from_millis(400),
        ..host()
    }
}

#[test]
fn a_pod_whose_images_were_not_all_read_in_time_is_to_be_tried_again() {
    let mut host = slow_host();
    let response = validate_with(&mut host, &create(of_three_images()), &json!({}));
    assert_eq!(host.lookups.len(), 2);
    assert_eq!(response["code"], json!(429));
    assert_eq!(
        response["message"],
        json!(
            "UnfinishedLookups: 2 of 3 images were read in time; trying again goes on from there"
        )
    );
}

#[test]
fn what_was_not_read_in_time_counts_as_failed_where_the_settings_say_so() {
    let settings = json!({"onUnfinishedLookups": "ignore"});
    let response = validate_with(&mut slow_host(), &create(of_three_images()), &settings);
    assert_eq!(
        response["warnings"],
        json!(["image legacy:1 ignored: the lookup budget of 900 ms was spent"])
    );
}

#[rstest]
#[case::deployment("Deployment", json!({}), true)]
#[case::daemon_set("DaemonSet", json!({}), false)]
#[case::strict_namespace("Deployment", json!({"strict": {"namespaces": ["default"]}}), false)]
fn a_template_whose_images_were_not_all_read_passes_unless_nobody_judges_its_pods(
    #[case] kind: &str,
    #[case] settings: Value,
    #[case] passes: bool,
) {
    let mut request = create(json!({"spec": {"template": of_three_images()}}));
    request["kind"] = json!({"group": "apps", "kind": kind});
    let response = validate_with(&mut slow_host(), &request, &settings);
    assert_eq!(response["accepted"], json!(passes));
    assert_eq!(response.get("mutated_object"), None);
    if passes {
        assert_eq!(
            response["warnings"],
            json!([
                "2 of 3 images were read in time: not placed, its Pods are judged as they come"
            ])
        );
    } else {
        assert_eq!(response["code"], json!(429));
    }
}

#[test]
fn what_is_partly_read_counts_as_not_read_where_nothing_is_left() {
    let index = json!({"manifests": [
        {"digest": "sha256:1", "platform": {"os": "linux", "architecture": "amd64"}},
        {"digest": "sha256:2", "mediaType": "application/vnd.oci.image.manifest.v1+json"}
    ]});
    let mut host = host().manifest("odd:1", &index);
    let mut object = pod("app:2");
    object["spec"]["initContainers"] = json!([{"image": "odd:1"}]);
    let response = validate_with(&mut host, &create(object), &json!({}));
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("nodeAffinity=arm64")
    );
    assert_eq!(response["audit_annotations"]["failed-lookups"], json!("1"));
}

#[test]
fn messages_are_bounded() {
    let mut object = pod("app:1");
    let images: Vec<Value> = (0..5_000)
        .map(|number| json!({"image": format!("private-{number}:1")}))
        .collect();
    object["spec"]["containers"] = json!(images);
    let settings = json!({"strict": {"namespaces": ["*"]}});
    let mut host = host();
    let response = validate_with(&mut host, &create(object), &settings);
    assert!(response["message"].as_str().unwrap().len() <= 1_500);
    assert!(host.events[0].to_string().len() <= 3_000);
}

#[test]
fn an_index_with_more_unclear_entries_than_are_looked_up_is_partly_read() {
    let entries: Vec<Value> = (0..9)
        .map(|number| json!({"digest": format!("sha256:{number}"), "mediaType": "application/vnd.oci.image.manifest.v1+json"}))
        .collect();
    let mut host = TableHost::default().manifest("quay.io/a", &json!({ "manifests": entries }));
    for number in 0..9 {
        let architecture = if number < 8 { "amd64" } else { "arm64" };
        let config = json!({"os": "linux", "architecture": architecture});
        host = host.single(&format!("quay.io/a@sha256:{number}"), &config);
    }
    let mut object = pod("quay.io/a");
    object["spec"]["nodeSelector"] = json!({"kubernetes.io/arch": "arm64"});
    let response = validate_with(&mut host, &create(object), &json!({}));
    assert_eq!(
        response["warnings"],
        json!(["image quay.io/a ignored: its index names no platform"])
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
fn an_image_that_cannot_be_read_now_counts_as_when_it_was_read_last() {
    let old = stored("app:2");
    let mut out_of_order = TableHost::default();
    let mut restarted = old.clone();
    restarted["spec"]["template"]["metadata"]["labels"]["restarted"] = json!("now");
    let response = validate_with(&mut out_of_order, &update(&restarted, &old), &json!({}));
    let placed = &response["mutated_object"]["spec"]["template"]["spec"];
    assert_eq!(*placed, old["spec"]["template"]["spec"]);
    assert_eq!(
        response["audit_annotations"],
        json!({"architectures": "arm64", "placement": "nodeAffinity=arm64", "failed-lookups": "1"})
    );
    assert_eq!(
        response["warnings"],
        json!(["image app:2 counted as when it was read last: manifest unknown: app:2"])
    );
    for settings in [
        json!({"strict": {"namespaces": ["default"]}}),
        json!({"onLookupFailure": "reject"}),
    ] {
        let response = validate_with(&mut out_of_order, &update(&restarted, &old), &settings);
        assert_eq!(response["accepted"], json!(false));
    }
}

#[test]
fn a_manifest_that_is_applied_again_gets_its_placement_back_without_a_lookup() {
    let old = stored("app:1");
    let mut host = TableHost::default();
    let response = validate_with(
        &mut host,
        &update(&deployment("app:1"), &old),
        &json!({"preferredArchitecture": "arm64"}),
    );
    assert_eq!(response["mutated_object"], old);
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("unchanged: its Pod template is placed as before")
    );
    assert_eq!(host.lookups, [""; 0]);
}

#[test]
fn deleting_only_what_was_added_is_undone_and_deleting_the_annotation_keeps_it() {
    let old = stored("app:1");
    let mut without_ours = old.clone();
    without_ours["spec"]["template"]["spec"]["nodeSelector"] = json!({});
    let response = evaluate(&update(&without_ours, &old), &json!({}));
    assert_eq!(response["mutated_object"], old);
    let mut without_record = old.clone();
    without_record["spec"]["template"]["metadata"]["annotations"] = json!({});
    let settings = json!({"preferredArchitecture": "arm64"});
    let response = evaluate(&update(&without_record, &old), &settings);
    assert_eq!(response.get("mutated_object"), None);
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("unchanged: the Pod selects its architecture")
    );
}

#[test]
fn a_rollback_has_the_placement_that_it_had_and_a_restart_is_decided_by_the_settings_of_now() {
    let first = stored("app:1");
    let settings = json!({"preferredArchitecture": "arm64"});
    let mut second = first.clone();
    second["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:2");
    let second = evaluate(&update(&second, &first), &settings)["mutated_object"].clone();
    let response = evaluate(&update(&first, &second), &settings);
    assert_eq!(response["accepted"], json!(true));
    assert_eq!(response.get("mutated_object"), None);
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("unchanged: it goes back to a placement it had")
    );
    let mut restarted = first.clone();
    restarted["spec"]["template"]["metadata"]["labels"]["restarted"] = json!("now");
    let response = evaluate(&update(&restarted, &first), &settings);
    let spec = &response["mutated_object"]["spec"]["template"]["spec"];
    assert_eq!(spec["nodeSelector"], json!({"kubernetes.io/arch": "arm64"}));
}

#[test]
fn a_rollback_to_what_could_not_be_placed_then_is_placed_now() {
    let settings =
        json!({"tolerations": {"amd64": [{"operator": "Exists"}]}, "matchNodeLabels": ["app"]});
    let mut out_of_order = TableHost::default();
    let create = update(&deployment("app:1"), &Value::Null);
    let first = validate_with(&mut out_of_order, &create, &settings)["mutated_object"].clone();
    assert_eq!(
        first["spec"]["template"]["spec"]["nodeSelector"],
        json!({"app": "x"})
    );
    let second = stored("app:2");
    let response = evaluate(&update(&first, &second), &settings);
    let spec = &response["mutated_object"]["spec"]["template"]["spec"];
    assert!(spec["affinity"].is_object(), "{response}");
}

#[test]
fn terms_that_match_no_node_are_never_replaced() {
    let mut object = deployment("app:1");
    let spec = &mut object["spec"]["template"]["spec"];
    spec["runtimeClassName"] = json!("kata");
    spec["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["sw64"]}]}
    ]}}});
    object["spec"]["template"]["metadata"]["labels"] = json!({"pool": "a"});
    let settings = json!({"matchNodeLabels": ["pool"]});
    let response = evaluate(&update(&object, &Value::Null), &settings);
    assert_eq!(response.get("mutated_object"), None);
}

#[test]
fn empty_metadata_stays_as_it_is() {
    let object = json!({"spec": {"template": {"metadata": {}, "spec": {"containers": [{"image": "private:1"}]}}}});
    let response = evaluate(&update(&object, &Value::Null), &json!({}));
    assert_eq!(response.get("mutated_object"), None);
}

#[test]
fn what_is_partly_known_is_not_remembered() {
    let index = json!({"manifests": [
        {"digest": "sha256:1", "platform": {"os": "linux", "architecture": "arm64"}},
        {"digest": "sha256:2", "mediaType": "application/vnd.oci.image.manifest.v1+json"}
    ]});
    let mut host = TableHost::default().manifest("odd:1", &index);
    let response = validate_with(
        &mut host,
        &update(&deployment("odd:1"), &Value::Null),
        &json!({}),
    );
    let annotations = &response["mutated_object"]["spec"]["template"]["metadata"]["annotations"];
    assert!(!annotations[ANNOTATION].as_str().unwrap().contains("images"));
}

#[test]
fn a_rollback_whose_image_runs_elsewhere_now_is_decided_afresh() {
    let first = stored("app:1");
    let second = stored("app:2");
    let mut moved = TableHost::default().index("app:1", &["linux/arm64"]);
    let response = validate_with(&mut moved, &update(&first, &second), &json!({}));
    let spec = &response["mutated_object"]["spec"]["template"]["spec"];
    assert_eq!(spec.get("nodeSelector"), None);
    assert!(spec["affinity"].is_object());
}

#[rstest]
#[case::running(json!({"suspend": false}), "unchanged: its placement is immutable")]
#[case::never_ran(json!({"suspend": true}), "nodeAffinity=arm64")]
fn the_template_of_a_job_is_decided_again_only_while_it_never_ran(
    #[case] spec: Value,
    #[case] expected: &str,
) {
    let job = |image: &str| {
        let mut job = json!({"spec": spec});
        job["spec"]["template"] = json!({"spec": {"containers": [{"image": image}]}});
        job
    };
    let mut request = update(&job("app:2"), &job("app:1"));
    request["kind"] = json!({"group": "batch", "kind": "Job"});
    let response = evaluate(&request, &json!({}));
    assert_eq!(response["audit_annotations"]["placement"], json!(expected));
}

#[test]
fn the_annotation_of_a_pod_is_for_people_and_decides_nothing() {
    let response = evaluate(&create(pod("app:1")), &json!({}));
    let placed = &response["mutated_object"];
    assert_eq!(
        placed["metadata"]["annotations"][ANNOTATION],
        json!("nodeSelector=amd64")
    );
    let mut forged = pod("app:1");
    forged["spec"]["nodeSelector"] = json!({"kubernetes.io/arch": "arm64"});
    forged["metadata"]["annotations"] = json!({ANNOTATION: json!({
        "version": 2, "base": "0", "nodeSelector": {"kubernetes.io/arch": "arm64"}
    }).to_string()});
    let response = evaluate(&create(forged), &json!({}));
    assert_eq!(response.get("mutated_object"), None);
}

#[test]
fn a_pod_whose_template_was_placed_where_a_sidecar_cannot_run_says_so() {
    let mut pod = stored("app:1")["spec"]["template"].clone();
    pod["spec"]["containers"] = json!([{"image": "app:1"}, {"image": "legacy:1"}]);
    let response = evaluate(&create(pod), &json!({}));
    assert_eq!(
        response["warnings"],
        json!([
            "the placement of the Pod's template excludes every architecture that its images support on linux: legacy:1 (linux/s390x)"
        ])
    );
}

#[test]
fn a_pod_made_from_a_placed_template_is_narrowed_for_what_is_injected() {
    let settings = json!({"preferredArchitecture": null});
    let placed = evaluate(&update(&deployment("app:1"), &Value::Null), &settings);
    let mut pod = placed["mutated_object"]["spec"]["template"].clone();
    pod["spec"]["containers"] = json!([{"image": "app:1"}, {"image": "app:2"}]);
    let response = evaluate(&create(pod), &settings);
    assert_eq!(
        response["audit_annotations"]["placement"],
        json!("nodeAffinity=arm64")
    );
}

#[test]
fn a_template_with_a_runtime_class_gets_everything_as_affinity() {
    let mut object = deployment("app:1");
    object["spec"]["template"]["spec"]["runtimeClassName"] = json!("kata");
    object["spec"]["template"]["metadata"]["labels"] = json!({"pool": "a"});
    let settings = json!({"matchNodeLabels": ["pool"]});
    let response = evaluate(&update(&object, &Value::Null), &settings);
    let spec = &response["mutated_object"]["spec"]["template"]["spec"];
    assert_eq!(spec.get("nodeSelector"), None);
    let required = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions";
    let keys: Vec<&Value> = spec
        .pointer(required)
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["key"])
        .collect();
    assert_eq!(keys, [&json!("kubernetes.io/arch"), &json!("pool")]);
    // A rollback to it needs nothing more, and all of it comes out again.
    let mut other = response["mutated_object"].clone();
    other["spec"]["template"] = deployment("app:2")["spec"]["template"].clone();
    let rolled_back = evaluate(&update(&response["mutated_object"], &other), &settings);
    assert_eq!(rolled_back.get("mutated_object"), None);
    let mut scaled = response["mutated_object"].clone();
    scaled["spec"]["template"]["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("annotations");
    scaled["spec"]["template"]["spec"]
        .as_object_mut()
        .unwrap()
        .remove("affinity");
    let again = evaluate(&update(&scaled, &response["mutated_object"]), &settings);
    assert_eq!(again["mutated_object"], response["mutated_object"]);
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

/// Settings without a mutation, beside others.
fn validating(mut settings: Value) -> Value {
    settings["mutate"] = json!(false);
    settings
}

/// The response to a Pod of `image` with members of its spec, for settings without a mutation.
fn validated(image: &str, spec: &Value, settings: Value) -> Value {
    let mut object = pod(image);
    for (key, value) in spec.as_object().unwrap() {
        object["spec"][key] = value.clone();
    }
    let response = evaluate(&create(object), &validating(settings));
    assert_eq!(response.get("mutated_object"), None);
    response
}

fn selector(architecture: &str) -> Value {
    json!({"nodeSelector": {"kubernetes.io/arch": architecture}})
}

#[rstest]
#[case::unplaced("app:1", json!({}), json!({}), "not applied: nodeSelector=amd64", json!("UnplacedPod"))]
#[case::placed("app:1", selector("arm64"), json!({}), "unchanged: the Pod selects its architecture", json!("SelectsItsArchitecture"))]
#[case::only_the_preference_is_missing("app:1", in_terms(json!("NotIn"), others_than(&["amd64", "arm64"])), json!({}), "nodeSelector=amd64", json!(null))]
#[case::nothing_is_known("private:1", json!({}), json!({}), "unchanged: no image had a say", json!("NoKnownPlatforms"))]
#[case::a_selection_that_is_warned_of("app:1", selector("s390x"), json!({}), "not applied: the Pod selects its architecture", json!("UnplacedPod,SelectsItsArchitecture"))]
#[case::an_architecture_that_is_not_schedulable("app:1", in_terms(json!("In"), json!(["amd64", "s390x"])), json!({"schedulableArchitectures": ["amd64"]}), "not applied: nodeAffinity=amd64", json!("UnplacedPod"))]
#[case::another_system_of_the_cluster("app:1", selector("amd64"), json!({"operatingSystems": ["linux", "windows"]}), "not applied: os=linux", json!("UnplacedPod"))]
#[case::a_dead_term("app:1", in_terms(json!("In"), json!([])), json!({}), "unchanged: the Pod selects its architecture", json!("SelectsItsArchitecture"))]
fn what_is_not_to_be_changed_says_whether_it_is_placed(
    #[case] image: &str,
    #[case] spec: Value,
    #[case] settings: Value,
    #[case] placement: &str,
    #[case] cause: Value,
) {
    let response = validated(image, &spec, settings);
    assert_eq!(response["accepted"], json!(true));
    let annotations = &response["audit_annotations"];
    assert_eq!(annotations["placement"], json!(placement));
    assert_eq!(annotations["cause"], cause);
}

/// Required node affinity of one term on the architecture.
fn in_terms(operator: Value, architectures: Value) -> Value {
    json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/arch", "operator": operator, "values": architectures}
        ]}]
    }}}})
}

/// Every architecture but `those`.
fn others_than(those: &[&str]) -> Value {
    let all = crate::platform::Architectures::all();
    let names = all.iter().map(|architecture| architecture.to_string());
    names
        .filter(|name| !those.contains(&name.as_str()))
        .collect()
}

#[test]
fn labels_to_match_place_nothing_that_is_not_to_be_changed() {
    let mut object = pod("app:1");
    object["metadata"] = json!({"labels": {"kubernetes.io/arch": "amd64"}});
    let settings = json!({"matchNodeLabels": ["kubernetes.io/arch"]});
    let response = evaluate(&create(object), &validating(settings));
    let cause = json!("UnplacedPod,SelectsItsArchitecture");
    assert_eq!(response["audit_annotations"]["cause"], cause);
}

#[test]
fn an_unplaced_pod_is_refused_by_a_gate_and_a_placed_one_passes() {
    let gate = json!({"onUnplaced": "reject"});
    let response = validated("app:1", &json!({}), gate.clone());
    assert_eq!(response["accepted"], json!(false));
    assert_eq!(response["code"], json!(403));
    assert_eq!(
        response["message"],
        json!(
            "UnplacedPod: the Pod admits nodes, such as linux/386, that can't run app:1 (linux/amd64, linux/arm64): have a policy that mutates place it, or select its nodes"
        )
    );
    let placed = evaluate(&create(pod("app:1")), &json!({}))["mutated_object"].clone();
    let response = evaluate(&create(placed), &validating(gate));
    assert_eq!(response["accepted"], json!(true), "{response}");
}

#[test]
fn what_is_refused_anyway_is_refused_for_that_alone() {
    let settings = json!({"onUnplaced": "reject", "onUnsupportedSelection": "reject"});
    let response = validated("app:1", &selector("s390x"), settings);
    assert_eq!(response["code"], json!(400));
    assert_eq!(
        response["audit_annotations"]["cause"],
        json!("UnsupportedSelection")
    );
}

#[test]
fn an_update_that_loses_its_placement_is_unplaced_though_its_base_is_the_old_one() {
    let deployment = |template: &Value| json!({"spec": {"template": template}});
    let mut request = create(deployment(&pod("app:1")));
    request["kind"] = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    let placed = evaluate(&request, &json!({}))["mutated_object"].clone();
    request["operation"] = json!("UPDATE");
    request["oldObject"] = placed.clone();
    let gate = validating(json!({"onUnplaced": "reject"}));
    let response = evaluate(&request, &gate);
    assert_eq!(response["audit_annotations"]["cause"], json!("UnplacedPod"));
    // What a policy that mutates makes of it passes.
    request["object"] = evaluate(&request, &json!({}))["mutated_object"].clone();
    assert_eq!(request["object"], placed);
    assert_eq!(evaluate(&request, &gate)["accepted"], json!(true));
}

#[test]
fn a_rule_takes_the_place_of_the_preference_and_the_label_of_a_pod_wins() {
    let settings = json!({
        "preferredArchitecture": null,
        "preferenceRules": [
            {"namespaces": ["team-*"], "preferredArchitecture": "arm64"},
            {
                "matchLabels": {"tier": "web"},
                "preferredArchitecture": "arm64",
                "preferenceEnforcement": "preferred",
                "architectureWeights": {"arm64": 80, "amd64": 20},
            },
        ],
    });
    let placement = |namespace: &str, labels: Value| {
        let mut object = pod("app:1");
        object["metadata"] = json!({ "labels": labels });
        let mut request = create(object);
        request["namespace"] = json!(namespace);
        let response = evaluate(&request, &settings);
        response["audit_annotations"]["placement"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let label = "arch.noe.adevinta.com/preferred";
    assert_eq!(placement("team-a", json!({})), "nodeSelector=arm64");
    assert_eq!(placement("other", json!({})), "nodeAffinity=amd64,arm64");
    assert_eq!(
        placement("other", json!({"tier": "web"})),
        "nodeAffinity=amd64,arm64 preferred=amd64:20 preferred=arm64:80"
    );
    assert_eq!(
        placement("other", json!({"tier": "web", label: "amd64"})),
        "nodeAffinity=amd64,arm64 preferred=amd64:100"
    );
    assert_eq!(
        placement("team-a", json!({label: "amd64"})),
        "nodeSelector=amd64"
    );
    assert_eq!(
        placement("other", json!({label: "arm64"})),
        "nodeSelector=arm64"
    );
}

#[test]
fn a_share_takes_the_workloads_whose_buckets_are_below_it() {
    let settings = json!({
        "preferenceRules": [{"preferredArchitecture": "arm64", "share": 30}],
    });
    for number in 0..200 {
        let name = format!("web-{number}");
        let mut object = pod("app:1");
        object["metadata"] = json!({"name": name});
        let response = evaluate(&create(object), &settings);
        let bucket = crate::hash::fnv1a(&format!("default/{name}")) % 100;
        let expected = if bucket < 30 { "arm64" } else { "amd64" };
        let selector = &response["mutated_object"]["spec"]["nodeSelector"];
        assert_eq!(selector["kubernetes.io/arch"], json!(expected), "{name}");
    }
}
