//! The report on a fleet that is large enough to be wrong in: what every output says equals what the test knows of the
//! fleet that it made.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // Tests may fail by panicking.

use std::collections::{BTreeMap, HashMap};

use node_architecture_harness::{
    capabilities::Lookup,
    engine::Deadline,
    fleet::Fleet,
    report::{Format, Report, Status, View, report},
};
use serde_json::{Value, json};

mod common;

/// An API version and a kind.
type Gvk = (&'static str, &'static str);

/// The kinds of controllers, with what makes their Pods: themselves, or what stands between.
const KINDS: [(&str, &str, Option<Gvk>); 6] = [
    ("apps/v1", "Deployment", Some(("apps/v1", "ReplicaSet"))),
    ("apps/v1", "StatefulSet", None),
    ("apps/v1", "DaemonSet", None),
    ("batch/v1", "CronJob", Some(("batch/v1", "Job"))),
    (
        "argoproj.io/v1alpha1",
        "Rollout",
        Some(("apps/v1", "ReplicaSet")),
    ),
    ("apps.kruise.io/v1alpha1", "CloneSet", None),
];
const NAMESPACES: u64 = 12;

/// What the test knows of a workload that it made.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Truth {
    status: Status,
    cpu: u128,
    memory: u128,
}

/// A registry, a fleet, and the truth about each workload, by `namespace/kind/name`.
struct World {
    answers: HashMap<String, Result<String, String>>,
    documents: Vec<Value>,
    truths: BTreeMap<String, Truth>,
}

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn index(platforms: &[&str]) -> String {
    let entries: Vec<Value> = platforms
        .iter()
        .enumerate()
        .map(|(number, platform)| {
            let (os, architecture) = platform.split_once('/').unwrap();
            json!({
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "digest": format!("sha256:{number:064}"),
                "size": 1,
                "platform": {"os": os, "architecture": architecture}
            })
        })
        .collect();
    json!({"schemaVersion": 2, "manifests": entries}).to_string()
}

/// The report on `documents` for arm64, where `answer` answers for each image.
fn report_on(
    documents: Vec<Value>,
    settings: &Value,
    answer: impl Fn(&str) -> Result<String, String>,
) -> Report {
    let policy = common::policy(Deadline::default()).unwrap();
    let mut look_up_all = |lookups: Vec<Lookup>, done: &mut dyn FnMut(Lookup, _)| {
        for lookup in lookups {
            let answer = answer(lookup.image());
            done(lookup, answer);
        }
    };
    let fleet = Fleet::of(documents, settings);
    report(&policy, &fleet, settings, "arm64", &mut look_up_all).unwrap()
}

impl World {
    fn new(workloads: u64) -> Self {
        let mut numbers = Numbers(7);
        let mut world = Self {
            answers: HashMap::new(),
            documents: Vec::new(),
            truths: BTreeMap::new(),
        };
        // (name, whether it runs on arm64; `None` where it can't be read)
        let mut images: Vec<(String, Option<bool>)> = Vec::new();
        for number in 0..40 {
            let name = format!("registry.example.com/acme/app{number}:1");
            let (answer, runs) = match number % 8 {
                0 => (Ok(index(&["linux/amd64"])), Some(false)),
                1 => (Err("not authorized".to_owned()), None),
                2 => (Ok(index(&["linux/amd64", "windows/arm64"])), Some(false)),
                3 => (Ok(index(&["linux/arm64"])), Some(true)),
                _ => (
                    Ok(index(&["linux/amd64", "linux/arm64", "linux/s390x"])),
                    Some(true),
                ),
            };
            world.answers.insert(name.clone(), answer);
            images.push((name, runs));
        }
        for number in 0..workloads {
            world.add(number, &images, &mut numbers);
        }
        world
    }

