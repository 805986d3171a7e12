//! Image indexes that the simulated hosts of the tests answer with.

use std::fmt::Display;

use serde_json::{Value, json};

/// The text of an index with an entry on Linux for each of `architectures`.
pub(crate) fn linux_index(architectures: &[impl Display]) -> Vec<u8> {
    let entries: Vec<Value> = architectures
        .iter()
        .map(|name| json!({"platform": {"os": "linux", "architecture": name.to_string()}}))
        .collect();
    json!({ "manifests": entries }).to_string().into_bytes()
}
