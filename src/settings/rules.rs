//! What several settings have to agree on: each rule with its error, and its JSON Schema as far as that can say it.

use node_architecture_json::Json;

use super::{
    reader::Reader,
    table::Settings,
    types::{OnLookupFailure, PreferenceEnforcement, Strict},
};
use crate::{platform::Architecture, text::join};

/// Checks the rules; `given` are the members that the document has, in the order of [`Settings::KEYS`].
pub(super) fn check(reader: &mut Reader, settings: &Settings, given: &[Option<Json<'_>>]) {
    weights_need_preferred(reader, settings);
    fallback_needs_an_architecture(reader, settings);
    a_fallback_architecture_needs_the_fallback(reader, settings);
    required_architectures_need_namespaces(reader, settings);
    named_architectures_are_schedulable(reader, settings, given);
}

fn weights_need_preferred(reader: &mut Reader, settings: &Settings) {
    if !settings.architecture_weights.is_empty()
        && settings.preference_enforcement != PreferenceEnforcement::Preferred
        && !reader.unread.contains(&"preferenceEnforcement")
    {
        reader.errors.push(
            "architectureWeights: weights need preferenceEnforcement: preferred, set it or remove them"
                .to_owned(),
        );
    }
}

fn fallback_needs_an_architecture(reader: &mut Reader, settings: &Settings) {
    if settings.on_lookup_failure == OnLookupFailure::Fallback
        && settings.fallback_architecture.is_none()
        && !reader.unread.contains(&"fallbackArchitecture")
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
        && !reader.unread.contains(&"onLookupFailure")
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
    if strict.any(does_nothing) && !reader.unread.contains(&"namespaces") {
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
        && !reader.unread.contains(&preferred_key);
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
    serde_json::json!([
        {
            "if": {
                "properties": {"architectureWeights": {"type": "object", "minProperties": 1}},
                "required": ["architectureWeights"]
            },
            "then": {
                "properties": {"preferenceEnforcement": {"const": "preferred"}},
                "required": ["preferenceEnforcement"]
            }
        },
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
pub(super) const ASKED_IF: [(&str, &str); 1] =
    [("fallbackArchitecture", "onLookupFailure=fallback")];
