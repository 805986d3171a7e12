use super::*;
use crate::{
    decision::{ImagePlatforms, Nodes, Placement, Problem},
    image::LookupFailure,
    platform::Architecture,
};
use kubewarden_policy_sdk::response::ValidationResponse;
use rstest::rstest;
use serde_json::json;

fn decision(outcome: Outcome, warnings: Vec<Warning>) -> Decision {
    Decision {
        outcome,
        placement: Placement::default(),
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

fn placed() -> Outcome {
    Outcome::Placed {
        on: Some(Nodes::Selector(Architecture::parse("amd64").unwrap())),
        preferred: Vec::new(),
        os: None,
    }
}

fn warning(image: String) -> Warning {
    Warning::UnreadableImage {
        image,
        failure: LookupFailure::NoPlatform,
        counted_as: None,
    }
}

#[test]
fn the_sdk_reads_the_response() {
    let object = Draft::parse(r#"{"kind": "Pod"}"#).unwrap();
    let decision = decision(placed(), vec![warning("w".to_owned())]);
    let response = Response::from_decision(&decision, Some(object));
    let read: ValidationResponse = serde_json::from_slice(&response.into_bytes()).unwrap();
    assert!(read.accepted);
    assert_eq!(read.mutated_object, Some(json!({"kind": "Pod"})));
    assert_eq!(
        read.warnings,
        Some(vec![
            "image w ignored: its index names no platform".to_owned()
        ])
    );
    let annotations = read.audit_annotations.unwrap();
    assert_eq!(annotations["architectures"], "amd64,arm64");
    assert_eq!(annotations["placement"], "nodeSelector=amd64");
    assert_eq!(annotations["failed-lookups"], "2");
    assert!(!annotations.contains_key("cause"));
}

#[rstest]
#[case::left_alone(
    Outcome::NotPlaced { reason: Unchanged::NoKnownPlatforms, additions: Vec::new() },
    "NoKnownPlatforms"
)]
#[case::rejected_for_several(
    Outcome::Rejected(vec![
        Problem::UnreadableImages(Vec::new()),
        Problem::NoOperatingSystem("a".to_owned()),
        Problem::NoOperatingSystem("b".to_owned()),
    ]),
    "UnreadableImages,NoOperatingSystem"
)]
fn every_cause_is_told_once_in_one_word(#[case] outcome: Outcome, #[case] cause: &str) {
    let response = Response::from_decision(&decision(outcome, Vec::new()), None);
    assert_eq!(response.audit_annotations.cause.as_deref(), Some(cause));
}

#[test]
fn what_cannot_be_read_has_a_cause_as_well() {
    let cause = |response: Response<'_>| response.audit_annotations.cause.unwrap();
    assert_eq!(cause(Response::unreadable(&"no")), "UnreadableRequest");
    let invalid = crate::settings::Settings::parse("1").unwrap_err();
    assert_eq!(
        cause(Response::invalid_settings(&invalid)),
        "InvalidSettings"
    );
}

#[test]
fn a_rejection_is_one_line_that_begins_with_its_cause() {
    let problem = Problem::NoOperatingSystem("no\ngood".to_owned());
    let decision = decision(Outcome::Rejected(vec![problem]), vec![]);
    let response = Response::from_decision(&decision, None);
    assert!(!response.accepted);
    assert_eq!(response.code, Some(403));
    assert_eq!(
        response.message.as_deref(),
        Some("NoOperatingSystem: no good doesn't say which operating system it needs")
    );
    assert_eq!(response.audit_annotations.placement, None);
}

#[rstest]
#[case::few(5, 5, "image 4 ignored: its index names no platform")]
#[case::many(9, 5, "5 more warnings")]
fn there_are_five_warnings_at_most(#[case] given: usize, #[case] shown: usize, #[case] last: &str) {
    let warnings = (0..given)
        .map(|number| warning(number.to_string()))
        .collect();
    let response = Response::from_decision(&decision(placed(), warnings), None);
    assert_eq!(response.warnings.len(), shown);
    assert_eq!(response.warnings.last().unwrap(), last);
}

#[test]
fn a_warning_is_one_line_of_200_bytes_at_most() {
    let images = vec![ImagePlatforms {
        image: "ä\n".repeat(300),
        platforms: Default::default(),
        is_counted: false,
    }];
    let warnings = vec![Warning::Problem(Problem::NoCommonArchitecture {
        images,
        systems: Vec::new(),
        schedulable: None,
    })];
    let response = Response::from_decision(&decision(placed(), warnings), None);
    let warning = &response.warnings[0];
    assert!(warning.len() <= 200 && warning.ends_with('…') && !warning.contains('\n'));
}
