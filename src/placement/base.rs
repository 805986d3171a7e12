//! The base of a template: the template without its annotation and what its record lists. Design, section 10.

use node_architecture_json::{Document, Draft, DraftObject, Json};

use super::{
    json::{ANNOTATION, EXPRESSIONS, PREFERRED, REQUIRED, TERMS, hash_of_rest},
    record::PlacementRecord,
};
use crate::set::SortedSet;

/// The base of a template.
#[derive(Debug)]
pub struct Base {
    /// Its text.
    pub text: String,
    /// Its canonical text, in which absent, `null` and empty are equal on the paths that the policy writes.
    pub canonical: String,
}

impl Base {
    /// The base of `template`, which has this `record`.
    ///
    /// What was edited since is its author's and stays: a label with another value, a term that doesn't end with what was
    /// added or whose rest is another one, a list of terms that the policy made and that has others now.
    pub fn of(template: Json<'_>, record: Option<&PlacementRecord>) -> Self {
        let mut draft = Draft::from(template);
        take_out(&mut draft, record);
        let text = draft.to_string();
        normalise(&mut draft);
        Self {
            text,
            canonical: draft.canonical(),
        }
    }
}

fn take_out(template: &mut Draft<'_>, record: Option<&PlacementRecord>) {
    let Some(template) = template.as_object_mut() else {
        return;
    };
    if let (Some(record), Some(spec)) = (record, template.get_object_mut("spec")) {
        let added = &record.added;
        if let Some(node_selector) = spec.get_object_mut("nodeSelector") {
            for (key, value) in &added.node_selector {
                let ours = Draft::from(value.as_str()).canonical();
                let is_ours = |now: &mut Draft<'_>| now.canonical() == ours;
                if node_selector.get_mut(key).is_some_and(is_ours) {
                    node_selector.remove(key);
                }
            }
            if !added.node_selector.is_empty() {
                spec.remove_empty("nodeSelector");
            }
        }
        if !added.terms.is_empty() || !added.preferences.is_empty() {
            if let Some(affinity) = spec.get_object_mut("affinity") {
                if let Some(node_affinity) = affinity.get_object_mut("nodeAffinity") {
                    take_out_terms(node_affinity, &added.terms);
                    if let Some(soft) = node_affinity.get_array_mut(PREFERRED) {
                        remove_each(soft, &added.preferences);
                    }
                    if !added.preferences.is_empty() {
                        node_affinity.remove_empty(PREFERRED);
                    }
                }
                affinity.remove_empty("nodeAffinity");
            }
            spec.remove_empty("affinity");
        }
        if let Some(tolerations) = spec.get_array_mut("tolerations") {
            remove_each(tolerations, &added.tolerations);
        }
        if !added.tolerations.is_empty() {
            spec.remove_empty("tolerations");
        }
    }
    if let Some(metadata) = template.get_object_mut("metadata")
        && let Some(annotations) = metadata.get_object_mut("annotations")
        && annotations.get_mut(ANNOTATION).is_some()
    {
        annotations.remove(ANNOTATION);
        metadata.remove_empty("annotations");
        template.remove_empty("metadata");
    }
}

/// Takes ours out of each term that ends with it and whose rest is the one that it was added to.
fn take_out_terms(node_affinity: &mut DraftObject<'_>, added: &[(String, String)]) {
    let mut lengths = Vec::new();
    let mut known: SortedSet<String> = SortedSet::default();
    for (rest, ours) in added {
        known.insert([rest.as_str(), ours].concat());
        let length = Document::parse(ours).map_or(0, |ours| ours.root().elements().count());
        if !lengths.contains(&length) && lengths.len() < MOST_LENGTHS {
            lengths.push(length);
        }
    }
    let Some(required) = node_affinity.get_object_mut(REQUIRED) else {
        return;
    };
    let members = required.len();
    let Some(terms) = required.get_array_mut(TERMS) else {
        return;
    };
    let count = terms.len();
    let mut made_is_out = false;
    for term in terms {
        // A list has at most a few lengths: that of the operating system, the architecture and the labels to match.
        for length in &lengths {
            let Some((rest, ours)) = split(term, *length) else {
                continue;
            };
            if !known.contains(&[hash_of_rest(rest.clone()), ours].concat()) {
                continue;
            }
            let is_made = rest.is_empty();
            if is_made && (count > 1 || members > 1) {
                // The policy made the list, and somebody wrote into it: it is theirs.
                continue;
            }
            made_is_out |= is_made;
            *term = rest;
            break;
        }
    }
    if made_is_out {
        node_affinity.remove(REQUIRED);
    }
}

/// How many lengths of additions are looked for in a term.
const MOST_LENGTHS: usize = 4;

/// A term without the last `length` of its requirements, and those as canonical JSON; `None` where it has fewer.
fn split<'a>(term: &Draft<'a>, length: usize) -> Option<(Draft<'a>, String)> {
    let mut rest = term.clone();
    let object = rest.as_object_mut()?;
    let expressions = object.get_array_mut(EXPRESSIONS)?;
    let at = expressions.len().checked_sub(length)?;
    let ours = Draft::Array(expressions.split_off(at)).canonical();
    object.remove_empty(EXPRESSIONS);
    Some((rest, ours))
}

/// Removes the last element that equals each of `values`, which are canonical JSON.
fn remove_each(list: &mut Vec<Draft<'_>>, values: &[String]) {
    let mut left = values.to_vec();
    for at in (0..list.len()).rev() {
        let Some(element) = list.get(at).filter(|_| !left.is_empty()) else {
            return;
        };
        let element = element.canonical();
        if let Some(found) = left.iter().position(|value| *value == element) {
            left.swap_remove(found);
            list.remove(at);
        }
    }
}

/// Makes absent, `null` and empty equal on the paths that the policy writes.
fn normalise(template: &mut Draft<'_>) {
    let Some(template) = template.as_object_mut() else {
        return;
    };
    if let Some(spec) = template.get_object_mut("spec") {
        if let Some(affinity) = spec.get_object_mut("affinity") {
            if let Some(node_affinity) = affinity.get_object_mut("nodeAffinity") {
                if let Some(required) = node_affinity.get_object_mut(REQUIRED) {
                    for term in required.get_array_mut(TERMS).into_iter().flatten() {
                        if let Some(term) = term.as_object_mut() {
                            term.remove_empty(EXPRESSIONS);
                        }
                    }
                }
                node_affinity.remove_empty(REQUIRED);
                node_affinity.remove_empty(PREFERRED);
            }
            affinity.remove_empty("nodeAffinity");
        }
        spec.remove_empty("nodeSelector");
        spec.remove_empty("affinity");
        spec.remove_empty("tolerations");
    }
    if let Some(metadata) = template.get_object_mut("metadata") {
        metadata.remove_empty("annotations");
    }
    template.remove_empty("metadata");
}