    fn add(&mut self, number: u64, images: &[(String, Option<bool>)], numbers: &mut Numbers) {
        let (api_version, kind, between) = KINDS[usize::try_from(number).unwrap() % KINDS.len()];
        let namespace = format!("team-{}", numbers.below(NAMESPACES));
        let name = format!("w{number}");
        let mut pick = || images[usize::try_from(numbers.below(40)).unwrap()].clone();
        let mut used = vec![pick()];
        if number.is_multiple_of(3) {
            used.push(pick());
        }
        let cpu = 50 * u128::from(1 + numbers.below(8));
        let replicas = numbers.below(5);
        let containers: Vec<Value> = used
            .iter()
            .map(|(image, _)| {
                let requests = json!({"cpu": format!("{cpu}m"), "memory": "64Mi"});
                json!({"name": "it", "image": image, "resources": {"requests": requests}})
            })
            .collect();
        let mut spec = json!({"containers": containers});
        let mut is_pinned = false;
        let mut is_for_windows = false;
        match numbers.below(12) {
            0 => {
                spec["nodeSelector"] = json!({"kubernetes.io/arch": "amd64"});
                is_pinned = true;
            }
            1 => spec["nodeSelector"] = json!({"kubernetes.io/arch": "arm64"}),
            2 => {
                spec["nodeSelector"] = json!({"node.kubernetes.io/instance-type": "m5.large"});
                is_pinned = true;
            }
            3 => spec["nodeSelector"] = json!({"node.kubernetes.io/instance-type": "m7g.large"}),
            4 => {
                let term = json!({"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "NotIn", "values": ["arm64"]}]});
                spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
                    json!({"nodeSelectorTerms": [term]});
                is_pinned = true;
            }
            5 => {
                spec["os"] = json!({"name": "windows"});
                is_for_windows = true;
            }
            _ => {}
        }
        let status = if is_for_windows {
            Status::NotApplicable
        } else if used.iter().any(|(_, runs)| *runs == Some(false)) {
            Status::Blocked
        } else if used.iter().any(|(_, runs)| runs.is_none()) {
            Status::Unknown
        } else if is_pinned {
            Status::Pinned
        } else {
            Status::Ready
        };

        let template = json!({"metadata": {"labels": {"app": name}}, "spec": spec});
        let mut object = json!({
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"namespace": namespace, "name": name, "uid": name},
            "spec": {"replicas": replicas, "template": template}
        });
        let mut pods = match kind {
            "DaemonSet" => {
                object["status"] = json!({"desiredNumberScheduled": replicas});
                replicas
            }
            "CronJob" => {
                object["spec"] = json!({"suspend": replicas == 0, "jobTemplate": {"spec": {"template": template}}});
                u64::from(replicas > 0)
            }
            _ => replicas,
        };
        self.documents.push(object);
        // Some have their Pods with them, one less than they want.
        if number.is_multiple_of(4) && pods > 1 {
            pods -= 1;
            self.add_pods(
                &namespace,
                (api_version, kind, &name),
                between,
                &template,
                pods,
            );
        }
        let all = u128::from(pods) * used.len() as u128;
        let truth = Truth {
            status,
            cpu: cpu * all,
            memory: (64 << 20) * all,
        };
        self.truths
            .insert(format!("{namespace}/{kind}/{name}"), truth);
    }

    fn add_pods(
        &mut self,
        namespace: &str,
        (api_version, kind, name): (&str, &str, &str),
        between: Option<Gvk>,
        template: &Value,
        count: u64,
    ) {
        let reference = |api_version: &str, kind: &str, name: &str| json!([{"apiVersion": api_version, "kind": kind, "name": name, "uid": name, "controller": true}]);
        let mut owners = reference(api_version, kind, name);
        if let Some((of, what)) = between {
            let made = format!("{name}-5d9c");
            let metadata = json!({"namespace": namespace, "name": made, "uid": made, "ownerReferences": owners});
            let spec = json!({"replicas": count, "template": template});
            self.documents
                .push(json!({"apiVersion": of, "kind": what, "metadata": metadata, "spec": spec}));
            owners = reference(of, what, &made);
        }
        for number in 0..=count {
            let metadata = json!({"namespace": namespace, "name": format!("{name}-{number}"), "ownerReferences": owners});
            // One has ended.
            let phase = if number == count {
                "Succeeded"
            } else {
                "Running"
            };
            let mut spec = template["spec"].clone();
            spec["nodeName"] = json!("n1");
            self.documents.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}));
        }
    }

    fn report(&self) -> Report {
        let mut documents = self.documents.clone();
        let labels =
            json!({"kubernetes.io/arch": "arm64", "node.kubernetes.io/instance-type": "m7g.large"});
        documents.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": labels}}));
        documents.push(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}));
        let settings = json!({"operatingSystems": ["linux"]});
        report_on(documents, &settings, |image| self.answers[image].clone())
    }

    /// How many workloads have this status, and what they request.
    fn sum(&self, status: Status) -> (u128, u128, u128) {
        let of_it = self.truths.values().filter(|truth| truth.status == status);
        of_it.fold((0, 0, 0), |(count, cpu, memory), truth| {
            (count + 1, cpu + truth.cpu, memory + truth.memory)
        })
    }
}

