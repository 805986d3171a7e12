//! The record of a placement, in an annotation of the Pod (template): what was added, and what wasn't there before.

use node_architecture_json::{Draft, DraftObject, Json, JsonType, Prior};

use super::json::{
    ANNOTATION, EXPRESSIONS, PREFERRED, PREFERRED_PATH, REQUIRED, REQUIRED_PATH, TERMS, term_path,
};
use crate::{
    platform::{ARCHITECTURE_LABEL, OS_LABEL},
    settings::{LabelKey, Settings},
};

/// The longest record that is read; those that are written are far shorter.
const LONGEST_RECORD: usize = 16 * 1024;

/// What the annotation says: what was added, and what wasn't there before.
#[derive(Debug, Default)]
pub struct PlacementRecord {
    /// Labels in the node selector.
    pub(super) node_selector: Vec<(String, String)>,
    /// Requirements, as JSON, with the indices of the required terms they were added to.
    pub(super) requirements: Vec<(String, Vec<usize>)>,
    /// Terms of the preferred node affinity, as JSON.
    pub(super) preferences: Vec<String>,
    /// Tolerations, as JSON.
    pub(super) tolerations: Vec<String>,
    /// Paths that were made because they were absent; not those below another one.
    absent: Vec<String>,
    /// Paths that were made because they were null; not those below another one.
    null: Vec<String>,
}

impl PlacementRecord {
    /// The text of the annotation.
    pub(super) fn to_annotation(&self) -> String {
        let labels = |labels: &[(String, String)]| {
            let mut object = DraftObject::default();
            for (key, value) in labels {
                object.set(key, value.as_str());
            }
            object
        };
        let requirements = self.requirements.iter().map(|(requirement, terms)| {
            let terms = terms.iter().map(|index| *index as i64);
            DraftObject::default()
                .with_some("requirement", Json::parse(requirement).ok())
                .with("terms", terms.collect::<Draft<'_>>())
        });
        fn values(texts: &[String]) -> Draft<'_> {
            let values = texts.iter().filter_map(|text| Json::parse(text).ok());
            values.collect()
        }
        fn strings<'a>(texts: &[String]) -> Draft<'a> {
            texts.iter().map(String::as_str).collect()
        }
        let record = DraftObject::default()
            .with_filled("nodeSelector", labels(&self.node_selector))
            .with_filled("requirements", requirements.collect::<Draft<'_>>())
            .with_filled("preferences", values(&self.preferences))
            .with_filled("tolerations", values(&self.tolerations))
            .with_filled("absent", strings(&self.absent))
            .with_filled("null", strings(&self.null));
        Draft::from(record).to_string()
    }

    /// Reads the text of an annotation; `None` where it isn't a record.
    fn from_annotation(text: &str) -> Option<Self> {
        let json = Json::parse(text).ok()?;
        if json.json_type() != JsonType::Object {
            return None;
        }
        let [
            selector,
            requirements,
            preferences,
            tolerations,
            absent,
            null,
        ] = json.pick([
            "nodeSelector",
            "requirements",
            "preferences",
            "tolerations",
            "absent",
            "null",
        ]);
        let list = |list: Option<Json<'_>>, read: fn(Json<'_>) -> Option<String>| {
            let elements = list.into_iter().flat_map(Json::elements);
            elements.map(read).collect::<Option<Vec<String>>>()
        };
        let string = |json: Json<'_>| json.as_str().map(|text| text.into_owned());
        let value = |json: Json<'_>| Some(json.to_string());
        let mut record = Self {
            preferences: list(preferences, value)?,
            tolerations: list(tolerations, value)?,
            absent: list(absent, string)?,
            null: list(null, string)?,
            ..Self::default()
        };
        for (key, value) in selector.into_iter().flat_map(Json::members) {
            record
                .node_selector
                .push((key.into_owned(), string(value)?));
        }
        for added in requirements.into_iter().flat_map(Json::elements) {
            let [requirement, terms] = added.pick(["requirement", "terms"]);
            let mut indices = Vec::new();
            for index in terms.into_iter().flat_map(Json::elements) {
                indices.push(usize::try_from(index.as_integer()?).ok()?);
            }
            record
                .requirements
                .push((requirement?.to_string(), indices));
        }
        Some(record)
    }

    /// The record of an earlier placement in the annotation of the Pod (template).
    ///
    /// Anybody can write an annotation, so it counts only for what a policy with `settings` writes: labels of the node's
    /// architecture and operating system, and those that `matchNodeLabels` names.
    pub fn of(template: Json<'_>, settings: &Settings) -> Option<Self> {
        let annotations = template.get("metadata")?.get("annotations")?;
        let text = annotations.get(ANNOTATION)?.as_str()?;
        if text.len() > LONGEST_RECORD {
            return None;
        }
        let mut record = Self::from_annotation(&text)?;
        record.node_selector.retain(|(key, _)| {
            let is_matched = |matched: &LabelKey| matched.as_str() == key;
            is_ours(key) || settings.match_node_labels.iter().any(is_matched)
        });
        record.requirements.retain(|(requirement, _)| {
            let requirement = Json::parse(requirement).ok();
            let key = requirement.and_then(|json| json.text_of("key"));
            key.is_some_and(|key| is_ours(&key))
        });
        Some(record)
    }

