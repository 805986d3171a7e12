//! A fleet: the workloads in a heap of Kubernetes objects, each once, with the Pods that it has.

mod kinds;
mod owners;
mod requests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::{Value, json};

use kinds::{Kinds, Template, group_of, has_ended, seems_to_hold_pods};
use owners::{Controller, Owners};
pub use requests::Requests;

const OS_LABELS: [&str; 2] = ["kubernetes.io/os", "beta.kubernetes.io/os"];
/// Where the terms of a required node affinity are in a Pod's spec.
pub(crate) const TERMS: &str =
    "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";

/// The workloads among Kubernetes objects, and what else was there.
#[derive(Debug, Default)]
pub struct Fleet {
    /// The workloads, in the order of the input.
    pub workloads: Vec<Workload>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// What was left out, with the number of objects: what it is, and what helps.
    pub skipped: BTreeMap<Skipped, u64>,
}

/// What is left out of a fleet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skipped {
    /// Pods that have ended.
    EndedPods,
    /// Objects of a kind that holds no Pods.
    WithoutPods(String),
    /// Objects of a kind that may hold Pods in a way that isn't known.
    UnknownKind(String),
    /// Objects without a Pod spec where their kind has it.
    WithoutSpec(String),
    /// Documents that are no Kubernetes objects.
    NoObjects,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its architecture: by its label, else as its kubelet tells it.
    pub architecture: String,
}

/// Something that makes Pods, or a Pod that nothing made.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Its namespace; `default` where the object gives none.
    pub namespace: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its labels: its own, and those of its Pods that it hasn't itself.
    pub labels: BTreeMap<String, String>,
    /// Its Pod templates as objects that the policy takes: the workload itself where the policy takes its kind, else a Pod.
    pub objects: Vec<Value>,
    /// The Pod specs of its templates.
    pub specs: Vec<Value>,
    /// Its images: those of its templates, and of its Pods.
    pub images: Vec<ImageUse>,
    /// How many Pods it has, or would have.
    pub replicas: u64,
    /// What all of them request.
    pub requests: Requests,
}

/// An image of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImageUse {
    /// The reference.
    pub image: String,
    /// Whether it is never pulled: what is on the node runs.
    pub is_never_pulled: bool,
    /// Whether it is only mounted, as a volume.
    pub is_mounted: bool,
    /// Whether only Pods with a runtime class use it.
    pub has_runtime_class: bool,
    /// Whether only Pods for Windows use it.
    pub is_for_windows: bool,
}

/// An object that makes Pods, or a Pod.
struct Candidate {
    object: Value,
    group: String,
    templates: Vec<Template>,
    is_taken: bool,
}

impl Fleet {
    /// The fleet in `documents`, lists opened. The policy's `settings` may add kinds that hold Pods.
    pub fn of(documents: Vec<Value>, settings: &Value) -> Self {
        let kinds = Kinds::with(settings);
        let mut fleet = Self::default();
        let mut objects = Vec::new();
        for document in documents {
            open_lists(document, &mut objects);
        }
        let mut candidates = Vec::new();
        let mut seen = HashSet::new();
        for object in objects {
            // The same object, by another API version or from another file.
            let uid = text(&object, "/metadata/uid");
            if uid.is_empty() || seen.insert(uid.to_owned()) {
                fleet.sort(object, &kinds, &mut candidates);
            }
        }
        let owners = Owners::new(candidates.iter().map(|candidate| &candidate.object), &kinds);
        // What a controller made counts with it, whether the controller was given or not.
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut orphans: BTreeMap<Controller, Vec<usize>> = BTreeMap::new();
        let mut roots = Vec::new();
        for index in 0..candidates.len() {
            match owners.of(index) {
                None => roots.push(index),
                Some(owners::Owner::Given(root)) => children.entry(root).or_default().push(index),
                Some(owners::Owner::Missing(controller)) => {
                    orphans.entry(controller).or_default().push(index);
                }
            }
        }
        let referenced = templates_elsewhere(&mut candidates, &owners);
        for root in roots {
            let made = children.remove(&root).unwrap_or_default();
            let Some(candidate) = candidates.get(root) else {
                continue;
            };
            let made: Vec<&Candidate> = made.iter().filter_map(|at| candidates.get(*at)).collect();
            match Workload::new(candidate, &made) {
                // Its Pods are those of what refers to it.
                Some(workload) if workload.replicas == 0 && referenced.contains(&root) => {}
                Some(workload) => fleet.workloads.push(workload),
                None => match Workload::of_missing(candidate.controller(), &made) {
                    Some(workload) => fleet.workloads.push(workload),
                    None => fleet.skip(Skipped::WithoutSpec(candidate.full_kind())),
                },
            }
        }
        for (controller, made) in orphans {
            let made: Vec<&Candidate> = made.iter().filter_map(|at| candidates.get(*at)).collect();
            let workload = Workload::of_missing(controller, &made);
            fleet.workloads.extend(workload);
        }
        fleet
    }

