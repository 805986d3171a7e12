//! Where a placement is written, and how its parts are.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, PreferredSchedulingTerm, Toleration};
use node_architecture_json::{Draft, DraftObject};

/// The annotation of the Pod (template) that records what was added.
pub const ANNOTATION: &str = "node-architecture-policy/placement";

/// The paths of what may have to be made.
pub(super) const REQUIRED_PATH: &str = "spec.affinity.nodeAffinity.required";
pub(super) const PREFERRED_PATH: &str = "spec.affinity.nodeAffinity.preferred";

pub(super) const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
pub(super) const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
pub(super) const TERMS: &str = "nodeSelectorTerms";
pub(super) const EXPRESSIONS: &str = "matchExpressions";

/// The path of the requirements of a required term.
pub(super) fn term_path(index: usize) -> String {
    format!("{REQUIRED_PATH}.{index}.{EXPRESSIONS}")
}

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
