//! A host that answers from a table.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

/// Answers from tables, and counts.
#[derive(Default)]
pub(crate) struct TableHost {
    /// Answers of `oci_manifest` by reference.
    pub(crate) manifests: BTreeMap<String, Result<String, String>>,
    /// Answers of `oci_manifest_config` by reference.
    pub(crate) configs: BTreeMap<String, Result<String, String>>,
    /// How long each lookup takes.
    pub(crate) latency: Duration,
    /// The lookups made: `manifest REFERENCE` and `config REFERENCE`.
    pub(crate) lookups: Vec<String>,
    /// The events logged.
    pub(crate) events: Vec<Value>,
    /// The time since the evaluation began.
    pub(crate) clock: Duration,
}

impl TableHost {
    /// Adds an answer of `oci_manifest`.
    pub(crate) fn manifest(mut self, reference: &str, answer: &Value) -> Self {
        self.manifests
            .insert(reference.to_owned(), Ok(answer.to_string()));
        self
    }

    /// Adds an image with a single manifest and this config.
    pub(crate) fn single(mut self, reference: &str, config: &Value) -> Self {
        let manifest = serde_json::json!({
            "schemaVersion": 2,
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json"},
            "layers": []
        });
        let answer =
            serde_json::json!({"manifest": manifest, "digest": "sha256:0", "config": config});
        self.configs
            .insert(reference.to_owned(), Ok(answer.to_string()));
        self.manifest(reference, &manifest)
    }

    /// Adds an image whose index has these platforms.
    pub(crate) fn index(self, reference: &str, platforms: &[&str]) -> Self {
        let entries: Vec<Value> = platforms
            .iter()
            .map(|platform| {
                let mut parts = platform.split('/');
                let mut entry = serde_json::json!({
                    "os": parts.next(),
                    "architecture": parts.next(),
                });
                if let Some(variant) = parts.next() {
                    entry["variant"] = variant.into();
                }
                serde_json::json!({"digest": "sha256:0", "platform": entry})
            })
            .collect();
        self.manifest(
            reference,
            &serde_json::json!({"schemaVersion": 2, "manifests": entries}),
        )
    }

    /// Adds an error of `oci_manifest`.
    pub(crate) fn error(mut self, reference: &str, text: &str) -> Self {
        self.manifests
            .insert(reference.to_owned(), Err(text.to_owned()));
        self
    }

    fn answer(
        answers: &BTreeMap<String, Result<String, String>>,
        reference: &str,
    ) -> Result<Vec<u8>, String> {
        answers
            .get(reference)
            .cloned()
            .unwrap_or_else(|| Err(format!("manifest unknown: {reference}")))
            .map(String::into_bytes)
    }
}

impl super::Host for TableHost {
    fn manifest(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        self.lookups.push(format!("manifest {reference}"));
        self.clock += self.latency;
        Self::answer(&self.manifests, reference)
    }

    fn manifest_and_config(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        self.lookups.push(format!("config {reference}"));
        self.clock += self.latency;
        Self::answer(&self.configs, reference)
    }

    fn elapsed(&self) -> Duration {
        self.clock
    }

    fn log(&mut self, event: &[u8]) {
        self.events.push(serde_json::from_slice(event).unwrap());
    }
}
