//! A readable account of an evaluation: the images and their platforms, the decision and why, what changed.

use std::{
    collections::BTreeSet,
    fmt::{self, Display, Write as _},
};

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::{admission::AdmissionResponse, capabilities::Lookup, engine::Evaluation};

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;

const BOLD: Style = Style::new().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// The account of what came of `request`, with ANSI styles.
///
/// # Errors
/// Where the patch doesn't fit the object.
pub fn of(request: &Value, evaluation: &Evaluation) -> Result<String> {
    let response = &evaluation.response;
    let mut account = String::new();
    heading(&mut account, request, response)?;
    section(&mut account, "Images", &images(&evaluation.lookups))?;
    section(&mut account, "Decision", &decision(response))?;
    let changes = changes(&request["object"], &response.patched(&request["object"])?)?;
    section(&mut account, "Changes", &changes)?;
    let warnings: Vec<String> = response
        .warnings
        .iter()
        .flatten()
        .map(|warning| styled(YELLOW, warning))
        .collect();
    if !warnings.is_empty() {
        section(&mut account, "Warnings", &warnings)?;
    }
    Ok(account)
}

fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

fn heading(account: &mut String, request: &Value, response: &AdmissionResponse) -> fmt::Result {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &request["object"]["metadata"];
    let name = [
        &request["name"],
        &metadata["name"],
        &metadata["generateName"],
    ]
    .into_iter()
    .map(text)
    .find(|name| !name.is_empty())
    .unwrap_or_else(|| "(no name)".to_owned());
    let verdict = match (response.allowed, &response.patch) {
        (true, Some(_)) => styled(GREEN, "allowed and changed"),
        (true, None) => styled(GREEN, "allowed unchanged"),
        (false, _) => styled(RED, "rejected"),
    };
    let kind = text(&request["kind"]["kind"]);
    let namespace = text(&request["namespace"]);
    writeln!(
        account,
        "{} {verdict}",
        styled(BOLD, format!("{kind} {namespace}/{name}:"))
    )
}

fn section(account: &mut String, title: &str, lines: &[String]) -> fmt::Result {
    writeln!(account, "\n{}", styled(BOLD, title))?;
    for line in lines {
        writeln!(account, "  {line}")?;
    }
    Ok(())
}

/// A line for each reference that was looked up, with what the registry says it runs on.
fn images(lookups: &[(Lookup, Result<String, String>)]) -> Vec<String> {
    let mut rows: Vec<(&str, BTreeSet<String>, Option<String>)> = Vec::new();
    for (lookup, answer) in lookups {
        let image = lookup.image();
        if !rows.iter().any(|(known, ..)| *known == image) {
            rows.push((image, BTreeSet::new(), None));
        }
        let Some((_, platforms, failure)) = rows.iter_mut().find(|(known, ..)| *known == image)
        else {
            continue;
        };
        match answer {
            Ok(answer) => platforms.extend(platforms_in(answer)),
            Err(error) => *failure = error.lines().next().map(str::to_owned),
        }
    }
    if rows.is_empty() {
        return vec!["none was looked up".to_owned()];
    }
    let width = rows
        .iter()
        .map(|(image, ..)| image.len())
        .max()
        .unwrap_or(0);
    rows.into_iter()
        .map(|(image, platforms, failure)| {
            let platforms: Vec<String> = platforms.into_iter().collect();
            let what = match failure {
                Some(failure) => styled(RED, format!("failed: {failure}")),
                None if platforms.is_empty() => "no platforms".to_owned(),
                None => platforms.join(", "),
            };
            format!("{image:width$}  {what}")
        })
        .collect()
}

