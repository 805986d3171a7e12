//! Properties that hold for every Pod, image, setting and cluster: placements are sound and complete, nothing of an
//! object is lost, what was added can be taken back, and the bounds are kept.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{collections::BTreeSet, time::Duration};

use node_architecture_policy::{host::Host, policy::validate};
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

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// The Pod as it comes, with the labels that it has to match.
fn before(world: &World) -> Value {
    let mut spec = world.pod["spec"].clone();
    let labels = world.pod["metadata"]["labels"].clone();
    for key in world.settings["matchNodeLabels"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let key = key.as_str().unwrap();
        let Some(value) = labels[key].as_str() else {
            continue;
        };
        let has_own = spec["nodeSelector"].get(key).is_some();
        if has_own || !admits_label(&spec, key, value) {
            continue;
        }
        if spec["nodeSelector"].is_null() {
            spec["nodeSelector"] = json!({});
        }
        spec["nodeSelector"][key] = json!(value);
    }
    spec
}

/// Whether some required term admits nodes with this label, whatever else they have.
fn admits_label(spec: &Value, key: &str, value: &str) -> bool {
    let required = &spec["affinity"]["nodeAffinity"][REQUIRED];
    if required.is_null() {
        return true;
    }
    let node = Node {
        name: String::new(),
        labels: [(key.to_owned(), value.to_owned())].into_iter().collect(),
        taints: Vec::new(),
    };
    required["nodeSelectorTerms"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|term| {
            let expressions = term["matchExpressions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let mut of_key: Vec<Value> = expressions;
            of_key.retain(|requirement| requirement["key"] == key);
            let is_filled = ["matchExpressions", "matchFields"]
                .iter()
                .any(|list| term[*list].as_array().is_some_and(|list| !list.is_empty()));
            (is_filled && of_key.is_empty())
                || node.matches_term(&json!({ "matchExpressions": of_key }))
        })
}

/// A Pod's ways to a node: its required terms one by one, each with the node selector. A Pod without required node
/// affinity has one.
fn ways(spec: &Value) -> Vec<Value> {
    let required = &spec["affinity"]["nodeAffinity"][REQUIRED];
    if required.is_null() {
        return vec![spec.clone()];
    }
    let terms = required["nodeSelectorTerms"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let with = |term: Value| {
        let mut way = spec.clone();
        way["affinity"]["nodeAffinity"][REQUIRED] = json!({"nodeSelectorTerms": [term]});
        way
    };
    terms.into_iter().map(with).collect()
}

/// Whether a way selects its architecture: by the node selector, or by an `In` of its term.
fn selects(way: &Value) -> bool {
    let is_architecture = |key: &str| key.ends_with("kubernetes.io/arch");
    let selector = way["nodeSelector"].as_object();
    let term = &way["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"][0];
    let expressions = term["matchExpressions"].as_array();
    selector
        .into_iter()
        .flatten()
        .any(|(key, _)| is_architecture(key))
        || expressions.into_iter().flatten().any(|requirement| {
            requirement["operator"] == "In"
                && is_architecture(requirement["key"].as_str().unwrap_or_default())
        })
}

fn is_schedulable(world: &World, name: &str) -> bool {
    let list = world.settings["schedulableArchitectures"].as_array();
    list.is_none_or(|list| list.is_empty() || list.iter().any(|known| known == name))
}

/// Whether a node is of an architecture that the way may be placed on, and runs every image that is known.
fn could(world: &World, way: &Value, node: &Node) -> bool {
    (selects(way) || is_schedulable(world, node.architecture()))
        && world.runs(node.os(), node.architecture())
}

/// The platforms of nodes that a way admits, whatever other labels they need.
fn admits_platform(way: &Value, node: &Node) -> bool {
    node.matches(&only_platform(way))
}

/// The operating system that a way is placed on: the first that it admits a node of which could run the images.
fn system_of(world: &World, way: &Value) -> Option<String> {
    let pod_os = world.pod["spec"]["os"]["name"].as_str();
    let systems = match pod_os {
        Some(os) => vec![os],
        None => world.systems(),
    };
    let nodes = world.nodes();
    let is_it = |os: &&str| {
        nodes.iter().any(|node| {
            let node = on(node, os);
            admits_platform(way, &node) && could(world, way, &node)
        })
    };
    systems.into_iter().find(is_it).map(str::to_owned)
}

/// Whether the Pod selects its architecture and the settings ignore what it selects.
fn is_ignored(world: &World) -> bool {
    let ways = ways(&before(world));
    let nodes = world.nodes();
    let is_live = |way: &&Value| {
        ["linux", "windows"]
            .iter()
            .any(|os| nodes.iter().any(|node| admits_platform(way, &on(node, os))))
    };
    world.settings["onUnsupportedSelection"] == "ignore" && ways.iter().filter(is_live).all(selects)
}

/// The node with another operating system.
fn on(node: &Node, os: &str) -> Node {
    let mut node = node.clone();
    for key in ["kubernetes.io/os", "beta.kubernetes.io/os"] {
        node.labels.insert(key.to_owned(), os.to_owned());
    }
    node
}

/// The nodes, and the same of architectures that no image of the worlds has.
fn any_architecture(mut nodes: Vec<Node>) -> Vec<Node> {
    let rare: Vec<Node> = nodes
        .iter()
        .cloned()
        .map(|mut node| {
            for key in ["kubernetes.io/arch", "beta.kubernetes.io/arch"] {
                node.labels.insert(key.to_owned(), "mips64le".to_owned());
            }
            node
        })
        .collect();
    nodes.extend(rare);
    nodes
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

/// How many worlds each property is tried in.
fn cases() -> u32 {
    std::env::var("WORLDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(2_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_node_is_admitted_that_was_not(world in world()) {
        let Some(after) = placed(&world, &evaluate(&world)) else { return Ok(()) };
        for node in world.nodes() {
            if node.matches(&after["spec"]) {
                prop_assert!(node.matches(&world.pod["spec"]), "{node:?}\n{after}");
            }
        }
    }

    /// Sound, without exemption but `ignore`: where some node could run every known image, every node that the result
    /// admits can, and one that could is still admitted.
    #[test]
    fn every_pod_lands_where_its_images_run(world in world()) {
        let Some(after) = placed(&world, &evaluate(&world)) else { return Ok(()) };
        if is_ignored(&world) {
            return Ok(());
        }
        let before = before(&world);
        let ways = ways(&before);
        let pod_os = world.pod["spec"]["os"]["name"].as_str();
        let nodes = world.nodes();
        let could_land = |node: &&Node| {
            pod_os.is_none_or(|os| node.os() == os)
                && ways.iter().any(|way| node.matches(way) && could(&world, way, node))
        };
        let able: Vec<&Node> = nodes.iter().filter(could_land).collect();
        if able.is_empty() || world.known_images() == 0 {
            return Ok(());
        }
        for node in &nodes {
            if node.matches(&after["spec"]) {
                prop_assert!(world.runs(node.os(), node.architecture()), "{node:?}\n{after}");
            }
        }
        let is_still_admitted = |node: &&Node| node.matches(&after["spec"]);
        prop_assert!(able.into_iter().any(|node| is_still_admitted(&node)), "{after}");
    }

    /// Complete: unless a preference pins, no node that could run the images is cut off from a term's own system.
    #[test]
    fn no_node_that_could_run_the_images_is_cut_off(world in world()) {
        let Some(after) = placed(&world, &evaluate(&world)) else { return Ok(()) };
        let before = before(&world);
        let selects_by_selector = |spec: &Value| {
            let selector = spec["nodeSelector"].as_object();
            selector.into_iter().flatten().any(|(key, _)| key.ends_with("kubernetes.io/arch"))
        };
        if !selects_by_selector(&before) && selects_by_selector(&after["spec"]) {
            return Ok(());
        }
        for way in ways(&before) {
            let Some(system) = system_of(&world, &way) else { continue };
            for node in world.nodes() {
                if node.os() == system && node.matches(&way) && could(&world, &way, &node) {
                    prop_assert!(node.matches(&after["spec"]), "{node:?}\n{after}");
                }
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
            if is_placed && node.matches(after) && by_settings(node.architecture()) {
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
        let Some(once) = placed(&world, &evaluate(&world)) else { return Ok(()) };
        let (second, _) = evaluate_pod(&world, &once);
        prop_assert_eq!(second.get("mutated_object"), None, "{}", once);
        prop_assert_eq!(&second["accepted"], &json!(true));
    }

    /// Unplaced is what admits a node, of any architecture and of a system of the cluster, that can't run a known image.
    #[test]
    fn without_mutation_the_verdict_is_the_same_and_what_is_unplaced_says_so(world in world()) {
        let mut validating = world.clone();
        validating.settings["mutate"] = json!(false);
        let (mutated, validated) = (evaluate(&world), evaluate(&validating));
        prop_assert_eq!(validated.get("mutated_object"), None);
        for same in ["accepted", "message", "code", "warnings"] {
            prop_assert_eq!(&mutated[same], &validated[same], "{}", same);
        }
        if mutated["accepted"] == false || is_ignored(&world) {
            return Ok(());
        }
        let ways = ways(&world.pod["spec"]);
        let mut nodes = any_architecture(world.nodes());
        nodes.retain(|node| ways.iter().any(|way| admits_platform(way, node)));
        let is_unplaced = world.known_images() > 0
            && nodes.iter().any(|node| !world.runs(node.os(), node.architecture()));
        let annotations = &validated["audit_annotations"];
        let placement = summary(&validated);
        prop_assert_eq!(placement.starts_with("not applied: "), is_unplaced, "{}", placement);
        if is_unplaced {
            prop_assert!(annotations["cause"].as_str().unwrap().starts_with("UnplacedPod"));
        } else {
            prop_assert_eq!(&mutated["audit_annotations"], annotations);
        }
        validating.settings["onUnplaced"] = json!("reject");
        prop_assert_eq!(&evaluate(&validating)["accepted"], !is_unplaced);
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
                let message = response["message"].as_str().unwrap();
                prop_assert!(!message.contains('\n') && !message.contains("immutable"));
                let causes = response["audit_annotations"]["cause"].as_str().unwrap();
                let codes: Vec<i64> = causes.split(',').map(code_of).collect();
                prop_assert!(codes.is_sorted(), "{}", causes);
                prop_assert_eq!(&response["code"], &json!(codes[0]));
                let first = causes.split(',').next().unwrap();
                prop_assert!(message.starts_with(&format!("{first}: ")), "{}", message);
            }
        }
    }
}

/// The code of a rejection for a cause, as docs/troubleshooting.md has it.
fn code_of(cause: &str) -> i64 {
    match cause {
        "UnsupportedSelection" => 400,
        "NoOperatingSystem" | "MissingArchitectures" | "NoCommonArchitecture" | "UnplacedPod" => {
            403
        }
        "UnreadableImages" => 424,
        "UnfinishedLookups" => 429,
        other => panic!("{other}"),
    }
}

mod the_model {
    use super::*;
    use rstest::rstest;

    /// What Kubernetes' own library says of Pods and Nodes; the file's first line says which, and has the Nodes.
    #[test]
    fn agrees_with_the_scheduler() {
        let recorded = include_str!("model/scheduler-verdicts.jsonl");
        let mut lines = recorded
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let nodes: Vec<Node> = lines.next().unwrap()["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| Node {
                name: node["metadata"]["name"].as_str().unwrap().to_owned(),
                labels: serde_json::from_value(node["metadata"]["labels"].clone()).unwrap(),
                taints: Vec::new(),
            })
            .collect();
        let mut pods = 0;
        for line in lines {
            let verdicts = line[1].as_str().unwrap();
            assert_eq!(verdicts.len(), nodes.len());
            for (node, verdict) in nodes.iter().zip(verdicts.chars()) {
                assert_eq!(
                    node.matches(&line[0]),
                    verdict == '1',
                    "{node:?}\n{}",
                    line[0]
                );
            }
            pods += 1;
        }
        assert_eq!(pods, 1_500);
    }

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
