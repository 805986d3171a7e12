//! The wasm that ships, beyond single verdicts: what it imports, what is in it, and how it bears a slow or missing host.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{collections::BTreeSet, fs, path::Path, thread, time::Duration};

use node_architecture_harness::{
    capabilities::{Allowed, Answers, Lookup},
    engine::{Deadline, Evaluation, Policy},
    request,
    session::Session,
};
use serde_json::{Value, json};
use wasmtime_provider::wasmtime::{Engine, Module};

mod common;

/// A registry with one index for every image, whose answers take their time.
struct Registry {
    latency: Duration,
}

impl Answers for Registry {
    fn answer(&mut self, lookup: &Lookup) -> Result<String, String> {
        thread::sleep(self.latency);
        match lookup {
            Lookup::Manifest(_) => Ok(json!({"manifests": [
                {"platform": {"os": "linux", "architecture": "amd64"}},
                {"platform": {"os": "linux", "architecture": "arm64"}}
            ]})
            .to_string()),
            Lookup::ManifestAndConfig(_) => Err("not found".to_owned()),
        }
    }
}

fn policy() -> Policy {
    common::policy(Deadline::default()).unwrap()
}

fn pod(images: &[&str]) -> Value {
    let containers: Vec<Value> = images
        .iter()
        .map(|image| json!({"name": "app", "image": image}))
        .collect();
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"}, "spec": {"containers": containers}});
    request::creation_of(pod).unwrap()
}

fn evaluate(policy: &Policy, images: &[&str], settings: Value, latency: u64) -> Evaluation {
    let registry = Registry {
        latency: Duration::from_millis(latency),
    };
    policy
        .evaluate(&pod(images), &settings, Box::new(registry), Allowed::all())
        .unwrap()
}

#[test]
fn the_policy_imports_nothing_but_wapc_and_wasi() {
    let module = Module::from_file(&Engine::default(), common::wasm_path()).unwrap();
    let modules: BTreeSet<&str> = module.imports().map(|import| import.module()).collect();
    assert_eq!(
        modules.into_iter().collect::<Vec<_>>(),
        ["wapc", "wasi_snapshot_preview1"]
    );
}

#[test]
fn no_path_of_the_machine_that_built_the_policy_is_in_it() {
    let wasm = fs::read(common::wasm_path()).unwrap();
    let text = String::from_utf8_lossy(&wasm);
    let home = std::env::var("HOME").unwrap_or_default();
    let workspace = common::workspace();
    let paths = [
        ".cargo",
        "/home/",
        home.as_str(),
        workspace.to_str().unwrap(),
    ];
    for path in paths.into_iter().filter(|path| path.len() > 1) {
        assert!(!text.contains(path), "{path}");
    }
}

#[test]
fn the_policy_speaks_the_protocol_of_kubewarden() {
    let version = policy().call_alone("protocol_version", &[]).unwrap();
    assert_eq!(version, b"\"v1\"");
}

#[test]
fn settings_are_checked_with_every_error_on_one_line() {
    let settings = json!({"annotate": 1, "preferedArchitecture": "arm64"});
    let error = policy().check_settings(&settings).unwrap_err().to_string();
    assert_eq!(
        error,
        "Provided settings are not valid: annotate: 1 is a number, use true or false; \
         preferedArchitecture: unknown setting with value \"arm64\", did you mean preferredArchitecture?"
    );
    for settings in [
        json!(null),
        json!({}),
        json!({"schedulableArchitectures": ["arm64"]}),
    ] {
        policy().check_settings(&settings).unwrap();
    }
}

#[test]
fn no_lookup_starts_that_would_end_after_the_budget_on_the_clock_of_the_host() {
    let settings = json!({"lookupBudgetMilliseconds": 500, "onUnfinishedLookups": "ignore"});
    let evaluation = evaluate(&policy(), &["a", "b", "c"], settings, 600);
    assert!(evaluation.response.allowed);
    assert_eq!(evaluation.lookups.len(), 1);
    assert_eq!(
        evaluation.response.warnings.unwrap(),
        [
            "image b ignored: the lookup budget of 500 ms was spent",
            "image c ignored: the lookup budget of 500 ms was spent"
        ]
    );
}

#[test]
fn without_a_limit_slow_lookups_go_on() {
    let settings = json!({"lookupBudgetMilliseconds": 0});
    let evaluation = evaluate(&policy(), &["a", "b", "c"], settings, 150);
    assert_eq!(evaluation.lookups.len(), 3);
    assert_eq!(evaluation.response.warnings, None);
}

#[test]
fn the_default_budget_keeps_a_pod_of_many_slow_images_within_the_deadline() {
    let images = ["a", "b", "c", "d", "e", "f"];
    let evaluation = evaluate(&policy(), &images, json!({}), 250);
    let status = evaluation.response.status.unwrap();
    assert_eq!(status.code, Some(429), "{status:?}");
    // A fourth would end after the budget; on a busy machine a third or a second would.
    assert!((1..=3).contains(&evaluation.lookups.len()));
}

