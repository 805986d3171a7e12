//! Writes a placement into a Pod (template).

use node_architecture_json::{Draft, DraftObject};

use super::{
    json::{
        ANNOTATION, EXPRESSIONS, PREFERRED, PREFERRED_PATH, REQUIRED, REQUIRED_PATH, TERMS,
        preference_json, requirement_json, term_path, toleration_json,
    },
    record::PlacementRecord,
};
use crate::decision::{Placement, Requirement};

/// Adds `placement` to the Pod (template), and the record of it where `annotate` is set.
///
/// `None` where a field on the way has another type than the API gives it, which a Pod that was read has nowhere.
pub fn apply(template: &mut Draft<'_>, placement: &Placement, annotate: bool) -> Option<()> {
    if placement.is_empty() {
        return Some(());
    }
    let template = template.as_object_mut()?;
    let mut record = PlacementRecord::default();
    let spec = record.object(template, "spec", "spec")?;

    if !placement.node_selector.is_empty() {
        let node_selector = record.object(spec, "nodeSelector", "spec.nodeSelector")?;
        for (key, value) in &placement.node_selector {
            node_selector.set(key, value.as_str());
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
                let added = Draft::from(preference_json(preference));
                record.preferences.push(added.to_string());
                soft.push(added);
            }
        }
    }
    if !placement.tolerations.is_empty() {
        let tolerations = record.array(spec, "tolerations", "spec.tolerations")?;
        for toleration in &placement.tolerations {
            let added = Draft::from(toleration_json(toleration));
            record.tolerations.push(added.to_string());
            tolerations.push(added);
        }
    }
    if annotate {
        let metadata = record.object(template, "metadata", "metadata")?;
        let annotations = record.object(metadata, "annotations", "metadata.annotations")?;
        annotations.set(ANNOTATION, record.to_annotation().as_str());
    }
    Some(())
}

/// ANDs the requirements into their terms: required terms are ORed, so that a term of our own would loosen what the Pod
/// asks for.
fn require(
    record: &mut PlacementRecord,
    node_affinity: &mut DraftObject<'_>,
    requirements: &[Requirement],
) -> Option<()> {
    if requirements.is_empty() {
        return Some(());
    }
    let required = record.object(node_affinity, REQUIRED, REQUIRED_PATH)?;
    if record.has_made(REQUIRED_PATH) {
        required.set(TERMS, Draft::Array(vec![Draft::object()]));
    }
    for Requirement { requirement, terms } in requirements {
        let indices = terms.clone().unwrap_or_else(|| vec![0]);
        for index in &indices {
            let terms = required.get_array_mut(TERMS)?;
            let Some(term) = terms.get_mut(*index) else {
                continue;
            };
            record
                .array(term.as_object_mut()?, EXPRESSIONS, &term_path(*index))?
                .push(requirement_json(requirement).into());
        }
        let added = Draft::from(requirement_json(requirement)).to_string();
        record.requirements.push((added, indices));
    }
    Some(())
}
