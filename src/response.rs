//! From a decision to the response that the host expects.
//!
//! Design, section 10; the shape is that of the SDK's `ValidationResponse`, with the object as untouched text.

use std::fmt;

use node_architecture_json::{Draft, DraftObject};

use crate::{
    decision::{Decision, Outcome, Problem, Warning},
    settings::InvalidSettings,
    text::{elide_end, join_with, one_line},
    unchanged::Unchanged,
};

/// The longest message and the longest audit annotation: beyond, they help nobody, and cost the audit log.
const LONGEST_MESSAGE: usize = 1_500;
/// The longest warning: API servers may cut longer ones.
const LONGEST_WARNING: usize = 200;
/// How many warnings there are at most.
const MOST_WARNINGS: usize = 5;

/// The HTTP status of a payload that can't be read.
const BAD_REQUEST: u16 = 400;

/// The answer to `validate`.
#[derive(Debug)]
pub struct Response<'a> {
    /// Whether the object passes.
    pub accepted: bool,
    /// Why it doesn't.
    pub message: Option<String>,
    /// The HTTP status of a rejection.
    pub code: Option<u16>,
    /// The object with what was added to it; `None` where it passes unchanged.
    pub mutated_object: Option<Draft<'a>>,
    /// For the audit log.
    pub audit_annotations: AuditAnnotations,
    /// For the user.
    pub warnings: Vec<String>,
}

/// What the audit log gets; the host prefixes the keys.
#[derive(Debug, Default)]
pub struct AuditAnnotations {
    /// The architectures of nodes that run every image and that the Pod admits, such as `amd64,arm64`; or `none`.
    pub architectures: Option<String>,
    /// What came of it, such as `nodeSelector=amd64` or `unchanged: no image had a say`.
    pub placement: Option<String>,
    /// Why the object isn't placed: a word for each cause, such as `NoKnownPlatforms`, separated by commas.
    pub cause: Option<String>,
    /// How many images couldn't be read.
    pub failed_lookups: Option<String>,
}

impl<'a> Response<'a> {
    /// The object is out of scope, for this reason.
    pub fn out_of_scope(reason: Unchanged) -> Self {
        let mut response = Self::accept(None);
        response.tell_unchanged(reason);
        response
    }

    /// The update leaves the Pod template as it was, what the policy added aside: it gets that back in `object`.
    pub fn restored(object: Option<Draft<'a>>) -> Self {
        let mut response = Self::out_of_scope(Unchanged::PlacedAsBefore);
        response.mutated_object = object;
        response
    }

    /// The update goes back to a placement that it had, which holds by this decision.
    pub fn rolled_back(decision: &Decision) -> Self {
        let mut response = Self::from_decision(decision, None);
        response.tell_unchanged(Unchanged::RolledBack);
        response
    }

    fn tell_unchanged(&mut self, reason: Unchanged) {
        let outcome = Outcome::NotPlaced {
            reason,
            additions: Vec::new(),
        };
        self.audit_annotations.placement = Some(outcome.to_string());
        self.audit_annotations.cause = outcome.cause();
    }

    /// The request or the object in it can't be read, for this reason.
    pub fn unreadable(reason: &dyn fmt::Display) -> Self {
        Self::bad_request("UnreadableRequest", "cannot read the request", reason)
    }

    /// The settings are invalid, for these reasons.
    pub fn invalid_settings(reasons: &InvalidSettings) -> Self {
        let what = "the settings of the policy are invalid";
        Self::bad_request("InvalidSettings", what, reasons)
    }

    fn bad_request(cause: &str, what: &str, reason: &dyn fmt::Display) -> Self {
        let message = format!("{cause}: {what}: {reason}");
        Self::reject(BAD_REQUEST, message, Some(cause.to_owned()))
    }

    /// What `decision` says, with the object as it is after it: `None` where it is as it came.
    pub fn from_decision(decision: &Decision, mutated_object: Option<Draft<'a>>) -> Self {
        let outcome = decision.outcome.to_string();
        let cause = decision.outcome.cause();
        let mut response = match &decision.outcome {
            Outcome::Rejected(problems) => {
                let code = problems.first().map_or(BAD_REQUEST, Problem::code);
                Self::reject(code, outcome, cause)
            }
            _ => {
                let mut response = Self::accept(mutated_object);
                response.audit_annotations.placement = Some(elide_end(outcome, LONGEST_MESSAGE));
                response.audit_annotations.cause = cause;
                response
            }
        };
        let annotations = &mut response.audit_annotations;
        annotations.architectures = decision
            .architectures
            .map(|architectures| join_with(",", architectures.iter()));
        annotations.failed_lookups =
            (decision.failed_lookups > 0).then(|| decision.failed_lookups.to_string());
        response.warnings = bounded(&decision.warnings);
        response
    }

    /// The JSON of the response, in the shape of the SDK's `ValidationResponse`.
    pub fn into_bytes(self) -> Vec<u8> {
        let annotations = &self.audit_annotations;
        let annotations = DraftObject::default()
            .with_some("architectures", annotations.architectures.as_deref())
            .with_some("placement", annotations.placement.as_deref())
            .with_some("cause", annotations.cause.as_deref())
            .with_some("failed-lookups", annotations.failed_lookups.as_deref());
        let warnings: Draft<'_> = self.warnings.iter().map(String::as_str).collect();
        let response = DraftObject::default()
            .with("accepted", self.accepted)
            .with_some("message", self.message.as_deref())
            .with_some("code", self.code.map(i64::from))
            .with_some("mutated_object", self.mutated_object)
            .with_filled("audit_annotations", annotations)
            .with_filled("warnings", warnings);
        Draft::from(response).into_bytes()
    }

    fn accept(mutated_object: Option<Draft<'a>>) -> Self {
        Self {
            accepted: true,
            message: None,
            code: None,
            mutated_object,
            audit_annotations: AuditAnnotations::default(),
            warnings: Vec::new(),
        }
    }

    fn reject(code: u16, message: String, cause: Option<String>) -> Self {
        let mut response = Self::accept(None);
        response.accepted = false;
        response.message = Some(elide_end(one_line(&message), LONGEST_MESSAGE));
        response.code = Some(code);
        response.audit_annotations.cause = cause;
        response
    }
}

/// At most [`MOST_WARNINGS`] warnings, each on one line of at most [`LONGEST_WARNING`] bytes.
fn bounded(warnings: &[Warning]) -> Vec<String> {
    let shown = if warnings.len() > MOST_WARNINGS {
        MOST_WARNINGS - 1
    } else {
        warnings.len()
    };
    let mut bounded: Vec<String> = warnings
        .iter()
        .take(shown)
        .map(|warning| elide_end(one_line(&warning.to_string()), LONGEST_WARNING))
        .collect();
    if shown < warnings.len() {
        bounded.push(format!("{} more warnings", warnings.len() - shown));
    }
    bounded
}

#[cfg(test)]
mod tests;
