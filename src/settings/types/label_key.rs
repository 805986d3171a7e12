//! Kubernetes labels and their keys.

use std::borrow::Cow;

use node_architecture_json::{Field, JsonType};

#[cfg(feature = "schema")]
use crate::settings::value_type::ValueType;
use crate::settings::{
    reader::{Reader, shown_key},
    setting::Setting,
};

pub(super) const LABEL_REMEDY: &str =
    "use name or prefix/name of letters, digits, '-', '_' and '.'";
pub(super) const VALUE_REMEDY: &str = "use at most 63 letters, digits, '-', '_' and '.'";
#[cfg(feature = "schema")]
pub(super) const LABEL_NAME: &str = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
#[cfg(feature = "schema")]
pub(super) const SUBDOMAIN: &str =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/// A label key: a name, or a DNS subdomain, a slash and a name.
///
/// <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set>
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelKey(Cow<'static, str>);

/// The longest prefix of a label key.
const LONGEST_PREFIX: usize = 253;
/// The longest name of a label key.
const LONGEST_NAME: usize = 63;

impl LabelKey {
    /// Reads a label key; `None` where Kubernetes wouldn't accept it.
    pub fn parse(text: &str) -> Option<Self> {
        let (prefix, name) = match text.split_once('/') {
            Some((prefix, name)) => (Some(prefix), name),
            None => (None, text),
        };
        let valid = prefix.is_none_or(is_subdomain) && is_name(name);
        valid.then(|| Self(Cow::Owned(text.to_owned())))
    }

    /// A key that is known to be valid.
    pub(in crate::settings) fn from_static(key: &'static str) -> Self {
        Self(Cow::Borrowed(key))
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for LabelKey {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        reader.parsed(field, "a label key", LABEL_REMEDY, LabelKey::parse)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::text(&format!("^({SUBDOMAIN}/)?{LABEL_NAME}$")).with("maxLength", 317)
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.as_str().into()
    }
}

/// Labels with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<(LabelKey, String)>);

impl Labels {
    /// The labels with their values.
    pub fn iter(&self) -> impl Iterator<Item = &(LabelKey, String)> {
        self.0.iter()
    }
}

impl Setting for Labels {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        if field.json().json_type() != JsonType::Object {
            reader.wrong_type(field, "use an object with label keys as keys");
            return None;
        }
        let mut labels = Vec::new();
        for (key, value) in field.json().members() {
            let label = LabelKey::parse(&key);
            let key = shown_key(&key);
            let member = field.member(&key, value);
            if label.is_none() {
                let path = member.path();
                reader.errors.push(format!(
                    "{path}: \"{key}\" is not a label key, {LABEL_REMEDY}"
                ));
            }
            let value = reader.text(&member, "the value of a label", VALUE_REMEDY, |text| {
                text.is_empty() || is_name(text)
            });
            labels.extend(label.zip(value));
        }
        Some(Self(labels))
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType {
            schema: serde_json::json!({
                "type": "object",
                "propertyNames": LabelKey::describe().schema,
                "additionalProperties": {"type": "string", "pattern": format!("^({LABEL_NAME})?$")}
            }),
            question: serde_json::json!({"type": "map["}),
        }
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        let labels = self.0.iter();
        labels
            .map(|(key, value)| (key.as_str().to_owned(), serde_json::json!(value)))
            .collect()
    }
}

/// Whether `name` is the name of a label, or a value of one that isn't empty: the rules are the same.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.ends_with(|last: char| last.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

pub(super) fn is_subdomain(prefix: &str) -> bool {
    prefix.len() <= LONGEST_PREFIX
        && prefix.split('.').all(|label| {
            let edge = |end: char| end.is_ascii_lowercase() || end.is_ascii_digit();
            label.starts_with(edge)
                && label.ends_with(edge)
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        })
}

#[cfg(test)]
mod tests;
