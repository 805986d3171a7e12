//! Why the platforms of an image aren't known.

use thiserror::Error;

use crate::text::{elide_end, one_line, split_at_first, split_at_last};

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
    /// The settings list the registries that may be asked, and this one isn't among them.
    #[error("registry {0} is not in the policy's registries")]
    RegistryNotListed(String),
    /// The config names an operating system or an architecture that no node has.
    #[error("its config names no known platform but {0}")]
    UnknownPlatform(String),
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

/// The longest media type that is shown.
const LONGEST_MEDIA_TYPE: usize = 80;

impl LookupFailure {
    /// That an image is none but something of this media type.
    pub(super) fn not_a_container_image(media_type: &str) -> Self {
        Self::NotAContainerImage(elide_end(one_line(media_type), LONGEST_MEDIA_TYPE))
    }

    /// The failure that a host's error text means: its innermost cause, on one line, without stack traces.
    ///
    /// Hosts print errors with their causes, `Caused by:` and a list, innermost last, and may add a backtrace.
    pub fn from_host_error(text: &str) -> Self {
        let text = ["Stack backtrace:", "stack backtrace:"]
            .iter()
            .fold(text, |text, marker| {
                split_at_first(text, marker).map_or(text, |(before, _)| before)
            });
        let cause = match split_at_last(text, "Caused by:") {
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
        let (number, cause) = split_at_first(line.trim(), ": ")?;
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
    let Some((before, after)) = split_at_first(cause, ": url ") else {
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
mod tests;
