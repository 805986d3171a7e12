//! What Pods request, as the scheduler counts it.
//!
//! <https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers> and
//! <https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#pod-level-resource-specification>

use serde_json::Value;

use crate::quantity::thousandths;

/// What Pods request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Thousandths of a CPU.
    pub cpu_millicores: u128,
    /// Bytes of memory.
    pub memory_bytes: u128,
}

impl Requests {
    /// What a Pod with this `spec` requests.
    pub fn of_pod(spec: &Value) -> Self {
        Self {
            cpu_millicores: requested(spec, "cpu"),
            // Bytes have no thousandths.
            memory_bytes: requested(spec, "memory").div_ceil(1000),
        }
    }

    /// The same for `count` Pods.
    pub fn times(self, count: u64) -> Self {
        let count = u128::from(count);
        Self {
            cpu_millicores: self.cpu_millicores * count,
            memory_bytes: self.memory_bytes * count,
        }
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu_millicores: self.cpu_millicores + other.cpu_millicores,
            memory_bytes: self.memory_bytes + other.memory_bytes,
        }
    }
}

/// The thousandths of `resource` that a Pod requests: what the Pod as a whole does, else its containers and sidecars, or its
/// largest init container beside the sidecars that run by then if that is more; and its overhead.
fn requested(spec: &Value, resource: &str) -> u128 {
    let list = |key: &str| spec[key].as_array().into_iter().flatten();
    let (mut sidecars, mut largest, mut is_any) = (0, 0, false);
    for container in list("initContainers") {
        let own = of(&container["resources"], resource);
        is_any |= own.is_some();
        let own = own.unwrap_or(0);
        if container["restartPolicy"] == "Always" {
            sidecars += own;
            largest = largest.max(sidecars);
        } else {
            largest = largest.max(sidecars + own);
        }
    }
    let mut running = sidecars;
    for container in list("containers") {
        let own = of(&container["resources"], resource);
        is_any |= own.is_some();
        running += own.unwrap_or(0);
    }
    let of_containers = running.max(largest);
    let pod = &spec["resources"];
    let of_pod = match quantity(&pod["requests"][resource]) {
        Some(requested) => requested,
        // The API server fills it in from the containers, and from the limit where they request nothing.
        None if is_any => of_containers,
        None => quantity(&pod["limits"][resource]).unwrap_or(0),
    };
    of_pod + quantity(&spec["overhead"][resource]).unwrap_or(0)
}

/// What a container requests: a limit stands in for a missing request.
fn of(resources: &Value, resource: &str) -> Option<u128> {
    quantity(&resources["requests"][resource]).or_else(|| quantity(&resources["limits"][resource]))
}

fn quantity(value: &Value) -> Option<u128> {
    let thousandths = match value {
        Value::String(text) => thousandths(text),
        Value::Number(number) => thousandths(&number.to_string()),
        _ => None,
    };
    thousandths.map(u128::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cpu(spec: &Value) -> u128 {
        Requests::of_pod(spec).cpu_millicores
    }

    fn container(cpu: &str) -> Value {
        json!({"resources": {"requests": {"cpu": cpu}}})
    }

    fn sidecar(cpu: &str) -> Value {
        json!({"restartPolicy": "Always", "resources": {"requests": {"cpu": cpu}}})
    }

    #[test]
    fn containers_and_sidecars_add_up() {
        let spec = json!({"initContainers": [sidecar("100m")], "containers": [container("1"), container("500m")]});
        assert_eq!(cpu(&spec), 1_600);
    }

    #[test]
    fn an_init_container_counts_with_the_sidecars_before_it_where_that_is_more() {
        let spec = json!({
            "initContainers": [container("3"), sidecar("100m"), container("2950m"), sidecar("100m")],
            "containers": [container("1")]
        });
        assert_eq!(cpu(&spec), 3_050);
    }

    #[test]
    fn a_limit_stands_in_for_a_missing_request() {
        let spec = json!({"containers": [{"resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}}]});
        let expected = Requests {
            cpu_millicores: 1_000,
            memory_bytes: 1 << 30,
        };
        assert_eq!(Requests::of_pod(&spec), expected);
    }

    #[test]
    fn what_the_whole_pod_requests_replaces_what_its_containers_do() {
        let spec = json!({"resources": {"requests": {"cpu": "4"}}, "containers": [container("1")]});
        assert_eq!(cpu(&spec), 4_000);
        let spec = json!({"resources": {"limits": {"cpu": "4"}}, "containers": [container("1")]});
        assert_eq!(cpu(&spec), 1_000);
        let spec = json!({"resources": {"limits": {"cpu": "4"}}, "containers": [{}]});
        assert_eq!(cpu(&spec), 4_000);
    }

    #[test]
    fn overhead_is_added() {
        let spec = json!({"overhead": {"cpu": "250m"}, "containers": [container("1")]});
        assert_eq!(cpu(&spec), 1_250);
    }

    #[test]
    fn the_largest_numbers_fit() {
        let spec = json!({"containers": [{"resources": {"requests": {"memory": "16Gi"}}}]});
        let all = Requests::of_pod(&spec).times(2_147_483_647);
        assert_eq!(all.memory_bytes, 2_147_483_647 * (16 << 30));
    }
}
