//! The JSON Schema of the settings, made from their Rust types. Never part of the wasm.

use std::{borrow::Cow, marker::PhantomData};

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Map, Value, json};

use crate::{
    platform::{Architecture, Os, Platform},
    set::SortedSet,
    settings::{LabelKey, OverridePlatforms, Settings},
};

/// The architectures that [`Architecture::parse`] takes: GOARCH names and the aliases with other characters in them.
const ARCHITECTURE: &str = "([A-Za-z0-9]{1,63}|[xX]86[_-]64)(/[vV][0-9]+)?";
/// What says nothing, in any case, with a variant or without.
const UNKNOWN: &str = "^[uU][nN][kK][nN][oO][wW][nN](/|$)";
const OS: &str = "[A-Za-z0-9]{1,63}";
const LABEL_NAME: &str = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const SUBDOMAIN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/// The schema of the settings, JSON Schema 2020-12.
///
/// What JSON Schema can't say is left to `validate_settings`: that an architecture is among the schedulable ones, that
/// a glob is well-formed, that two spellings of one architecture aren't both used as keys.
pub fn settings_schema() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<Settings>()
        .to_value();
    if let Some(members) = schema.as_object_mut() {
        members.insert("type".to_owned(), json!(["object", "null"]));
        // Unknown keys are errors, but `null` is what the Rancher UI sends for what a form leaves empty.
        members.insert("additionalProperties".to_owned(), json!({"type": "null"}));
        members.insert("allOf".to_owned(), rules());
        // Every setting has a default.
        members.remove("required");
        if let Some(Value::Object(properties)) = members.get_mut("properties") {
            properties.values_mut().for_each(allow_null);
            // Within strict too, `null` means the default.
            let strict = properties
                .get_mut("strict")
                .and_then(|strict| strict.get_mut("properties"));
            if let Some(Value::Object(members)) = strict {
                members.values_mut().for_each(allow_null);
            }
        }
    }
    schema
}

/// The rules that span several settings, as far as JSON Schema can say them.
fn rules() -> Value {
    json!([
        {
            "if": {
                "properties": {"architectureWeights": {"type": "object", "minProperties": 1}},
                "required": ["architectureWeights"]
            },
            "then": {
                "properties": {"preferenceEnforcement": {"const": "preferred"}},
                "required": ["preferenceEnforcement"]
            }
        },
        {
            "if": {
                "properties": {"onLookupFailure": {"const": "fallback"}},
                "required": ["onLookupFailure"]
            },
            "then": {
                "properties": {"fallbackArchitecture": {"type": "string"}},
                "required": ["fallbackArchitecture"]
            }
        }
    ])
}

/// `null` means the default of every setting.
fn allow_null(property: &mut Value) {
    let Some(property) = property.as_object_mut() else {
        return;
    };
    for choice in ["oneOf", "anyOf"] {
        if let Some(Value::Array(choices)) = property.get_mut(choice) {
            let null = json!({"type": "null"});
            if !choices.contains(&null) {
                choices.push(null);
            }
            return;
        }
    }
    if let Some(Value::String(name)) = property.get("type") {
        let nullable = json!([name, "null"]);
        property.insert("type".to_owned(), nullable);
    }
    if let Some(Value::Array(words)) = property.get_mut("enum") {
        words.push(Value::Null);
    }
}

macro_rules! leaf_schema {
    ($type:ty, $name:literal, $schema:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

/// A weight of the preferred node affinity.
pub struct Weight;
/// A shell pattern.
pub struct Glob;
/// The host of a registry proxy.
pub struct Proxy;
/// A toleration, with the API server's own rules.
pub struct Toleration;
/// An object with architectures as keys.
pub struct ByArchitecture<T>(PhantomData<T>);

leaf_schema!(
    Architecture,
    "Architecture",
    json_schema!({
        "type": "string",
        "pattern": format!("^{ARCHITECTURE}$"),
        "not": {"type": "string", "pattern": UNKNOWN}
    })
);
leaf_schema!(
    Os,
    "OperatingSystem",
    json_schema!({
        "type": "string",
        "pattern": format!("^{OS}$"),
        "not": {"type": "string", "pattern": "^([aA][nN][yY]|[uU][nN][kK][nN][oO][wW][nN])$"}
    })
);
leaf_schema!(
    Platform,
    "Platform",
    json_schema!({"type": "string", "pattern": format!("^{OS}/([A-Za-z0-9]{{1,63}}|[xX]86[_-]64)(/[vV][0-9]+)?$"),
        "not": {"type": "string", "pattern": "^([aA][nN][yY]|[uU][nN][kK][nN][oO][wW][nN])/"}})
);
leaf_schema!(
    LabelKey,
    "LabelKey",
    json_schema!({
        "type": "string",
        "pattern": format!("^({SUBDOMAIN}/)?{LABEL_NAME}$"),
        "maxLength": 317
    })
);
leaf_schema!(
    Weight,
    "Weight",
    json_schema!({"type": "integer", "minimum": 1, "maximum": 100})
);
leaf_schema!(
    Glob,
    "Glob",
    json_schema!({"type": "string", "minLength": 1})
);
leaf_schema!(
    Proxy,
    "Proxy",
    json_schema!({
        "type": "string",
        "pattern": "^(localhost|[A-Za-z0-9\\[][A-Za-z0-9:\\[\\]-]*[.:][A-Za-z0-9.:\\[\\]-]*[A-Za-z0-9\\]])(/[a-z0-9]([a-z0-9._-]*[a-z0-9])?)*$"
    })
);
leaf_schema!(
    Toleration,
    "Toleration",
    json_schema!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "key": {"type": ["string", "null"], "pattern": format!("^(({SUBDOMAIN}/)?{LABEL_NAME})?$")},
            "operator": {"enum": ["Equal", "Exists", "", null]},
            "value": {"type": ["string", "null"], "pattern": format!("^({LABEL_NAME})?$")},
            "effect": {"enum": ["NoSchedule", "PreferNoSchedule", "NoExecute", "", null]},
            "tolerationSeconds": {"type": ["integer", "null"]}
        },
        "allOf": [
            {
                "if": {"properties": {"operator": {"const": "Exists"}}, "required": ["operator"]},
                "then": {"properties": {"value": {"enum": ["", null]}}},
                "else": {"properties": {"key": {"type": "string", "minLength": 1}}, "required": ["key"]}
            },
            {
                "if": {"properties": {"tolerationSeconds": {"type": "integer"}}, "required": ["tolerationSeconds"]},
                "then": {"properties": {"effect": {"const": "NoExecute"}}, "required": ["effect"]}
            }
        ]
    })
);

impl JsonSchema for OverridePlatforms {
    fn schema_name() -> Cow<'static, str> {
        "OverridePlatforms".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let platform = generator.subschema_for::<Platform>();
        json_schema!({"anyOf": [{"const": "any"}, {"type": "array", "minItems": 1, "items": platform}]})
    }
}

impl<T: JsonSchema> JsonSchema for SortedSet<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("SetOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({"type": "array", "items": items})
    }
}

impl<T: JsonSchema> JsonSchema for ByArchitecture<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}ByArchitecture", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        let mut properties = Map::new();
        properties.insert(format!("^{ARCHITECTURE}$"), value.to_value());
        json_schema!({
            "type": "object",
            "patternProperties": Value::Object(properties),
            "additionalProperties": false
        })
    }
}
