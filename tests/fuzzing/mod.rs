//! What has to hold for arbitrary bytes; fuzz targets and a test over their corpus call it.

#![allow(dead_code)] // Each target uses a part of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A fault is a panic.

use std::time::Duration;

use kubewarden_policy_sdk::response::ValidationResponse;
use node_architecture_json::{Document, Draft, Json, JsonType};
use node_architecture_policy::{host::Host, image::Reference, policy, settings::Settings};
use serde_json::Value;

/// A host that answers every lookup with the same bytes.
struct SameAnswer<'d> {
    answer: Result<&'d [u8], String>,
    lookups: usize,
}

impl SameAnswer<'_> {
    fn answer(&mut self) -> Result<Vec<u8>, String> {
        self.lookups += 1;
        self.answer.clone().map(<[u8]>::to_vec)
    }
}

impl Host for SameAnswer<'_> {
    fn manifest(&mut self, _: &str) -> Result<Vec<u8>, String> {
        self.answer()
    }

    fn manifest_and_config(&mut self, _: &str) -> Result<Vec<u8>, String> {
        self.answer()
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn log(&mut self, event: &[u8]) {
        serde_json::from_slice::<Value>(event).expect("an event is JSON");
    }
}

/// Evaluates `payload`; the response has to be one that the host reads, within its bounds.
fn evaluate(payload: &[u8], host: &mut SameAnswer<'_>) -> ValidationResponse {
    let response = policy::validate(payload, host);
    let response: ValidationResponse = serde_json::from_slice(&response).expect("a response");
    if let Some(message) = &response.message {
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
    for warning in response.warnings.iter().flatten() {
        assert!(warning.len() <= 200, "{warning:?}");
        assert!(!warning.chars().any(char::is_control), "{warning:?}");
    }
    assert!(
        response
            .warnings
            .as_ref()
            .is_none_or(|warnings| warnings.len() <= 5)
    );
    assert!(response.accepted || response.code.is_some());
    response
}

/// Arbitrary bytes as the payload of `validate`.
pub(crate) fn validate(data: &[u8]) {
    let index = br#"{"manifests":[{"platform":{"os":"linux","architecture":"arm64"}}]}"#;
    let mut host = SameAnswer {
        answer: Ok(index),
        lookups: 0,
    };
    // The host reads a request before it hands it over: what its `Value` doesn't hold, such as 1e999, doesn't come.
    if serde_json::from_slice::<Value>(data).is_ok() {
        evaluate(data, &mut host);
    } else {
        let response = policy::validate(data, &mut host);
        serde_json::from_slice::<serde::de::IgnoredAny>(&response).expect("JSON");
    }
}

/// Arbitrary bytes as settings.
pub(crate) fn settings(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Err(invalid) = Settings::parse(text) {
        assert!(!invalid.errors.is_empty());
        for error in &invalid.errors {
            assert!(!error.contains('\n'), "{error:?}");
        }
    }
}

/// Arbitrary bytes as every answer of the registry, and as its error.
pub(crate) fn answers(data: &[u8]) {
    let payload = br#"{"request":{"kind":{"group":"","kind":"Pod"},"operation":"CREATE","object":{"spec":{"containers":[{"image":"a"},{"image":"b"}],"volumes":[{"image":{"reference":"c"}}]}}}}"#;
    let text = String::from_utf8_lossy(data).into_owned();
    for answer in [Ok(data), Err(text)] {
        let mut host = SameAnswer { answer, lookups: 0 };
        evaluate(payload, &mut host);
        // A manifest and a config for each image, or an index and eight more lookups.
        assert!(host.lookups <= 3 * 9, "{}", host.lookups);
    }
}

/// Arbitrary text as an image reference.
pub(crate) fn references(data: &[u8]) {
    let image = String::from_utf8_lossy(data);
    let reference = Reference::new(&image);
    let full = reference.full();
    reference.behind("mirror.example.com/prefix");
    reference.with_digest("sha256:0");
    // Written in full, it reads the same.
    assert_eq!(Reference::new(&full).full(), full, "{image:?}");
    if let Ok(oracle) = image.parse::<oci_spec::distribution::Reference>() {
        assert_eq!(reference.registry, oracle.registry(), "{image:?}");
        assert_eq!(reference.repository, oracle.repository(), "{image:?}");
    }
}

/// Arbitrary text as JSON, beside serde_json's own reading.
pub(crate) fn json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let document = match (
        Document::parse(text),
        serde_json::from_str::<serde::de::IgnoredAny>(text),
    ) {
        (Ok(document), Ok(_)) => document,
        (Err(error), Err(expected)) => {
            assert_eq!(error.to_string(), expected.to_string());
            return;
        }
        (read, expected) => panic!("{read:?}, {expected:?}"),
    };
    let json = document.root();
    assert_eq!(Draft::from(json).to_string(), text.trim_ascii());
    // It reads fewer texts: numbers beyond floats, halves of surrogate pairs and deep nesting are errors to it.
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        assert_reads(json, &value);
        let canonical = json.canonical();
        assert_eq!(
            serde_json::from_str::<Value>(&canonical).expect("JSON"),
            value
        );
    }
}

/// The readers have the values that serde_json has.
fn assert_reads(json: Json<'_>, value: &Value) {
    match value {
        Value::Object(members) => {
            assert_eq!(json.json_type(), JsonType::Object);
            for (key, member) in members {
                match json.get(key) {
                    Some(json) => assert_reads(json, member),
                    None => assert!(member.is_null()),
                }
            }
            let mut draft = Draft::from(json);
            draft.as_object_mut().expect("an object").set("new", 1);
            let changed: Value = serde_json::from_str(&draft.to_string()).expect("JSON");
            assert_eq!(changed["new"], 1);
        }
        Value::Array(elements) => {
            let read: Vec<Json<'_>> = json.elements().collect();
            assert_eq!(read.len(), elements.len());
            for (json, element) in read.into_iter().zip(elements) {
                assert_reads(json, element);
            }
        }
        Value::String(text) => assert_eq!(json.as_str().as_deref(), Some(text.as_str())),
        Value::Bool(value) => assert_eq!(json.as_bool(), Some(*value)),
        // A whole number that it has as a float is one that is out of range, or written with a fraction.
        Value::Number(number) => assert_eq!(json.as_integer(), number.as_i64()),
        Value::Null => assert!(json.is_null()),
    }
}
