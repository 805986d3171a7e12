//! A model of how the scheduler matches Pods and nodes, written from the Kubernetes API reference and independent of the
//! policy: node selector, required node affinity with all its operators, taints and tolerations.
//!
//! - <https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#scheduling>
//! - <https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#NodeAffinity>

use std::collections::BTreeMap;

use serde_json::Value;

/// A node, as far as scheduling goes.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its name, the field `metadata.name`.
    pub(crate) name: String,
    /// Its labels.
    pub(crate) labels: BTreeMap<String, String>,
    /// Its taints: key, value and effect.
    pub(crate) taints: Vec<(String, String, String)>,
}

impl Node {
    /// The operating system.
    pub(crate) fn os(&self) -> &str {
        &self.labels["kubernetes.io/os"]
    }

    /// The architecture.
    pub(crate) fn architecture(&self) -> &str {
        &self.labels["kubernetes.io/arch"]
    }

    /// Whether the Pod with this `spec` may be placed here, taints aside.
    pub(crate) fn matches(&self, spec: &Value) -> bool {
        let selector = spec["nodeSelector"].as_object();
        let by_selector = selector
            .into_iter()
            .flatten()
            .all(|(key, value)| self.labels.get(key).map(String::as_str) == value.as_str());
        by_selector && self.matches_affinity(spec)
    }

    fn matches_affinity(&self, spec: &Value) -> bool {
        let required =
            &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
        if required.is_null() {
            return true;
        }
        let terms = required["nodeSelectorTerms"].as_array();
        terms
            .into_iter()
            .flatten()
            .any(|term| self.matches_term(term))
    }

    /// Whether a term matches: all of its requirements do, and there is one.
    pub(crate) fn matches_term(&self, term: &Value) -> bool {
        let list = |key: &str| term[key].as_array().cloned().unwrap_or_default();
        let (expressions, fields) = (list("matchExpressions"), list("matchFields"));
        if expressions.is_empty() && fields.is_empty() {
            return false;
        }
        expressions.iter().all(|requirement| {
            let key = requirement["key"].as_str().unwrap_or_default();
            holds(requirement, self.labels.get(key).map(String::as_str))
        }) && fields.iter().all(|requirement| {
            let value = (requirement["key"] == "metadata.name").then_some(self.name.as_str());
            holds(requirement, value)
        })
    }

    /// Whether the Pod with this `spec` tolerates the taints that keep Pods away.
    pub(crate) fn is_tolerated_by(&self, spec: &Value) -> bool {
        self.taints
            .iter()
            .filter(|(_, _, effect)| effect != "PreferNoSchedule")
            .all(|taint| {
                let tolerations = spec["tolerations"].as_array();
                tolerations
                    .into_iter()
                    .flatten()
                    .any(|toleration| tolerates(toleration, taint))
            })
    }
}

/// Whether a requirement holds of a label or field with this value.
fn holds(requirement: &Value, value: Option<&str>) -> bool {
    let values: Vec<&str> = requirement["values"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let number = |text: &str| text.parse::<i64>().ok();
    let bound = match values.as_slice() {
        [only] => number(only),
        _ => None,
    };
    match requirement["operator"].as_str() {
        Some("In") => value.is_some_and(|value| values.contains(&value)),
        // A label that isn't there is in no list.
        Some("NotIn") => value.is_none_or(|value| !values.contains(&value)),
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        Some("Gt") => {
            matches!((value.and_then(number), bound), (Some(value), Some(bound)) if value > bound)
        }
        Some("Lt") => {
            matches!((value.and_then(number), bound), (Some(value), Some(bound)) if value < bound)
        }
        _ => false,
    }
}

fn tolerates(toleration: &Value, (key, value, effect): &(String, String, String)) -> bool {
    let field = |name: &str| toleration[name].as_str().unwrap_or_default();
    let by_effect = field("effect").is_empty() || field("effect") == effect;
    let by_key = field("key") == key || (field("key").is_empty() && field("operator") == "Exists");
    let by_value = match field("operator") {
        "" | "Equal" => field("value") == value,
        "Exists" => true,
        _ => false,
    };
    by_effect && by_key && by_value
}
