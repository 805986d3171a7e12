//! From the answer of the policy to the AdmissionResponse that the API server gets, as policy-server makes it.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use json_patch::Patch;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer of the policy, in the shape of the SDK's `ValidationResponse`.
#[derive(Debug, Deserialize)]
pub struct PolicyResponse {
    accepted: bool,
    message: Option<String>,
    code: Option<u16>,
    mutated_object: Option<Value>,
    audit_annotations: Option<BTreeMap<String, String>>,
    warnings: Option<Vec<String>>,
}

/// An AdmissionResponse, with the fields that kwctl prints.
///
/// <https://kubernetes.io/docs/reference/config-api/apiserver-admission.v1/#admission-k8s-io-v1-AdmissionResponse>
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionResponse {
    /// The request's identifier.
    pub uid: String,
    /// Whether the object passes.
    pub allowed: bool,
    /// `JSONPatch`, where there is a patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<String>,
    /// The patch, base64 of RFC 6902 JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Why the object doesn't pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// For the audit log.
    pub audit_annotations: Option<BTreeMap<String, String>>,
    /// For the user.
    pub warnings: Option<Vec<String>>,
}

/// Why an object doesn't pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// For the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// An HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
}

impl AdmissionResponse {
    /// The response to the request `uid` about `object`, which the policy answered with `response`.
    ///
    /// # Errors
    /// Where the patch can't be written.
    pub fn new(uid: &str, object: &Value, response: PolicyResponse) -> Result<Self> {
        let patch = match &response.mutated_object {
            Some(mutated) => {
                Some(json_patch::diff(object, mutated)).filter(|patch| !patch.is_empty())
            }
            None => None,
        };
        let patch = patch
            .map(|patch| serde_json::to_vec(&patch).map(|json| STANDARD.encode(json)))
            .transpose()?;
        let has_status = response.message.is_some() || response.code.is_some();
        Ok(Self {
            uid: uid.to_owned(),
            allowed: response.accepted,
            patch_type: patch.is_some().then(|| "JSONPatch".to_owned()),
            patch,
            status: has_status.then_some(Status {
                message: response.message,
                code: response.code,
            }),
            audit_annotations: response.audit_annotations,
            warnings: response.warnings,
        })
    }

    /// The rejection of the request `uid` for a fault of the evaluation itself.
    pub fn internal_error(uid: &str, message: &str) -> Self {
        Self {
            uid: uid.to_owned(),
            status: Some(Status {
                message: Some(message.to_owned()),
                code: Some(500),
            }),
            ..Self::default()
        }
    }

    /// The audit annotation `key`.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.audit_annotations
            .as_ref()?
            .get(key)
            .map(String::as_str)
    }

    /// The architectures of nodes that run every image and that the Pod admits; `None` where they aren't known.
    pub fn architectures(&self) -> Option<Vec<String>> {
        let names = self.annotation("architectures")?.split(',');
        let names = names.filter(|name| *name != "none");
        Some(names.map(str::to_owned).collect())
    }

    /// Why the object doesn't pass; empty where it does.
    pub fn message(&self) -> &str {
        let status = self.status.as_ref();
        status
            .and_then(|status| status.message.as_deref())
            .unwrap_or_default()
    }

    /// The decoded patch; `None` where there is none.
    ///
    /// # Errors
    /// Where the patch isn't base64 of RFC 6902 JSON.
    pub fn decoded_patch(&self) -> Result<Option<Patch>> {
        let Some(patch) = &self.patch else {
            return Ok(None);
        };
        let json = STANDARD.decode(patch).context("the patch is not base64")?;
        let patch = serde_json::from_slice(&json).context("the patch is not RFC 6902 JSON")?;
        Ok(Some(patch))
    }

    /// `object` after the patch.
    ///
    /// # Errors
    /// Where the patch can't be read or doesn't fit the object.
    pub fn patched(&self, object: &Value) -> Result<Value> {
        let mut patched = object.clone();
        if let Some(patch) = self.decoded_patch()? {
            json_patch::patch(&mut patched, &patch).context("the patch does not fit the object")?;
        }
        Ok(patched)
    }
}
