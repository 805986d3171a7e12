//! Keys of Kubernetes labels.

use std::borrow::Cow;

use node_architecture_json::Field;

#[cfg(feature = "schema")]
use crate::settings::value_type::ValueType;
use crate::settings::{reader::Reader, setting::Setting};

pub(super) const LABEL_REMEDY: &str =
    "use name or prefix/name of letters, digits, '-', '_' and '.'";
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

/// Whether `name` is the name of a label, or a value of one that isn't empty: the rules are the same.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.ends_with(|last: char| last.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn is_subdomain(prefix: &str) -> bool {
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
