use super::*;

/// An object that holds a Pod; `owner` is what made it, `(apiVersion, kind, name)`.
fn object(api_version: &str, kind: &str, name: &str, owner: Option<(&str, &str, &str)>) -> Value {
    let spec = json!({"containers": [{"image": "a"}], "nodeName": "n"});
    let mut object = json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"namespace": "x", "name": name},
        "status": {}
    });
    if let Some((api_version, kind, name)) = owner {
        object["metadata"]["ownerReferences"] =
            json!([{"apiVersion": api_version, "kind": kind, "name": name, "controller": true}]);
    }
    match kind {
        "Pod" => object["spec"] = spec,
        "CronJob" => object["spec"]["jobTemplate"]["spec"]["template"]["spec"] = spec,
        "JobSet" => {
            object["spec"]["replicatedJobs"] = json!([
                {"replicas": 2, "template": {"spec": {"parallelism": 3, "template": {"spec": spec}}}},
                {"template": {"spec": {"template": {"spec": {"containers": [{"image": "b"}]}}}}}
            ]);
        }
        _ => object["spec"]["template"]["spec"] = spec,
    }
    object
}

fn labelled(mut object: Value, key: &str, value: &str) -> Value {
    object["metadata"]["labels"][key] = json!(value);
    object
}

fn rows(documents: Vec<Value>) -> Vec<String> {
    let fleet = Fleet::of(documents, &Value::Null);
    let workloads = fleet.workloads.iter();
    workloads
        .map(|workload| format!("{} {}", workload.kind, workload.name))
        .collect()
}

fn only(documents: Vec<Value>) -> Workload {
    let mut fleet = Fleet::of(documents, &Value::Null);
    assert_eq!(fleet.workloads.len(), 1, "{fleet:?}");
    fleet.workloads.remove(0)
}

#[test]
fn lists_are_opened_with_kinds_and_without() {
    let mut bare = object("v1", "Pod", "b", None);
    bare.as_object_mut().unwrap().remove("kind");
    bare.as_object_mut().unwrap().remove("apiVersion");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [
        object("v1", "Pod", "a", None),
        {"apiVersion": "v1", "kind": "PodList", "items": [bare]},
    ]});
    let raw = json!({"items": [object("batch/v1", "CronJob", "c", None)]});
    assert_eq!(
        rows(vec![list, raw, json!([object("v1", "Pod", "d", None)])]),
        ["Pod a", "Pod b", "CronJob c", "Pod d"]
    );
}

#[test]
fn what_is_left_out_is_counted_by_kind() {
    let mut ended = object("v1", "Pod", "done", None);
    ended["status"]["phase"] = json!("Succeeded");
    let unknown = json!({"apiVersion": "example.com/v1", "kind": "Game", "spec": {"pod": {"containers": []}}});
    let service = json!({"apiVersion": "v1", "kind": "Service"});
    let empty = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}});
    let fleet = Fleet::of(
        vec![
            ended,
            unknown,
            service.clone(),
            service,
            empty,
            json!({"a": 1}),
        ],
        &Value::Null,
    );
    assert_eq!(fleet.workloads, []);
    assert_eq!(
        fleet.skipped,
        BTreeMap::from([
            (Skipped::EndedPods, 1),
            (Skipped::UnknownKind("Game.example.com".to_owned()), 1),
            (Skipped::WithoutPods("Service".to_owned()), 2),
            (Skipped::WithoutSpec("Deployment.apps".to_owned()), 1),
            (Skipped::NoObjects, 1),
        ])
    );
}

