//! The waPC host that the policy runs under: the calls of its capabilities, and its clock.

use std::time::{Duration, Instant};

use node_architecture_json::Draft;

/// Calls the host through waPC, on WASI's monotonic clock.
pub(crate) struct WapcHost {
    began: Instant,
}

impl WapcHost {
    /// A host whose evaluation begins now.
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
        }
    }

    fn call(namespace: &str, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        wapc_guest::host_call("kubewarden", namespace, operation, payload)
            .map_err(|error| error.to_string())
    }

    fn lookup(operation: &str, reference: &str) -> Result<Vec<u8>, String> {
        Self::call("oci", operation, &Draft::from(reference).into_bytes())
    }
}

impl super::Host for WapcHost {
    fn manifest(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        Self::lookup("v1/oci_manifest", reference)
    }

    fn manifest_and_config(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        Self::lookup("v1/oci_manifest_config", reference)
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn log(&mut self, event: &[u8]) {
        let _ = Self::call("tracing", "log", event);
    }
}
