//! Properties that hold for every Pod, image, setting and cluster: placements are sound and complete, nothing of an
//! object is lost, what was added can be taken back, and the bounds are kept.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{collections::BTreeSet, time::Duration};

use node_architecture_json::{Draft, Json};
use node_architecture_policy::{
    host::Host,
    placement::{PlacementRecord, strip},
    policy::validate,
    settings::Settings,
};
use proptest::prelude::*;
use serde_json::{Value, json};

mod model;

use model::{
    random::{self, World, world},
    scheduler::Node,
};

/// A host that answers from the world, and counts.
struct Registry<'w> {
    world: &'w World,
    lookups: Vec<String>,
}

impl Host for Registry<'_> {
    fn manifest(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        self.lookups.push(format!("manifest {reference}"));
        self.world.registry[reference]
            .manifest()
            .map(String::into_bytes)
    }

    fn manifest_and_config(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        self.lookups.push(format!("config {reference}"));
        self.world.registry[reference]
            .config()
            .map(String::into_bytes)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn log(&mut self, event: &[u8]) {
        serde_json::from_slice::<Value>(event).expect("an event is JSON");
    }
}

/// The response to the request for `pod`, and the lookups it took.
fn evaluate_pod(world: &World, pod: &Value) -> (Value, Vec<String>) {
    let mut host = Registry {
        world,
        lookups: Vec::new(),
    };
    let payload = json!({"request": random::request(pod), "settings": world.settings}).to_string();
    let response = validate(payload.as_bytes(), &mut host);
    (serde_json::from_slice(&response).unwrap(), host.lookups)
}

fn evaluate(world: &World) -> Value {
    evaluate_pod(world, &world.pod).0
}

/// The Pod after the response; `None` where it was rejected.
fn placed(world: &World, response: &Value) -> Option<Value> {
    response["accepted"].as_bool().unwrap().then(|| {
        response
            .get("mutated_object")
            .cloned()
            .unwrap_or_else(|| world.pod.clone())
    })
}

fn summary(response: &Value) -> &str {
    response["audit_annotations"]["placement"]
        .as_str()
        .unwrap_or_default()
}

/// Whether a term of the user's that selects its own architecture admits the node: then it's theirs.
fn is_by_own_selection(world: &World, node: &Node) -> bool {
    let spec = &world.pod["spec"];
    let required =
        &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = required["nodeSelectorTerms"].as_array();
    terms.into_iter().flatten().any(|term| {
        let selects = term["matchExpressions"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|requirement| {
                let key = requirement["key"].as_str().unwrap_or_default();
                requirement["operator"] == "In" && key.ends_with("kubernetes.io/arch")
            });
        selects && node.matches_term(term)
    })
}

/// The node with another operating system.
fn on(node: &Node, os: &str) -> Node {
    let mut node = node.clone();
    for key in ["kubernetes.io/os", "beta.kubernetes.io/os"] {
        node.labels.insert(key.to_owned(), os.to_owned());
    }
    node
}

/// What `spec` demands of the architecture and the operating system of a node, and nothing else: the rest may contradict
/// itself, which the policy doesn't judge.
fn only_platform(spec: &Value) -> Value {
    const TERMS: &str =
        "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let is_platform =
        |key: &str| key.ends_with("kubernetes.io/arch") || key.ends_with("kubernetes.io/os");
    let mut spec = spec.clone();
    if let Some(selector) = spec["nodeSelector"].as_object_mut() {
        selector.retain(|key, _| is_platform(key));
    }
    let terms = spec.pointer_mut(TERMS).and_then(Value::as_array_mut);
    for term in terms.into_iter().flatten() {
        let list = |key: &str| term[key].as_array().cloned().unwrap_or_default();
        let (mut expressions, fields) = (list("matchExpressions"), list("matchFields"));
        if expressions.is_empty() && fields.is_empty() {
            continue;
        }
        expressions.retain(|requirement| requirement["key"].as_str().is_some_and(is_platform));
        // Every node has it, and a term without requirements would match none.
        expressions.push(json!({"key": "kubernetes.io/arch", "operator": "Exists"}));
        *term = json!({ "matchExpressions": expressions });
    }
    spec
}

/// The taint of nodes of an architecture, each with one of its own.
fn taint_of(architecture: &str) -> (String, String, String) {
    let (key, value, effect) = match architecture {
        "arm64" => ("arch", "arm64", "NoSchedule"),
        "amd64" => ("other", "x", "NoExecute"),
        _ => ("third", "", "NoSchedule"),
    };
    (key.to_owned(), value.to_owned(), effect.to_owned())
}