#[test]
fn what_a_listed_controller_made_counts_with_it() {
    let replica_set = ("apps/v1", "ReplicaSet", "web-5d9c");
    let documents = vec![
        object("apps/v1", "Deployment", "web", None),
        object(
            "apps/v1",
            "ReplicaSet",
            "web-5d9c",
            Some(("apps/v1", "Deployment", "web")),
        ),
        object("v1", "Pod", "web-5d9c-x", Some(replica_set)),
        object("batch/v1", "CronJob", "nightly", None),
        object(
            "batch/v1",
            "Job",
            "nightly-28900000",
            Some(("batch/v1", "CronJob", "nightly")),
        ),
        object(
            "v1",
            "Pod",
            "nightly-y",
            Some(("batch/v1", "Job", "nightly-28900000")),
        ),
        object("apps/v1", "DaemonSet", "agent", None),
        object(
            "v1",
            "Pod",
            "agent-z",
            Some(("apps/v1", "DaemonSet", "agent")),
        ),
    ];
    assert_eq!(
        rows(documents),
        ["Deployment web", "CronJob nightly", "DaemonSet agent"]
    );
}

#[test]
fn a_name_alone_makes_nobody_an_owner() {
    let pod = object(
        "v1",
        "Pod",
        "web-canary-x",
        Some(("apps/v1", "ReplicaSet", "web-canary")),
    );
    let deployment = object("apps/v1", "Deployment", "web", None);
    assert_eq!(
        rows(vec![deployment.clone(), pod]),
        ["Deployment web", "ReplicaSet web-canary"]
    );
    let job = object(
        "v1",
        "Pod",
        "import-2024-x",
        Some(("batch/v1", "Job", "import-2024")),
    );
    let cron_job = object("batch/v1", "CronJob", "import", None);
    assert_eq!(
        rows(vec![cron_job, job]),
        ["CronJob import", "Job import-2024"]
    );
    let other = object(
        "v1",
        "Pod",
        "p",
        Some(("apps.kruise.io/v1", "StatefulSet", "db")),
    );
    let stateful_set = object("apps/v1", "StatefulSet", "db", None);
    assert_eq!(
        rows(vec![stateful_set, other]),
        ["StatefulSet db", "StatefulSet db"]
    );
}

#[test]
fn a_hash_or_the_number_of_a_cron_job_tells_the_owner_of_an_owner() {
    let pod = object(
        "v1",
        "Pod",
        "web-5d9c-x",
        Some(("apps/v1", "ReplicaSet", "web-5d9c")),
    );
    let pod = labelled(pod, "pod-template-hash", "5d9c");
    let deployment = object("apps/v1", "Deployment", "web", None);
    assert_eq!(rows(vec![deployment, pod.clone()]), ["Deployment web"]);
    assert_eq!(rows(vec![pod]), ["Deployment web"]);
    let pod = object(
        "v1",
        "Pod",
        "api-77-x",
        Some(("apps/v1", "ReplicaSet", "api-77")),
    );
    let pod = labelled(pod, "rollouts-pod-template-hash", "77");
    assert_eq!(rows(vec![pod]), ["Rollout api"]);
    let pod = object(
        "v1",
        "Pod",
        "n-x",
        Some(("batch/v1", "Job", "nightly-28900000")),
    );
    let cron_job = object("batch/v1", "CronJob", "nightly", None);
    assert_eq!(rows(vec![cron_job, pod.clone()]), ["CronJob nightly"]);
    assert_eq!(rows(vec![pod]), ["Job nightly-28900000"]);
}

#[test]
fn a_uid_says_more_than_a_name() {
    let mut deployment = object("apps/v1", "Deployment", "web", None);
    deployment["metadata"]["uid"] = json!("1");
    let mut replica_set = object(
        "apps/v1",
        "ReplicaSet",
        "web-5d9c",
        Some(("apps/v1", "Deployment", "web")),
    );
    let with_uid = |object: &mut Value, uid: &str| {
        object["metadata"]["ownerReferences"][0]["uid"] = json!(uid);
    };
    with_uid(&mut replica_set, "1");
    assert_eq!(
        rows(vec![deployment.clone(), replica_set.clone()]),
        ["Deployment web"]
    );
    // One of that name that was there before.
    with_uid(&mut replica_set, "0");
    assert_eq!(
        rows(vec![deployment, replica_set]),
        ["Deployment web", "Deployment web"]
    );
}

