//! What ties a workload to an architecture, though its images would run on another.

use anyhow::Result;
use serde_json::Value;

use super::oracle::Oracle;
use crate::fleet::{Node, TERMS, Workload};

/// Labels that stand for a kind of machine, and with it for an architecture.
const INSTANCE_LABELS: [&str; 8] = [
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "karpenter.k8s.aws/instance-family",
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "cloud.google.com/machine-family",
    "kubernetes.azure.com/agentpool",
];

/// The field that keeps the Pods of `workload` from nodes of `architecture`; `None` where none does.
///
/// # Errors
/// Where the policy can't be asked.
pub(super) fn of(
    workload: &Workload,
    architecture: &str,
    nodes: &[Node],
    oracle: &Oracle<'_>,
) -> Result<Option<String>> {
    for spec in &workload.specs {
        if !chooses_nodes(spec) {
            continue;
        }
        let admits = |spec: &Value| oracle.admits(&pod(spec), architecture);
        if !admits(spec)? {
            return Ok(Some(field(spec, admits)?));
        }
        // Terms are alternatives: each is closed by the architecture, or by a kind of machine.
        let mut pin = None;
        let mut is_closed = true;
        for alternative in alternatives(spec) {
            let machine = instance(&alternative, architecture, nodes);
            is_closed &= machine.is_some() || !admits(&alternative)?;
            pin = pin.or(machine);
        }
        // Some alternative is admitted, and so closed by a machine if all are.
        if is_closed && let Some((key, value)) = pin {
            return Ok(Some(format!("{key}={value}")));
        }
    }
    Ok(None)
}

/// The Pod's `spec` with each of its required terms alone; the `spec` itself where it has none.
fn alternatives(spec: &Value) -> Vec<Value> {
    let terms = terms(spec);
    let with = |term: &Value| {
        let mut spec = spec.clone();
        if let Some(terms) = spec.pointer_mut(TERMS) {
            *terms = serde_json::json!([term]);
        }
        spec
    };
    if terms.is_empty() {
        vec![spec.clone()]
    } else {
        terms.iter().map(with).collect()
    }
}

fn pod(spec: &Value) -> Value {
    let mut spec = spec.clone();
    // What it runs doesn't matter here, nor that a runtime class may run it.
    if let Some(spec) = spec.as_object_mut() {
        spec.remove("runtimeClassName");
    }
    spec["initContainers"] = Value::Null;
    spec["containers"] = serde_json::json!([{"name": "it", "image": "it"}]);
    serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it"}, "spec": spec})
}

fn chooses_nodes(spec: &Value) -> bool {
    spec["nodeSelector"]
        .as_object()
        .is_some_and(|selector| !selector.is_empty())
        || spec["affinity"]["nodeAffinity"].is_object()
}

/// The field of a Pod's `spec` without which it would be admitted.
fn field(spec: &Value, admits: impl Fn(&Value) -> Result<bool>) -> Result<String> {
    let without = |key: &str| {
        let mut spec = spec.clone();
        if let Some(spec) = spec.as_object_mut() {
            spec.remove(key);
        }
        spec
    };
    Ok(if admits(&without("nodeSelector"))? {
        "spec.nodeSelector"
    } else if admits(&without("affinity"))? {
        "spec.affinity.nodeAffinity"
    } else {
        "spec.nodeSelector and spec.affinity.nodeAffinity"
    }
    .to_owned())
}

/// The label of a kind of machine that a Pod with this `spec` of at most one term needs, and that no known node of
/// `architecture` has.
fn instance(spec: &Value, architecture: &str, nodes: &[Node]) -> Option<(String, String)> {
    let is_there = |key: &str, value: &str| {
        nodes.iter().any(|node| {
            let label = node.labels.get(key).map(String::as_str);
            label == Some(value) && node.architecture == architecture
        })
    };
    let is_instance = |key: &str| INSTANCE_LABELS.contains(&key);
    let selector = spec["nodeSelector"].as_object().into_iter().flatten();
    for (key, value) in selector.filter(|(key, _)| is_instance(key)) {
        let value = value.as_str().unwrap_or_default();
        if !is_there(key, value) {
            return Some((key.clone(), value.to_owned()));
        }
    }
    terms(spec).iter().find_map(|term| {
        requirements(term).find_map(|requirement| {
            let key = requirement["key"].as_str().filter(|key| is_instance(key))?;
            let values = requirement["values"]
                .as_array()
                .filter(|_| requirement["operator"] == "In")?;
            let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            let is_open = values.iter().any(|value| is_there(key, value));
            (!is_open).then(|| (key.to_owned(), values.join(",")))
        })
    })
}

fn terms(spec: &Value) -> Vec<Value> {
    spec.pointer(TERMS)
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}

fn requirements(term: &Value) -> impl Iterator<Item = &Value> {
    term["matchExpressions"].as_array().into_iter().flatten()
}
