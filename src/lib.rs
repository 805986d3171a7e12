//! Places Pods on nodes whose CPU architecture their images support.
//!
//! A [Kubewarden](https://kubewarden.io) policy: the host hands over an admission request, answers which manifests the
//! Pod's images have, and gets the Pod back, constrained to the nodes that can run all of them.
//!
//! This file is the waPC boundary. Behind it data flows one way: [`workload`] finds the pod (template), [`constraints`]
//! says what it already demands of its nodes, [`image`] finds out what its images run on, [`decision`] decides, [`placement`] writes
//! the decision down and [`response`] answers.

#![deny(clippy::indexing_slicing)] // Input must reach no panic.

pub use node_architecture_json as json;

pub mod constraints;
pub mod decision;
pub mod host;
pub mod image;
pub mod placement;
pub mod platform;
pub mod pod;
pub mod policy;
pub mod response;
#[cfg(feature = "schema")]
pub mod schema;
pub mod set;
pub mod settings;
pub mod text;
pub mod toleration;
pub mod workload;

#[cfg(target_family = "wasm")]
mod guest {
    use kubewarden_policy_sdk::{protocol_version_guest, settings::SettingsValidationResponse};
    use wapc_guest::{CallResult, register_function};

    use crate::{host::wapc::WapcHost, policy, settings::Settings};

    /// Called by the host once, before anything else.
    #[allow(unsafe_code)] // Nothing but an unmangled export, which waPC asks for.
    #[unsafe(no_mangle)]
    extern "C" fn wapc_init() {
        register_function("validate", validate);
        register_function("validate_settings", validate_settings);
        register_function("protocol_version", protocol_version_guest);
    }

    fn validate(payload: &[u8]) -> CallResult {
        let mut host = WapcHost::new();
        let response = policy::validate(payload, &mut host);
        Ok(response.into_json().into_bytes())
    }

    fn validate_settings(payload: &[u8]) -> CallResult {
        let message = match std::str::from_utf8(payload) {
            Ok(text) => Settings::parse(text)
                .err()
                .map(|invalid| invalid.to_string()),
            Err(error) => Some(format!("settings: not valid UTF-8, {error}")),
        };
        Ok(serde_json::to_vec(&SettingsValidationResponse {
            valid: message.is_none(),
            message,
        })?)
    }
}