#[test]
fn pods_of_a_controller_that_was_not_given_are_one_row() {
    let of = |name: &str| {
        let owner = Some(("apps/v1", "StatefulSet", "db"));
        let mut pod = object("v1", "Pod", name, owner);
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("1");
        pod
    };
    let workload = only(vec![of("db-0"), of("db-1"), of("db-2")]);
    assert_eq!(
        (workload.kind.as_str(), workload.replicas),
        ("StatefulSet", 3)
    );
    assert_eq!(workload.requests.cpu_millicores, 3_000);
}

#[test]
fn what_an_operator_made_stands_for_itself() {
    let by = Some(("example.com/v1", "Database", "orders"));
    let stateful_set = object("apps/v1", "StatefulSet", "orders-db", by);
    let pod = object("v1", "Pod", "orders-job", by);
    assert_eq!(
        rows(vec![stateful_set, pod]),
        ["StatefulSet orders-db", "Database orders"]
    );
}

#[test]
fn an_object_that_was_given_twice_counts_once() {
    let mut deployment = object("apps/v1", "Deployment", "web", None);
    deployment["metadata"]["uid"] = json!("1");
    let mut old = deployment.clone();
    old["apiVersion"] = json!("extensions/v1beta1");
    assert_eq!(rows(vec![deployment, old]), ["Deployment web"]);
}

#[test]
fn pods_that_want_other_nodes_than_their_siblings_are_templates_of_their_own() {
    let of = |name: &str, image: &str, architecture: Option<&str>| {
        let mut pod = object(
            "v1",
            "Pod",
            name,
            Some(("argoproj.io/v1alpha1", "Workflow", "w")),
        );
        pod["spec"]["containers"][0]["image"] = json!(image);
        if let Some(architecture) = architecture {
            pod["spec"]["nodeSelector"] = json!({"kubernetes.io/arch": architecture});
        }
        pod
    };
    let workload = only(vec![
        of("w-1", "a", None),
        of("w-2", "b", Some("amd64")),
        of("w-3", "c", None),
    ]);
    assert_eq!((workload.specs.len(), workload.replicas), (2, 3));
    assert_eq!(workload.images.len(), 3);
}

#[test]
fn a_service_of_knative_is_found_by_the_label_of_what_it_made() {
    let mut service = object("serving.knative.dev/v1", "Service", "hello", None);
    service["metadata"]["uid"] = json!("s");
    let revision = Some(("serving.knative.dev/v1", "Revision", "hello-00001"));
    let deployment = object("apps/v1", "Deployment", "hello-00001-deployment", revision);
    let deployment = labelled(deployment, "serving.knative.dev/service", "hello");
    assert_eq!(rows(vec![service, deployment]), ["Service hello"]);
}

#[test]
fn odd_types_and_huge_numbers_are_borne() {
    let mut pod = object("v1", "Pod", "a", None);
    pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        json!({"nodeSelectorTerms": ["x", null, {"matchFields": "y"}]});
    pod["spec"]["initContainers"] = json!("x");
    let mut deployment = object("apps/v1", "Deployment", "d", None);
    deployment["spec"]["replicas"] = json!(u64::MAX);
    deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] =
        json!("9000000000000000");
    let fleet = Fleet::of(vec![pod, deployment], &Value::Null);
    assert_eq!(fleet.workloads.len(), 2);
    assert_eq!(fleet.workloads[1].replicas, 2_147_483_647);
}

#[test]
fn static_pods_are_rows_of_their_own() {
    let of = |name: &str, node: &str| object("v1", "Pod", name, Some(("v1", "Node", node)));
    assert_eq!(
        rows(vec![of("kube-proxy-n1", "n1"), of("kube-proxy-n2", "n2")]),
        ["Pod kube-proxy-n1", "Pod kube-proxy-n2"]
    );
}

