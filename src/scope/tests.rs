use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::request::Payload;

fn request(kind: (&str, &str), operation: &str, object: Value) -> Value {
    json!({
        "kind": {"group": kind.0, "version": "v1", "kind": kind.1},
        "operation": operation,
        "namespace": "default",
        "object": object,
    })
}

/// What `read` makes of the scope of a request.
fn with_scope<T>(request: &Value, read: impl FnOnce(Result<Scope<'_>, Mismatch>) -> T) -> T {
    with_scope_by(&Settings::default(), request, read)
}

/// The same with these settings.
fn with_scope_by<T>(
    settings: &Settings,
    request: &Value,
    read: impl FnOnce(Result<Scope<'_>, Mismatch>) -> T,
) -> T {
    let payload = json!({ "request": request }).to_string();
    let document = Payload::parse(payload.as_bytes()).unwrap();
    let payload = Payload::read(document.root()).unwrap();
    read(Scope::of(&payload.request, settings))
}

/// The workload of a request that is in scope.
fn with_workload<T>(request: &Value, read: impl FnOnce(Workload<'_>) -> T) -> T {
    with_scope(request, |scope| match scope {
        Ok(Scope::In(workload)) => read(workload),
        other => panic!("{other:?}"),
    })
}

/// `in`, or why the request is out of scope.
fn scope(request: &Value) -> String {
    with_scope(request, |scope| match scope {
        Ok(Scope::In(_)) => "in".to_owned(),
        Ok(Scope::Out(reason)) => reason.to_string(),
        Err(mismatch) => mismatch.to_string(),
    })
}

fn pod_spec() -> Value {
    json!({"containers": [{"name": "app", "image": "app:1"}]})
}

fn pod(metadata: Value) -> Value {
    json!({"metadata": metadata, "spec": pod_spec()})
}

fn workload(metadata: Value, template_spec: Value) -> Value {
    json!({"metadata": metadata, "spec": {"replicas": 1, "template": {"spec": template_spec}}})
}

#[rstest]
#[case::pod("", "Pod", pod(json!({})))]
#[case::replication_controller("", "ReplicationController", workload(json!({}), pod_spec()))]
#[case::deployment("apps", "Deployment", workload(json!({}), pod_spec()))]
#[case::replica_set("apps", "ReplicaSet", workload(json!({}), pod_spec()))]
#[case::stateful_set("apps", "StatefulSet", workload(json!({}), pod_spec()))]
#[case::daemon_set("apps", "DaemonSet", workload(json!({}), pod_spec()))]
#[case::job("batch", "Job", workload(json!({}), pod_spec()))]
#[case::cron_job("batch", "CronJob", json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": pod_spec()}}}}}))]
fn the_pod_template_of_every_kind_is_found(
    #[case] group: &str,
    #[case] kind: &str,
    #[case] object: Value,
) {
    with_workload(&request((group, kind), "CREATE", object), |workload| {
        assert_eq!(workload.kind.name(), kind);
        let containers = workload.template.get("spec").unwrap().get("containers");
        assert_eq!(containers.unwrap().elements().count(), 1);
    });
}

#[rstest]
#[case::deletion("DELETE", "not a creation or an update")]
#[case::connect("CONNECT", "not a creation or an update")]
#[case::update_of_a_pod("UPDATE", "its placement is immutable")]
#[case::creation("CREATE", "in")]
fn operations_other_than_creation_leave_a_pod_alone(
    #[case] operation: &str,
    #[case] expected: &str,
) {
    assert_eq!(
        scope(&request(("", "Pod"), operation, pod(json!({})))),
        expected
    );
}

#[rstest]
#[case::another_kind("", "Service")]
#[case::another_group("example.com", "Pod")]
#[case::a_deployment_of_another_group("extensions", "Deployment")]
#[case::no_kind("", "")]
fn other_kinds_are_out_of_scope(#[case] group: &str, #[case] kind: &str) {
    let request = request((group, kind), "CREATE", pod(json!({})));
    assert_eq!(scope(&request), "not a kind with a Pod");
}

#[rstest]
#[case::subresource("subResource", json!("status"), "a subresource")]
#[case::empty_subresource("subResource", json!(""), "in")]
#[case::no_object("object", json!(null), "no object")]
#[case::null_kind("kind", json!(null), "not a kind with a Pod")]
#[case::object_of_another_type("object", json!("pod"), "object: expected an object, got a string")]
#[case::spec_of_another_type("object", json!({"spec": []}), "spec: expected an object, got a list")]
#[case::no_spec("object", json!({"spec": null}), "no Pod spec")]
#[case::null_metadata("object", json!({"metadata": null, "spec": {"containers": []}}), "in")]
fn a_field_of_the_request_decides(
    #[case] field: &str,
    #[case] value: Value,
    #[case] expected: &str,
) {
    let mut request = request(("", "Pod"), "CREATE", pod(json!({})));
    request[field] = value;
    assert_eq!(scope(&request), expected);
}

#[rstest]
#[case::being_deleted(json!({"deletionTimestamp": "2024-01-01T00:00:00Z"}), "being deleted")]
#[case::null_deletion_timestamp(json!({"deletionTimestamp": null}), "in")]
#[case::of_a_daemon_set(json!({"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "controller": true}]}), "a Pod of a DaemonSet")]
#[case::of_a_foreign_daemon_set(json!({"ownerReferences": [{"apiVersion": "apps.kruise.io/v1", "kind": "DaemonSet", "controller": true}]}), "in")]
#[case::of_a_daemon_set_that_is_no_controller(json!({"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet"}]}), "in")]
#[case::of_a_replica_set(json!({"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true}]}), "in")]
#[case::of_nobody(json!({"ownerReferences": null}), "in")]
fn the_metadata_of_a_pod_decides(#[case] metadata: Value, #[case] expected: &str) {
    assert_eq!(
        scope(&request(("", "Pod"), "CREATE", pod(metadata))),
        expected
    );
}

#[rstest]
#[case::replica_set_of_a_deployment("apps", "ReplicaSet", json!(true), "owned by a controller")]
#[case::job_of_a_cron_job("batch", "Job", json!(true), "owned by a controller")]
#[case::owner_that_controls_nothing("apps", "ReplicaSet", json!(false), "in")]
#[case::owner_that_does_not_say("apps", "ReplicaSet", json!(null), "in")]
fn what_a_controller_made_is_out_of_scope(
    #[case] group: &str,
    #[case] kind: &str,
    #[case] controller: Value,
    #[case] expected: &str,
) {
    let owner = json!([{"apiVersion": "v1", "kind": "Any", "controller": controller}]);
    let object = workload(json!({"ownerReferences": owner}), pod_spec());
    assert_eq!(scope(&request((group, kind), "CREATE", object)), expected);
}

#[rstest]
#[case::set("node-1", "spec.nodeName is set")]
#[case::empty("", "in")]
fn a_pod_on_its_node_is_out_of_scope(#[case] node: &str, #[case] expected: &str) {
    let mut spec = pod_spec();
    spec["nodeName"] = json!(node);
    let object = workload(json!({}), spec);
    assert_eq!(
        scope(&request(("apps", "Deployment"), "CREATE", object)),
        expected
    );
}

#[rstest]
#[case::scale(json!({"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 9, "template": {"spec": pod_spec()}}}), "its Pod template is unchanged")]
#[case::another_image(json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:2"}]}}}}), "in")]
#[case::another_order_of_keys(json!({"spec": {"template": {"spec": {"containers": [{"image": "app:1", "name": "app"}]}}}}), "its Pod template is unchanged")]
#[case::no_old_object(json!(null), "in")]
#[case::old_object_without_a_template(json!({"spec": {}}), "in")]
fn an_update_counts_only_if_the_pod_template_changes(
    #[case] old_object: Value,
    #[case] expected: &str,
) {
    let object = workload(json!({}), pod_spec());
    let mut request = request(("apps", "Deployment"), "UPDATE", object);
    request["oldObject"] = old_object;
    assert_eq!(scope(&request), expected);
}

#[rstest]
#[case::running(json!({"suspend": false}), json!({}), false)]
#[case::never_said(json!({}), json!({}), false)]
#[case::suspended(json!({"suspend": true}), json!({}), true)]
#[case::suspended_after_it_ran(json!({"suspend": true}), json!({"startTime": "2026-01-01T00:00:00Z"}), false)]
fn the_template_of_a_job_is_open_only_while_it_never_ran(
    #[case] spec: Value,
    #[case] status: Value,
    #[case] is_open: bool,
) {
    let mut request = request(("batch", "Job"), "UPDATE", workload(json!({}), pod_spec()));
    let mut old = json!({"spec": spec, "status": status});
    old["spec"]["template"] = json!({"spec": {"containers": []}});
    request["oldObject"] = old;
    with_workload(&request, |workload| assert_eq!(workload.is_open, is_open));
    request["operation"] = json!("CREATE");
    with_workload(&request, |workload| assert!(workload.is_open));
}

#[rstest]
#[case::job("Job", json!({"suspend": true, "template": {"spec": pod_spec()}}), true)]
#[case::running_job("Job", json!({"template": {"spec": pod_spec()}}), false)]
#[case::cron_job_that_makes_suspended_jobs("CronJob", json!({"jobTemplate": {"spec": {"suspend": true, "template": {"spec": pod_spec()}}}}), true)]
#[case::suspended_cron_job("CronJob", json!({"suspend": true, "jobTemplate": {"spec": {"template": {"spec": pod_spec()}}}}), false)]
fn a_suspended_job_may_be_placed_by_a_queue(
    #[case] kind: &str,
    #[case] spec: Value,
    #[case] suspended: bool,
) {
    let request = request(("batch", kind), "CREATE", json!({"spec": spec}));
    with_workload(&request, |workload| {
        assert_eq!(workload.is_suspended, suspended)
    });
}

#[rstest]
#[case::rollout("argoproj.io", "Rollout", json!({"spec": {"template": {"spec": pod_spec()}}}), "in")]
#[case::elsewhere("example.com", "Worker", json!({"spec": {"pod-template": {"spec": pod_spec()}}}), "in")]
#[case::another_group("example.com", "Rollout", json!({"spec": {"template": {"spec": pod_spec()}}}), "not a kind with a Pod")]
#[case::reference("argoproj.io", "Rollout", json!({"spec": {"workloadRef": {"name": "web"}}}), "no Pod template")]
#[case::owned("argoproj.io", "Rollout", json!({"metadata": {"ownerReferences": [{"controller": true}]}, "spec": {"template": {"spec": pod_spec()}}}), "owned by a controller")]
#[case::of_another_type("example.com", "Worker", json!({"spec": {"pod-template": [1]}}), "spec.pod-template: expected an object, got a list")]
fn the_settings_add_kinds(
    #[case] group: &str,
    #[case] kind: &str,
    #[case] object: Value,
    #[case] expected: &str,
) {
    let settings = json!({"workloads": [
        {"group": "argoproj.io", "kind": "Rollout", "template": "spec.template"},
        {"group": "example.com", "kind": "Worker", "template": "spec.pod-template"},
    ]});
    let settings = Settings::parse(&settings.to_string()).unwrap();
    let request = request((group, kind), "CREATE", object);
    with_scope_by(&settings, &request, |scope| {
        let scope = match scope {
            Ok(Scope::In(workload)) => {
                assert_eq!(workload.kind.name(), kind);
                "in".to_owned()
            }
            Ok(Scope::Out(reason)) => reason.to_string(),
            Err(mismatch) => mismatch.to_string(),
        };
        assert_eq!(scope, expected);
    });
}

#[rstest]
#[case::none(json!({"replicas": 1}), "no Pod template")]
#[case::null(json!({"template": null}), "no Pod template")]
#[case::of_another_type(json!({"template": 3}), "spec.template: expected an object, got a number")]
#[case::without_a_spec(json!({"template": {"metadata": {}}}), "no Pod spec")]
fn a_workload_needs_a_pod_template(#[case] spec: Value, #[case] expected: &str) {
    let request = request(("apps", "Deployment"), "CREATE", json!({"spec": spec}));
    assert_eq!(scope(&request), expected);
}

#[rstest]
#[case::of_the_request(json!("team-a"), json!({"namespace": "other"}), "team-a")]
#[case::of_the_object(json!(null), json!({"namespace": "team-b"}), "team-b")]
#[case::nowhere(json!(null), json!({}), "")]
fn the_namespace_is_that_of_the_request(
    #[case] of_request: Value,
    #[case] metadata: Value,
    #[case] expected: &str,
) {
    let mut request = request(("", "Pod"), "CREATE", pod(metadata));
    request["namespace"] = of_request;
    with_workload(&request, |workload| {
        assert_eq!(workload.namespace, expected)
    });
}
