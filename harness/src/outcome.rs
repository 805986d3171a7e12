//! What the policy says of an object, read from its response: the only place where its words are read.

use crate::admission::AdmissionResponse;

/// What came of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is placed, or got something else: the audit annotation `placement`.
    Changed(String),
    /// It is left as it is, for this reason.
    Unchanged(String),
    /// It is rejected, because the platforms of images can't be read.
    Unreadable(String),
    /// It is rejected, for this reason.
    Rejected(String),
}

impl Outcome {
    /// What `response` says.
    pub fn of(response: &AdmissionResponse) -> Self {
        let message = response.message().to_owned();
        match response.annotation("placement") {
            Some(placement) => match placement.strip_prefix("unchanged: ") {
                Some(reason) => Self::Unchanged(reason.to_owned()),
                None => Self::Changed(placement.to_owned()),
            },
            None if message.contains("cannot tell which platforms") => Self::Unreadable(message),
            None => Self::Rejected(message),
        }
    }
}