#[test]
fn the_pods_of_a_workload_count_in_place_of_its_template_and_bring_their_images() {
    let mut deployment = object("apps/v1", "Deployment", "web", None);
    deployment["spec"]["replicas"] = json!(10);
    let pod = |name: &str| {
        let mut pod = object("v1", "Pod", name, Some(("apps/v1", "Deployment", "web")));
        pod["spec"]["containers"] = json!([
            {"image": "a", "resources": {"requests": {"cpu": "1"}}},
            {"image": "injected", "resources": {"requests": {"cpu": "500m"}}}
        ]);
        pod
    };
    let workload = only(vec![deployment, pod("p"), pod("q")]);
    let images: Vec<&str> = workload
        .images
        .iter()
        .map(|used| used.image.as_str())
        .collect();
    assert_eq!(images, ["a", "injected"]);
    assert_eq!(
        (workload.replicas, workload.requests.cpu_millicores),
        (2, 3_000)
    );
}

#[test]
fn what_does_not_run_requests_nothing() {
    let requesting = |mut object: Value, path: &str, value: Value| {
        for template in [
            "/spec/template/spec",
            "/spec/jobTemplate/spec/template/spec",
        ] {
            if let Some(spec) = object.pointer_mut(template) {
                spec["containers"][0]["resources"]["requests"]["cpu"] = json!("1");
            }
        }
        let (parent, key) = path.rsplit_once('/').unwrap();
        object.pointer_mut(parent).unwrap()[key] = value;
        let workload = only(vec![object]);
        (workload.replicas, workload.requests.cpu_millicores)
    };
    let deployment = || object("apps/v1", "Deployment", "d", None);
    assert_eq!(
        requesting(deployment(), "/spec/replicas", json!(3)),
        (3, 3_000)
    );
    assert_eq!(requesting(deployment(), "/spec/replicas", json!(0)), (0, 0));
    let cron_job = || object("batch/v1", "CronJob", "c", None);
    assert_eq!(requesting(cron_job(), "/spec/suspend", json!(true)), (0, 0));
    assert_eq!(
        requesting(cron_job(), "/spec/suspend", json!(false)),
        (1, 1_000)
    );
    let job = || object("batch/v1", "Job", "j", None);
    assert_eq!(
        requesting(job(), "/spec/parallelism", json!(10)),
        (10, 10_000)
    );
    let few = json!({"completions": 3, "parallelism": 10, "template": job()["spec"]["template"]});
    assert_eq!(requesting(job(), "/spec", few).0, 3);
    let ended = json!([{"type": "Complete", "status": "True"}]);
    let job = object("batch/v1", "Job", "j", None);
    assert_eq!(requesting(job, "/status/conditions", ended), (0, 0));
}

#[test]
fn other_kinds_are_read_as_the_pods_that_they_make() {
    for (api_version, kind) in [
        ("extensions/v1beta1", "Deployment"),
        ("argoproj.io/v1alpha1", "Rollout"),
        ("apps.kruise.io/v1alpha1", "CloneSet"),
        ("apps.kruise.io/v1beta1", "StatefulSet"),
        ("apps.kruise.io/v1alpha1", "DaemonSet"),
        ("apps.openshift.io/v1", "DeploymentConfig"),
        ("serving.knative.dev/v1", "Service"),
    ] {
        let workload = only(vec![object(api_version, kind, "it", None)]);
        assert_eq!(
            (workload.kind.as_str(), workload.name.as_str()),
            (kind, "it")
        );
        assert_eq!(workload.objects[0]["kind"], "Pod");
        assert_eq!(workload.images[0].image, "a");
    }
}

#[test]
fn labels_are_those_of_a_workload_and_then_those_of_its_pods() {
    let mut deployment = labelled(object("apps/v1", "Deployment", "web", None), "team", "own");
    deployment["spec"]["template"]["metadata"]["labels"] = json!({"team": "pods", "tier": "front"});
    let labels = only(vec![deployment]).labels;
    assert_eq!(labels["team"], "own");
    assert_eq!(labels["tier"], "front");
}

#[test]
fn a_job_set_has_a_template_for_each_of_its_jobs() {
    let workload = only(vec![object(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "train",
        None,
    )]);
    assert_eq!(workload.replicas, 2 * 3 + 1);
    assert_eq!(workload.specs.len(), 2);
    assert_eq!(workload.images.len(), 2);
}