const STATUSES: [Status; 5] = [
    Status::Ready,
    Status::Pinned,
    Status::Blocked,
    Status::Unknown,
    Status::NotApplicable,
];

fn printed(report: &Report, format: Format, view: &View) -> String {
    let mut out = Vec::new();
    view.print(report, format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn wide() -> View {
    View {
        width: 200,
        ..View::default()
    }
}

#[test]
fn every_number_of_every_output_is_the_truth() {
    let world = World::new(240);
    let report = world.report();
    assert_eq!(report.workloads.len(), 240);
    for row in &report.workloads {
        let truth = &world.truths[&format!("{}/{}/{}", row.namespace, row.kind, row.name)];
        let found = Truth {
            status: row.status,
            cpu: row.cpu_millicores,
            memory: row.memory_bytes,
        };
        assert_eq!(found, *truth, "{row:?}");
    }
    let json: Value = serde_json::from_str(&printed(&report, Format::Json, &wide())).unwrap();
    let names = ["ready", "pinned", "blocked", "unknown", "notApplicable"];
    for (status, name) in STATUSES.into_iter().zip(names) {
        let (count, cpu, memory) = world.sum(status);
        assert!(count > 0, "{status}: the fleet is too small");
        assert_eq!(json["totals"]["workloads"][name], json!(count), "{status}");
        assert_eq!(
            json["totals"]["cpuMillicores"][name],
            json!(cpu),
            "{status}"
        );
        assert_eq!(
            json["totals"]["memoryBytes"][name],
            json!(memory),
            "{status}"
        );
    }
    let [ready, pinned, blocked, unknown, others] = STATUSES.map(|status| world.sum(status).0);
    let known = ready + pinned + blocked;
    let percent = ready * 100 / known;

    let text = anstream::adapter::strip_str(&printed(&report, Format::Text, &wide())).to_string();
    for expected in [
        format!("{percent} % of the workloads are ready for arm64"),
        format!("{percent} %  {ready} of {known}"),
        format!(
            "{ready} ready, {pinned} pinned, {blocked} blocked, {unknown} unknown, {others} not applicable"
        ),
        "1 × Service: holds no Pods".to_owned(),
    ] {
        assert!(text.contains(&expected), "{expected}\n{text}");
    }
    assert!(text.lines().count() <= 40, "more than a screen:\n{text}");
    let markdown = printed(&report, Format::Markdown, &wide());
    let line = format!("| workloads | {ready} | {pinned} | {blocked} | {unknown} | {percent} % |");
    assert!(markdown.contains(&line), "{markdown}");
    let html = printed(&report, Format::Html, &wide());
    for (name, count) in [
        ("ready", ready),
        ("pinned", pinned),
        ("blocked", blocked),
        ("unknown", unknown),
    ] {
        assert!(
            html.contains(&format!("<b id=\"{name}\">{count}</b>")),
            "{name}: {count}"
        );
    }
    let junit = printed(&report, Format::Junit, &wide());
    let counts = format!(
        "tests=\"240\" skipped=\"{others}\" failures=\"{}\" errors=\"{unknown}\"",
        blocked + pinned
    );
    assert!(junit.contains(&counts), "{counts}\n{}", &junit[..400]);
    let csv = printed(&report, Format::Csv, &wide());
    let rows: Vec<csv::StringRecord> = csv::Reader::from_reader(csv.as_bytes())
        .records()
        .map(Result::unwrap)
        .collect();
    for status in STATUSES {
        let of_it: Vec<_> = rows
            .iter()
            .filter(|row| row[3] == *status.to_string())
            .collect();
        let sum: u128 = of_it
            .iter()
            .map(|row| row[9].parse::<u128>().unwrap())
            .sum();
        let (count, cpu, _) = world.sum(status);
        assert_eq!((of_it.len() as u128, sum), (count, cpu), "{status}");
    }
}

/// The status of a Pod with this `spec`, and its cause: images are named for what their indexes have, `amd64-arm64`;
/// `broken` can't be read.
fn status(spec: Value, settings: Value) -> (Status, String) {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it"}, "spec": spec});
    let answer = |image: &str| match image {
        "broken" => Err("not authorized".to_owned()),
        "wasm" => Ok(index(&["wasi/wasm"])),
        "windows" => Ok(index(&["windows/amd64", "windows/arm64"])),
        // An entry without a platform, which nothing answers for.
        "partly" | "partly-amd64" => {
            let of: &[&str] = if image == "partly" {
                &["linux/amd64", "linux/arm64"]
            } else {
                &["linux/amd64"]
            };
            let mut index: Value = serde_json::from_str(&index(of)).unwrap();
            let entry = json!({"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:0", "size": 1});
            index["manifests"].as_array_mut().unwrap().push(entry);
            Ok(index.to_string())
        }
        image if image.contains('@') => Err("gone".to_owned()),
        image => {
            let platforms: Vec<String> = image
                .split('-')
                .map(|name| format!("linux/{name}"))
                .collect();
            Ok(index(
                &platforms.iter().map(String::as_str).collect::<Vec<_>>(),
            ))
        }
    };
    let report = report_on(vec![pod], &settings, answer);
    let row = &report.workloads[0];
    (row.status, row.cause.clone().unwrap_or_default())
}

#[test]
fn each_status_rests_on_evidence() {
    let images = |images: &[&str]| {
        let containers = images
            .iter()
            .map(|image| json!({"name": "it", "image": image}));
        json!({"containers": containers.collect::<Vec<_>>()})
    };
    let with = |mut spec: Value, key: &str, value: Value| {
        spec[key] = value;
        spec
    };
    let never = |image: &str| json!({"containers": [{"name": "it", "image": image, "imagePullPolicy": "Never"}]});
    let described =
        json!({"platformOverrides": [{"image": "broken", "platforms": ["linux/arm64"]}]});
    let terms = |requirements: &[Value]| {
        let terms = requirements
            .iter()
            .map(|it| json!({"matchExpressions": [it]}));
        let terms = terms.collect::<Vec<_>>();
        json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}})
    };
    let cases = [
        (images(&["amd64-arm64"]), json!({}), Status::Ready, ""),
        (
            images(&["arm64"]),
            json!({"schedulableArchitectures": ["amd64"]}),
            Status::Ready,
            "",
        ),
        (images(&["broken"]), described.clone(), Status::Ready, ""),
        (never("broken"), described, Status::Ready, ""),
        (images(&["partly"]), json!({}), Status::Ready, ""),
        (
            images(&["amd64"]),
            json!({}),
            Status::Blocked,
            "amd64 (linux/amd64)",
        ),
        (
            images(&["broken", "amd64"]),
            json!({}),
            Status::Blocked,
            "amd64 (linux/amd64)",
        ),
        // Nothing is in common with the first two, and the third counts all the same.
        (
            images(&["amd64", "arm64", "s390x"]),
            json!({}),
            Status::Blocked,
            "amd64 (linux/amd64); s390x (linux/s390x)",
        ),
        (
            images(&["amd64"]),
            json!({"compatibleArchitectures": {"arm64": ["amd64"]}}),
            Status::Blocked,
            "amd64 (linux/amd64)",
        ),
        (
            images(&["arm64", "broken"]),
            json!({}),
            Status::Unknown,
            "broken: not authorized",
        ),
        (
            images(&["broken"]),
            json!({"onLookupFailure": "fallback", "fallbackArchitecture": "arm64"}),
            Status::Unknown,
            "broken: not authorized",
        ),
        (
            images(&["partly-amd64"]),
            json!({}),
            Status::Unknown,
            "partly-amd64: its index can be read in part only",
        ),
        (
            never("arm64"),
            json!({}),
            Status::Unknown,
            "arm64: it is never pulled; platformOverrides can tell its platforms",
        ),
        (
            with(
                images(&["arm64"]),
                "nodeSelector",
                json!({"beta.kubernetes.io/arch": "amd64"}),
            ),
            json!({"onUnsupportedSelection": "ignore"}),
            Status::Pinned,
            "spec.nodeSelector",
        ),
        (
            with(
                images(&["arm64"]),
                "nodeSelector",
                json!({"karpenter.sh/nodepool": "x86"}),
            ),
            json!({}),
            Status::Pinned,
            "karpenter.sh/nodepool=x86",
        ),
        (
            with(images(&["arm64"]), "nodeSelector", json!({"disk": "fast"})),
            json!({}),
            Status::Ready,
            "",
        ),
        // Of two alternatives one is closed by the architecture, the other by the machine.
        (
            with(
                images(&["arm64"]),
                "affinity",
                terms(&[
                    json!({"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}),
                    json!({"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large"]}),
                ]),
            ),
            json!({}),
            Status::Pinned,
            "node.kubernetes.io/instance-type=m5.large",
        ),
        (
            with(
                images(&["arm64"]),
                "affinity",
                terms(&[
                    json!({"key": "disk", "operator": "Exists"}),
                    json!({"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large"]}),
                ]),
            ),
            json!({}),
            Status::Ready,
            "",
        ),
        (
            json!({"containers": "x"}),
            json!({}),
            Status::Unknown,
            "UnreadableRequest: cannot read the request: spec.containers: expected a list, got a string",
        ),
        (
            json!({"containers": []}),
            json!({}),
            Status::NotApplicable,
            "it has no images",
        ),
        (
            images(&["windows"]),
            json!({}),
            Status::NotApplicable,
            "it runs on Windows",
        ),
        (
            with(
                images(&["amd64"]),
                "nodeSelector",
                json!({"kubernetes.io/os": "windows"}),
            ),
            json!({}),
            Status::NotApplicable,
            "it runs on Windows",
        ),
        (
            with(images(&["wasm"]), "runtimeClassName", json!("spin")),
            json!({}),
            Status::NotApplicable,
            "its runtime class runs something else than container images",
        ),
        (
            images(&["wasm"]),
            json!({}),
            Status::Blocked,
            "wasm (wasi/wasm)",
        ),
    ];
    for (spec, settings, expected, cause) in cases {
        let found = status(spec.clone(), settings);
        assert_eq!(found, (expected, cause.to_owned()), "{spec}");
    }
}

