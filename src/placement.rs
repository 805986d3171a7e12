//! Writes a placement into a pod (template), and takes an earlier one out again.
//!
//! Only the touched paths change. What was added is recorded in an annotation, so that a later evaluation of the same
//! object can remove exactly that, as far as it is still as it was written: `strip(apply(x)) == x` and
//! `apply(apply(x)) == apply(x)`. Design, sections 10 and 11.

use std::borrow::Cow;

use crate::{
    json::{Json, Mismatch, Object, Prior},
    platform::{ARCHITECTURE_LABEL, OS_LABEL},
    settings::{LabelKey, Settings},
};
use k8s_openapi::api::core::v1::{NodeSelectorRequirement, PreferredSchedulingTerm, Toleration};

/// The annotation of the pod (template) that records what was added.
pub const ANNOTATION: &str = "node-architecture-policy/placement";

/// The paths of what may have to be made.
const REQUIRED_PATH: &str = "spec.affinity.nodeAffinity.required";
const PREFERRED_PATH: &str = "spec.affinity.nodeAffinity.preferred";

/// The longest record that is read; those that are written are far shorter.
const LONGEST_RECORD: usize = 16 * 1024;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const TERMS: &str = "nodeSelectorTerms";
const EXPRESSIONS: &str = "matchExpressions";

/// What is added to a pod (template).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Labels of the node, for `nodeSelector`.
    pub node_selector: Vec<(String, String)>,
    /// Requirements for the required node affinity.
    pub requirements: Vec<Requirement>,
    /// Terms for the preferred node affinity.
    pub preferences: Vec<PreferredSchedulingTerm>,
    /// Tolerations.
    pub tolerations: Vec<Toleration>,
}

/// A requirement, and the required terms that it is ANDed into.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The requirement.
    pub requirement: NodeSelectorRequirement,
    /// Indices of the terms; `None` where the pod has no required node affinity, and a term is made for it.
    pub terms: Option<Vec<usize>>,
}

impl Placement {
    /// Whether nothing is added.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What the annotation says: what was added, and what wasn't there before.
#[derive(Debug, Default)]
pub struct Record {
    /// Labels in the node selector.
    node_selector: Vec<(String, String)>,
    /// Requirements, as JSON, with the indices of the required terms they were added to.
    requirements: Vec<(String, Vec<usize>)>,
    /// Terms of the preferred node affinity, as JSON.
    preferences: Vec<String>,
    /// Tolerations, as JSON.
    tolerations: Vec<String>,
    /// Paths that were made because they were absent; not those below another one.
    absent: Vec<String>,
    /// Paths that were made because they were null; not those below another one.
    null: Vec<String>,
}

impl Record {
    /// The text of the annotation.
    fn to_annotation(&self) -> String {
        let mut node_selector = Object::default();
        for (key, value) in &self.node_selector {
            node_selector.set(key, value.as_str().into());
        }
        let requirements = self.requirements.iter().map(|(requirement, terms)| {
            let terms = terms.iter().map(|index| Json::Integer(*index as i64));
            Object::default()
                .with_some("requirement", Json::parse(requirement).ok())
                .with("terms", terms.collect::<Json<'_>>())
        });
        fn values(texts: &[String]) -> Json<'_> {
            texts
                .iter()
                .filter_map(|text| Json::parse(text).ok())
                .collect()
        }
        fn strings(texts: &[String]) -> Json<'_> {
            texts.iter().map(String::as_str).collect()
        }
        let record = Object::default()
            .with_filled("nodeSelector", node_selector.into())
            .with_filled("requirements", requirements.collect())
            .with_filled("preferences", values(&self.preferences))
            .with_filled("tolerations", values(&self.tolerations))
            .with_filled("absent", strings(&self.absent))
            .with_filled("null", strings(&self.null));
        Json::Object(record).to_string()
    }

