//! When one toleration makes another needless.

use k8s_openapi::api::core::v1::Toleration;

/// Whether every taint that `toleration` tolerates is tolerated by `present` too: Kubernetes' own rule for merging the
/// tolerations of a namespace into a Pod.
///
/// - an empty key with operator `Exists` covers every key, else the keys must be equal;
/// - an empty effect covers every effect, else the effects must be equal;
/// - `Exists` covers every value, `Equal` (the default) only its own and never an `Exists`;
/// - for `NoExecute`, a limit in seconds covers only limits that are no longer.
///
/// <https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/>
pub fn covers(present: &Toleration, toleration: &Toleration) -> bool {
    if present == toleration {
        return true;
    }
    let any_key = text(&present.key).is_empty() && operator(present) == "Exists";
    if !any_key && text(&present.key) != text(&toleration.key) {
        return false;
    }
    let effect = text(&present.effect);
    if !effect.is_empty() && effect != text(&toleration.effect) {
        return false;
    }
    if effect == "NoExecute"
        && let Some(longest) = present.toleration_seconds
        && toleration
            .toleration_seconds
            .is_none_or(|seconds| seconds > longest)
    {
        return false;
    }
    match operator(present) {
        "Exists" => true,
        "Equal" => {
            operator(toleration) == "Equal" && text(&present.value) == text(&toleration.value)
        }
        _ => false,
    }
}

fn text(field: &Option<String>) -> &str {
    field.as_deref().unwrap_or_default()
}

fn operator(toleration: &Toleration) -> &str {
    match text(&toleration.operator) {
        "" => "Equal",
        other => other,
    }
}

#[cfg(test)]
mod tests;