#[test]
fn groups_and_namespaces_add_up_to_the_whole() {
    let world = World::new(240);
    let whole = world.report();
    let mut ready = 0;
    for number in 0..NAMESPACES {
        let namespace = format!("team-{number}");
        let mut report = whole.clone();
        report.narrow_to(&namespace);
        let prefix = format!("{namespace}/");
        let truths = world
            .truths
            .iter()
            .filter(|(key, _)| key.starts_with(&prefix));
        let expected = truths
            .filter(|(_, truth)| truth.status == Status::Ready)
            .count() as u128;
        assert_eq!(report.totals.workloads.ready, expected, "{namespace}");
        ready += expected;
    }
    assert_eq!(whole.totals.workloads.ready, ready);
}

#[test]
fn only_what_is_asked_for_is_shown() {
    let world = World::new(240);
    let report = world.report();
    let view = View {
        only: vec![Status::Blocked],
        ..wide()
    };
    let csv = printed(&report, Format::Csv, &view);
    assert_eq!(
        csv.lines().count() as u128 - 1,
        world.sum(Status::Blocked).0
    );
    let text = printed(&report, Format::Text, &view);
    assert!(
        !text.contains("By namespace") && !text.contains(" ready "),
        "{text}"
    );
}

/// A Deployment of `image`; `change` is put into its Pod spec.
fn deployment(name: &str, image: &str, change: (&str, Value)) -> Value {
    let mut spec = json!({"containers": [{"name": "it", "image": image}]});
    spec[change.0] = change.1;
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": "shop", "name": name},
        "spec": {"template": {"spec": spec}}
    })
}

