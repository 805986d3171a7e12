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
