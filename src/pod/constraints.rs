//! What the Pod already says about the nodes that it may land on.
//!
//! Design, section 5. Node matching follows the Kubernetes API reference: the node selector and the required node
//! affinity both have to match; the terms of the affinity are ORed, the requirements within a term are ANDed, and a
//! term without any requirement matches no node.
//! <https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#NodeAffinity>

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};

use crate::{
    platform::{ARCHITECTURE_LABELS, Architectures, Known, OS_LABELS, Os, Systems, Values},
    set::SortedSet,
};

/// The node's name as a label.
const HOSTNAME: &str = "kubernetes.io/hostname";
/// Labels that say where a node is, and not which one: placement by them leaves every architecture possible, as far as
/// anybody can tell.
const TOPOLOGY_LABELS: [&str; 4] = [
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
];

/// As many names of architectures as a message shows.
const MOST_NAMES: usize = 32;

/// The constraints of a Pod (template) on its nodes.
#[derive(Clone, Debug)]
pub struct NodeConstraints {
    /// The live terms: those of the required node affinity that have a requirement and, together with the node
    /// selector, admit some platform. A Pod without required node affinity has one, empty but live.
    pub terms: Vec<Term>,
    /// Whether the node selector has an architecture.
    pub selector_has_architecture: bool,
    /// Whether the Pod selects its architecture itself: its node selector does, or all of its live terms do.
    pub selects_architecture: bool,
    /// Whether the soft node affinity mentions the architecture.
    pub prefers_architecture: bool,
    /// `spec.os.name`.
    pub pod_os: Option<Os>,
    /// The architectures that the Pod names in its selections, in its own words, for messages; sorted, each once.
    pub selected: SortedSet<String>,
}

/// A live term, together with the node selector.
#[derive(Clone, Debug)]
pub struct Term {
    /// Its index in the required node affinity; `None` where the Pod has none.
    pub index: Option<usize>,
    /// The architectures that it admits.
    pub architectures: Architectures,
    /// The operating systems that it admits.
    pub systems: Systems,
    /// Whether it selects its architecture: the node selector has one, or the term has an `In` on it.
    pub selects_architecture: bool,
    /// Whether it names its operating systems.
    pub names_systems: bool,
    /// Whether it names its nodes.
    pub names_hosts: bool,
    /// Whether something but architecture, operating system and topology narrows its nodes down.
    pub is_placed_by_labels: bool,
}

impl NodeConstraints {
    /// The constraints that a Pod's `spec.nodeSelector`, its `required` and `preferred` node affinity and its
    /// `spec.os.name` make.
    pub fn new(
        node_selector: &[(String, String)],
        required: Option<&[NodeSelectorTerm]>,
        preferred: &[NodeSelectorTerm],
        pod_os: Option<Os>,
    ) -> Self {
        let selector_has = |labels: &[&str]| {
            let mut keys = node_selector.iter();
            keys.any(|(key, _)| labels.contains(&key.as_str()))
        };
        let selector_has_architecture = selector_has(&ARCHITECTURE_LABELS);
        let selector_has_os = selector_has(&OS_LABELS);
        let by_selector = Term {
            index: None,
            architectures: by_selector(node_selector, &ARCHITECTURE_LABELS),
            systems: by_selector(node_selector, &OS_LABELS),
            selects_architecture: selector_has_architecture,
            names_systems: selector_has_os,
            names_hosts: selector_has(&[HOSTNAME]),
            is_placed_by_labels: node_selector.iter().any(|(key, _)| is_other(key)),
        };
        let mut filled = Vec::new();
        for (index, term) in required.unwrap_or_default().iter().enumerate() {
            if is_filled(term) {
                filled.push((index, term));
            }
        }
        let mut terms = Vec::new();
        for (index, term) in &filled {
            let term = by_selector.and(*index, term);
            if term.admits_some_platform() {
                terms.push(term);
            }
        }
        let selects_architecture = selector_has_architecture
            || match terms.as_slice() {
                [] => filled
                    .iter()
                    .any(|(_, term)| selects(term, &ARCHITECTURE_LABELS)),
                live => live.iter().all(|term| term.selects_architecture),
            };
        if required.is_none() {
            terms.push(by_selector);
        }
        let soft = preferred.iter().flat_map(requirements);
        Self {
            selected: selected(node_selector, filled.iter().map(|(_, term)| *term)),
            prefers_architecture: soft
                .into_iter()
                .any(|it| ARCHITECTURE_LABELS.contains(&it.key.as_str())),
            terms,
            selector_has_architecture,
            selects_architecture,
            pod_os,
        }
    }
}

impl Term {
    /// The term that is at `index`, together with the node selector that `self` is.
    fn and(&self, index: usize, term: &NodeSelectorTerm) -> Self {
        Self {
            index: Some(index),
            architectures: self.architectures.and(by_term(term, &ARCHITECTURE_LABELS)),
            systems: self.systems.and(by_term(term, &OS_LABELS)),
            selects_architecture: self.selects_architecture || selects(term, &ARCHITECTURE_LABELS),
            names_systems: self.names_systems || selects(term, &OS_LABELS),
            names_hosts: self.names_hosts || names_hosts(term),
            is_placed_by_labels: self.is_placed_by_labels
                || fields(term).next().is_some()
                || requirements(term).any(|it| is_other(&it.key)),
        }
    }

    fn admits_some_platform(&self) -> bool {
        !self.architectures.is_empty() && !self.systems.is_empty()
    }
}