#[test]
fn a_rollout_takes_the_template_that_it_refers_to() {
    let mut rollout = object("argoproj.io/v1alpha1", "Rollout", "web", None);
    rollout["spec"] = json!({"replicas": 4, "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "base"}});
    let mut deployment = object("apps/v1", "Deployment", "base", None);
    deployment["spec"]["replicas"] = json!(0);
    let workload = only(vec![rollout.clone(), deployment]);
    assert_eq!((workload.kind.as_str(), workload.replicas), ("Rollout", 4));
    let mut pod = object(
        "v1",
        "Pod",
        "p",
        Some(("argoproj.io/v1alpha1", "Rollout", "web")),
    );
    pod["spec"]["containers"][0]["image"] = json!("of-the-pod");
    let workload = only(vec![rollout.clone(), pod]);
    assert_eq!((workload.kind.as_str(), workload.replicas), ("Rollout", 1));
    assert_eq!(workload.images[0].image, "of-the-pod");
    let fleet = Fleet::of(vec![rollout], &Value::Null);
    assert_eq!(
        fleet.skipped,
        BTreeMap::from([(Skipped::WithoutSpec("Rollout.argoproj.io".to_owned()), 1)])
    );
}

#[test]
fn what_the_cluster_added_is_taken_away() {
    let pod = only(vec![object("v1", "Pod", "a", Some(("v1", "Node", "n")))]);
    assert_eq!(
        pod.objects,
        [
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "x", "name": "a"}, "spec": {"containers": [{"image": "a"}]}})
        ]
    );
}

#[test]
fn the_node_that_a_daemon_set_chose_for_a_pod_is_no_wish_of_its_own() {
    let mut pod = object(
        "v1",
        "Pod",
        "agent-x",
        Some(("apps/v1", "DaemonSet", "agent")),
    );
    pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!({
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    });
    let workload = only(vec![pod]);
    assert_eq!(workload.kind, "DaemonSet");
    let text = workload.specs[0].to_string();
    assert!(!text.contains("n1"), "{text}");
}

#[test]
fn an_image_is_never_pulled_only_if_no_container_pulls_it() {
    let mut pod = object("v1", "Pod", "a", None);
    pod["spec"]["containers"] = json!([
        {"image": "a", "imagePullPolicy": "Never"},
        {"image": "b", "imagePullPolicy": "Never"},
        {"image": "b"}
    ]);
    pod["spec"]["volumes"] = json!([{"image": {"reference": "data"}}]);
    let of = |image: &str, is_never_pulled: bool, is_mounted: bool| ImageUse {
        image: image.to_owned(),
        is_never_pulled,
        is_mounted,
        has_runtime_class: false,
        is_for_windows: false,
    };
    assert_eq!(
        only(vec![pod]).images,
        [
            of("a", true, false),
            of("b", false, false),
            of("data", false, true)
        ]
    );
}

#[test]
fn the_settings_add_kinds_that_count_their_replicas_and_own_what_names_them() {
    let settings = json!({"workloads": [
        {"group": "example.com", "kind": "Game", "template": "spec.pod-template"},
        {"group": "argoproj.io", "kind": "Rollout", "template": "spec.template"},
    ]});
    let spec = json!({"containers": [{"name": "a", "image": "of-the-game"}]});
    let game = json!({
        "apiVersion": "example.com/v1",
        "kind": "Game",
        "metadata": {"name": "chess"},
        "spec": {"replicas": 3, "pod-template": {"spec": spec}},
    });
    let fleet = Fleet::of(vec![game.clone()], &settings);
    let [workload] = fleet.workloads.as_slice() else {
        panic!("{fleet:?}");
    };
    assert_eq!((workload.kind.as_str(), workload.replicas), ("Game", 3));
    // The policy is asked about the object itself, and no longer about a Pod like its Pods.
    assert_eq!(workload.objects, std::slice::from_ref(&game));
    let fleet = Fleet::of(vec![game], &Value::Null);
    assert_eq!(fleet.workloads, []);
    let rollout = object("argoproj.io/v1alpha1", "Rollout", "web", None);
    let fleet = Fleet::of(vec![rollout], &settings);
    assert_eq!(fleet.workloads[0].objects[0]["kind"], "Rollout");
}