/// The platforms that an answer of the registry names, as it names them.
fn platforms_in(answer: &str) -> Vec<String> {
    let Ok(answer) = serde_json::from_str::<Value>(answer) else {
        return Vec::new();
    };
    let name = |platform: &Value| {
        let parts: Vec<&str> = ["os", "architecture", "variant"]
            .iter()
            .filter_map(|key| platform[*key].as_str())
            .filter(|part| !part.is_empty())
            .collect();
        (!parts.is_empty() && !parts.contains(&"unknown")).then(|| parts.join("/"))
    };
    match answer["manifests"].as_array() {
        Some(entries) => entries
            .iter()
            .filter_map(|entry| name(&entry["platform"]))
            .collect(),
        None => name(&answer["config"]).into_iter().collect(),
    }
}

fn decision(response: &AdmissionResponse) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(architectures) = response.annotation("architectures") {
        lines.push(format!(
            "architectures that run every image: {}",
            architectures.replace(',', ", ")
        ));
    }
    match (
        response.annotation("placement"),
        response.annotation("cause"),
    ) {
        (Some(placement), None) => {
            lines.push(format!("placed by {}", placement.replace(',', ", ")))
        }
        (Some(placement), Some(_)) => lines.push(placement.to_owned()),
        (None, _) => {}
    }
    if let Some(status) = &response.status {
        let message = status.message.as_deref().unwrap_or("no reason was given");
        let code = status.code.map(|code| format!(" ({code})"));
        lines.push(styled(
            RED,
            format!("rejected{}: {message}", code.unwrap_or_default()),
        ));
    }
    lines
}

/// What changed between two objects, as a diff of their YAML.
fn changes(before: &Value, after: &Value) -> Result<Vec<String>> {
    if before == after {
        return Ok(vec!["none".to_owned()]);
    }
    let (before, after) = (
        yaml_serde::to_string(before)?,
        yaml_serde::to_string(after)?,
    );
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    let mut lines = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        if !lines.is_empty() {
            lines.push("…".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = change.value().trim_end_matches('\n');
            lines.push(match change.tag() {
                ChangeTag::Equal => format!("  {line}"),
                ChangeTag::Insert => styled(GREEN, format!("+ {line}")),
                ChangeTag::Delete => styled(RED, format!("- {line}")),
            });
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn platforms_are_named_as_the_registry_names_them() {
        let index = json!({"manifests": [
            {"platform": {"os": "linux", "architecture": "arm", "variant": "v7"}},
            {"platform": {"os": "unknown", "architecture": "unknown"}},
            {"annotations": {}}
        ]});
        assert_eq!(platforms_in(&index.to_string()), ["linux/arm/v7"]);
        let config = json!({"config": {"os": "linux", "architecture": "arm64", "rootfs": {}}});
        assert_eq!(platforms_in(&config.to_string()), ["linux/arm64"]);
        assert_eq!(platforms_in("no json"), [""; 0]);
    }

    #[test]
    fn only_what_changed_is_shown_with_what_is_around_it() {
        let before = json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6});
        let mut after = before.clone();
        after["f"] = json!(7);
        let lines = changes(&before, &after).unwrap();
        let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
        assert_eq!(lines, ["  c: 3", "  d: 4", "  e: 5", "- f: 6", "+ f: 7"]);
    }

    #[test]
    fn an_account_of_a_rejection_gives_the_reason() {
        let evaluation = Evaluation {
            response: AdmissionResponse::internal_error("1", "no"),
            lookups: vec![
                (Lookup::Manifest("a".to_owned()), Ok("{}".to_owned())),
                (
                    Lookup::Manifest("bb".to_owned()),
                    Err("gone\nmore".to_owned()),
                ),
            ],
            events: Vec::new(),
            traffic: crate::engine::Traffic::default(),
        };
        let request = json!({"kind": {"kind": "Pod"}, "namespace": "n", "object": {"metadata": {"generateName": "p-"}}});
        let account = plain(&of(&request, &evaluation).unwrap());
        assert_eq!(
            account,
            "Pod n/p-: rejected\n\nImages\n  a   no platforms\n  bb  failed: gone\n\nDecision\n  rejected (500): no\n\nChanges\n  none\n"
        );
    }
}
