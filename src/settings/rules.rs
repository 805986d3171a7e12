//! What several settings have to agree on: each rule with its error, and its JSON Schema as far as that can say it.

use node_architecture_json::Json;

use super::{
    reader::Reader,
    table::Settings,
    types::{OnLookupFailure, OnUnplaced, PreferenceEnforcement, Preferred, Strict},
};
use crate::{kind::Kind, platform::Architecture, text::join};

/// Checks the rules; `given` are the members that the document has, in the order of [`Settings::KEYS`].
pub(super) fn check(reader: &mut Reader, settings: &Settings, given: &[Option<Json<'_>>]) {
    if reader.is_read("preferenceEnforcement") && reader.is_read(RULES) {
        weights_need_preferred(reader, settings);
    }
    fallback_needs_an_architecture(reader, settings);
    a_fallback_architecture_needs_the_fallback(reader, settings);
    required_architectures_need_namespaces(reader, settings);
    named_architectures_are_schedulable(reader, settings, given);
    if reader.is_read(RULES) {
        preference_rules_take_workloads(reader, settings);
    }
    on_unplaced_needs_mutate_false(reader, settings);
    if reader.is_read("workloads") {
        workloads_are_new_kinds(reader, settings);
    }
}

const RULES: &str = "preferenceRules";

fn weights_need_preferred(reader: &mut Reader, settings: &Settings) {
    let mut check = |path: &str, preferred: Preferred<'_>| {
        if !preferred.weights.is_empty()
            && preferred.enforcement != PreferenceEnforcement::Preferred
        {
            reader.errors.push(format!(
                "{path}architectureWeights: weights need preferenceEnforcement: preferred, set it or remove them"
            ));
        }
    };
    for (index, rule) in settings.preference_rules.iter().enumerate() {
        check(&format!("{RULES}[{index}]."), rule.preferred());
    }
    check("", settings.preferred_by_default());
}

/// A rule that takes no workload would do nothing.
fn preference_rules_take_workloads(reader: &mut Reader, settings: &Settings) {
    let rules = &settings.preference_rules;
    for (index, rule) in rules.iter().enumerate() {
        let covering = rules.iter().take(index).position(|it| it.covers(rule));
        if let Some(covering) = covering {
            reader.errors.push(format!(
                "{RULES}[{index}]: takes no workload, as {RULES}[{covering}] takes all that it matches: move it before that one, give it a larger share or remove it"
            ));
        }
    }
}

/// It would do nothing. The default does nothing anywhere, and a form sends it with every other.
fn on_unplaced_needs_mutate_false(reader: &mut Reader, settings: &Settings) {
    if settings.on_unplaced == OnUnplaced::Reject && settings.mutate && reader.is_read("mutate") {
        reader.errors.push(
            "onUnplaced: \"reject\" is given without mutate: false, set it or remove this"
                .to_owned(),
        );
    }
}

fn workloads_are_new_kinds(reader: &mut Reader, settings: &Settings) {
    for (index, added) in settings.workloads.iter().enumerate() {
        let (group, kind) = (added.group.as_str(), added.kind.as_str());
        if Kind::built_in(group, kind).is_some() {
            reader.errors.push(format!(
                "workloads[{index}]: {kind} of {group} is known without it, remove it"
            ));
        }
        let mut before = settings.workloads.iter().take(index);
        if before.any(|it| it.group == added.group && it.kind == added.kind) {
            reader.errors.push(format!(
                "workloads[{index}]: {kind} of {group} is given twice, remove one"
            ));
        }
    }
}

fn fallback_needs_an_architecture(reader: &mut Reader, settings: &Settings) {
    if settings.on_lookup_failure == OnLookupFailure::Fallback
        && settings.fallback_architecture.is_none()
        && reader.is_read("fallbackArchitecture")
    {
        reader.errors.push(
            "fallbackArchitecture: missing, onLookupFailure: fallback needs an architecture to fall back to"
                .to_owned(),
        );
    }
}

