//! Tolerations in the settings, checked as the API server would check them in a Pod.

use k8s_openapi::api::core::v1::Toleration;

use super::{
    LabelKey, label_key,
    reader::{LABEL_REMEDY, Reader},
};
use crate::json::{Json, Object};

const MEMBERS: &[&str] = &["key", "operator", "value", "effect", "tolerationSeconds"];
const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Reads one toleration.
///
/// <https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#scheduling>
pub(super) fn read(reader: &mut Reader, path: &str, value: &mut Json<'_>) -> Option<Toleration> {
    let members = reader.object(path, value, MEMBERS)?;
    let before = reader.errors.len();
    let key = text(reader, path, members, "key");
    let operator = text(reader, path, members, "operator");
    let toleration_value = text(reader, path, members, "value");
    let effect = text(reader, path, members, "effect");
    if reader.errors.len() > before {
        return None;
    }
    let mut wrong = |member: &str, value: &Option<String>, is: &str, remedy: &str| {
        let value = Json::from(value.as_deref().unwrap_or_default());
        reader.wrong(&format!("{path}.{member}"), &value, is, remedy);
    };

    if key
        .as_ref()
        .is_some_and(|key| LabelKey::parse(key).is_none())
    {
        wrong("key", &key, "not a taint key", LABEL_REMEDY);
    }
    if toleration_value
        .as_ref()
        .is_some_and(|value| !label_key::is_name(value))
    {
        let remedy = "use at most 63 letters, digits, '-', '_' and '.'";
        wrong(
            "value",
            &toleration_value,
            "not the value of a taint",
            remedy,
        );
    }
    match operator.as_deref() {
        None | Some("Equal") if key.is_none() => wrong(
            "key",
            &key,
            "empty with operator Equal",
            "give a key or use operator Exists to tolerate every taint",
        ),
        None | Some("Equal") => {}
        Some("Exists") if toleration_value.is_some() => wrong(
            "value",
            &toleration_value,
            "given with operator Exists",
            "remove it or use operator Equal",
        ),
        Some("Exists") => {}
        Some(_) => wrong("operator", &operator, "unknown", "use Equal or Exists"),
    }
    if effect
        .as_deref()
        .is_some_and(|effect| !EFFECTS.contains(&effect))
    {
        let remedy = "use NoSchedule, PreferNoSchedule or NoExecute";
        wrong("effect", &effect, "unknown", remedy);
    }
    let toleration_seconds = match members.get_some("tolerationSeconds") {
        None => None,
        Some(seconds) => {
            let path = format!("{path}.tolerationSeconds");
            if effect.as_deref() != Some("NoExecute") {
                let remedy = "remove it or use effect NoExecute";
                reader.wrong(&path, seconds, "given without effect NoExecute", remedy);
            }
            let remedy = "use a whole number of seconds";
            reader.number(&path, seconds, (i64::MIN, i64::MAX), remedy)
        }
    };
    (reader.errors.len() == before).then_some(Toleration {
        key,
        operator,
        value: toleration_value,
        effect,
        toleration_seconds,
    })
}

/// The member `key` as a string; an empty one counts as absent, as in the API.
fn text(reader: &mut Reader, path: &str, members: &mut Object<'_>, key: &str) -> Option<String> {
    let value = members.get_some(key)?;
    let Some(text) = value.as_str() else {
        reader.wrong_type(&format!("{path}.{key}"), value, "use a string");
        return None;
    };
    (!text.is_empty()).then(|| text.into_owned())
}
