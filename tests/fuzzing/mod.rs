//! What has to hold for arbitrary bytes; fuzz targets and a test over their corpus call it.

#![allow(dead_code)] // Each target uses a part of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A fault is a panic.

use std::time::Duration;

use kubewarden_policy_sdk::response::ValidationResponse;
use node_architecture_policy::{
    host::Host, image::Reference, json::Json, policy, settings::Settings,
};
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
    let response = policy::validate(payload, host).into_json().to_string();
    let response: ValidationResponse = serde_json::from_str(&response).expect("a response");
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
        let response = policy::validate(data, &mut host).into_json().to_string();
        assert!(Json::parse(&response).is_ok());
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