/// It would do nothing.
fn a_fallback_architecture_needs_the_fallback(reader: &mut Reader, settings: &Settings) {
    if let Some(architecture) = settings.fallback_architecture
        && settings.on_lookup_failure != OnLookupFailure::Fallback
        && reader.is_read("onLookupFailure")
    {
        reader.errors.push(format!(
            "fallbackArchitecture: \"{architecture}\" is given without onLookupFailure: fallback, set it or remove this"
        ));
    }
}

/// They would do nothing.
fn required_architectures_need_namespaces(reader: &mut Reader, settings: &Settings) {
    let mut strict = settings.strict.iter();
    let does_nothing =
        |strict: &Strict| strict.namespaces.is_empty() && !strict.required_architectures.is_empty();
    if strict.any(does_nothing) && reader.is_read("strict.namespaces") {
        reader.errors.push(
            "strict.namespaces: missing, requiredArchitectures hold in the namespaces that it lists"
                .to_owned(),
        );
    }
}

/// The default preference may be outside: then there is none.
fn named_architectures_are_schedulable(
    reader: &mut Reader,
    settings: &Settings,
    given: &[Option<Json<'_>>],
) {
    let preferred_key = "preferredArchitecture";
    let mut keys = Settings::KEYS.iter().zip(given);
    let preferred_is_given = keys.any(|(key, value)| *key == preferred_key && value.is_some())
        && reader.is_read(preferred_key);
    let mut check = |path: &str, architecture: Architecture| {
        if !settings.is_schedulable(architecture) {
            reader.errors.push(format!(
                "{path}: \"{architecture}\" is not in schedulableArchitectures ({}), add it there or use one of them",
                join(settings.schedulable_architectures.iter())
            ));
        }
    };
    if let Some(preferred) = settings.preferred_architecture
        && preferred_is_given
    {
        check(preferred_key, preferred);
    }
    for (index, rule) in settings.preference_rules.iter().enumerate() {
        if let Some(preferred) = rule.preferred_architecture {
            check(&format!("{RULES}[{index}].{preferred_key}"), preferred);
        }
    }
    if let Some(fallback) = settings.fallback_architecture {
        check("fallbackArchitecture", fallback);
    }
    let strict = settings.strict.iter();
    for required in strict.flat_map(|strict| strict.required_architectures.iter()) {
        check("strict.requiredArchitectures", required);
    }
}

/// The rules in JSON Schema, as far as it can say them.
#[cfg(feature = "schema")]
pub(super) fn schema() -> serde_json::Value {
    let weights_need_preferred = serde_json::json!({
        "if": {
            "properties": {"architectureWeights": {"type": "object", "minProperties": 1}},
            "required": ["architectureWeights"]
        },
        "then": {
            "properties": {"preferenceEnforcement": {"const": "preferred"}},
            "required": ["preferenceEnforcement"]
        }
    });
    serde_json::json!([
        weights_need_preferred,
        {"properties": {"preferenceRules": {"items": weights_need_preferred}}},
        {
            "if": {
                "properties": {"onLookupFailure": {"const": "fallback"}},
                "required": ["onLookupFailure"]
            },
            "then": {
                "properties": {"fallbackArchitecture": {"type": "string"}},
                "required": ["fallbackArchitecture"]
            },
            "else": {"properties": {"fallbackArchitecture": {"type": "null"}}}
        },
        {
            "if": {
                "properties": {"mutate": {"const": false}},
                "required": ["mutate"]
            },
            "else": {"properties": {"onUnplaced": {"enum": ["accept", null]}}}
        },
        {
            "if": {
                "properties": {
                    "strict": {
                        "type": "object",
                        "properties": {"requiredArchitectures": {"type": "array", "minItems": 1}},
                        "required": ["requiredArchitectures"]
                    }
                },
                "required": ["strict"]
            },
            "then": {
                "properties": {
                    "strict": {
                        "properties": {"namespaces": {"type": "array", "minItems": 1}},
                        "required": ["namespaces"]
                    }
                }
            }
        }
    ])
}

/// The settings that a form only asks for, and then demands, where another one has some value.
#[cfg(feature = "schema")]
pub(super) const ASKED_IF: [(&str, &str); 2] = [
    ("fallbackArchitecture", "onLookupFailure=fallback"),
    ("onUnplaced", "mutate=false"),
];
