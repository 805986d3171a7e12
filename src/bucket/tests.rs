use node_architecture_json::Document;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use serde_json::{Value, json};

use super::*;
use crate::{
    request::Payload,
    scope::{Scope, Workload},
    settings::Settings,
};

/// What `read` makes of the workload that `object` is on its creation.
fn with_workload<T>(
    (group, kind): (&str, &str),
    object: &Value,
    read: impl FnOnce(&Workload<'_>) -> T,
) -> T {
    let settings = json!({"workloads": [
        {"group": "argoproj.io", "kind": "Rollout", "template": "spec.template"}
    ]});
    let settings = Settings::parse(&settings.to_string()).unwrap();
    let payload = json!({"request": {
        "operation": "CREATE",
        "namespace": "shop",
        "kind": {"group": group, "kind": kind},
        "object": object,
    }});
    let payload = payload.to_string();
    let document = Document::parse(&payload).unwrap();
    let payload = Payload::read(document.root()).unwrap();
    match Scope::of(&payload.request, &settings) {
        Ok(Scope::In(workload)) => read(&workload),
        other => panic!("{other:?}"),
    }
}

fn bucket_of(kind: (&str, &str), object: &Value) -> u8 {
    with_workload(kind, object, bucket)
}

fn name_of(kind: (&str, &str), object: &Value) -> String {
    with_workload(kind, object, name)
}

fn spec() -> Value {
    json!({"containers": [{"name": "app", "image": "app:1"}]})
}

/// A Pod of a controller.
fn pod_of((version, kind, name): (&str, &str, &str), labels: &Value) -> Value {
    let owner = json!({"apiVersion": version, "kind": kind, "name": name, "controller": true});
    json!({
        "metadata": {"generateName": format!("{name}-"), "labels": labels, "ownerReferences": [owner]},
        "spec": spec(),
    })
}

fn object_with(metadata: Value, labels: &Value) -> Value {
    json!({
        "metadata": metadata,
        "spec": {"template": {"metadata": {"labels": labels}, "spec": spec()}},
    })
}

const POD: (&str, &str) = ("", "Pod");
const JOB: (&str, &str) = ("batch", "Job");
const REPLICA_SET: (&str, &str) = ("apps", "ReplicaSet");

#[test]
fn the_bucket_is_the_hash_of_namespace_and_name_modulo_100() {
    let object = object_with(json!({"name": "web"}), &json!({}));
    let expected = u8::try_from(fnv1a("shop/web") % 100).unwrap();
    assert_eq!(bucket_of(("apps", "Deployment"), &object), expected);
}

#[test]
fn a_template_and_its_pods_agree_for_every_kind() {
    let none = json!({});
    let hash = json!({"pod-template-hash": "5d4f9c7b8"});
    let rollout = json!({"rollouts-pod-template-hash": "687d76d795"});
    for (kind, name, owner, labels) in [
        (
            ("apps", "Deployment"),
            "web",
            ("apps/v1", "ReplicaSet", "web-5d4f9c7b8"),
            &hash,
        ),
        (
            ("argoproj.io", "Rollout"),
            "web",
            ("apps/v1", "ReplicaSet", "web-687d76d795"),
            &rollout,
        ),
        (
            ("apps", "StatefulSet"),
            "db-12345678",
            ("apps/v1", "StatefulSet", "db-12345678"),
            &none,
        ),
        (
            ("", "ReplicationController"),
            "old",
            ("v1", "ReplicationController", "old"),
            &none,
        ),
        (
            ("batch", "CronJob"),
            "report",
            ("batch/v1", "Job", "report-29384710"),
            &none,
        ),
        (
            JOB,
            "import-20261204",
            ("batch/v1", "Job", "import-20261204"),
            &none,
        ),
        (JOB, "import-7", ("batch/v1", "Job", "import-7"), &none),
        (
            REPLICA_SET,
            "web-5d4f9c7b8",
            ("apps/v1", "ReplicaSet", "web-5d4f9c7b8"),
            &hash,
        ),
        (
            REPLICA_SET,
            "web-12345678",
            ("apps/v1", "ReplicaSet", "web-12345678"),
            &none,
        ),
    ] {
        let template = match kind.1 {
            "CronJob" => json!({
                "metadata": {"name": name},
                "spec": {"jobTemplate": {"spec": {"template": {"spec": spec()}}}},
            }),
            _ => object_with(json!({"name": name}), labels),
        };
        let pod = pod_of(owner, labels);
        assert_eq!(
            name_of(kind, &template),
            name_of(POD, &pod),
            "{kind:?} {name}"
        );
    }
}

#[test]
fn a_hash_or_a_number_is_stripped_only_where_it_is_one() {
    let hash = json!({"pod-template-hash": "abc"});
    let of = |owner, labels: &Value| name_of(POD, &pod_of(owner, labels));
    assert_eq!(of(("apps/v1", "ReplicaSet", "web-abc"), &hash), "web");
    assert_eq!(of(("apps/v1", "ReplicaSet", "web-xyz"), &hash), "web-xyz");
    assert_eq!(of(("apps/v1", "ReplicaSet", "webabc"), &hash), "webabc");
    assert_eq!(of(("apps/v1", "ReplicaSet", "abc"), &hash), "abc");
    assert_eq!(of(("other/v1", "ReplicaSet", "web-abc"), &hash), "web-abc");
    assert_eq!(of(("batch/v1", "Job", "a-1234567"), &hash), "a-1234567");
    assert_eq!(of(("batch/v1", "Job", "a-12345678"), &hash), "a");
    assert_eq!(of(("batch/v1", "Job", "a-1234567x"), &hash), "a-1234567x");
    assert_eq!(
        of(("apps.kruise.io/v1", "CloneSet", "a-12345678"), &hash),
        "a-12345678"
    );
    // A reference that controls nothing tells no name.
    let mut pod = pod_of(("batch/v1", "Job", "a"), &hash);
    pod["metadata"]["ownerReferences"][0]["controller"] = json!(false);
    assert_eq!(name_of(POD, &pod), "a-");
}

#[test]
fn without_a_controller_what_a_name_is_generated_from_counts_else_the_name() {
    let named = json!({"metadata": {"name": "a-12345678"}, "spec": spec()});
    assert_eq!(name_of(POD, &named), "a-12345678");
    let both = json!({"metadata": {"name": "a-x7k2p", "generateName": "a-"}, "spec": spec()});
    assert_eq!(name_of(POD, &both), "a-");
    let job = object_with(json!({"name": "a-x7k2p", "generateName": "a-"}), &json!({}));
    assert_eq!(name_of(JOB, &job), "a-");
    assert_eq!(name_of(POD, &json!({"spec": spec()})), "");
}

#[test]
fn a_share_of_random_workloads_is_that_percentage_and_grows() {
    let mut runner = TestRunner::deterministic();
    let names = proptest::collection::vec("[a-z]{1,3}(-[a-z0-9]{1,12}){0,3}", 10_000);
    let names = names.new_tree(&mut runner).unwrap().current();
    let buckets: Vec<u8> = names
        .iter()
        .map(|name| {
            bucket_of(
                ("apps", "Deployment"),
                &object_with(json!({"name": name}), &json!({})),
            )
        })
        .collect();
    let of = |share: u8| buckets.iter().filter(|bucket| **bucket < share).count();
    for share in 0..=100 {
        let percent = f64::from(u32::try_from(of(share)).unwrap()) / 100.0;
        assert!(
            (percent - f64::from(share)).abs() <= 2.0,
            "{share}: {percent}"
        );
    }
}
