//! What a report on a large fleet costs beside its lookups: 2,000 workloads with 400 images.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A benchmark that can't run may panic.

use std::path::Path;

use criterion::Criterion;
use node_architecture_harness::{
    capabilities::Lookup,
    engine::{Deadline, Policy},
    fleet::Fleet,
    report::report,
};
use serde_json::{Value, json};

const WORKLOADS: usize = 2_000;
const IMAGES: usize = 400;

fn main() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let wasm = workspace.join("policy.wasm");
    let policy = Policy::read(&wasm, Deadline::default()).expect("make bench builds it");
    let fleet = Fleet::of((0..WORKLOADS).map(deployment).collect(), &Value::Null);
    let mut criterion = Criterion::default()
        .output_directory(&workspace.join("target/criterion"))
        .sample_size(10)
        .configure_from_args();
    criterion.bench_function("report/2,000 workloads with 400 images", |bencher| {
        bencher.iter(|| {
            let mut look_up_all = |lookups: Vec<Lookup>, done: &mut dyn FnMut(Lookup, _)| {
                for lookup in lookups {
                    done(lookup, Ok(index()));
                }
            };
            report(&policy, &fleet, &Value::Null, "arm64", &mut look_up_all).unwrap()
        });
    });
    criterion.final_summary();
}

/// A Deployment of two images; every fifth chooses its nodes.
fn deployment(number: usize) -> Value {
    let image = |number: usize| format!("registry.example.com/acme/app{}:1", number % IMAGES);
    let mut spec = json!({"containers": [
        {"name": "app", "image": image(number), "resources": {"requests": {"cpu": "250m"}}},
        {"name": "sidecar", "image": image(number + 1), "resources": {"requests": {"cpu": "50m"}}}
    ]});
    if number.is_multiple_of(5) {
        spec["nodeSelector"] = json!({"kubernetes.io/arch": "amd64"});
    }
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": format!("team-{}", number % 12), "name": format!("w{number}")},
        "spec": {"replicas": 2, "template": {"spec": spec}}
    })
}

fn index() -> String {
    let entry = |architecture: &str| {
        json!({
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": format!("sha256:{}", "1".repeat(64)),
            "size": 1,
            "platform": {"os": "linux", "architecture": architecture}
        })
    };
    json!({"schemaVersion": 2, "manifests": [entry("amd64"), entry("arm64")]}).to_string()
}