#[test]
fn images_are_told_by_the_workload_that_fares_worst_and_not_by_those_it_is_nothing_to() {
    let never = json!([{"name": "it", "image": "a", "imagePullPolicy": "Never"}]);
    let documents = vec![
        deployment("never", "a", ("containers", never)),
        deployment("pulled", "a", ("hostNetwork", json!(false))),
        deployment("windows", "b", ("os", json!({"name": "windows"}))),
    ];
    let report = report_on(documents, &Value::Null, |_| Ok(index(&["linux/amd64"])));
    let [image] = report.images.as_slice() else {
        panic!("{:?}", report.images);
    };
    assert_eq!(
        (image.name.as_str(), image.supports, image.workloads),
        ("a", Some(false), 2)
    );
    assert_eq!(report.totals.workloads.not_applicable, 1);
}

#[test]
fn a_template_for_windows_hides_no_other() {
    let job = |image: &str, os: &str| {
        let spec = json!({"os": {"name": os}, "containers": [{"name": "it", "image": image}]});
        json!({"template": {"spec": {"template": {"spec": spec}}}})
    };
    let jobs = json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train"},
        "spec": {"replicatedJobs": [job("w", "windows"), job("l", "linux")]}
    });
    let documents = vec![jobs];
    let report = report_on(documents, &Value::Null, |_| Ok(index(&["linux/amd64"])));
    assert_eq!(
        report.workloads[0].cause.as_deref(),
        Some("l (linux/amd64)")
    );
}

