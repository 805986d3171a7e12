//! The command as a user runs it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

mod common;

const EXAMPLE: [&str; 4] = [
    "--request-path",
    "examples/mixed-architectures/pod.yaml",
    "--replay-host-capabilities-interactions",
    "examples/mixed-architectures/session.yml",
];

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_node-architecture"));
    command.current_dir(common::workspace()).args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    command(&[&["run"], arguments].concat()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The one line that a failure prints.
fn failure(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text.trim_end().to_owned()
}

#[test]
fn run_prints_the_admission_response_like_kwctl() {
    let response: Value = serde_json::from_str(&stdout(&run(&EXAMPLE))).unwrap();
    assert_eq!(response["allowed"], true);
    assert_eq!(response["patchType"], "JSONPatch");
    assert_eq!(
        response["auditAnnotations"]["placement"],
        "nodeAffinity=arm64"
    );
    assert_eq!(response["warnings"], Value::Null);
}

#[test]
fn run_tells_a_person_what_happened() {
    let arguments = [&EXAMPLE[..], &["--output", "text"]].concat();
    let account = stdout(&run(&arguments));
    for expected in [
        "Pod shop/web: allowed and changed",
        "ghcr.io/acme/metrics-agent:0.9  linux/arm64/v8",
        "ghcr.io/acme/web:1.4            linux/amd64, linux/arm64/v8",
        "architectures that run every image: arm64",
        "placed by nodeAffinity=arm64",
        "+   affinity:",
        "+             - arm64",
    ] {
        assert!(account.contains(expected), "{expected}\n---\n{account}");
    }
    assert!(!account.contains('\u{1b}'), "styles are for terminals");
}

#[test]
fn settings_come_from_a_file_or_from_the_command_line() {
    let file = "tests/fixtures/without-annotation-an-earlier-placement-is-the-users/settings.yml";
    for settings in [
        ["--settings-json", r#"{"annotate": false}"#],
        ["--settings-path", file],
    ] {
        let arguments = [&EXAMPLE[..], &["--output", "text"], &settings].concat();
        let account = stdout(&run(&arguments));
        assert!(account.contains("nodeAffinity"), "{account}");
        assert!(!account.contains("annotations"), "{account}");
    }
}

#[test]
fn a_rejected_object_was_evaluated_all_the_same() {
    let folder = "tests/fixtures/images-with-nothing-in-common-are-rejected";
    let output = run(&[
        "--request-path",
        &format!("{folder}/request.json"),
        "--settings-path",
        &format!("{folder}/settings.yml"),
        "--replay-host-capabilities-interactions",
        &format!("{folder}/session.yml"),
    ]);
    let response: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(response["allowed"], false);
    assert_eq!(response["status"]["code"], 403);
}

#[test]
fn the_request_may_come_from_standard_input() {
    let mut child = command(&["run", "--request-path", "-", "--output", "text"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let service =
        b"{\"apiVersion\": \"v1\", \"kind\": \"Service\", \"metadata\": {\"name\": \"web\"}}";
    child.stdin.take().unwrap().write_all(service).unwrap();
    let account = stdout(&child.wait_with_output().unwrap());
    assert!(
        account.contains("Service default/web: allowed unchanged"),
        "{account}"
    );
    assert!(account.contains("none was looked up"), "{account}");
    assert!(
        account.contains("left unchanged: not a kind with a Pod"),
        "{account}"
    );
}

#[test]
fn what_cannot_be_evaluated_is_one_clear_line_and_a_failure() {
    for (arguments, expected) in [
        (
            vec!["--request-path", "nowhere.json"],
            "error: cannot read the request nowhere.json: No such file or directory (os error 2)",
        ),
        (
            vec!["--request-path", "Makefile"],
            "error: Makefile is not a request: ",
        ),
        (
            vec![
                "--request-path",
                EXAMPLE[1],
                "--settings-path",
                "nowhere.yml",
            ],
            "error: cannot read the settings nowhere.yml: No such file or directory (os error 2)",
        ),
        (
            vec![
                "--request-path",
                EXAMPLE[1],
                "--settings-json",
                "{\"annotate\": 7}",
            ],
            "error: Provided settings are not valid: annotate: 7 is a number, use true or false",
        ),
        (
            vec![
                "--request-path",
                EXAMPLE[1],
                "--docker-config-json-path",
                "nowhere",
            ],
            "error: there is no nowhere/config.json",
        ),
        (
            vec!["--request-path", EXAMPLE[1], "--sources-path", "Makefile"],
            "error: Makefile is not a file of sources: ",
        ),
        (
            vec![
                "--request-path",
                EXAMPLE[1],
                "--replay-host-capabilities-interactions",
                EXAMPLE[1],
            ],
            "error: examples/mixed-architectures/pod.yaml is not a session: ",
        ),
        (
            vec!["--request-path", EXAMPLE[1], "nowhere.wasm"],
            "error: cannot read the policy nowhere.wasm: No such file or directory (os error 2)",
        ),
        (
            vec!["--request-path", EXAMPLE[1], "Makefile"],
            "error: Makefile is not a waPC policy: ",
        ),
        (
            vec![
                "--request-path",
                EXAMPLE[1],
                "--allowed-host-capabilities",
                "oci/v9/*",
                "--",
                "policy.wasm",
            ],
            "error: host capability \"oci/v9/*\" is unknown",
        ),
    ] {
        let found = failure(&arguments);
        assert!(
            found.starts_with(expected),
            "{found}\n  expected {expected}"
        );
    }
}
