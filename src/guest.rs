//! The waPC boundary: the functions that the host calls.

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
    Ok(policy::validate(payload, &mut WapcHost::new()))
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
