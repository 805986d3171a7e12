//! Tolerations in the settings, checked as the API server would check them in a Pod.
//!
//! <https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#scheduling>

use k8s_openapi::api::core::v1::Toleration;
use node_architecture_json::{Field, Json};

use super::label_key::{LABEL_REMEDY, LabelKey, VALUE_REMEDY, is_name};
#[cfg(feature = "schema")]
use crate::settings::value_type::ValueType;
use crate::settings::{reader::Reader, setting::Setting};

const KEYS: [&str; 5] = ["key", "operator", "value", "effect", "tolerationSeconds"];
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

impl Setting for Toleration {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let mut found = [None; KEYS.len()];
        let unknown = reader.find(field, &KEYS, &mut found)?;
        reader.report_unknown(field, &KEYS, unknown);
        let before = reader.errors.len();
        let [key, operator, value, effect, seconds] = found;
        let key = text(reader, field, "key", key);
        let operator = text(reader, field, "operator", operator);
        let value = text(reader, field, "value", value);
        let effect = text(reader, field, "effect", effect);
        if reader.errors.len() > before {
            return None;
        }
        let mut wrong = |member: &str, (_, json): &Text<'_>, is: &str, remedy: &str| {
            reader.wrong(&field.member(member, *json), is, remedy);
        };

        let is_key = |key: &String| LabelKey::parse(key).is_some();
        if !key.0.as_ref().is_none_or(is_key) {
            wrong("key", &key, "not a taint key", LABEL_REMEDY);
        }
        if !value.0.as_ref().is_none_or(|value| is_name(value)) {
            wrong("value", &value, "not the value of a taint", VALUE_REMEDY);
        }
        match operator.0.as_deref() {
            None | Some("Equal") if key.0.is_none() => {
                let remedy = "give a key or use operator Exists to tolerate every taint";
                wrong("key", &key, "empty with operator Equal", remedy);
            }
            None | Some("Equal") => {}
            Some("Exists") if value.0.is_some() => {
                let remedy = "remove it or use operator Equal";
                wrong("value", &value, "given with operator Exists", remedy);
            }
            Some("Exists") => {}
            Some("Lt" | "Gt") if key.0.is_none() => {
                wrong("key", &key, "empty with operator Lt or Gt", "give a key");
            }
            Some("Lt" | "Gt") => {
                let is_number = |value: &String| value.parse::<i64>().is_ok();
                if !value.0.as_ref().is_some_and(is_number) {
                    let remedy = "use a whole number with operator Lt or Gt";
                    wrong("value", &value, "no number", remedy);
                }
            }
            Some(_) => {
                let remedy = "use Equal, Exists, Lt or Gt";
                wrong("operator", &operator, "unknown", remedy);
            }
        }
        let is_effect = |effect: &String| EFFECTS.contains(&effect.as_str());
        if !effect.0.as_ref().is_none_or(is_effect) {
            let remedy = "use NoSchedule, PreferNoSchedule or NoExecute";
            wrong("effect", &effect, "unknown", remedy);
        }
        let mut toleration_seconds = None;
        if let Some(seconds) = seconds.filter(|seconds| !seconds.is_null()) {
            let seconds = field.member("tolerationSeconds", seconds);
            if effect.0.as_deref() != Some("NoExecute") {
                let remedy = "remove it or use effect NoExecute";
                reader.wrong(&seconds, "given without effect NoExecute", remedy);
            }
            let remedy = "use a whole number of seconds";
            toleration_seconds = reader.number(&seconds, (i64::MIN, i64::MAX), remedy);
        }
        (reader.errors.len() == before).then_some(Self {
            key: key.0,
            operator: operator.0,
            value: value.0,
            effect: effect.0,
            toleration_seconds,
        })
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        use super::label_key::{LABEL_NAME, SUBDOMAIN};
        let schema = serde_json::json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "key": {"type": ["string", "null"], "pattern": format!("^(({SUBDOMAIN}/)?{LABEL_NAME})?$")},
                "operator": {"enum": ["Equal", "Exists", "Lt", "Gt", "", null]},
                "value": {"type": ["string", "null"], "pattern": format!("^({LABEL_NAME})?$")},
                "effect": {"enum": ["NoSchedule", "PreferNoSchedule", "NoExecute", "", null]},
                "tolerationSeconds": {"type": ["integer", "null"]}
            },
            "allOf": [
                {
                    "if": {"properties": {"operator": {"const": "Exists"}}, "required": ["operator"]},
                    "then": {"properties": {"value": {"enum": ["", null]}}},
                    "else": {"properties": {"key": {"type": "string", "minLength": 1}}, "required": ["key"]}
                },
                {
                    "if": {"properties": {"operator": {"enum": ["Lt", "Gt"]}}, "required": ["operator"]},
                    "then": {"properties": {"value": {"type": "string", "pattern": "^[0-9]{1,18}$"}}, "required": ["value"]}
                },
                {
                    "if": {"properties": {"tolerationSeconds": {"type": "integer"}}, "required": ["tolerationSeconds"]},
                    "then": {"properties": {"effect": {"const": "NoExecute"}}, "required": ["effect"]}
                }
            ]
        });
        let question = |key: &str, text: &str| serde_json::json!({"variable": key, "label": crate::settings::value_type::label(key), "description": text, "tooltip": text});
        let with = |mut question: serde_json::Value, members: serde_json::Value| {
            if let (Some(question), serde_json::Value::Object(members)) =
                (question.as_object_mut(), members)
            {
                question.extend(members);
            }
            question
        };
        let questions = [
            with(
                question("key", "The key of the taint. Empty with Exists, every key."),
                serde_json::json!({"type": "string"}),
            ),
            with(
                question("operator", "Exists tolerates every value."),
                serde_json::json!({"type": "enum", "options": ["Equal", "Exists", "Lt", "Gt"], "default": "Equal"}),
            ),
            with(
                question("value", "The value of the taint, with Equal."),
                serde_json::json!({"type": "string"}),
            ),
            with(
                question("effect", "The effect of the taint. None, every effect."),
                serde_json::json!({"type": "enum", "options": EFFECTS}),
            ),
        ];
        ValueType {
            schema,
            question: serde_json::json!({"type": "map[", "sequence_questions": questions}),
        }
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// A member as a string, where it has one, and its JSON for messages.
type Text<'a> = (Option<String>, Json<'a>);

/// Reads a member as a string; an empty one counts as absent, as in the API.
fn text<'a>(
    reader: &mut Reader,
    toleration: &Field<'_, '_>,
    key: &str,
    value: Option<Json<'a>>,
) -> Text<'a> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return (None, Json::EMPTY);
    };
    match value.as_str() {
        Some(text) => ((!text.is_empty()).then(|| text.into_owned()), value),
        None => {
            reader.wrong_type(&toleration.member(key, value), "use a string");
            (None, value)
        }
    }
}
