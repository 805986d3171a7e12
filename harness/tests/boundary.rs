//! What crosses the boundary between host and policy: each call costs a copy, and a lookup may cost a round trip to a
//! registry.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use node_architecture_harness::{
    capabilities::Allowed,
    engine::{Deadline, Evaluation},
};
use serde_json::Value;

#[path = "common/cases.rs"]
mod cases;
mod common;

use cases::{Case, cases};

fn evaluate() -> Vec<(Case, Evaluation)> {
    let policy = common::policy(Deadline::default()).unwrap();
    let evaluate = |case: Case| {
        let answers = Box::new(case.registry.clone());
        let evaluation = policy.evaluate(&case.request, &case.settings, answers, Allowed::all());
        (case, evaluation.unwrap())
    };
    cases().into_iter().map(evaluate).collect()
}

/// The lookups and log events of each case.
#[test]
fn the_host_is_called_once_an_index_twice_a_single_manifest_and_once_for_the_log_of_a_change() {
    let counted: Vec<(&str, usize, usize)> = evaluate()
        .iter()
        .map(|(case, evaluation)| {
            let (lookups, events) = (evaluation.lookups.len(), evaluation.events.len());
            assert_eq!(evaluation.traffic.host_calls, lookups + events);
            (case.name, lookups, events)
        })
        .collect();
    assert_eq!(
        counted,
        [
            ("1 container", 1, 1),
            ("3 containers", 3, 1),
            ("20 containers", 20, 1),
            ("100 containers", 100, 1),
            ("3 containers, indexes of 4 entries", 3, 1),
            ("3 containers, indexes of 18 entries", 3, 1),
            ("3 containers, single manifests", 6, 1),
            ("3 containers, 20 preference rules", 3, 1),
            ("skipped: a Pod of a DaemonSet", 0, 0),
            ("the user selected arm64", 3, 0),
            ("the user selected arm64, ignored", 0, 0),
            ("1 MB in one annotation", 1, 1),
            ("1 MB in 10,000 annotations", 1, 1),
        ]
    );
}

/// In: the request and the answers, and nothing else. Out: references, at most one event, and at most the object with
/// what was added to it and the words about it.
#[test]
fn no_byte_crosses_without_need() {
    const ADDED: usize = 1_000;
    for (case, evaluation) in evaluate() {
        let traffic = evaluation.traffic;
        let answers: usize = evaluation
            .lookups
            .iter()
            .map(|(_, answer)| answer.as_ref().map_or_else(String::len, String::len))
            .sum();
        assert_eq!(
            traffic.bytes_in,
            case.payload().len() + answers,
            "{}",
            case.name
        );

        let references: usize = evaluation
            .lookups
            .iter()
            .map(|(lookup, _)| Value::from(lookup.image()).to_string().len())
            .sum();
        let object = match evaluation.response.patch {
            Some(_) => case.request["object"].to_string().len() + ADDED,
            None => 200,
        };
        assert!(
            traffic.bytes_out <= references + object,
            "{}: {} of {references} and {object}",
            case.name,
            traffic.bytes_out
        );
    }
}