    /// Reads the text of an annotation; `None` where it isn't a record.
    fn from_annotation(text: &str) -> Option<Self> {
        let mut json = Json::parse(text).ok()?;
        let object = json.as_object()?;
        let mut record = Self::default();
        if let Some(node_selector) = object.get_object("nodeSelector") {
            for (key, value) in node_selector.iter_mut() {
                let label = (key.to_owned(), value.as_str()?.into_owned());
                record.node_selector.push(label);
            }
        }
        for added in object.get_array("requirements").into_iter().flatten() {
            let added = added.as_object()?;
            let requirement = added.get("requirement")?.to_string();
            let mut terms = Vec::new();
            for index in added.get_array("terms").into_iter().flatten() {
                terms.push(usize::try_from(index.as_integer()?).ok()?);
            }
            record.requirements.push((requirement, terms));
        }
        let mut texts = |key: &str, read: fn(&Json<'_>) -> Option<String>| {
            let list = object.get_array(key).into_iter().flatten();
            list.map(|value| read(value))
                .collect::<Option<Vec<String>>>()
        };
        record.preferences = texts("preferences", |value| Some(value.to_string()))?;
        record.tolerations = texts("tolerations", |value| Some(value.to_string()))?;
        record.absent = texts("absent", |value| value.as_str().map(Cow::into_owned))?;
        record.null = texts("null", |value| value.as_str().map(Cow::into_owned))?;
        Some(record)
    }
}

impl Record {
    /// Opens the member `key` of `parent` as an object, made where it is absent or null.
    fn object<'p, 'a>(
        &mut self,
        parent: &'p mut Object<'a>,
        key: &str,
        path: &str,
    ) -> Result<&'p mut Object<'a>, Mismatch> {
        self.made(parent, key, Json::Object(Object::default()), path)
            .object_at(path)
    }

    /// Opens the member `key` of `parent` as an array, made where it is absent or null.
    fn array<'p, 'a>(
        &mut self,
        parent: &'p mut Object<'a>,
        key: &str,
        path: &str,
    ) -> Result<&'p mut Vec<Json<'a>>, Mismatch> {
        self.made(parent, key, Json::Array(Vec::new()), path)
            .list_at(path)
    }

    fn made<'p, 'a>(
        &mut self,
        parent: &'p mut Object<'a>,
        key: &str,
        empty: Json<'a>,
        path: &str,
    ) -> &'p mut Json<'a> {
        let (value, prior) = parent.get_or_set(key, empty);
        // What is below something that was made was made too.
        if !self.is_below_made(path) {
            match prior {
                Prior::Absent => self.absent.push(path.to_owned()),
                Prior::Null => self.null.push(path.to_owned()),
                Prior::Present => {}
            }
        }
        value
    }

    fn is_below_made(&self, path: &str) -> bool {
        self.absent.iter().chain(&self.null).any(|made| {
            path.strip_prefix(made.as_str())
                .is_some_and(|rest| rest.starts_with('.'))
        })
    }

    fn has_made(&self, path: &str) -> bool {
        let is_listed = self
            .absent
            .iter()
            .chain(&self.null)
            .any(|made| made == path);
        is_listed || self.is_below_made(path)
    }

    /// Takes the member `key` of `parent` back to what it was before it was made, if it is empty now.
    fn unmake(&self, parent: &mut Object<'_>, key: &str, path: &str) {
        if !parent.get(key).is_some_and(|value| value.is_empty()) {
            return;
        }
        if self.null.iter().any(|made| made == path) {
            parent.set(key, Json::Null);
        } else if self.has_made(path) {
            parent.remove(key);
        }
    }
}

