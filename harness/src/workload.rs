//! Workloads in a stream of Kubernetes objects: which of them stand for themselves, and what they ask for.

use serde_json::Value;

use crate::quantity::thousandths;

/// The kinds that are or hold a Pod, with the path of the Pod (template).
const KINDS: [(&str, &str); 8] = [
    ("Pod", ""),
    ("ReplicationController", "/spec/template"),
    ("Deployment", "/spec/template"),
    ("ReplicaSet", "/spec/template"),
    ("StatefulSet", "/spec/template"),
    ("DaemonSet", "/spec/template"),
    ("Job", "/spec/template"),
    ("CronJob", "/spec/jobTemplate/spec/template"),
];

/// An object that is or holds a Pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The object, as it would be created: without what the cluster added.
    pub object: Value,
    template: &'static str,
    replicas: u64,
}

/// What a workload requests, all its replicas together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Thousandths of a CPU.
    pub cpu_millicores: u64,
    /// Bytes.
    pub memory_bytes: u64,
}

/// The workloads among `documents`, lists opened. An object whose controller is there too is left out, and so are Pods
/// that have ended.
pub fn workloads(documents: Vec<Value>) -> Vec<Workload> {
    let mut objects = Vec::new();
    for document in documents {
        flatten(document, &mut objects);
    }
    let names: Vec<(String, String, String)> = objects
        .iter()
        .map(|object| {
            (
                text(object, "/metadata/namespace"),
                text(object, "/kind"),
                text(object, "/metadata/name"),
            )
        })
        .collect();
    objects
        .into_iter()
        .filter(|object| !has_ended(object) && !is_owned_by(object, &names))
        .filter_map(Workload::new)
        .collect()
}

fn flatten(document: Value, objects: &mut Vec<Value>) {
    let is_list = text(&document, "/kind").ends_with("List");
    match document {
        Value::Object(mut members) if is_list => {
            if let Some(Value::Array(items)) = members.remove("items") {
                for item in items {
                    flatten(item, objects);
                }
            }
        }
        other => objects.push(other),
    }
}

fn text(object: &Value, path: &str) -> String {
    let value = object.pointer(path).and_then(Value::as_str);
    value.unwrap_or_default().to_owned()
}

fn number(object: &Value, path: &str) -> Option<u64> {
    object.pointer(path).and_then(Value::as_u64)
}

fn has_ended(object: &Value) -> bool {
    text(object, "/kind") == "Pod"
        && ["Succeeded", "Failed"].contains(&text(object, "/status/phase").as_str())
}

/// Whether the controller of `object`, or that one's controller, is among `names`. The links between are often not
/// listed, ReplicaSets and Jobs, but their names tell: that of the controller, a dash and a part of their own.
fn is_owned_by(object: &Value, names: &[(String, String, String)]) -> bool {
    let owners = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    let Some(owner) = owners
        .into_iter()
        .flatten()
        .find(|owner| owner["controller"] == Value::Bool(true))
    else {
        return false;
    };
    let namespace = text(object, "/metadata/namespace");
    let (kind, name) = (text(owner, "/kind"), text(owner, "/name"));
    let above = match kind.as_str() {
        "ReplicaSet" => "Deployment",
        "Job" => "CronJob",
        _ => "",
    };
    names.iter().any(|(of, other_kind, other)| {
        let is_owner = *other_kind == kind && *other == name;
        let is_above = *other_kind == above
            && name
                .rsplit_once('-')
                .is_some_and(|(before, _)| before == other);
        *of == namespace && (is_owner || is_above)
    })
}