    fn skip(&mut self, what: Skipped) {
        *self.skipped.entry(what).or_default() += 1;
    }

    /// Puts an object where it belongs.
    fn sort(&mut self, object: Value, kinds: &Kinds, candidates: &mut Vec<Candidate>) {
        let (api_version, kind) = (text(&object, "/apiVersion"), text(&object, "/kind"));
        if api_version.is_empty() || kind.is_empty() {
            self.skip(Skipped::NoObjects);
            return;
        }
        let group = group_of(api_version);
        if group.is_empty() && kind == "Node" {
            let labels = labels(&object);
            let label = |key: &str| labels.get(key).map(String::as_str);
            let architecture = label("kubernetes.io/arch")
                .or_else(|| label("beta.kubernetes.io/arch"))
                .unwrap_or_else(|| text(&object, "/status/nodeInfo/architecture"))
                .to_owned();
            self.nodes.push(Node {
                labels,
                architecture,
            });
            return;
        }
        let mut is_known = false;
        let mut is_taken = false;
        let mut templates = Vec::new();
        for kind in kinds.of(group, kind) {
            is_known = true;
            is_taken = kind.is_taken;
            templates.extend(kind.templates(&object));
        }
        let full_kind = full_kind(group, kind);
        if is_known && kind == "Pod" && has_ended(&object) {
            self.skip(Skipped::EndedPods);
        } else if !templates.is_empty() || (is_known && object["spec"]["workloadRef"].is_object()) {
            let group = group.to_owned();
            candidates.push(Candidate {
                object,
                group,
                templates,
                is_taken,
            });
        } else if is_known {
            self.skip(Skipped::WithoutSpec(full_kind));
        } else if seems_to_hold_pods(&object) {
            self.skip(Skipped::UnknownKind(full_kind));
        } else {
            self.skip(Skipped::WithoutPods(full_kind));
        }
    }
}

impl Candidate {
    /// A Pod template: something with `metadata` and `spec`.
    fn template(&self, template: &Template) -> &Value {
        self.object.pointer(&template.path).unwrap_or(&Value::Null)
    }

    /// What it is to what it made.
    fn controller(&self) -> Controller {
        Controller {
            namespace: namespace(&self.object),
            group: self.group.clone(),
            kind: text(&self.object, "/kind").to_owned(),
            name: name(&self.object["metadata"]),
        }
    }

    fn full_kind(&self) -> String {
        full_kind(&self.group, text(&self.object, "/kind"))
    }
}

/// A kind as kubectl takes it: `Deployment.apps`.
fn full_kind(group: &str, kind: &str) -> String {
    if group.is_empty() {
        kind.to_owned()
    } else {
        format!("{kind}.{group}")
    }
}

/// Gives objects whose template is that of another one, by `workloadRef`, this template. The others, by their indexes,
/// make no Pods themselves then.
fn templates_elsewhere(candidates: &mut [Candidate], owners: &Owners) -> Vec<usize> {
    let mut referenced = Vec::new();
    for index in 0..candidates.len() {
        let Some(candidate) = candidates.get(index) else {
            continue;
        };
        let reference = &candidate.object["spec"]["workloadRef"];
        if !reference.is_object() {
            continue;
        }
        let found = owners.named(&Controller::referred_to(reference, &candidate.object));
        let count = candidate.object["spec"]["replicas"].as_u64().unwrap_or(1);
        let template = found.and_then(|found| {
            let found = candidates.get(found)?;
            Some(found.template(found.templates.first()?).clone())
        });
        if let (Some(found), Some(template)) = (found, template)
            && let Some(candidate) = candidates.get_mut(index)
        {
            candidate.object["spec"]["template"] = template;
            let path = "/spec/template".to_owned();
            candidate.templates = vec![Template { path, count }];
            referenced.push(found);
        }
    }
    referenced
}

impl Workload {
    /// The workload that a `controller` is, with the labels of `object`, before any Pod of it is known.
    fn without_pods(controller: Controller, object: &Value) -> Self {
        Self {
            namespace: controller.namespace,
            kind: controller.kind,
            name: controller.name,
            labels: labels(object),
            objects: Vec::new(),
            specs: Vec::new(),
            images: Vec::new(),
            replicas: 0,
            requests: Requests::default(),
        }
    }

