//! The host of the policy: what it answers, and how it is called.

use std::time::Duration;

/// What the policy needs from outside. In the wasm this is the waPC host; tests answer from tables.
pub trait Host {
    /// The manifest or index of the image `reference`: the answer of `oci/v1/oci_manifest`, JSON.
    ///
    /// # Errors
    /// The host's error text, as it came.
    fn manifest(&mut self, reference: &str) -> Result<Vec<u8>, String>;

    /// The manifest, digest and config of the image `reference`: the answer of `oci/v1/oci_manifest_config`, JSON.
    ///
    /// # Errors
    /// The host's error text, as it came.
    fn manifest_and_config(&mut self, reference: &str) -> Result<Vec<u8>, String>;

    /// The time since the evaluation began.
    fn elapsed(&self) -> Duration;

    /// Hands a log event to the host: a JSON object with at least `level` and `message`. A lost event changes nothing.
    fn log(&mut self, event: &[u8]);
}

#[cfg(target_family = "wasm")]
pub(crate) mod wapc;

#[cfg(test)]
pub(crate) mod table;
