//! What every type of a setting has in common.

use node_architecture_json::{Field, Json};

use super::reader::Reader;
#[cfg(feature = "schema")]
use super::value_type::ValueType;

/// A type that a setting can have.
pub(super) trait Setting: Sized {
    /// Reads a value that isn't `null`; `None` after reporting why it can't be one.
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self>;

    /// What `null` means; `None` where it means the default.
    fn of_null() -> Option<Self> {
        None
    }

    /// The JSON Schema of the type, and what a form asks for it.
    #[cfg(feature = "schema")]
    fn describe() -> ValueType;

    /// The value as a user writes it.
    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value;
}

/// Reads the member `key` of `parent`, which has this `value`; without one it is the default. After an error the
/// default stands in, so that all errors are found.
pub(super) fn read_member<T: Setting>(
    reader: &mut Reader,
    parent: &Field<'_, '_>,
    key: &'static str,
    value: Option<Json<'_>>,
    default: Option<fn() -> T>,
) -> Option<T> {
    let value = match value {
        Some(value) if value.is_null() => match T::of_null() {
            Some(meant) => return Some(meant),
            None => None,
        },
        other => other,
    };
    match value {
        Some(value) => {
            let before = reader.errors.len();
            let member = parent.member(key, value);
            let read = T::read(reader, &member);
            reader.close(&member, before);
            read.or_else(|| default.map(|default| default()))
        }
        None => {
            if default.is_none() {
                reader.report_missing(parent, key);
            }
            default.map(|default| default())
        }
    }
}