/// `spec` without what the policy owns.
fn others(pod: &Value) -> Value {
    let mut pod = pod.clone();
    for key in ["nodeSelector", "affinity", "tolerations"] {
        pod["spec"].as_object_mut().unwrap().remove(key);
    }
    if let Some(metadata) = pod["metadata"].as_object_mut() {
        metadata.remove("annotations");
    }
    pod
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_node_that_the_result_admits_was_admitted_before(world in world()) {
        let Some(after) = placed(&world, &evaluate(&world)) else { return Ok(()) };
        for node in world.nodes() {
            if node.matches(&after["spec"]) {
                prop_assert!(node.matches(&world.pod["spec"]), "{node:?}\n{after}");
            }
        }
    }

    #[test]
    fn every_node_that_a_placement_admits_runs_every_image(world in world()) {
        let response = evaluate(&world);
        let Some(after) = placed(&world, &response) else { return Ok(()) };
        if !["nodeSelector", "nodeAffinity"].iter().any(|kind| summary(&response).starts_with(kind)) {
            return Ok(());
        }
        for node in world.nodes() {
            if node.matches(&after["spec"]) && !is_by_own_selection(&world, &node) {
                prop_assert!(world.runs(node.os(), node.architecture()), "{node:?}\n{after}");
            }
        }
    }

    #[test]
    fn without_a_pin_every_node_that_runs_all_images_stays_admitted(world in world()) {
        let response = evaluate(&world);
        let Some(after) = placed(&world, &response) else { return Ok(()) };
        if !summary(&response).starts_with("nodeAffinity") {
            return Ok(());
        }
        let os = summary(&response).split(" os=").nth(1).map(str::to_owned);
        let is_schedulable = |name: &str| {
            let list = world.settings["schedulableArchitectures"].as_array();
            list.is_none_or(|list| list.iter().any(|known| known == name))
        };
        // A zone that the Pod has to match is no placement by architecture.
        let zone = world.settings.get("matchNodeLabels").is_some();
        for node in world.nodes() {
            let is_of_os = match &os {
                Some(os) => node.os() == os,
                None => world.systems().len() == 1,
            };
            if is_of_os
                && !zone
                && is_schedulable(node.architecture())
                && node.matches(&world.pod["spec"])
                && world.runs(node.os(), node.architecture())
            {
                prop_assert!(node.matches(&after["spec"]), "{node:?}\n{after}");
            }
        }
    }

    #[test]
    fn a_taint_is_tolerated_as_before_or_as_the_settings_say_for_an_architecture_that_is_admitted(
        world in world(),
    ) {
        let response = evaluate(&world);
        let Some(after) = placed(&world, &response) else { return Ok(()) };
        let (before, after) = (&world.pod["spec"], &after["spec"]);
        let nodes = world.nodes();
        let is_placed = summary(&response).starts_with("node");
        let none = serde_json::Map::new();
        let settings = world.settings["tolerations"].as_object().unwrap_or(&none);
        for mut node in nodes.clone() {
            node.taints = vec![taint_of(node.architecture())];
            let is_tolerated = node.is_tolerated_by(after);
            prop_assert!(is_tolerated || !node.is_tolerated_by(before), "{node:?}\n{after}");
            let by_settings = |architecture: &str| {
                settings.get(architecture).is_some_and(|tolerations| {
                    node.is_tolerated_by(&json!({"tolerations": tolerations}))
                })
            };
            if is_tolerated && !node.is_tolerated_by(before) {
                // The Pod may name a system that the settings don't, and may admit no node at all.
                let platform = only_platform(after);
                let admits =
                    |node: &&Node| ["linux", "windows"].iter().any(|os| on(node, os).matches(&platform));
                let admitted: Vec<&Node> = nodes.iter().filter(admits).collect();
                let is_for_an_admitted_one = admitted.is_empty()
                    || admitted.iter().any(|node| by_settings(node.architecture()));
                prop_assert!(is_for_an_admitted_one, "{node:?}\n{after}");
            }
            let is_own = is_by_own_selection(&world, &node);
            if is_placed && !is_own && node.matches(after) && by_settings(node.architecture()) {
                prop_assert!(is_tolerated, "{node:?}\n{after}");
            }
        }
    }

    #[test]
    fn nothing_outside_the_owned_paths_changes(world in world()) {
        let Some(after) = placed(&world, &evaluate(&world)) else { return Ok(()) };
        prop_assert_eq!(others(&after), others(&world.pod));
    }

    #[test]
    fn a_second_evaluation_changes_nothing(world in world()) {
        let first = evaluate(&world);
        let Some(once) = placed(&world, &first) else { return Ok(()) };
        let (second, _) = evaluate_pod(&world, &once);
        let twice = second.get("mutated_object").unwrap_or(&once);
        prop_assert_eq!(twice, &once);
        prop_assert_eq!(summary(&second), summary(&first));
    }

    #[test]
    fn what_was_added_can_be_taken_out_exactly(world in world()) {
        let Some(after) = placed(&world, &evaluate(&world)) else { return Ok(()) };
        let text = after.to_string();
        let template = Json::parse(&text).unwrap();
        let settings = Settings::parse(&world.settings.to_string()).unwrap();
        let mut draft = Draft::from(template);
        if let Some(record) = PlacementRecord::of(template, &settings) {
            strip(&mut draft, &record);
        }
        let stripped: Value = serde_json::from_str(&draft.to_string()).unwrap();
        prop_assert_eq!(stripped, world.pod);
    }

    #[test]
    fn the_order_of_containers_does_not_matter(world in world()) {
        let response = evaluate(&world);
        let mut reversed = world.clone();
        if let Some(containers) = reversed.pod["spec"]["containers"].as_array_mut() {
            containers.reverse();
        }
        let other = evaluate(&reversed);
        prop_assert_eq!(&response["accepted"], &other["accepted"]);
        prop_assert_eq!(summary(&response), summary(&other));
        for key in ["nodeSelector", "affinity", "tolerations"] {
            let of = |response: &Value| response["mutated_object"]["spec"][key].clone();
            prop_assert_eq!(of(&response), of(&other));
        }
    }

    #[test]
    fn no_reference_is_looked_up_twice_and_none_past_the_bounds(world in world()) {
        let (_, lookups) = evaluate_pod(&world, &world.pod);
        let distinct: BTreeSet<&String> = lookups.iter().collect();
        prop_assert_eq!(distinct.len(), lookups.len());
        prop_assert!(lookups.len() <= 2 * world.images().len());
    }

    #[test]
    fn answers_are_deterministic_one_line_and_bounded(world in world()) {
        let response = evaluate(&world);
        prop_assert_eq!(&response, &evaluate(&world));
        let warnings = response["warnings"].as_array().cloned().unwrap_or_default();
        prop_assert!(warnings.len() <= 5);
        for warning in &warnings {
            let text = warning.as_str().unwrap();
            prop_assert!(text.len() <= 200 && !text.contains('\n'), "{}", text);
        }
        match response["accepted"].as_bool().unwrap() {
            true => prop_assert!(response.get("message").is_none()),
            false => {
                prop_assert_eq!(&response["code"], &json!(403));
                prop_assert!(!response["message"].as_str().unwrap().contains('\n'));
            }
        }
    }
}

