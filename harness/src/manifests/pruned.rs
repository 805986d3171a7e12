//! Values without what nobody asks for, so that the objects of a large cluster fit into memory.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Lists and objects under these keys have no say in where a Pod lands, and are most of what a cluster prints. Texts and
/// numbers are kept: a label may be called `env`.
const PRUNED: [&str; 17] = [
    "args",
    "command",
    "configMap",
    "containerStatuses",
    "downwardAPI",
    "env",
    "envFrom",
    "initContainerStatuses",
    "lifecycle",
    "livenessProbe",
    "managedFields",
    "ports",
    "projected",
    "readinessProbe",
    "securityContext",
    "startupProbe",
    "volumeMounts",
];

/// A value that is pruned while it is read.
pub(super) struct Pruned(pub(super) Value);

impl<'de> Deserialize<'de> for Pruned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Whole).map(Self)
    }
}

/// What stands under a key that is pruned: kept where it is a text or a number.
struct Scalar(Option<Value>);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarOnly).map(Self)
    }
}

/// Reads scalars, for both.
macro_rules! scalars {
    ($wrap:expr) => {
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a value")
        }

        fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
            Ok($wrap(Value::Bool(value)))
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
            Ok($wrap(Value::from(value)))
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
            Ok($wrap(Value::from(value)))
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
            Ok($wrap(
                Number::from_f64(value).map_or(Value::Null, Value::Number),
            ))
        }

        fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
            Ok($wrap(Value::from(value)))
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok($wrap(Value::Null))
        }
    };
}

struct Whole;

impl<'de> Visitor<'de> for Whole {
    type Value = Value;

    scalars!(std::convert::identity);

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Pruned(element)) = elements.next_element()? {
            list.push(element);
        }
        list.shrink_to_fit();
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        while let Some(key) = members.next_key::<String>()? {
            if PRUNED.contains(&key.as_str()) {
                let Scalar(value) = members.next_value()?;
                kept.extend(value.map(|value| (key, value)));
            } else {
                let Pruned(value) = members.next_value()?;
                kept.push((key, value));
            }
        }
        // A map that grew has room for twice as much.
        let mut object = Map::with_capacity(kept.len());
        object.extend(kept);
        Ok(Value::Object(object))
    }
}

struct ScalarOnly;

impl<'de> Visitor<'de> for ScalarOnly {
    type Value = Option<Value>;

    scalars!(Some);

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_has_no_say_is_left_out_and_labels_of_that_name_are_kept() {
        let text = r#"{"metadata": {"labels": {"env": "prod"}, "managedFields": [{"a": {}}]},
            "spec": {"containers": [{"image": "a", "env": [{"name": "B"}], "ports": [1], "n": [1.5, -2, null, true]}]}}"#;
        let Pruned(value) = serde_json::from_str(text).unwrap();
        assert_eq!(
            value,
            json!({
                "metadata": {"labels": {"env": "prod"}},
                "spec": {"containers": [{"image": "a", "n": [1.5, -2, null, true]}]}
            })
        );
    }
}