/// Adds `placement` to the pod (template), and the record of it where `annotate` is set.
///
/// # Errors
/// [`Mismatch`] where a field on the way has another type than the API gives it. The template may be
/// changed in part then.
pub fn apply(
    template: &mut Object<'_>,
    placement: &Placement,
    annotate: bool,
) -> Result<(), Mismatch> {
    if placement.is_empty() {
        return Ok(());
    }
    let mut record = Record::default();
    let spec = record.object(template, "spec", "spec")?;

    if !placement.node_selector.is_empty() {
        let node_selector = record.object(spec, "nodeSelector", "spec.nodeSelector")?;
        for (key, value) in &placement.node_selector {
            node_selector.set(key, value.as_str().into());
        }
        record.node_selector = placement.node_selector.clone();
    }
    if !placement.requirements.is_empty() || !placement.preferences.is_empty() {
        let affinity = record.object(spec, "affinity", "spec.affinity")?;
        let node_affinity =
            record.object(affinity, "nodeAffinity", "spec.affinity.nodeAffinity")?;
        require(&mut record, node_affinity, &placement.requirements)?;
        if !placement.preferences.is_empty() {
            let soft = record.array(node_affinity, PREFERRED, PREFERRED_PATH)?;
            for preference in &placement.preferences {
                let added = Json::Object(preference_json(preference));
                record.preferences.push(added.to_string());
                soft.push(added);
            }
        }
    }
    if !placement.tolerations.is_empty() {
        let tolerations = record.array(spec, "tolerations", "spec.tolerations")?;
        for toleration in &placement.tolerations {
            let added = Json::Object(toleration_json(toleration));
            record.tolerations.push(added.to_string());
            tolerations.push(added);
        }
    }
    if annotate {
        let metadata = record.object(template, "metadata", "metadata")?;
        let annotations = record.object(metadata, "annotations", "metadata.annotations")?;
        annotations.set(ANNOTATION, Json::String(record.to_annotation()));
    }
    Ok(())
}