    /// The workload that a `candidate` is, with what it `made`; `None` where it has no Pod template.
    fn new(candidate: &Candidate, made: &[&Candidate]) -> Option<Self> {
        let mut workload = Self::without_pods(candidate.controller(), &candidate.object);
        for template in &candidate.templates {
            let object = if candidate.is_taken {
                candidate.object.clone()
            } else {
                as_pod(candidate.template(template), &workload.namespace)
            };
            workload.add_template(object, candidate.template(template), template.count);
        }
        workload.add_pods(made);
        (!workload.objects.is_empty()).then_some(workload)
    }

    /// The workload that a `controller` is which wasn't given, of what it `made`: as much as can be told of it.
    fn of_missing(controller: Controller, made: &[&Candidate]) -> Option<Self> {
        let is_running = |made: &&&Candidate| made.templates.iter().any(|it| it.count > 0);
        let first: &Candidate = made.iter().find(is_running).or(made.first())?;
        let mut workload = Self::without_pods(controller, &first.object);
        // Its Pods may differ in what they ask of nodes, and each such template counts; its replicas are those of all.
        let mut seen = BTreeSet::new();
        let others = made.iter().filter(|made| !std::ptr::eq(**made, first));
        for candidate in std::iter::once(&first).chain(others) {
            for template in &candidate.templates {
                let value = candidate.template(template);
                if template.count == 0 && !std::ptr::eq(*candidate, first) {
                    continue;
                }
                if seen.insert(of_nodes(&value["spec"])) {
                    let object = as_pod(value, &workload.namespace);
                    workload.add_template(object, value, template.count);
                } else {
                    workload.add_images(&value["spec"]);
                    workload.count(value, template.count);
                }
            }
        }
        workload.add_pods(made);
        Some(workload)
    }

    fn add_template(&mut self, mut object: Value, template: &Value, count: u64) {
        strip(&mut object);
        let mut spec = template["spec"].clone();
        look_through_node(&mut spec);
        for (key, value) in labels(template) {
            self.labels.entry(key).or_insert(value);
        }
        self.add_images(&spec);
        self.count(template, count);
        self.objects.push(object);
        self.specs.push(spec);
    }

    fn count(&mut self, template: &Value, count: u64) {
        self.replicas = self.replicas.saturating_add(count);
        let of_one = Requests::of_pod(&template["spec"]);
        self.requests = self.requests.plus(of_one.times(count));
    }

    /// Counts the Pods among what was `made` in place of what the templates promise; images are those of both.
    fn add_pods(&mut self, made: &[&Candidate]) {
        let mut pods = made.iter().filter(|made| is_pod(made)).peekable();
        if pods.peek().is_some() {
            self.replicas = 0;
            self.requests = Requests::default();
        }
        for pod in pods {
            for template in &pod.templates {
                self.count(pod.template(template), template.count);
                self.add_images(&pod.template(template)["spec"]);
            }
        }
    }

    fn add_images(&mut self, spec: &Value) {
        let list = |key: &str| spec[key].as_array().into_iter().flatten();
        let containers = ["initContainers", "containers", "ephemeralContainers"];
        for container in containers.into_iter().flat_map(list) {
            let pull_policy = &container["imagePullPolicy"];
            self.add_image(spec, &container["image"], pull_policy, false);
        }
        for volume in list("volumes") {
            let source = &volume["image"];
            self.add_image(spec, &source["reference"], &source["pullPolicy"], true);
        }
    }

    fn add_image(&mut self, spec: &Value, image: &Value, pull_policy: &Value, is_mounted: bool) {
        let Some(image) = image.as_str().filter(|image| !image.is_empty()) else {
            return;
        };
        let runtime_class = spec["runtimeClassName"].as_str();
        let used = ImageUse {
            image: image.to_owned(),
            is_never_pulled: pull_policy == "Never",
            is_mounted,
            has_runtime_class: runtime_class.is_some_and(|name| !name.is_empty()),
            is_for_windows: is_for_windows(spec),
        };
        match self.images.iter_mut().find(|known| known.image == image) {
            Some(known) => {
                known.is_never_pulled &= used.is_never_pulled;
                known.is_mounted &= used.is_mounted;
                known.has_runtime_class &= used.has_runtime_class;
                known.is_for_windows &= used.is_for_windows;
            }
            None => self.images.push(used),
        }
    }

    /// Whether all of its Pods are for Windows.
    pub fn is_for_windows(&self) -> bool {
        self.specs.iter().all(is_for_windows)
    }
}

