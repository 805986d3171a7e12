//! Kinds of objects with a Pod template that the settings add.

use node_architecture_json::Field;

#[cfg(feature = "schema")]
use super::label_key::SUBDOMAIN;
use super::label_key::is_subdomain;
#[cfg(feature = "schema")]
use crate::settings::value_type::ValueType;
use crate::settings::{reader::Reader, setting::Setting};

const GROUP_REMEDY: &str = "use the group of its apiVersion, such as argoproj.io";
const KIND_REMEDY: &str = "use its name, such as Rollout";
const TEMPLATE_REMEDY: &str = "use keys with dots between them, such as spec.template";
/// The longest name of a kind.
const LONGEST_KIND: usize = 63;

object! {
    /// A kind of object with a Pod template.
    WorkloadKind {
        /// The API group of the kind, without its version.
        group: ApiGroup = "group";
        /// The name of the kind, as its objects have it.
        kind: KindName = "kind";
        /// Where the Pod template is: keys with dots between them.
        template: TemplatePath = "template";
    }
}

/// Declares a string of the settings that is valid by `is_valid` and, in JSON Schema, by a pattern.
macro_rules! text {
    ($(#[$meta:meta])* $name:ident: $what:literal, $remedy:ident, $is_valid:expr, $pattern:expr) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Its text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Setting for $name {
            fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
                reader.text(field, $what, $remedy, $is_valid).map(Self)
            }

            #[cfg(feature = "schema")]
            fn describe() -> ValueType {
                ValueType::text(&$pattern)
            }

            #[cfg(feature = "schema")]
            fn to_json(&self) -> serde_json::Value {
                self.as_str().into()
            }
        }
    };
}

text! {
    /// The group of an API: a DNS subdomain.
    ApiGroup: "an API group", GROUP_REMEDY, is_subdomain, format!("^{SUBDOMAIN}$")
}

text! {
    /// The name of a kind.
    KindName: "a kind", KIND_REMEDY, is_kind, format!("^[A-Za-z][A-Za-z0-9]{{0,{}}}$", LONGEST_KIND - 1)
}

text! {
    /// Keys on the way to a Pod template.
    TemplatePath: "a path to a Pod template", TEMPLATE_REMEDY, is_path, "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$"
}

fn is_kind(text: &str) -> bool {
    text.len() <= LONGEST_KIND
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_path(text: &str) -> bool {
    text.split('.').all(|key| {
        let is_of_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        !key.is_empty() && key.bytes().all(is_of_key)
    })
}
