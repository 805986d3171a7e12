//! Why the platforms of an image aren't known.

use thiserror::Error;

use crate::text::{elide_end, one_line};

/// The longest cause of a host error that is shown.
const LONGEST_CAUSE: usize = 120;

/// Why a lookup gave no platforms; each reads as one short line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LookupFailure {
    /// The host answered with an error, here reduced to its innermost cause.
    #[error("{0}")]
    Host(String),
    /// The host's answer isn't JSON of the expected shape.
    #[error("the answer is not an image manifest")]
    Unreadable,
    /// The manifest is that of a Helm chart or another artifact.
    #[error("not a container image ({0})")]
    NotAContainerImage(String),
    /// The config of the image gives no architecture.
    #[error("its config names no architecture")]
    NoArchitecture,
    /// The index holds nothing but attestations and entries that can't be read.
    #[error("its index names no platform")]
    NoPlatform,
    /// The time for lookups was over.
    #[error("the lookup budget of {0} ms was spent")]
    BudgetSpent(u32),
}

impl LookupFailure {
    /// The failure that a host's error text means: its innermost cause, on one line, without stack traces.
    ///
    /// Hosts print errors with their causes, `Caused by:` and a list, innermost last, and may add a backtrace.
    pub fn from_host_error(text: &str) -> Self {
        let text = ["Stack backtrace:", "stack backtrace:"]
            .iter()
            .fold(text, |text, marker| {
                text.split(marker).next().unwrap_or_default()
            });
        let cause = match text.rsplit_once("Caused by:") {
            Some((outer, causes)) => innermost(causes).or_else(|| first_line(outer)),
            None => first_line(text),
        };
        let cause = cause.unwrap_or_default();
        let cause = one_line(&without_address(cause));
        Self::Host(elide_end(
            in_lower_case(without_wrapping(&cause)),
            LONGEST_CAUSE,
        ))
    }
}

/// The last numbered cause of a list, or the only one.
fn innermost(causes: &str) -> Option<&str> {
    let numbered = causes.lines().rev().find_map(|line| {
        let (number, cause) = line.trim().split_once(": ")?;
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(cause)
    });
    numbered.or_else(|| first_line(causes))
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

/// `cause` without the words that hosts put before every error.
fn without_wrapping(cause: &str) -> &str {
    const WRAPPINGS: [&str; 7] = [
        "Host error: ",
        "Callback evaluation failure: ",
        "Fail to interact with OCI registry: ",
        "Registry error: ",
        "envelope: ",
        "OCI API errors: [",
        "OCI API error: ",
    ];
    let mut cause = cause;
    while let Some(rest) = WRAPPINGS
        .iter()
        .find_map(|wrapping| cause.strip_prefix(wrapping))
    {
        cause = rest;
    }
    if cause.is_empty()
        || WRAPPINGS
            .iter()
            .any(|wrapping| cause == wrapping.trim_end())
    {
        "the host gave no reason"
    } else if cause.contains('[') {
        cause
    } else {
        cause.trim_end_matches(']')
    }
}

/// `cause` without the address that was asked, `: url ADDRESS` and what separates it from the rest: the image is named
/// beside the cause.
fn without_address(cause: &str) -> String {
    let Some((before, after)) = cause.split_once(": url ") else {
        return cause.to_owned();
    };
    match after.split_once(' ') {
        Some((_, rest)) => format!("{before}: {rest}"),
        None => before.to_owned(),
    }
}

/// `cause`, starting in lower case unless it starts with an abbreviation.
fn in_lower_case(cause: &str) -> String {
    let mut letters = cause.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            let rest = cause.get(first.len_utf8()..).unwrap_or_default();
            format!("{}{rest}", first.to_ascii_lowercase())
        }
        _ => cause.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("not found", "not found")]
    #[case::wrapped("Callback evaluation failure: not found", "not found")]
    #[case::one_cause("cannot pull\n\nCaused by:\n    not authorized", "not authorized")]
    #[case::several_causes(
        "cannot pull\n\nCaused by:\n    0: http error\n    1: connection refused (os error 111)",
        "connection refused (os error 111)"
    )]
    #[case::backtrace(
        "Callback evaluation failure: no route\n\nStack backtrace:\n   0: anyhow::error\n   1: tokio::run",
        "no route"
    )]
    #[case::causes_and_backtrace(
        "a\n\nCaused by:\n    b\n\nStack backtrace:\n   0: std::x\n             at /rustc/y",
        "b"
    )]
    #[case::cause_over_two_lines("a\n\nCaused by:\n    0: b\n    1: c\n       and more", "c")]
    #[case::not_authorized(
        "Callback evaluation failure: Fail to interact with OCI registry: Not authorized: url https://a.io/v2/b/manifests/1",
        "not authorized"
    )]
    #[case::error_of_the_registry(
        "Registry error: url https://a.io/v2/b/manifests/1, envelope: OCI API errors: [OCI API error: manifest unknown]",
        "manifest unknown"
    )]
    #[case::several_errors_of_the_registry(
        "Registry error: url https://a.io/v2/b, envelope: OCI API errors: [OCI API error: denied, OCI API error: [x]]",
        "denied, OCI API error: [x]]"
    )]
    #[case::rate_limit(
        "Server error: url https://a.io/v2/b, code: 429, message: too many requests",
        "server error: code: 429, message: too many requests"
    )]
    #[case::abbreviation("TLS handshake failed", "TLS handshake failed")]
    #[case::nothing("", "the host gave no reason")]
    #[case::nothing_wrapped("Callback evaluation failure: ", "the host gave no reason")]
    #[case::control_characters("a\u{1b}[31mred\tb", "a [31mred b")]
    fn a_host_error_is_reduced_to_its_innermost_cause(#[case] text: &str, #[case] cause: &str) {
        assert_eq!(LookupFailure::from_host_error(text).to_string(), cause);
    }

    #[test]
    fn a_host_error_of_forty_lines_is_one_bounded_line() {
        let text = "very long cause ".repeat(40) + &"\nmore".repeat(40);
        let line = LookupFailure::from_host_error(&text).to_string();
        assert!(line.len() <= LONGEST_CAUSE, "{line}");
        assert!(!line.contains('\n'));
    }
}