fn is_pod(candidate: &Candidate) -> bool {
    candidate.group.is_empty() && candidate.object["kind"] == "Pod"
}

/// What of a Pod's spec says which nodes it is for.
fn of_nodes(spec: &Value) -> String {
    let mut spec = spec.clone();
    look_through_node(&mut spec);
    let parts = ["nodeSelector", "affinity", "os", "runtimeClassName"].map(|key| spec[key].take());
    json!(parts).to_string()
}

/// Whether a Pod with this `spec` is for Windows.
fn is_for_windows(spec: &Value) -> bool {
    let is_os = |key: &Value| OS_LABELS.iter().any(|label| key == label);
    let is_selected = OS_LABELS
        .iter()
        .any(|label| spec["nodeSelector"][*label] == "windows");
    let is_required = |term: &Value| {
        let mut requirements = term["matchExpressions"].as_array().into_iter().flatten();
        requirements.any(|it| {
            is_os(&it["key"]) && it["operator"] == "In" && it["values"] == json!(["windows"])
        })
    };
    let terms = spec.pointer(TERMS).and_then(Value::as_array);
    spec["os"]["name"] == "windows"
        || is_selected
        || terms.is_some_and(|terms| !terms.is_empty() && terms.iter().all(is_required))
}

/// A Pod of a template.
fn as_pod(template: &Value, namespace: &str) -> Value {
    let metadata = &template["metadata"];
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "namespace": namespace,
            "labels": metadata["labels"],
            "annotations": metadata["annotations"],
        },
        "spec": template["spec"],
    })
}

/// Takes away what a cluster adds to an object that is there: the policy would leave it alone for that.
fn strip(object: &mut Value) {
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for key in ["ownerReferences", "deletionTimestamp", "managedFields"] {
            metadata.remove(key);
        }
    }
    if object["kind"] == "Pod" {
        look_through_node(&mut object["spec"]);
    }
}

/// Takes the node of a Pod away: its name, and the affinity that ties a Pod of a DaemonSet to it.
fn look_through_node(spec: &mut Value) {
    let Some(members) = spec.as_object_mut() else {
        return;
    };
    members.remove("nodeName");
    let terms = spec.pointer_mut(TERMS).and_then(Value::as_array_mut);
    for term in terms.into_iter().flatten() {
        let fields = term.get_mut("matchFields");
        let Some(fields) = fields.and_then(Value::as_array_mut) else {
            continue;
        };
        fields.retain(|field| field["key"] != "metadata.name");
        let is_empty = fields.is_empty()
            && term["matchExpressions"]
                .as_array()
                .is_none_or(Vec::is_empty);
        if is_empty {
            // A term without requirements would match no node; every node has a name.
            *term = json!({"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": [""]}]});
        }
    }
}

/// The objects in a document: those of a list, each with the kind that the list says.
fn open_lists(document: Value, objects: &mut Vec<Value>) {
    let Value::Object(mut members) = document else {
        if let Value::Array(elements) = document {
            for element in elements {
                open_lists(element, objects);
            }
        } else {
            objects.push(document);
        }
        return;
    };
    let kind = members
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let items_kind = kind.strip_suffix("List").map(str::to_owned);
    let is_list = items_kind.is_some() || kind.is_empty();
    if !is_list || !members.get("items").is_some_and(Value::is_array) {
        objects.push(Value::Object(members));
        return;
    }
    let api_version = members.remove("apiVersion");
    let Some(Value::Array(items)) = members.remove("items") else {
        return;
    };
    for mut item in items {
        if let (Some(item), Some(kind)) = (item.as_object_mut(), &items_kind)
            && !kind.is_empty()
            && !item.contains_key("kind")
        {
            item.insert("kind".to_owned(), json!(kind));
            if let Some(api_version) = &api_version {
                item.entry("apiVersion").or_insert(api_version.clone());
            }
        }
        open_lists(item, objects);
    }
}

fn text<'v>(object: &'v Value, path: &str) -> &'v str {
    let value = object.pointer(path).and_then(Value::as_str);
    value.unwrap_or_default()
}

fn namespace(object: &Value) -> String {
    match text(object, "/metadata/namespace") {
        "" => "default".to_owned(),
        namespace => namespace.to_owned(),
    }
}

/// The name in `metadata`, or the start of the one that will be made.
fn name(metadata: &Value) -> String {
    let name = [&metadata["name"], &metadata["generateName"]];
    let name = name.into_iter().find_map(Value::as_str);
    name.unwrap_or("(no name)").to_owned()
}

fn labels(object: &Value) -> BTreeMap<String, String> {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests;
