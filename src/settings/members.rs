//! Declares what has members: the settings themselves, and objects within them.

/// Declares an object of the settings: its type, and how it is read and described, from one list of its members.
///
/// A member is `field: Type = "key" or default;`, or without a default where it has to be there.
macro_rules! members {
    (
        $(#[$meta:meta])*
        $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident: $type:ty = $key:literal $(or $default:expr)?
                $(, in $group:literal, such as $example:literal)?;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(
                $(#[doc = $doc])*
                pub $field: $type,
            )+
        }

        impl $name {
            /// The keys of the members, in the order of the documentation.
            pub const KEYS: &'static [&'static str] = &[$($key),+];

            /// Reads the members that were `found`, in the order of [`Self::KEYS`]; `None` after reporting one that is
            /// missing.
            fn read_members(
                reader: &mut $crate::settings::reader::Reader,
                parent: &node_architecture_json::Field<'_, '_>,
                found: &[Option<node_architecture_json::Json<'_>>],
            ) -> Option<Self> {
                let mut found = found.iter();
                $(
                    let value = found.next().copied().flatten();
                    let $field = $crate::settings::setting::read_member::<$type>(reader, parent, $key, value, members!(@default $type $(, $default)?));
                )+
                Some(Self { $($field: $field?),+ })
            }

            /// The members, for schema and documentation.
            #[cfg(feature = "schema")]
            pub(crate) fn members() -> Vec<$crate::settings::value_type::Member> {
                vec![$({
                    let default: Option<fn() -> $type> = members!(@default $type $(, $default)?);
                    $crate::settings::value_type::Member {
                        key: $key,
                        documentation: concat!($($doc),*),
                        group: members!(@text $($group)?),
                        example: members!(@text $($example)?),
                        value_type: <$type as $crate::settings::setting::Setting>::describe(),
                        default: default.map(|default| $crate::settings::setting::Setting::to_json(&default())),
                    }
                }),+]
            }
        }
    };
    (@default $type:ty, $default:expr) => { Some((|| $default) as fn() -> $type) };
    (@default $type:ty) => { None::<fn() -> $type> };
    (@text $text:literal) => { $text };
    (@text) => { "" };
}

/// Declares the settings: members that all have defaults.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident: $type:ty = $key:literal or $default:expr, in $group:literal, such as $example:literal;
            )+
        }
    ) => {
        members! {
            $(#[$meta])*
            $name {
                $(
                    $(#[doc = $doc])*
                    $field: $type = $key or $default, in $group, such as $example;
                )+
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }

        impl $name {
            /// The example of each setting in the documentation, JSON.
            #[cfg(any(test, feature = "schema"))]
            pub const EXAMPLES: &'static [(&'static str, &'static str)] = &[$(($key, $example)),+];

            /// Reads the settings in the object `document`. What is `found` of them is in the order of [`Self::KEYS`].
            pub(super) fn read_document<'a>(
                reader: &mut $crate::settings::reader::Reader,
                document: &node_architecture_json::Field<'a, '_>,
                found: &mut [Option<node_architecture_json::Json<'a>>],
            ) -> Option<Self> {
                let unknown = reader.find(document, Self::KEYS, found)?;
                let settings = Self::read_members(reader, document, found)?;
                // The Rancher UI sends `null` for whatever a form leaves empty.
                reader.report_unknown(document, Self::KEYS, unknown.into_iter().filter(|(_, value)| !value.is_null()));
                Some(settings)
            }
        }
    };
}

/// Declares an object within the settings.
macro_rules! object {
    ($(#[$meta:meta])* $name:ident { $($members:tt)+ }) => {
        members! { $(#[$meta])* $name { $($members)+ } }

        impl $crate::settings::setting::Setting for $name {
            fn read(
                reader: &mut $crate::settings::reader::Reader,
                field: &node_architecture_json::Field<'_, '_>,
            ) -> Option<Self> {
                let mut found = [None; Self::KEYS.len()];
                let unknown = reader.find(field, Self::KEYS, &mut found)?;
                reader.report_unknown(field, Self::KEYS, unknown);
                Self::read_members(reader, field, &found)
            }

            #[cfg(feature = "schema")]
            fn describe() -> $crate::settings::value_type::ValueType {
                $crate::settings::value_type::ValueType::object(Self::members())
            }

            #[cfg(feature = "schema")]
            fn to_json(&self) -> serde_json::Value {
                serde_json::Value::Null
            }
        }
    };
}
