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

/// An object that is rejected.
const REJECTED: [&str; 6] = [
    "--request-path",
    "tests/fixtures/images-with-nothing-in-common-are-rejected/request.json",
    "--settings-path",
    "tests/fixtures/images-with-nothing-in-common-are-rejected/settings.yml",
    "--replay-host-capabilities-interactions",
    "tests/fixtures/images-with-nothing-in-common-are-rejected/session.yml",
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
    assert_eq!(output.status.code(), Some(2), "{output:?}");
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
    let output = run(&REJECTED);
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
        account.contains("  unchanged: not a kind with a Pod"),
        "{account}"
    );
}

#[test]
fn what_cannot_be_evaluated_is_one_clear_line_and_a_failure() {
    for (arguments, expected) in [
        (
            vec!["--request-path", "nowhere.json"],
            "error: cannot read nowhere.json: No such file or directory (os error 2)",
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

// --- report

const FLEET: [&str; 3] = [
    "examples/fleet/manifests",
    "--replay",
    "examples/fleet/session.yml",
];

fn report(arguments: &[&str]) -> Output {
    command(&[&["report"], &FLEET[..], arguments].concat())
        .env("COLUMNS", "80")
        .output()
        .unwrap()
}

/// The report on `manifests`, given by standard input.
fn report_on(manifests: &str, arguments: &[&str]) -> Output {
    let replay = ["report", "--replay", "examples/fleet/session.yml"];
    let mut child = command(&[&replay, arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(manifests.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_report_in_the_documentation_is_the_one_that_is_printed() {
    let page = common::workspace().join("docs/report.md");
    let page = std::fs::read_to_string(page).unwrap();
    for (columns, arguments) in [("80", &[][..]), ("160", &["--all"])] {
        let arguments = [&["report"], &FLEET[..], arguments].concat();
        let output = command(&arguments)
            .env("COLUMNS", columns)
            .output()
            .unwrap();
        let shown = stdout(&output);
        assert!(
            page.contains(shown.trim_end()),
            "at {columns} columns:\n{shown}"
        );
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(
            widest <= columns.parse().ok(),
            "{widest:?} of {columns} columns"
        );
    }
}

#[test]
fn a_gate_fails_for_what_it_is_asked_to() {
    for (arguments, code, finding) in [
        (
            &["--fail-on", "ready,unknown"][..],
            1,
            "1 workloads are unknown",
        ),
        (&["--fail-on", "blocked", "--namespace", "billing"], 0, ""),
        (&["--fail-under", "33"], 0, ""),
        (
            &["--fail-under", "34"],
            1,
            "33 % of the workloads are ready, less than 34 %",
        ),
    ] {
        let output = report(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {output:?}");
        assert!(
            stderr(&output).contains(finding),
            "{arguments:?} {output:?}"
        );
        assert!(!output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn errors_of_the_tool_are_no_findings() {
    let output = report(&["--fail-under", "50", "--namespace", "nowhere"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        stderr(&output).contains("there is no workload to judge"),
        "{output:?}"
    );
    let output = report_on("", &["--fail-on", "blocked"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": []}}"#;
    let output = report_on(pod, &["--fail-under", "1"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        stderr(&output).contains("--fail-under has nothing to count"),
        "{output:?}"
    );

    let output = report(&["Makefile"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        stderr(&output).contains("error: Makefile is no manifest"),
        "{output:?}"
    );
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("% of the workloads are ready"),
        "the rest is reported: {output:?}"
    );

    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"image": "x"}]}}"#;
    let output = report_on(pod, &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        stderr(&output).contains("error: no lookup was answered"),
        "{output:?}"
    );

    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    if let Ok(full) = full {
        let output = command(&[&["report"], &FLEET[..]].concat())
            .stdout(full)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(
            stderr(&output).starts_with("error: cannot write: "),
            "{output:?}"
        );
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let mut child = command(&[&["report"], &FLEET[..], &["--output", "json"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
}

#[test]
fn what_changed_since_an_earlier_report_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.json");
    let mut before: Value = serde_json::from_str(&stdout(&report(&["--output", "json"]))).unwrap();
    for row in before["workloads"].as_array_mut().unwrap() {
        match row["name"].as_str().unwrap() {
            "web" => row["status"] = "blocked".into(),
            "checkout" => row["status"] = "ready".into(),
            "search" => row["name"] = "lookup".into(),
            _ => {}
        }
    }
    std::fs::write(&old, before.to_string()).unwrap();
    let arguments = ["--output", "json", "--compare", old.to_str().unwrap()];
    let after: Value = serde_json::from_str(&stdout(&report(&arguments))).unwrap();
    assert_eq!(
        after["comparison"],
        serde_json::json!({
            "percentReadyBefore": 33,
            "newlyReady": ["Deployment shop/web"],
            "regressed": ["Deployment shop/checkout"],
            "new": ["StatefulSet shop/search"],
            "gone": ["StatefulSet shop/lookup"]
        })
    );
    let arguments = ["--compare", old.to_str().unwrap()];
    let text = stdout(&report(&arguments));
    assert!(
        text.contains("regressed: 1 (Deployment shop/checkout)"),
        "{text}"
    );
    let arguments = ["--compare", old.to_str().unwrap(), "--namespace", "billing"];
    let text = stdout(&report(&arguments));
    assert!(
        text.contains("gone: none") && text.contains("new: none"),
        "{text}"
    );
    let arguments = [
        "--compare",
        old.to_str().unwrap(),
        "--architecture",
        "amd64",
    ];
    let output = report(&arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        stderr(&output).contains("the earlier report is about arm64"),
        "{output:?}"
    );
    let output = report(&["--compare", "Makefile"]);
    assert_eq!(stderr(&output).lines().count(), 1, "{output:?}");
    assert!(
        stderr(&output).starts_with("error: Makefile is no report: "),
        "{output:?}"
    );
}

#[test]
fn a_recording_answers_as_the_registries_did() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording.yml");
    // Nothing is recorded for this image.
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"image": "127.0.0.1:1/x:1"}]}}"#;
    let manifests = folder.path().join("pod.json");
    std::fs::write(&manifests, pod).unwrap();
    let (manifests, recording) = (manifests.to_str().unwrap(), recording.to_str().unwrap());
    let live = command(&[
        "report", manifests, "--record", recording, "--output", "json",
    ]);
    let live = { live }.output().unwrap();
    let replayed = command(&[
        "report", manifests, "--replay", recording, "--output", "json",
    ]);
    let replayed = { replayed }.output().unwrap();
    assert_eq!(live.stdout, replayed.stdout);
    let text = String::from_utf8_lossy(&live.stdout);
    assert!(text.contains("the registry refuses connections"), "{text}");
}

#[test]
fn a_rejection_is_a_failure_where_that_is_asked_for() {
    let output = run(&[&REJECTED[..], &["--fail-on-reject"]].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn the_json_is_as_its_schema_says() {
    let schema = common::workspace().join("docs/report.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let json: Value = serde_json::from_str(&stdout(&report(&["--output", "json"]))).unwrap();
    fits(&json, &schema, &schema, "report");
}

/// Checks that `value` is of the type that `schema`, a part of `root`, gives it, and that its members are those there.
fn fits(value: &Value, schema: &Value, root: &Value, path: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap();
        return fits(value, target, root, path);
    }
    let own = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types = &schema["type"];
    let is_of_type = types == own
        || types
            .as_array()
            .is_some_and(|all| all.contains(&own.into()));
    assert!(is_of_type, "{path}: {own} is not {types}");
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{path}: {value}");
    }
    for (index, element) in value.as_array().into_iter().flatten().enumerate() {
        fits(element, &schema["items"], root, &format!("{path}[{index}]"));
    }
    let Some(members) = value.as_object() else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(
            members.contains_key(name.as_str().unwrap()),
            "{path}: no {name}"
        );
    }
    for (key, member) in members {
        let path = format!("{path}.{key}");
        match &schema["properties"][key] {
            Value::Null => fits(member, &schema["additionalProperties"], root, &path),
            known => fits(member, known, root, &path),
        }
    }
}