mod the_model {
    use super::*;
    use rstest::rstest;

    fn node() -> Node {
        Node {
            name: "n0".to_owned(),
            labels: [("a", "1"), ("b", "x")]
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            taints: vec![(
                "arch".to_owned(),
                "arm64".to_owned(),
                "NoSchedule".to_owned(),
            )],
        }
    }

    fn affinity(terms: Value) -> Value {
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
    }

    #[rstest]
    #[case::nothing(json!({}), true)]
    #[case::null(json!({"nodeSelector": null, "affinity": null}), true)]
    #[case::selector(json!({"nodeSelector": {"a": "1"}}), true)]
    #[case::another_value(json!({"nodeSelector": {"a": "2"}}), false)]
    #[case::absent_label(json!({"nodeSelector": {"c": ""}}), false)]
    #[case::no_terms(affinity(json!([])), false)]
    #[case::empty_term(affinity(json!([{}])), false)]
    #[case::null_lists(affinity(json!([{"matchExpressions": null, "matchFields": null}])), false)]
    #[case::ored_terms(affinity(json!([{}, {"matchExpressions": [{"key": "a", "operator": "Exists"}]}])), true)]
    #[case::anded_requirements(affinity(json!([{"matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "c", "operator": "Exists"}]}])), false)]
    #[case::anded_fields(affinity(json!([{"matchExpressions": [{"key": "a", "operator": "Exists"}], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}])), false)]
    #[case::field(affinity(json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]}])), true)]
    #[case::not_in_of_an_absent_label(affinity(json!([{"matchExpressions": [{"key": "c", "operator": "NotIn", "values": ["1"]}]}])), true)]
    #[case::in_nothing(affinity(json!([{"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}])), false)]
    #[case::does_not_exist(affinity(json!([{"matchExpressions": [{"key": "c", "operator": "DoesNotExist"}]}])), true)]
    #[case::greater(affinity(json!([{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["0"]}]}])), true)]
    #[case::less(affinity(json!([{"matchExpressions": [{"key": "a", "operator": "Lt", "values": ["1"]}]}])), false)]
    #[case::greater_than_a_word(affinity(json!([{"matchExpressions": [{"key": "b", "operator": "Gt", "values": ["0"]}]}])), false)]
    #[case::unknown_operator(affinity(json!([{"matchExpressions": [{"key": "a", "operator": "Like", "values": ["1"]}]}])), false)]
    fn matches_as_the_api_reference_says(#[case] spec: Value, #[case] expected: bool) {
        assert_eq!(node().matches(&spec), expected);
    }

    #[rstest]
    #[case::none(json!([]), false)]
    #[case::exact(json!([{"key": "arch", "value": "arm64", "effect": "NoSchedule"}]), true)]
    #[case::any_effect(json!([{"key": "arch", "operator": "Exists"}]), true)]
    #[case::everything(json!([{"operator": "Exists"}]), true)]
    #[case::another_value(json!([{"key": "arch", "value": "amd64"}]), false)]
    #[case::another_effect(json!([{"key": "arch", "operator": "Exists", "effect": "NoExecute"}]), false)]
    fn taints_are_tolerated_as_the_api_reference_says(
        #[case] tolerations: Value,
        #[case] expected: bool,
    ) {
        assert_eq!(
            node().is_tolerated_by(&json!({"tolerations": tolerations})),
            expected
        );
    }
}
