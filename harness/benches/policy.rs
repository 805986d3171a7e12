//! What an evaluation costs, beside what any policy in Rust costs: a table, and criterion's own statistics.
//!
//! Every call is made on a fresh instance, as policy-server makes it; only the call is measured. The baseline gets the
//! same request, with the object as the policy returns it where it changes it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A benchmark that can't run may panic.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use criterion::{BatchSize, Criterion, measurement::WallTime};
use node_architecture_harness::{
    capabilities::Allowed,
    engine::{Deadline, Instance, Policy, Traffic},
};
use serde_json::Value;

#[path = "../tests/common/cases.rs"]
mod cases;

use cases::{Case, Registry, cases, full_settings, harmful_cases};

const POLICY: &str = "policy";
const BASELINE: &str = "baseline";

/// A call of the policy, and the call of the baseline that it is compared with.
struct Comparison {
    name: String,
    registry: Registry,
    policy: Call,
    baseline: Call,
}

/// A function and what it is called with.
type Call = (&'static str, Vec<u8>);

fn main() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let target = workspace.join("target");
    let policy = compile(&workspace.join("policy.wasm"));
    let baseline = compile(&target.join("wasm32-wasip1/baseline/node_architecture_baseline.wasm"));
    let output = Output {
        folder: target.join("criterion"),
        began: SystemTime::now(),
    };
    let mut criterion = Criterion::default()
        .output_directory(&output.folder)
        .configure_from_args();

    let mut lines = Vec::new();
    lines.extend(instantiation(&mut criterion, &output, [&policy, &baseline]));
    for comparison in comparisons(&policy) {
        lines.extend(comparison.run(&mut criterion, &output, [&policy, &baseline]));
    }
    criterion.final_summary();
    println!("{}\n{}", heading(), lines.join("\n"));
}

fn comparisons(policy: &Policy) -> Vec<Comparison> {
    let same = |name: &str, function, payload: &str| Comparison {
        name: name.to_owned(),
        registry: Registry::multi_arch(),
        policy: (function, payload.into()),
        baseline: (function, payload.into()),
    };
    let settings = full_settings().to_string();
    let mut comparisons = vec![same("an empty call", "protocol_version", "")];
    let every = cases().into_iter().chain(harmful_cases());
    comparisons.extend(every.map(|case| of_case(policy, case)));
    comparisons.push(same("validate_settings: none", "validate_settings", "{}"));
    comparisons.push(same(
        "validate_settings: all",
        "validate_settings",
        &settings,
    ));
    comparisons
}

/// The baseline accepts what the policy accepts as it is, and returns what the policy returns.
fn of_case(policy: &Policy, mut case: Case) -> Comparison {
    let validate = ("validate", case.payload());
    let answer = instance(policy, case.registry.clone())
        .call(validate.0, &validate.1)
        .unwrap();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["accepted"], true, "{}: {answer}", case.name);
    let baseline = match answer.get("mutated_object") {
        Some(object) => {
            case.request["object"] = object.clone();
            ("mutate", case.payload())
        }
        None => ("accept", case.payload()),
    };
    Comparison {
        name: case.name.to_owned(),
        registry: case.registry,
        policy: validate,
        baseline,
    }
}

impl Comparison {
    /// Measures both calls; a line of the table.
    fn run(
        &self,
        criterion: &mut Criterion<WallTime>,
        output: &Output,
        [policy, baseline]: [&Policy; 2],
    ) -> Option<String> {
        let mut group = criterion.benchmark_group(&self.name);
        for (who, guest, (function, payload)) in [
            (POLICY, policy, &self.policy),
            (BASELINE, baseline, &self.baseline),
        ] {
            group.bench_function(who, |bencher| {
                bencher.iter_batched(
                    || instance(guest, self.registry.clone()),
                    |instance| (instance.call(function, payload).unwrap(), instance),
                    BatchSize::PerIteration,
                );
            });
        }
        group.finish();
        let counted = instance(policy, self.registry.clone());
        counted.call(self.policy.0, &self.policy.1).unwrap();
        line(output, &self.name, Some(counted.traffic()))
    }
}

/// Measures how long an instance takes to make; a line of the table.
fn instantiation(
    criterion: &mut Criterion<WallTime>,
    output: &Output,
    [policy, baseline]: [&Policy; 2],
) -> Option<String> {
    let name = "instantiation";
    let mut group = criterion.benchmark_group(name);
    for (who, guest) in [(POLICY, policy), (BASELINE, baseline)] {
        group.bench_function(who, |bencher| {
            bencher.iter_with_large_drop(|| instance(guest, Registry::multi_arch()));
        });
    }
    group.finish();
    line(output, name, None)
}

fn compile(path: &Path) -> Policy {
    Policy::read(path, Deadline::default()).expect("make bench builds it")
}

fn instance(policy: &Policy, registry: Registry) -> Instance {
    policy.instance(Box::new(registry), Allowed::all()).unwrap()
}

fn heading() -> &'static str {
    "| | policy | baseline | ratio | host calls | bytes in | bytes out |\n|---|--:|--:|--:|--:|--:|--:|"
}

/// A line of the table; the figures are criterion's medians. `None` where this run didn't measure it.
fn line(output: &Output, name: &str, traffic: Option<Traffic>) -> Option<String> {
    let (policy, baseline) = (output.median(name, POLICY)?, output.median(name, BASELINE)?);
    let mut line = format!(
        "| {name} | {policy:.1} us | {baseline:.1} us | {:.2} |",
        policy / baseline
    );
    if let Some(Traffic {
        host_calls,
        bytes_in,
        bytes_out,
    }) = traffic
    {
        line += &format!(" {host_calls} | {bytes_in} | {bytes_out} |");
    }
    Some(line)
}

/// What criterion writes, from now on.
struct Output {
    folder: PathBuf,
    began: SystemTime,
}

impl Output {
    /// The median in microseconds.
    fn median(&self, name: &str, who: &str) -> Option<f64> {
        let file = self
            .folder
            .join(name.replace([':', '/'], "_"))
            .join(who)
            .join("new/estimates.json");
        if fs::metadata(&file).ok()?.modified().ok()? < self.began {
            return None;
        }
        let estimates: Value = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
        let nanoseconds = estimates["median"]["point_estimate"].as_f64()?;
        Some(nanoseconds / 1_000.0)
    }
}
