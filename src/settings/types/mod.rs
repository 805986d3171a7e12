//! The types of settings: for each, how it is read, which errors it gives, and its JSON Schema.

use node_architecture_json::Field;

#[cfg(feature = "schema")]
use super::value_type::ValueType;
use super::{reader::Reader, setting::Setting};

mod architecture;
mod image;
mod label_key;
mod number;
mod preference_rule;
mod strict;
mod toleration;
mod word;
mod workload_kind;

pub use architecture::{ByArchitecture, OperatingSystems};
pub use image::{Glob, OverridePlatforms, PlatformOverride, ProxyHost, RegistryProxy};
pub(super) use k8s_openapi::api::core::v1::Toleration;
pub use label_key::{LabelKey, Labels};
pub use number::{Milliseconds, Share, Weight};
pub use preference_rule::{PreferenceRule, Preferred};
pub use strict::Strict;
pub use word::{
    OnLookupFailure, OnNoCommonArchitecture, OnUnfinishedLookups, OnUnplaced,
    OnUnsupportedSelection, PreferenceEnforcement,
};
pub use workload_kind::{ApiGroup, KindName, TemplatePath, WorkloadKind};

impl Setting for bool {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let read = field.json().as_bool();
        if read.is_none() {
            reader.wrong_type(field, "use true or false");
        }
        read
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::scalar("boolean", "boolean")
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        (*self).into()
    }
}

/// `null` is no value.
impl<T: Setting> Setting for Option<T> {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        T::read(reader, field).map(Some)
    }

    fn of_null() -> Option<Self> {
        Some(None)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        T::describe().or_null()
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.as_ref().map_or(serde_json::Value::Null, T::to_json)
    }
}

/// Elements that can't be read are reported and left out.
impl<T: Setting> Setting for Vec<T> {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let mut list = Vec::new();
        reader.each(field, &mut |reader, element| {
            list.extend(T::read(reader, element));
        })?;
        Some(list)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::list(T::describe())
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.iter().map(T::to_json).collect()
    }
}
