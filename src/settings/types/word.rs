//! Settings that are one of a few words.

use node_architecture_json::{Field, JsonType};

#[cfg(feature = "schema")]
use crate::settings::value_type::ValueType;
use crate::{
    settings::{reader::Reader, setting::Setting},
    text::join_with,
};

/// Declares an enum that a setting spells as one of a few words.
macro_rules! word_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_meta])* $variant),+
        }

        impl $name {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const MEANINGS: &'static [Self] = &[$(Self::$variant),+];
        }

        impl Setting for $name {
            fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
                let position = read_word(reader, field, Self::WORDS)?;
                Self::MEANINGS.get(position).copied()
            }

            #[cfg(feature = "schema")]
            fn describe() -> ValueType {
                ValueType::words(Self::WORDS)
            }

            #[cfg(feature = "schema")]
            fn to_json(&self) -> serde_json::Value {
                let mut spelled = Self::MEANINGS.iter().zip(Self::WORDS);
                spelled.find(|(meaning, _)| *meaning == self).map(|(_, word)| *word).into()
            }
        }
    };
}

word_enum! {
    /// How strongly a preference binds.
    PreferenceEnforcement {
        /// A node selector, as Noe does.
        Required = "required",
        /// A weighted term of the preferred node affinity.
        Preferred = "preferred",
    }
}

word_enum! {
    /// What a failed lookup means.
    OnLookupFailure {
        /// The image doesn't narrow anything, as in Noe.
        Ignore = "ignore",
        /// The image counts as `fallbackArchitecture`.
        Fallback = "fallback",
        /// The object is rejected.
        Reject = "reject",
    }
}

word_enum! {
    /// What follows when no architecture runs every image.
    OnNoCommonArchitecture {
        /// The object is rejected.
        Reject = "reject",
        /// The object passes unchanged, with a warning.
        Warn = "warn",
    }
}

word_enum! {
    /// What follows when the object selects an architecture that its images don't support.
    OnUnsupportedSelection {
        /// Nothing; the images aren't looked up for it.
        Ignore = "ignore",
        /// A warning.
        Warn = "warn",
        /// The object is rejected.
        Reject = "reject",
    }
}

word_enum! {
    /// What follows when time runs out before every image is read.
    OnUnfinishedLookups {
        /// The object is refused, and trying again goes on from there.
        Reject = "reject",
        /// The images that are left count as failed lookups.
        Ignore = "ignore",
    }
}

word_enum! {
    /// What follows when an object that isn't to be changed admits nodes that can't run its images.
    OnUnplaced {
        /// It passes, and the audit annotation says so.
        Accept = "accept",
        /// It is rejected.
        Reject = "reject",
    }
}

/// Which of `words` the value is.
fn read_word(reader: &mut Reader, field: &Field<'_, '_>, words: &[&str]) -> Option<usize> {
    let text = field.json().as_str();
    let position = text.and_then(|text| words.iter().position(|word| *word == text));
    if position.is_none() {
        let remedy = format!("use {}", join_with(" or ", words));
        match field.json().json_type() {
            JsonType::String => reader.wrong(field, "unknown", &remedy),
            _ => reader.wrong_type(field, &remedy),
        }
    }
    position
}