impl Workload {
    /// The workload that `object` is; `None` where it holds no Pod.
    pub fn new(mut object: Value) -> Option<Self> {
        let kind = text(&object, "/kind");
        let (_, template) = KINDS.into_iter().find(|(known, _)| *known == kind)?;
        let replicas = match kind.as_str() {
            "DaemonSet" => number(&object, "/status/desiredNumberScheduled").unwrap_or(1),
            "Job" => number(&object, "/spec/parallelism").unwrap_or(1),
            "Pod" | "CronJob" => 1,
            _ => number(&object, "/spec/replicas").unwrap_or(1),
        };
        let members = object.as_object_mut()?;
        members.remove("status");
        if let Some(metadata) = members.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("ownerReferences");
            metadata.remove("deletionTimestamp");
        }
        let spec = object.pointer_mut(&format!("{template}/spec"))?;
        // Where it runs now is no reason to leave it alone.
        spec.as_object_mut()?.remove("nodeName");
        Some(Self {
            object,
            template,
            replicas,
        })
    }

    /// The namespace, `default` where the object gives none.
    pub fn namespace(&self) -> String {
        match text(&self.object, "/metadata/namespace") {
            namespace if namespace.is_empty() => "default".to_owned(),
            namespace => namespace,
        }
    }

    /// The kind.
    pub fn kind(&self) -> String {
        text(&self.object, "/kind")
    }

    /// The name.
    pub fn name(&self) -> String {
        text(&self.object, "/metadata/name")
    }

    /// The images, each once, in the order that the policy asks for them.
    pub fn images(&self) -> Vec<String> {
        let mut images: Vec<String> = Vec::new();
        let of_containers = ["initContainers", "containers", "ephemeralContainers"]
            .into_iter()
            .flat_map(|key| self.spec_list(key))
            .map(|container| text(container, "/image"));
        let of_volumes = self
            .spec_list("volumes")
            .map(|volume| text(volume, "/image/reference"));
        for image in of_containers.chain(of_volumes) {
            if !image.is_empty() && !images.contains(&image) {
                images.push(image);
            }
        }
        images
    }

    /// What all replicas request: for each, the sum of its containers and sidecars, or its largest init container
    /// beside the sidecars if that is more.
    pub fn requests(&self) -> Requests {
        Requests {
            cpu_millicores: self.requested("cpu") * self.replicas,
            memory_bytes: self.requested("memory") * self.replicas / 1000,
        }
    }

    fn requested(&self, resource: &str) -> u64 {
        let path = format!("/resources/requests/{resource}");
        let of = |container: &Value| match container.pointer(&path) {
            Some(Value::String(quantity)) => thousandths(quantity).unwrap_or(0),
            Some(Value::Number(number)) => thousandths(&number.to_string()).unwrap_or(0),
            _ => 0,
        };
        let (mut sidecars, mut largest) = (0, 0);
        for container in self.spec_list("initContainers") {
            if text(container, "/restartPolicy") == "Always" {
                sidecars += of(container);
                largest = largest.max(sidecars);
            } else {
                largest = largest.max(sidecars + of(container));
            }
        }
        let running = self.spec_list("containers").map(of).sum::<u64>() + sidecars;
        running.max(largest)
    }

    fn spec_list(&self, key: &str) -> impl Iterator<Item = &Value> {
        self.object
            .pointer(&format!("{}/spec/{key}", self.template))
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(kind: &str, name: &str, owner: Option<(&str, &str)>) -> Value {
        let spec = json!({"containers": [{"image": "a"}], "nodeName": "n"});
        let mut object =
            json!({"kind": kind, "metadata": {"namespace": "x", "name": name}, "status": {}});
        if let Some((kind, name)) = owner {
            object["metadata"]["ownerReferences"] =
                json!([{"kind": kind, "name": name, "controller": true}]);
        }
        match kind {
            "Pod" => object["spec"] = spec,
            "CronJob" => object["spec"]["jobTemplate"]["spec"]["template"]["spec"] = spec,
            _ => object["spec"]["template"]["spec"] = spec,
        }
        object
    }

    fn names(documents: Vec<Value>) -> Vec<String> {
        workloads(documents).iter().map(Workload::name).collect()
    }

    #[test]
    fn lists_are_opened_and_other_kinds_left_out() {
        let list = json!({"kind": "List", "items": [
            object("Pod", "a", None),
            {"kind": "PodList", "items": [object("Pod", "b", None)]},
            {"kind": "Service", "metadata": {"name": "s"}}
        ]});
        assert_eq!(
            names(vec![list, object("CronJob", "c", None)]),
            ["a", "b", "c"]
        );
    }

    #[test]
    fn what_a_listed_controller_made_is_left_out() {
        let documents = vec![
            object("Deployment", "web", None),
            object("Pod", "web-5d9c-x", Some(("ReplicaSet", "web-5d9c"))),
            object("Pod", "other-5d9c-x", Some(("ReplicaSet", "other-5d9c"))),
            object("CronJob", "nightly", None),
            object("Job", "nightly-123", Some(("CronJob", "nightly"))),
            object("Pod", "nightly-123-y", Some(("Job", "nightly-123"))),
            object("DaemonSet", "agent", None),
            object("Pod", "agent-z", Some(("DaemonSet", "agent"))),
        ];
        assert_eq!(
            names(documents),
            ["web", "other-5d9c-x", "nightly", "agent"]
        );
    }

    #[test]
    fn pods_that_have_ended_are_left_out() {
        let mut pod = object("Pod", "a", None);
        pod["status"]["phase"] = json!("Succeeded");
        assert_eq!(names(vec![pod]), [""; 0]);
    }

    #[test]
    fn what_the_cluster_added_is_taken_away() {
        let pod = Workload::new(object("Pod", "a", Some(("Node", "n")))).unwrap();
        assert_eq!(
            pod.object,
            json!({"kind": "Pod", "metadata": {"namespace": "x", "name": "a"}, "spec": {"containers": [{"image": "a"}]}})
        );
    }

    #[test]
    fn requests_are_those_of_all_replicas() {
        let mut deployment = object("Deployment", "web", None);
        let requests =
            |cpu: &str, memory: &str| json!({"requests": {"cpu": cpu, "memory": memory}});
        deployment["spec"]["replicas"] = json!(3);
        deployment["spec"]["template"]["spec"] = json!({
            "initContainers": [
                {"image": "sidecar", "restartPolicy": "Always", "resources": requests("100m", "64Mi")},
                {"image": "init", "resources": requests("2", "1Mi")}
            ],
            "containers": [{"image": "a", "resources": requests("500m", "128Mi")}, {"image": "b"}],
            "volumes": [{"image": {"reference": "data"}}]
        });
        let workload = Workload::new(deployment).unwrap();
        assert_eq!(
            workload.requests(),
            Requests {
                cpu_millicores: 6_300,
                memory_bytes: 3 * 192 * 1024 * 1024
            }
        );
        assert_eq!(workload.images(), ["sidecar", "init", "a", "b", "data"]);
    }
}
