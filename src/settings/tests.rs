use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::*,
    sample::select,
};
use serde_json::{Value, json};

use super::{cases::*, *};
use crate::{platform::Architecture, text::join};

fn parse(text: &str) -> Settings {
    Settings::parse(text).unwrap_or_else(|invalid| panic!("{text}: {invalid}"))
}

#[test]
fn valid_settings_are_accepted() {
    for text in valid() {
        parse(&text);
    }
}

/// The cases, and the examples of the documentation beside what they need.
fn valid() -> Vec<String> {
    let mut valid: Vec<String> = VALID.iter().map(|text| (*text).to_owned()).collect();
    for (key, example) in Settings::EXAMPLES {
        let beside = match *key {
            "architectureWeights" => r#", "preferenceEnforcement": "preferred""#,
            "fallbackArchitecture" => r#", "onLookupFailure": "fallback""#,
            "onUnplaced" => r#", "mutate": false"#,
            _ => "",
        };
        valid.push(format!(r#"{{"{key}": {example}{beside}}}"#));
    }
    valid
}

proptest! {
    #[test]
    fn a_rule_that_is_refused_would_take_no_workload_and_the_first_that_matches_counts(
        rules in vec(rule(), 1..5),
        namespace in "[ab]{1,2}",
        labels in btree_map("[kl]", "[vw]", 0..3),
        bucket in 0_u8..100,
    ) {
        let label_of = |key: &str| labels.get(key).cloned();
        let takes = |rule: &Value| {
            let globs = rule["namespaces"].as_array().unwrap();
            let matches = |glob: &Value| match glob.as_str().unwrap().strip_suffix('*') {
                Some(start) => namespace.starts_with(start),
                None => namespace == glob.as_str().unwrap(),
            };
            let wanted = rule["matchLabels"].as_object().unwrap();
            (globs.is_empty() || globs.iter().any(matches))
                && wanted.iter().all(|(key, value)| label_of(key).as_deref() == value.as_str())
                && u64::from(bucket) < rule["share"].as_u64().unwrap()
        };
        let first = rules.iter().position(takes);
        let settings = json!({"preferredArchitecture": "s390x", "preferenceRules": rules});
        match Settings::parse(&settings.to_string()) {
            Ok(settings) => {
                let given = settings.preferred(&namespace, bucket, &label_of).architecture;
                let expected = match first {
                    Some(index) => rules[index]["preferredArchitecture"].as_str(),
                    None => Some("s390x"),
                };
                prop_assert_eq!(given, expected.and_then(Architecture::parse));
            }
            Err(invalid) => {
                for error in invalid.errors {
                    let index = error.split(['[', ']']).nth(1).unwrap().parse::<usize>().unwrap();
                    prop_assert_ne!(first, Some(index), "{}", error);
                }
            }
        }
    }
}

/// A rule of the settings.
fn rule() -> impl Strategy<Value = Value> {
    (
        vec("[ab]\\*?", 0..3),
        btree_map("[kl]", "[vw]", 0..3),
        option::of("(amd64|arm64|riscv64)"),
        select(&[0, 1, 20, 50, 99, 100][..]),
    )
        .prop_map(|(namespaces, labels, architecture, share)| {
            json!({
                "namespaces": namespaces,
                "matchLabels": labels,
                "preferredArchitecture": architecture,
                "share": share,
            })
        })
}

#[test]
fn the_example_of_every_setting_is_another_value_than_its_default() {
    for (key, example) in Settings::EXAMPLES {
        let settings = Settings::parse(&format!(r#"{{"{key}": {example}}}"#));
        assert_ne!(settings, Ok(Settings::default()), "{key}");
    }
}

#[test]
fn every_error_is_reported_at_once_with_setting_value_and_remedy() {
    for (text, errors, _) in INVALID {
        let invalid = Settings::parse(text).err();
        let found = invalid.map(|invalid| invalid.errors).unwrap_or_default();
        assert_eq!(found, *errors, "{text}");
    }
}

#[test]
fn each_setting_has_invalid_cases() {
    for key in Settings::KEYS {
        let quoted = format!("\"{key}\"");
        assert!(
            INVALID.iter().any(|(text, ..)| text.contains(&quoted)),
            "{key}"
        );
    }
}

#[test]
fn absent_null_and_empty_settings_are_the_defaults() {
    let nulls: Vec<String> = Settings::KEYS
        .iter()
        .filter(|key| **key != "preferredArchitecture")
        .map(|key| format!("\"{key}\": null"))
        .collect();
    let all_null = format!("{{{}}}", nulls.join(","));
    for text in ["null", "{}", &all_null] {
        assert_eq!(parse(text), Settings::default(), "{text}");
    }
}

#[test]
fn a_preferred_architecture_of_null_is_no_preference() {
    let preferred = parse(r#"{"preferredArchitecture": null}"#).preferred_architecture;
    assert_eq!(preferred, None);
    let default = parse("{}").preferred_architecture;
    assert_eq!(default, Architecture::parse("amd64"));
}

#[test]
fn architectures_are_normalised() {
    let settings = parse(
        r#"{"schedulableArchitectures": ["x86_64", "amd64", "aarch64"], "preferredArchitecture": "ARM64/v8"}"#,
    );
    assert_eq!(
        join(settings.schedulable_architectures.iter()),
        "amd64, arm64"
    );
    assert_eq!(
        settings.preferred_architecture,
        Architecture::parse("arm64")
    );
}

#[test]
fn strictness_holds_in_namespaces_that_match() {
    let settings = parse(r#"{"strict": {"namespaces": ["prod-*", "payments"]}}"#);
    assert!(settings.strict_in("prod-eu").is_some());
    assert!(settings.strict_in("payments").is_some());
    assert!(settings.strict_in("dev").is_none());
    assert!(parse(r#"{"strict": {}}"#).strict_in("prod-eu").is_none());
}

#[test]
fn text_that_is_not_json_is_one_error() {
    let invalid = Settings::parse("{").unwrap_err();
    assert_eq!(
        invalid.to_string(),
        "settings: not valid JSON, EOF while parsing an object at line 1 column 1"
    );
}

#[test]
fn a_long_value_is_cut() {
    let text = format!(r#"{{"preferredArchitecture": "{}"}}"#, "ä".repeat(500));
    let invalid = Settings::parse(&text).unwrap_err();
    assert!(invalid.to_string().len() < 200, "{invalid}");
}

#[cfg(feature = "schema")]
mod schema {
    use super::*;
    use crate::settings::describe::{questions, settings_page, settings_schema};

    #[test]
    fn the_schema_accepts_and_rejects_what_the_reader_does() {
        let schema = jsonschema::validator_for(&settings_schema()).unwrap();
        for text in valid() {
            let settings: Value = serde_json::from_str(&text).unwrap();
            let errors: Vec<_> = schema.iter_errors(&settings).collect();
            assert!(errors.is_empty(), "{text}: {errors:?}");
        }
        for (text, _, can_tell) in INVALID {
            let settings: Value = serde_json::from_str(text).unwrap();
            let expected = *can_tell == Schema::CannotTell;
            assert_eq!(schema.is_valid(&settings), expected, "{text}");
        }
    }

    #[test]
    fn the_defaults_of_the_schema_are_those_of_the_settings() {
        let schema = settings_schema();
        let properties = schema["properties"].as_object().unwrap();
        let defaults: serde_json::Map<String, Value> = properties
            .iter()
            .filter_map(|(key, property)| Some((key.clone(), property.get("default")?.clone())))
            .collect();
        assert!(defaults.len() >= 9, "{defaults:?}");
        assert_eq!(
            parse(&Value::Object(defaults).to_string()),
            Settings::default()
        );
    }

    #[test]
    fn what_is_published_about_the_settings_is_current() {
        let remedy = "write it anew with: make settings";
        let committed = include_str!("../../docs/settings.schema.json");
        let current = serde_json::to_string_pretty(&settings_schema()).unwrap();
        assert_eq!(committed.trim_end(), current, "{remedy}");
        let committed = include_str!("../../docs/settings.md");
        assert_eq!(committed, settings_page(), "{remedy}");
        let committed = include_str!("../../questions-ui.yml");
        let committed: Value = yaml_serde::from_str(committed).unwrap();
        assert_eq!(committed, questions(), "{remedy}");
    }
}