fn requirement_json<'a>(requirement: &NodeSelectorRequirement) -> Object<'a> {
    let values = requirement.values.iter().flatten().map(String::as_str);
    Object::default()
        .with("key", requirement.key.as_str())
        .with("operator", requirement.operator.as_str())
        .with("values", values.collect::<Json<'_>>())
}

fn preference_json<'a>(preference: &PreferredSchedulingTerm) -> Object<'a> {
    let expressions = preference.preference.match_expressions.iter().flatten();
    let term = Object::default().with(
        EXPRESSIONS,
        expressions.map(requirement_json).collect::<Json<'_>>(),
    );
    Object::default()
        .with("weight", Json::Integer(preference.weight.into()))
        .with("preference", term)
}

fn toleration_json<'a>(toleration: &Toleration) -> Object<'a> {
    Object::default()
        .with_some("key", toleration.key.as_deref())
        .with_some("operator", toleration.operator.as_deref())
        .with_some("value", toleration.value.as_deref())
        .with_some("effect", toleration.effect.as_deref())
        .with_some(
            "tolerationSeconds",
            toleration.toleration_seconds.map(Json::Integer),
        )
}

/// ANDs the requirements into their terms.
fn require(
    record: &mut Record,
    node_affinity: &mut Object<'_>,
    requirements: &[Requirement],
) -> Result<(), Mismatch> {
    if requirements.is_empty() {
        return Ok(());
    }
    let required = record.object(node_affinity, REQUIRED, REQUIRED_PATH)?;
    if record.has_made(REQUIRED_PATH) {
        required.set(TERMS, Json::Array(vec![Json::Object(Object::default())]));
    }
    for Requirement { requirement, terms } in requirements {
        let indices = terms.clone().unwrap_or_else(|| vec![0]);
        for index in &indices {
            let terms = required.get_array(TERMS);
            let Some(term) = terms.and_then(|terms| terms.get_mut(*index)) else {
                continue;
            };
            let path = term_path(*index);
            let term = term.object_at(&path)?;
            record
                .array(term, EXPRESSIONS, &path)?
                .push(requirement_json(requirement).into());
        }
        let added = requirement_json(requirement).to_string();
        record.requirements.push((added, indices));
    }
    Ok(())
}

fn term_path(index: usize) -> String {
    format!("{REQUIRED_PATH}.{index}.{EXPRESSIONS}")
}

/// Takes an earlier placement out of the pod (template), as its `record` says. What was changed since is the user's and
/// stays.
pub fn strip(template: &mut Object<'_>, record: &Record) {
    if let Some(spec) = template.get_object("spec") {
        if let Some(node_selector) = spec.get_object("nodeSelector") {
            for (key, value) in &record.node_selector {
                if node_selector.get_str(key).is_some_and(|now| now == *value) {
                    node_selector.remove(key);
                }
            }
        }
        record.unmake(spec, "nodeSelector", "spec.nodeSelector");
        if let Some(affinity) = spec.get_object("affinity") {
            if let Some(node_affinity) = affinity.get_object("nodeAffinity") {
                strip_node_affinity(record, node_affinity);
            }
            record.unmake(affinity, "nodeAffinity", "spec.affinity.nodeAffinity");
        }
        record.unmake(spec, "affinity", "spec.affinity");
        if let Some(tolerations) = spec.get_array("tolerations") {
            remove_each(tolerations, &record.tolerations);
        }
        record.unmake(spec, "tolerations", "spec.tolerations");
    }
    record.unmake(template, "spec", "spec");
    if let Some(metadata) = template.get_object("metadata") {
        if let Some(annotations) = metadata.get_object("annotations") {
            annotations.remove(ANNOTATION);
        }
        record.unmake(metadata, "annotations", "metadata.annotations");
    }
    record.unmake(template, "metadata", "metadata");
}

/// The record of an earlier placement in the annotation of the pod (template).
///
/// Anybody can write an annotation, so it counts only for what a policy with `settings` writes: labels of the node's
/// architecture and operating system, and those that `matchNodeLabels` names.
pub fn recorded(template: &mut Object<'_>, settings: &Settings) -> Option<Record> {
    let annotations = template.get_object("metadata")?.get_object("annotations")?;
    let text = annotations.get_str(ANNOTATION)?;
    if text.len() > LONGEST_RECORD {
        return None;
    }
    let mut record = Record::from_annotation(&text)?;
    record.node_selector.retain(|(key, _)| {
        let is_matched = |matched: &LabelKey| matched.as_str() == key;
        is_ours(key) || settings.match_node_labels.iter().any(is_matched)
    });
    record.requirements.retain(|(requirement, _)| {
        let requirement = Json::parse(requirement).ok();
        let key = requirement.and_then(|mut json| json.as_object()?.text("key"));
        key.is_some_and(|key| is_ours(&key))
    });
    Some(record)
}

fn is_ours(key: &str) -> bool {
    key == ARCHITECTURE_LABEL || key == OS_LABEL
}

fn strip_node_affinity(record: &Record, node_affinity: &mut Object<'_>) {
    if let Some(required) = node_affinity.get_object(REQUIRED) {
        if let Some(terms) = required.get_array(TERMS) {
            for (requirement, indices) in &record.requirements {
                for index in indices {
                    let Some(term) = terms.get_mut(*index).and_then(Json::as_object) else {
                        continue;
                    };
                    if let Some(expressions) = term.get_array(EXPRESSIONS) {
                        remove_each(expressions, std::slice::from_ref(requirement));
                    }
                    record.unmake(term, EXPRESSIONS, &term_path(*index));
                }
            }
            let made_term_is_empty =
                record.has_made(REQUIRED_PATH) && terms.first().is_some_and(Json::is_empty);
            if made_term_is_empty {
                terms.remove(0);
            }
        }
        let holds_nothing =
            required.len() == 1 && required.get(TERMS).is_some_and(|terms| terms.is_empty());
        if record.has_made(REQUIRED_PATH) && holds_nothing {
            required.remove(TERMS);
        }
    }
    record.unmake(node_affinity, REQUIRED, REQUIRED_PATH);
    if let Some(soft) = node_affinity.get_array(PREFERRED) {
        remove_each(soft, &record.preferences);
    }
    record.unmake(node_affinity, PREFERRED, PREFERRED_PATH);
}

/// Removes the last element that equals each of `values`, which are JSON.
fn remove_each(list: &mut Vec<Json<'_>>, values: &[String]) {
    if values.is_empty() {
        return;
    }
    let mut present: Vec<String> = list.iter().map(Json::canonical).collect();
    for value in values.iter().rev() {
        let Ok(value) = Json::parse(value) else {
            continue;
        };
        let value = value.canonical();
        if let Some(index) = present.iter().rposition(|element| *element == value) {
            present.remove(index);
            list.remove(index);
        }
    }
}

#[cfg(test)]
mod tests;
