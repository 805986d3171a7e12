//! The bucket of a workload, by which preference rules take a share of the workloads. Design, section 7.

use node_architecture_json::Json;

use crate::{hash::fnv1a, kind::Kind, scope::Workload};

/// How many buckets there are: a share is a percentage.
const BUCKETS: u64 = 100;
/// The labels with the hash in the name of a ReplicaSet: that of a Deployment, and that of a Rollout of Argo.
const HASH_LABELS: [&str; 2] = ["pod-template-hash", "rollouts-pod-template-hash"];
/// The fewest digits that end the name of a Job: a CronJob's Jobs have the minute of their time, other tools a date.
const FEWEST_DIGITS: usize = 8;

/// The bucket of a workload, 0 to 99. It is the same for a template and its Pods, and stays the same from rollout to
/// rollout.
pub fn bucket(workload: &Workload<'_>) -> u8 {
    let key = format!("{}/{}", workload.namespace, name(workload));
    u8::try_from(fnv1a(&key) % BUCKETS).unwrap_or_default()
}

/// The name that a workload keeps: that of its controller, else what its own is generated from, else its own.
fn name(workload: &Workload<'_>) -> String {
    let metadata = workload.object.get("metadata").unwrap_or(Json::NULL);
    let (name, kind) = match &workload.controller {
        Some(controller) => (controller.name.to_string(), controller.kind()),
        None => match metadata.text_of("generateName") {
            Some(prefix) => return prefix,
            None => {
                let name = metadata.text_of("name").unwrap_or_default();
                (name, Some(workload.kind))
            }
        },
    };
    let kept = match kind {
        Some(Kind::ReplicaSet) => without_hash(&name, workload.template),
        Some(Kind::Job) => without_digits(&name),
        _ => &name,
    };
    kept.to_owned()
}

/// The name of a ReplicaSet without the hash of its Pods' template.
fn without_hash<'n>(name: &'n str, template: Json<'_>) -> &'n str {
    let labels = template.get("metadata").and_then(|it| it.get("labels"));
    let mut hashes = HASH_LABELS
        .iter()
        .filter_map(|label| labels.and_then(|labels| labels.text_of(label)));
    let without = hashes.find_map(|hash| name.strip_suffix(&hash)?.strip_suffix('-'));
    without.unwrap_or(name)
}

/// The name of a Job without the number that it ends with.
fn without_digits(name: &str) -> &str {
    let is_number =
        |end: &str| end.len() >= FEWEST_DIGITS && end.bytes().all(|digit| digit.is_ascii_digit());
    match name.rsplit_once('-') {
        Some((rest, end)) if is_number(end) => rest,
        _ => name,
    }
}

#[cfg(test)]
mod tests;
