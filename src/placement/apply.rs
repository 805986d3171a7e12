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

/// Adds `placement` to the Pod (template), and lists what is added for a record in `added`, where there will be one.
///
/// `None` where a field on the way has another type than the API gives it, which a Pod that was read has nowhere.
pub fn apply(
    template: &mut Draft<'_>,
    placement: &Placement,
    mut added: Option<&mut Additions>,
) -> Option<()> {
    if placement.is_empty() {
        return Some(());
    }
    if let Some(added) = added.as_deref_mut() {
        added.node_selector = placement.node_selector.clone();
    }
    let spec = template.as_object_mut()?.object("spec")?;
    if !placement.node_selector.is_empty() {
        let node_selector = spec.object("nodeSelector")?;
        for (key, value) in &placement.node_selector {
            node_selector.set(key, value.as_str());
        }
    }
    if !placement.requirements.is_empty() || !placement.preferences.is_empty() {
        let node_affinity = spec.object("affinity")?.object("nodeAffinity")?;
        require(node_affinity, &placement.requirements, added.as_deref_mut())?;
        if !placement.preferences.is_empty() {
            let soft = node_affinity.array(PREFERRED)?;
            for preference in &placement.preferences {
                let preference = Draft::from(preference_json(preference));
                if let Some(added) = added.as_deref_mut() {
                    added.preferences.push(preference.to_string());
                }
                soft.push(preference);
            }
        }
    }
    if !placement.tolerations.is_empty() {
        let tolerations = spec.array("tolerations")?;
        for toleration in &placement.tolerations {
            let toleration = Draft::from(toleration_json(toleration));
            if let Some(added) = added.as_deref_mut() {
                added.tolerations.push(toleration.to_string());
            }
            tolerations.push(toleration);
        }
    }
    Some(())
}

/// ANDs the requirements into their terms: required terms are ORed, so that a term of our own would loosen what the Pod
/// asks for.
fn require(
    node_affinity: &mut DraftObject<'_>,
    requirements: &[Requirement],
    mut added: Option<&mut Additions>,
) -> Option<()> {
    if requirements.is_empty() {
        return Some(());
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
    for (term, ours) in terms.iter_mut().zip(ours) {
        if ours.is_empty() {
            continue;
        }
        if let Some(added) = added.as_deref_mut() {
            let rest = hash_of_rest(term.clone());
            let ours = Draft::Array(ours.clone()).to_string();
            added.terms.push((rest, ours));
        }
        term.as_object_mut()?.array(EXPRESSIONS)?.extend(ours);
    }
    Some(())
}

/// Writes `text` as the annotation of the Pod (template).
pub fn annotate(template: &mut Draft<'_>, text: &str) -> Option<()> {
    let metadata = template.as_object_mut()?.object("metadata")?;
    metadata.object("annotations")?.set(ANNOTATION, text);
    Some(())
}
