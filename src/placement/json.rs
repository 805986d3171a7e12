//! Where a placement is written, and how its parts are.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, PreferredSchedulingTerm, Toleration};
use node_architecture_json::{Draft, DraftObject};

use crate::hash::fnv1a;

/// The annotation of a placement: the record of what was added to a template, and a sentence about it in a Pod.
pub const ANNOTATION: &str = "node-architecture-policy/placement";

pub(super) const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
pub(super) const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
pub(super) const TERMS: &str = "nodeSelectorTerms";
pub(super) const EXPRESSIONS: &str = "matchExpressions";

pub(super) fn requirement_json<'a>(requirement: &NodeSelectorRequirement) -> DraftObject<'a> {
    let values = requirement.values.iter().flatten().map(String::as_str);
    DraftObject::default()
        .with("key", requirement.key.as_str())
        .with("operator", requirement.operator.as_str())
        .with("values", values.collect::<Draft<'_>>())
}

pub(super) fn preference_json<'a>(preference: &PreferredSchedulingTerm) -> DraftObject<'a> {
    let expressions = preference.preference.match_expressions.iter().flatten();
    let term = DraftObject::default().with(
        EXPRESSIONS,
        expressions.map(requirement_json).collect::<Draft<'_>>(),
    );
    DraftObject::default()
        .with("weight", i64::from(preference.weight))
        .with("preference", term)
}

pub(super) fn toleration_json<'a>(toleration: &Toleration) -> DraftObject<'a> {
    DraftObject::default()
        .with_some("key", toleration.key.as_deref())
        .with_some("operator", toleration.operator.as_deref())
        .with_some("value", toleration.value.as_deref())
        .with_some("effect", toleration.effect.as_deref())
        .with_some("tolerationSeconds", toleration.toleration_seconds)
}

/// The hash of a text, in hexadecimal digits.
pub(super) fn hash(text: &str) -> String {
    format!("{:016x}", fnv1a(text))
}

/// The hash of a required term that has no more of our requirements: whether its list of them is absent, `null` or
/// empty then makes no difference.
pub(super) fn hash_of_rest(mut rest: Draft<'_>) -> String {
    if let Some(term) = rest.as_object_mut() {
        term.remove_empty(EXPRESSIONS);
    }
    hash(&rest.canonical())
}
