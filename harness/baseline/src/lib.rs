//! A policy that decides nothing: it reads the request as the SDK does, and returns the object of it or accepts it.
//!
//! What a policy with a decision takes beyond this is the price of the decision.

#![cfg(target_family = "wasm")]

use kubewarden_policy_sdk::{
    accept_request, mutate_request, protocol_version_guest, request::ValidationRequest,
    settings::SettingsValidationResponse,
};
use serde_json::Value;
use wapc_guest::{CallResult, register_function};

/// Called by the host once, before anything else.
#[allow(unsafe_code)] // Nothing but an unmangled export, which waPC asks for.
#[unsafe(no_mangle)]
extern "C" fn wapc_init() {
    register_function("mutate", mutate);
    register_function("accept", accept);
    register_function("validate_settings", validate_settings);
    register_function("protocol_version", protocol_version_guest);
}

/// Returns the object of the request.
fn mutate(payload: &[u8]) -> CallResult {
    let request = ValidationRequest::<Value>::new(payload)?;
    mutate_request(request.request.object)
}

/// Accepts the request.
fn accept(payload: &[u8]) -> CallResult {
    ValidationRequest::<Value>::new(payload)?;
    accept_request()
}

/// Finds any settings valid.
fn validate_settings(payload: &[u8]) -> CallResult {
    serde_json::from_slice::<Value>(payload)?;
    Ok(serde_json::to_vec(&SettingsValidationResponse {
        valid: true,
        message: None,
    })?)
}