#[test]
fn a_page_shows_hostile_names_as_text() {
    let mut report = World::new(240).report();
    report.workloads[0].name = "<script>alert(1)</script>".to_owned();
    let html = printed(&report, Format::Html, &wide());
    assert!(!html.contains("<script>alert"), "not escaped");
    assert!(
        !html.contains("http://") && !html.contains("https://"),
        "asks for something"
    );
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    let report = World::new(60).report();
    let json = printed(&report, Format::Json, &wide());
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
}

#[test]
fn kinds_that_the_settings_add_are_placed_as_the_policy_would() {
    let spec = json!({"containers": [{"name": "a", "image": "a"}]});
    let rollout = json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"template": {"spec": spec}},
    });
    let settings = json!({
        "workloads": [{"group": "argoproj.io", "kind": "Rollout", "template": "spec.template"}],
        "preferenceRules": [{"namespaces": ["shop"], "preferredArchitecture": "arm64"}],
    });
    let answer = |_: &str| Ok(index(&["linux/amd64", "linux/arm64"]));
    let report = report_on(vec![rollout], &settings, answer);
    assert_eq!(report.workloads[0].kind, "Rollout");
    assert_eq!(report.workloads[0].status, Status::Ready);
    assert_eq!(report.workloads[0].placement, "nodeSelector=arm64");
}

/// The architecture that is asked about may be another one than settings name.
#[test]
fn any_architecture_can_be_asked_about_whatever_the_settings_prefer() {
    let policy = common::policy(Deadline::default()).unwrap();
    let settings = json!({
        "schedulableArchitectures": ["arm64"],
        "preferredArchitecture": "arm64",
        "preferenceRules": [{"preferredArchitecture": "arm64"}],
    });
    let fleet = Fleet::of(Vec::new(), &settings);
    let mut look_up_all = |_: Vec<Lookup>, _: &mut dyn FnMut(Lookup, _)| {};
    let report = report(&policy, &fleet, &settings, "x86_64", &mut look_up_all).unwrap();
    assert_eq!(report.architecture, "amd64");
}
