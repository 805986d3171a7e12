//! Numbers in the settings.

use node_architecture_json::Field;

#[cfg(feature = "schema")]
use crate::settings::value_type::ValueType;
use crate::settings::{reader::Reader, setting::Setting};

/// A time in milliseconds; 0 is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Milliseconds(pub u32);

impl Setting for Milliseconds {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let remedy = "use a whole number of milliseconds, 0 for no limit";
        let number = reader.number(field, (0, u32::MAX.into()), remedy)?;
        u32::try_from(number).ok().map(Self)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::scalar("integer", "int")
            .with("minimum", 0)
            .with("maximum", u32::MAX)
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.0.into()
    }
}

/// A percentage of the workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u8);

impl Share {
    /// All of them.
    pub const ALL: Self = Self(100);

    /// Whether a workload in `bucket`, 0 to 99, is in the share.
    pub fn takes(self, bucket: u8) -> bool {
        bucket < self.0
    }
}

impl Setting for Share {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let number = reader.number(field, (0, 100), "use a whole number from 0 to 100")?;
        u8::try_from(number).ok().map(Self)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::scalar("integer", "int")
            .with("minimum", 0)
            .with("maximum", 100)
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.0.into()
    }
}

/// The weight of a preferred scheduling term, 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight(pub i32);

impl Weight {
    /// The weight of a preference that the settings give none.
    pub const FULL: Self = Self(100);
}

impl Setting for Weight {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let number = reader.number(field, (1, 100), "use a whole number from 1 to 100")?;
        i32::try_from(number).ok().map(Self)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::scalar("integer", "int")
            .with("minimum", 1)
            .with("maximum", 100)
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.0.into()
    }
}