    /// Opens the member `key` of `parent` as an object, made where it is absent or null.
    pub(super) fn object<'p, 'a>(
        &mut self,
        parent: &'p mut DraftObject<'a>,
        key: &str,
        path: &str,
    ) -> Option<&'p mut DraftObject<'a>> {
        self.made(parent, key, Draft::object(), path)
            .as_object_mut()
    }

    /// Opens the member `key` of `parent` as an array, made where it is absent or null.
    pub(super) fn array<'p, 'a>(
        &mut self,
        parent: &'p mut DraftObject<'a>,
        key: &str,
        path: &str,
    ) -> Option<&'p mut Vec<Draft<'a>>> {
        self.made(parent, key, Draft::Array(Vec::new()), path)
            .as_array_mut()
    }

    fn made<'p, 'a>(
        &mut self,
        parent: &'p mut DraftObject<'a>,
        key: &str,
        empty: Draft<'a>,
        path: &str,
    ) -> &'p mut Draft<'a> {
        let (value, prior) = parent.get_or_set(key, empty);
        // Below something that was made, everything was.
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

    pub(super) fn has_made(&self, path: &str) -> bool {
        let is_listed = self
            .absent
            .iter()
            .chain(&self.null)
            .any(|made| made == path);
        is_listed || self.is_below_made(path)
    }

    /// Takes the member `key` of `parent` back to what it was before it was made, if it is empty now.
    fn unmake(&self, parent: &mut DraftObject<'_>, key: &str, path: &str) {
        if !parent.get_mut(key).is_some_and(|value| value.is_empty()) {
            return;
        }
        if self.null.iter().any(|made| made == path) {
            parent.set(key, Json::NULL);
        } else if self.has_made(path) {
            parent.remove(key);
        }
    }
}

/// Takes an earlier placement out of the Pod (template), as its `record` says. What was changed since is the user's and
/// stays.
pub fn strip(template: &mut Draft<'_>, record: &PlacementRecord) {
    let Some(template) = template.as_object_mut() else {
        return;
    };
    if let Some(spec) = template.get_object_mut("spec") {
        if let Some(node_selector) = spec.get_object_mut("nodeSelector") {
            for (key, value) in &record.node_selector {
                let ours = Draft::from(value.as_str()).canonical();
                if node_selector
                    .get_mut(key)
                    .is_some_and(|now| now.canonical() == ours)
                {
                    node_selector.remove(key);
                }
            }
        }
        record.unmake(spec, "nodeSelector", "spec.nodeSelector");
        if let Some(affinity) = spec.get_object_mut("affinity") {
            if let Some(node_affinity) = affinity.get_object_mut("nodeAffinity") {
                strip_node_affinity(record, node_affinity);
            }
            record.unmake(affinity, "nodeAffinity", "spec.affinity.nodeAffinity");
        }
        record.unmake(spec, "affinity", "spec.affinity");
        if let Some(tolerations) = spec.get_array_mut("tolerations") {
            remove_each(tolerations, &record.tolerations);
        }
        record.unmake(spec, "tolerations", "spec.tolerations");
    }
    record.unmake(template, "spec", "spec");
    if let Some(metadata) = template.get_object_mut("metadata") {
        if let Some(annotations) = metadata.get_object_mut("annotations") {
            annotations.remove(ANNOTATION);
        }
        record.unmake(metadata, "annotations", "metadata.annotations");
    }
    record.unmake(template, "metadata", "metadata");
}

fn is_ours(key: &str) -> bool {
    key == ARCHITECTURE_LABEL || key == OS_LABEL
}

fn strip_node_affinity(record: &PlacementRecord, node_affinity: &mut DraftObject<'_>) {
    if let Some(required) = node_affinity.get_object_mut(REQUIRED) {
        if let Some(terms) = required.get_array_mut(TERMS) {
            for (requirement, indices) in &record.requirements {
                for index in indices {
                    let Some(term) = terms.get_mut(*index).and_then(Draft::as_object_mut) else {
                        continue;
                    };
                    if let Some(expressions) = term.get_array_mut(EXPRESSIONS) {
                        remove_each(expressions, std::slice::from_ref(requirement));
                    }
                    record.unmake(term, EXPRESSIONS, &term_path(*index));
                }
            }
            let made_term_is_empty =
                record.has_made(REQUIRED_PATH) && terms.first().is_some_and(Draft::is_empty);
            if made_term_is_empty {
                terms.remove(0);
            }
        }
        let holds_nothing = required.len() == 1
            && required
                .get_mut(TERMS)
                .is_some_and(|terms| terms.is_empty());
        if record.has_made(REQUIRED_PATH) && holds_nothing {
            required.remove(TERMS);
        }
    }
    record.unmake(node_affinity, REQUIRED, REQUIRED_PATH);
    if let Some(soft) = node_affinity.get_array_mut(PREFERRED) {
        remove_each(soft, &record.preferences);
    }
    record.unmake(node_affinity, PREFERRED, PREFERRED_PATH);
}

/// Removes the last element that equals each of `values`, which are JSON.
fn remove_each(list: &mut Vec<Draft<'_>>, values: &[String]) {
    if values.is_empty() {
        return;
    }
    let mut present: Vec<String> = list.iter().map(Draft::canonical).collect();
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
