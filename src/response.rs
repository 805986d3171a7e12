//! From a decision to the response that the host expects.
//!
//! Design, section 10; the shape is that of the SDK's `ValidationResponse`, with the object as untouched text.

use crate::{
    decision::{Decision, Verdict},
    json::{Json, Object},
    text::{elide_end, join, one_line},
};

/// The longest warning: API servers may cut longer ones.
const LONGEST_WARNING: usize = 200;
/// How many warnings there are at most.
const MOST_WARNINGS: usize = 5;

/// The HTTP status of a verdict of the policy.
const FORBIDDEN: u16 = 403;
/// The HTTP status of a request that can't be read.
const BAD_REQUEST: u16 = 400;
/// The HTTP status of settings that can't be read: they were to be refused before any request.
const INTERNAL_SERVER_ERROR: u16 = 500;

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
    pub mutated_object: Option<Json<'a>>,
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
    /// How many images couldn't be read.
    pub failed_lookups: Option<String>,
}

impl<'a> Response<'a> {
    /// The object is out of scope, for this reason.
    pub fn out_of_scope(reason: &str) -> Self {
        let mut response = Self::accept(None);
        response.audit_annotations.placement = Some(format!("unchanged: {reason}"));
        response
    }

    /// The request or the object in it can't be read, for this reason.
    pub fn unreadable(reason: &str) -> Self {
        Self::reject(BAD_REQUEST, format!("cannot read the request: {reason}"))
    }

    /// The settings are invalid, for these reasons.
    pub fn invalid_settings(reasons: &str) -> Self {
        Self::reject(
            INTERNAL_SERVER_ERROR,
            format!("the settings of the policy are invalid: {reasons}"),
        )
    }

    /// What `decision` says, with the object as it is after it: `None` where it is as it came.
    pub fn from_decision(decision: Decision, mutated_object: Option<Json<'a>>) -> Self {
        let mut response = match decision.verdict {
            Verdict::Reject(message) => Self::reject(FORBIDDEN, message),
            Verdict::Accept { summary, .. } => {
                let mut response = Self::accept(mutated_object);
                response.audit_annotations.placement = Some(summary);
                response
            }
        };
        let annotations = &mut response.audit_annotations;
        annotations.architectures = decision
            .architectures
            .map(|architectures| join(&architectures).replace(' ', ""));
        annotations.failed_lookups =
            (decision.failed_lookups > 0).then(|| decision.failed_lookups.to_string());
        response.warnings = bounded(&decision.warnings);
        response
    }

    /// The JSON of the response, in the shape of the SDK's `ValidationResponse`.
    pub fn into_json(self) -> Json<'a> {
        let string = |text: Option<String>| text.map(Json::String);
        let annotations = Object::default()
            .with_some(
                "architectures",
                string(self.audit_annotations.architectures),
            )
            .with_some("placement", string(self.audit_annotations.placement))
            .with_some(
                "failed-lookups",
                string(self.audit_annotations.failed_lookups),
            );
        let warnings = self.warnings.iter().map(String::as_str).collect();
        let code = self.code.map(|code| Json::Integer(code.into()));
        Object::default()
            .with("accepted", Json::Bool(self.accepted))
            .with_some("message", string(self.message))
            .with_some("code", code)
            .with_some("mutated_object", self.mutated_object)
            .with_filled("audit_annotations", annotations.into())
            .with_filled("warnings", warnings)
            .into()
    }

    fn accept(mutated_object: Option<Json<'a>>) -> Self {
        Self {
            accepted: true,
            message: None,
            code: None,
            mutated_object,
            audit_annotations: AuditAnnotations::default(),
            warnings: Vec::new(),
        }
    }

    fn reject(code: u16, message: String) -> Self {
        Self {
            accepted: false,
            message: Some(one_line(&message)),
            code: Some(code),
            ..Self::accept(None)
        }
    }
}

/// At most [`MOST_WARNINGS`] warnings, each on one line of at most [`LONGEST_WARNING`] bytes.
fn bounded(warnings: &[String]) -> Vec<String> {
    let shown = if warnings.len() > MOST_WARNINGS {
        MOST_WARNINGS - 1
    } else {
        warnings.len()
    };
    let mut bounded: Vec<String> = warnings
        .iter()
        .take(shown)
        .map(|warning| elide_end(one_line(warning), LONGEST_WARNING))
        .collect();
    if shown < warnings.len() {
        bounded.push(format!("{} more warnings", warnings.len() - shown));
    }
    bounded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{placement::Placement, platform::Architecture};
    use kubewarden_policy_sdk::response::ValidationResponse;
    use rstest::rstest;
    use serde_json::json;

    fn decision(verdict: Verdict, warnings: Vec<String>) -> Decision {
        Decision {
            verdict,
            warnings,
            architectures: Some(
                ["arm64", "amd64"]
                    .iter()
                    .filter_map(|name| Architecture::parse(name))
                    .collect(),
            ),
            failed_lookups: 2,
        }
    }

    fn accept() -> Verdict {
        Verdict::Accept {
            placement: Placement::default(),
            summary: "nodeSelector=amd64".to_owned(),
        }
    }

    #[test]
    fn the_sdk_reads_the_response() {
        let object = Json::parse(r#"{"kind": "Pod"}"#).unwrap();
        let response =
            Response::from_decision(decision(accept(), vec!["w".to_owned()]), Some(object));
        let read: ValidationResponse =
            serde_json::from_str(&response.into_json().to_string()).unwrap();
        assert!(read.accepted);
        assert_eq!(read.mutated_object, Some(json!({"kind": "Pod"})));
        assert_eq!(read.warnings, Some(vec!["w".to_owned()]));
        let annotations = read.audit_annotations.unwrap();
        assert_eq!(annotations["architectures"], "amd64,arm64");
        assert_eq!(annotations["placement"], "nodeSelector=amd64");
        assert_eq!(annotations["failed-lookups"], "2");
    }

    #[test]
    fn a_rejection_is_one_line_with_code_403() {
        let verdict = Verdict::Reject("no\ngood".to_owned());
        let response = Response::from_decision(decision(verdict, vec![]), None);
        assert!(!response.accepted);
        assert_eq!(response.code, Some(403));
        assert_eq!(response.message.as_deref(), Some("no good"));
        assert_eq!(response.audit_annotations.placement, None);
    }

    #[rstest]
    #[case::few(5, 5, "warning 4")]
    #[case::many(9, 5, "5 more warnings")]
    fn there_are_five_warnings_at_most(
        #[case] given: usize,
        #[case] shown: usize,
        #[case] last: &str,
    ) {
        let warnings = (0..given)
            .map(|number| format!("warning {number}"))
            .collect();
        let response = Response::from_decision(decision(accept(), warnings), None);
        assert_eq!(response.warnings.len(), shown);
        assert_eq!(response.warnings.last().unwrap(), last);
    }

    #[test]
    fn a_warning_is_one_line_of_200_bytes_at_most() {
        let warnings = vec!["ä\n".repeat(300)];
        let response = Response::from_decision(decision(accept(), warnings), None);
        let warning = &response.warnings[0];
        assert!(warning.len() <= 200 && warning.ends_with('…') && !warning.contains('\n'));
    }
}