/// Whether every one of the `required` terms asks for nodes with the label `key` of this `value`.
pub(super) fn require_label(required: Option<&[NodeSelectorTerm]>, key: &str, value: &str) -> bool {
    let asks = |requirement: &NodeSelectorRequirement| {
        requirement.key == key
            && requirement.operator == "In"
            && requirement.values.as_deref() == Some(&[value.to_owned()])
    };
    let terms = required.unwrap_or_default();
    !terms.is_empty() && terms.iter().all(|term| requirements(term).any(asks))
}

/// Whether some of the `required` terms, if there are any, match nodes with the label `key` of this `value`.
pub(super) fn admit_label(required: Option<&[NodeSelectorTerm]>, key: &str, value: &str) -> bool {
    let admits = |term: &NodeSelectorTerm| {
        is_filled(term)
            && requirements(term)
                .filter(|requirement| requirement.key == key)
                .all(|requirement| requirement_admits(requirement, value))
    };
    required.is_none_or(|terms| terms.iter().any(admits))
}

fn requirements(term: &NodeSelectorTerm) -> impl Iterator<Item = &NodeSelectorRequirement> {
    term.match_expressions.iter().flatten()
}

/// Whether the term has a requirement: without one it matches no node.
fn is_filled(term: &NodeSelectorTerm) -> bool {
    requirements(term).next().is_some() || fields(term).next().is_some()
}

fn fields(term: &NodeSelectorTerm) -> impl Iterator<Item = &NodeSelectorRequirement> {
    term.match_fields.iter().flatten()
}

/// Whether the term names nodes, by their label or by the field of their name.
fn names_hosts(term: &NodeSelectorTerm) -> bool {
    let is_name =
        |field: &NodeSelectorRequirement| field.key == "metadata.name" && field.operator == "In";
    selects(term, &[HOSTNAME]) || fields(term).any(is_name)
}

/// Whether a label is about something but a node's platform and topology.
fn is_other(key: &str) -> bool {
    let known = [ARCHITECTURE_LABELS.as_slice(), &OS_LABELS, &TOPOLOGY_LABELS];
    !known.iter().any(|labels| labels.contains(&key))
}

/// Whether the term names values of one of `labels`.
fn selects(term: &NodeSelectorTerm, labels: &[&str]) -> bool {
    requirements(term).any(|it| it.operator == "In" && labels.contains(&it.key.as_str()))
}

/// What the Pod names as its architectures.
fn selected<'t>(
    node_selector: &'t [(String, String)],
    terms: impl Iterator<Item = &'t NodeSelectorTerm>,
) -> SortedSet<String> {
    let is_architecture = |key: &str| ARCHITECTURE_LABELS.contains(&key);
    let mut names = SortedSet::default();
    for (key, value) in node_selector {
        if is_architecture(key) {
            names.insert(value.clone());
        }
    }
    for requirement in terms.flat_map(requirements) {
        if requirement.operator == "In" && is_architecture(&requirement.key) {
            let left = MOST_NAMES.saturating_sub(names.iter().len());
            for value in requirement.values.iter().flatten().take(left) {
                names.insert(value.clone());
            }
        }
    }
    names
}

/// The values of `labels` that the node selector admits.
fn by_selector<T: Known>(node_selector: &[(String, String)], labels: &[&str]) -> Values<T> {
    let mut admitted = Values::all();
    for (key, value) in node_selector {
        if labels.contains(&key.as_str()) {
            admitted = admitted.and(Values::of_labels([value.as_str()].into_iter()));
        }
    }
    admitted
}

/// The values of `labels` that the term admits.
fn by_term<T: Known>(term: &NodeSelectorTerm, labels: &[&str]) -> Values<T> {
    let mut admitted = Values::all();
    for requirement in requirements(term) {
        if labels.contains(&requirement.key.as_str()) {
            admitted = admitted.and(by_requirement(requirement));
        }
    }
    admitted
}

/// The values that the requirement admits of a label that every node has.
fn by_requirement<T: Known>(requirement: &NodeSelectorRequirement) -> Values<T> {
    let listed = || {
        let values = requirement.values.iter().flatten();
        Values::of_labels(values.map(String::as_str))
    };
    match requirement.operator.as_str() {
        "In" => listed(),
        "NotIn" => listed().complement(),
        "Exists" => Values::all(),
        // Names of architectures are no numbers, but one: 386.
        "Gt" | "Lt" => Values::all()
            .iter()
            .filter(|value: &T| requirement_admits(requirement, &value.to_string()))
            .collect(),
        // `DoesNotExist`: the label is there. Any other operator matches nothing.
        _ => Values::none(),
    }
}

/// Whether `requirement` matches a label that is there with `value`.
fn requirement_admits(requirement: &NodeSelectorRequirement, value: &str) -> bool {
    let values = requirement.values.as_deref().unwrap_or_default();
    let listed = || values.iter().any(|listed| listed == value);
    let compared = |holds: fn(&i64, &i64) -> bool| match values {
        [bound] => match (value.parse::<i64>(), bound.parse::<i64>()) {
            (Ok(value), Ok(bound)) => holds(&value, &bound),
            _ => false,
        },
        _ => false,
    };
    match requirement.operator.as_str() {
        "In" => listed(),
        "NotIn" => !listed(),
        "Exists" => true,
        "Gt" => compared(i64::gt),
        "Lt" => compared(i64::lt),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