#[test]
fn past_the_deadline_the_object_is_rejected_and_the_next_one_is_not() {
    let deadline = Deadline {
        tick: Duration::from_millis(400),
        ticks: 2,
    };
    let policy = common::policy(deadline).unwrap();
    let settings = json!({"lookupBudgetMilliseconds": 0});
    let late = evaluate(&policy, &["a"], settings.clone(), 1_500);
    assert!(!late.response.allowed);
    let status = late.response.status.unwrap();
    assert_eq!(status.code, Some(500));
    assert_eq!(
        status.message.as_deref(),
        Some("Policy execution interrupted because it exceeded the allowed execution time")
    );
    assert!(evaluate(&policy, &["a"], settings, 0).response.allowed);
}

#[test]
fn a_denied_capability_is_a_failed_lookup() {
    let registry = Registry {
        latency: Duration::ZERO,
    };
    let allowed = Allowed::new(&["net/*".to_owned()]).unwrap();
    let evaluation = policy()
        .evaluate(&pod(&["a"]), &json!({}), Box::new(registry), allowed)
        .unwrap();
    assert!(evaluation.response.allowed);
    assert_eq!(evaluation.lookups.len(), 0);
    assert_eq!(
        evaluation.response.warnings.unwrap(),
        [
            "image a ignored: policy has not been granted access to the 'oci/v1/oci_manifest' host capability. The violation has been reported."
        ]
    );
}

#[test]
fn a_session_that_does_not_fit_is_an_error_and_no_verdict() {
    let policy = policy();
    let left_over = "
- type: Exchange
  request: |
    !OciManifest
    image: other
  response:
    type: Success
    payload: '{}'
";
    for session in ["[]", left_over] {
        let session = Session::parse(session).unwrap();
        let result = policy.evaluate(&pod(&["a"]), &json!({}), Box::new(session), Allowed::all());
        let error = result.unwrap_err().to_string();
        assert!(
            error.contains("the policy asked for oci/v1/oci_manifest of a"),
            "{error}"
        );
    }
}

/// The response to a Pod with this spec and metadata, and the pod after it.
fn placed(spec: Value, metadata: Value) -> Value {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
    let request = request::creation_of(pod.clone()).unwrap();
    let registry = Registry {
        latency: Duration::ZERO,
    };
    let evaluation = policy()
        .evaluate(&request, &json!({}), Box::new(registry), Allowed::all())
        .unwrap();
    assert_eq!(
        evaluation.response.annotation("placement"),
        Some("nodeSelector=amd64")
    );
    let mut after = evaluation.response.patched(&pod).unwrap();
    assert_eq!(after["spec"]["nodeSelector"]["kubernetes.io/arch"], "amd64");
    after["spec"]
        .as_object_mut()
        .unwrap()
        .remove("nodeSelector");
    let annotations = after["metadata"]["annotations"].as_object_mut().unwrap();
    annotations.remove("node-architecture-policy/placement");
    assert_eq!(after["spec"], pod["spec"]);
    after
}

#[test]
fn a_pod_of_a_megabyte_is_placed() {
    let spec = json!({"containers": [{"image": "a", "env": [{"name": "BIG", "value": "x".repeat(1_000_000)}]}]});
    placed(spec, json!({"name": "app"}));
}

#[test]
fn a_pod_of_a_thousand_containers_is_placed() {
    let containers: Vec<Value> = (0..1_000)
        .map(|number| json!({"name": format!("c{number}"), "image": format!("image{}", number % 100)}))
        .collect();
    placed(json!({"containers": containers}), json!({"name": "app"}));
}

#[test]
fn a_pod_of_ten_thousand_annotations_keeps_them() {
    let annotations: serde_json::Map<String, Value> = (0..10_000)
        .map(|number| (format!("example.com/a{number}"), json!("value")))
        .collect();
    let metadata = json!({"name": "app", "annotations": annotations});
    let after = placed(json!({"containers": [{"image": "a"}]}), metadata.clone());
    assert_eq!(after["metadata"]["annotations"], metadata["annotations"]);
}

/// The resident memory of this process, in KiB, where the system tells.
fn resident() -> Option<u64> {
    let status = fs::read_to_string(Path::new("/proc/self/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn ten_thousand_evaluations_do_not_leak() {
    let policy = policy();
    let run = |evaluations: usize| {
        for _ in 0..evaluations {
            let evaluation = evaluate(&policy, &["a", "b", "c"], json!({}), 0);
            assert!(evaluation.response.patch.is_some());
        }
    };
    // The other tests of the process have ended by then.
    run(5_000);
    let before = resident();
    run(5_000);
    if let (Some(before), Some(after)) = (before, resident()) {
        // A page an evaluation would be 20 MB.
        assert!(after < before + 16 * 1024, "from {before} to {after} KiB");
    }
}
