//! Writes a placement into a Pod (template).

use node_architecture_json::{Draft, DraftObject};

use super::json::{
    ANNOTATION, EXPRESSIONS, PREFERRED, REQUIRED, TERMS, hash_of_rest, preference_json,
    requirement_json, toleration_json,
};
use crate::decision::{Placement, Requirement};

/// What was added, as a record has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// Labels in the node selector.
    pub node_selector: Vec<(String, String)>,
    /// Required terms: the hash of each without ours, and the list of ours, as JSON.
    pub terms: Vec<(String, String)>,
    /// Terms of the preferred node affinity, as JSON.
    pub preferences: Vec<String>,
    /// Tolerations, as JSON.
    pub tolerations: Vec<String>,
}

/// Adds `placement` to the Pod (template).
///
/// `None` where a field on the way has another type than the API gives it, which a Pod that was read has nowhere.
pub fn apply(template: &mut Draft<'_>, placement: &Placement) -> Option<Additions> {
    let mut added = Additions::default();
    if placement.is_empty() {
        return Some(added);
    }
    let spec = template.as_object_mut()?.object("spec")?;
    if !placement.node_selector.is_empty() {
        let node_selector = spec.object("nodeSelector")?;
        for (key, value) in &placement.node_selector {
            node_selector.set(key, value.as_str());
        }
        added.node_selector = placement.node_selector.clone();
    }
    if !placement.requirements.is_empty() || !placement.preferences.is_empty() {
        let node_affinity = spec.object("affinity")?.object("nodeAffinity")?;
        added.terms = require(node_affinity, &placement.requirements)?;
        if !placement.preferences.is_empty() {
            let soft = node_affinity.array(PREFERRED)?;
            for preference in &placement.preferences {
                let preference = Draft::from(preference_json(preference));
                added.preferences.push(preference.to_string());
                soft.push(preference);
            }
        }
    }
    if !placement.tolerations.is_empty() {
        let tolerations = spec.array("tolerations")?;
        for toleration in &placement.tolerations {
            let toleration = Draft::from(toleration_json(toleration));
            added.tolerations.push(toleration.to_string());
            tolerations.push(toleration);
        }
    }
    Some(added)
}

/// ANDs the requirements into their terms: required terms are ORed, so that a term of our own would loosen what the Pod
/// asks for. The hash of each term without ours, and the list of ours.
fn require(
    node_affinity: &mut DraftObject<'_>,
    requirements: &[Requirement],
) -> Option<Vec<(String, String)>> {
    if requirements.is_empty() {
        return Some(Vec::new());
    }
    let required = node_affinity.object(REQUIRED)?;
    let makes_a_term = requirements.iter().any(|it| it.terms.is_none());
    if makes_a_term {
        required.set(TERMS, Draft::Array(vec![Draft::object()]));
    }
    let terms = required.array(TERMS)?;
    let mut ours: Vec<Vec<Draft<'_>>> = vec![Vec::new(); terms.len()];
    for Requirement { requirement, terms } in requirements {
        let made = [0];
        let indices = terms.as_deref().unwrap_or(&made);
        for index in indices {
            ours.get_mut(*index)?
                .push(requirement_json(requirement).into());
        }
    }
    let mut added = Vec::new();
    for (term, ours) in terms.iter_mut().zip(ours) {
        if ours.is_empty() {
            continue;
        }
        let rest = hash_of_rest(term.clone());
        added.push((rest, Draft::Array(ours.clone()).to_string()));
        term.as_object_mut()?.array(EXPRESSIONS)?.extend(ours);
    }
    Some(added)
}

/// Writes `text` as the annotation of the Pod (template).
pub fn annotate(template: &mut Draft<'_>, text: &str) -> Option<()> {
    let metadata = template.as_object_mut()?.object("metadata")?;
    metadata.object("annotations")?.set(ANNOTATION, text);
    Some(())
}
