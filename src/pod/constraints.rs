//! What the Pod already says about the nodes it may land on, as far as architecture and operating system go.
//!
//! Design, section 5. Node matching follows the Kubernetes API reference: the node selector and the required node
//! affinity both have to match; the terms of the affinity are ORed, the requirements within a term are ANDed, and a
//! term without any requirement matches no node.
//! <https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#NodeAffinity>

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};

use crate::{
    platform::{ARCHITECTURE_LABELS, Architecture, Architectures, OS_LABELS, Os},
    set::SortedSet,
};

/// What a node label tells: the two that placement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// `kubernetes.io/arch` and its alias.
    Architecture,
    /// `kubernetes.io/os` and its alias.
    Os,
}

impl Dimension {
    /// The label keys of the dimension.
    pub fn labels(self) -> &'static [&'static str; 2] {
        match self {
            Self::Architecture => &ARCHITECTURE_LABELS,
            Self::Os => &OS_LABELS,
        }
    }

    fn has(self, key: &str) -> bool {
        self.labels().contains(&key)
    }
}

/// Where a pod admits nodes of an operating system that it isn't placed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsGap {
    /// The indices of the required terms that do; `None` where the pod has no required node affinity.
    pub terms: Option<Vec<usize>>,
    /// Whether all terms that can match do, so that a node selector closes the gap.
    pub is_everywhere: bool,
}

/// The constraints of a pod (template) on its nodes.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    node_selector: Vec<(String, String)>,
    /// The required terms that can match a node, with their indices: an empty one matches none. `None` where the pod has
    /// no required node affinity.
    terms: Option<Vec<(usize, NodeSelectorTerm)>>,
    soft_architecture: bool,
    pod_os: Option<Os>,
}

impl Constraints {
    /// The constraints that a pod's `spec.nodeSelector`, its `required` and `preferred` node affinity and its
    /// `spec.os.name` make.
    pub fn new(
        node_selector: Vec<(String, String)>,
        required: Option<Vec<NodeSelectorTerm>>,
        preferred: &[NodeSelectorTerm],
        pod_os: Option<Os>,
    ) -> Self {
        let soft_architecture = preferred
            .iter()
            .flat_map(requirements)
            .any(|requirement| Dimension::Architecture.has(&requirement.key));
        let is_filled = |term: &NodeSelectorTerm| {
            let lists = [&term.match_expressions, &term.match_fields];
            lists
                .iter()
                .any(|list| list.as_ref().is_some_and(|list| !list.is_empty()))
        };
        let terms = required.map(|mut terms| {
            let mut indexed: Vec<(usize, NodeSelectorTerm)> = terms.drain(..).enumerate().collect();
            indexed.retain(|(_, term)| is_filled(term));
            indexed
        });
        Self {
            node_selector,
            terms,
            soft_architecture,
            pod_os,
        }
    }

    /// Whether the pod itself selects a value of `dimension`: by its node selector, or in every term that can match.
    pub fn selects(&self, dimension: Dimension) -> bool {
        let terms = self.terms();
        self.node_selector_values(dimension).next().is_some()
            || (!terms.is_empty() && terms.iter().all(|(_, term)| selects(term, dimension)))
    }

    /// Whether some of the terms that can match select a value of `dimension`.
    pub fn selects_in_a_term(&self, dimension: Dimension) -> bool {
        self.terms()
            .iter()
            .any(|(_, term)| selects(term, dimension))
    }

    /// The indices of the required terms that a requirement on `dimension` has to be added to: those that can match
    /// and select no value of their own. `None` where the pod has no required node affinity.
    pub fn terms_to_constrain(&self, dimension: Dimension) -> Option<Vec<usize>> {
        let mut indices = Vec::new();
        for (index, term) in self.terms.as_ref()? {
            if !selects(term, dimension) {
                indices.push(*index);
            }
        }
        Some(indices)
    }

    /// Whether the pod's soft node affinity mentions the architecture.
    pub fn prefers_architecture(&self) -> bool {
        self.soft_architecture
    }

    /// Whether the constraints admit a node of `os`.
    pub fn admits_os(&self, os: &Os) -> bool {
        self.admits(&[(Dimension::Os, os.as_str())])
    }

    /// Whether the constraints admit a node of `os` and `architecture`.
    pub fn admits_platform(&self, os: &Os, architecture: &Architecture) -> bool {
        self.admits(&[
            (Dimension::Os, os.as_str()),
            (Dimension::Architecture, architecture.as_str()),
        ])
    }

    /// Whether pinning to `architecture` cuts off no term that admits one of `architectures` on `os`.
    pub fn every_live_term_admits(
        &self,
        os: &Os,
        architectures: &Architectures,
        architecture: &Architecture,
    ) -> bool {
        self.terms().iter().all(|(_, term)| {
            let admits =
                |name: &Architecture| term_admits(term, Dimension::Architecture, name.as_str());
            let is_live =
                term_admits(term, Dimension::Os, os.as_str()) && architectures.iter().any(admits);
            !is_live || admits(architecture)
        })
    }

    /// The operating systems the pod may run on, in order of preference: its own where `spec.os.name` gives it, else
    /// those of the `cluster` that its constraints admit, else those it names itself.
    pub fn operating_systems(&self, cluster: &[Os]) -> Vec<Os> {
        if let Some(os) = &self.pod_os {
            return vec![os.clone()];
        }
        let mut admitted = cluster.to_vec();
        admitted.retain(|os| self.admits_os(os));
        if admitted.is_empty() {
            for name in &self.selected_values(Dimension::Os) {
                admitted.extend(Os::parse(name).filter(|os| self.admits_os(os)));
            }
        }
        if admitted.is_empty() {
            cluster.to_vec()
        } else {
            admitted
        }
    }

    /// Where `os` has to be written as a requirement, because nodes of another system of the `cluster` are admitted;
    /// `None` where nowhere. A term that selects its own systems is left as it is, unless it admits one for which
    /// `is_safe` doesn't hold: whose nodes don't run what is placed.
    pub fn os_gap(&self, os: &Os, cluster: &[Os], is_safe: impl Fn(&Os) -> bool) -> Option<OsGap> {
        let is_foreign = !cluster.contains(os);
        let mut others = cluster.to_vec();
        others.retain(|other| other != os);
        if self.node_selector_values(Dimension::Os).next().is_some() {
            return None;
        }
        let Some(terms) = &self.terms else {
            let is_open = is_foreign || !others.is_empty();
            return is_open.then_some(OsGap {
                terms: None,
                is_everywhere: true,
            });
        };
        let mut open = Vec::new();
        for (index, term) in terms {
            let admits = |other: &Os| term_admits(term, Dimension::Os, other.as_str());
            let is_open = if selects(term, Dimension::Os) {
                others.iter().any(|other| admits(other) && !is_safe(other))
            } else {
                is_foreign || others.iter().any(admits)
            };
            if is_open {
                open.push(*index);
            }
        }
        if open.is_empty() {
            return None;
        }
        Some(OsGap {
            is_everywhere: open.len() == terms.len(),
            terms: Some(open),
        })
    }

    /// The values of `dimension` that the pod names in its selections, for messages; sorted, each once.
    pub fn selected_values(&self, dimension: Dimension) -> SortedSet<String> {
        let mut values = SortedSet::default();
        for value in self.node_selector_values(dimension) {
            values.insert(value.to_owned());
        }
        for (_, term) in self.terms() {
            for requirement in requirements(term) {
                if requirement.operator == "In" && dimension.has(&requirement.key) {
                    for value in requirement.values.iter().flatten() {
                        values.insert(value.clone());
                    }
                }
            }
        }
        values
    }

    fn node_selector_values(&self, dimension: Dimension) -> impl Iterator<Item = &str> {
        self.node_selector
            .iter()
            .filter(move |(key, _)| dimension.has(key))
            .map(|(_, value)| value.as_str())
    }

    /// The terms that can match a node, with their indices.
    fn terms(&self) -> &[(usize, NodeSelectorTerm)] {
        self.terms.as_deref().unwrap_or_default()
    }

    fn admits(&self, node: &[(Dimension, &str)]) -> bool {
        let by_selector = node.iter().all(|(dimension, value)| {
            self.node_selector_values(*dimension)
                .all(|selected| selected == *value)
        });
        let by_affinity = self.terms.is_none()
            || self.terms().iter().any(|(_, term)| {
                node.iter()
                    .all(|(dimension, value)| term_admits(term, *dimension, value))
            });
        by_selector && by_affinity
    }
}

fn requirements(term: &NodeSelectorTerm) -> &[NodeSelectorRequirement] {
    term.match_expressions.as_deref().unwrap_or_default()
}

fn selects(term: &NodeSelectorTerm, dimension: Dimension) -> bool {
    requirements(term)
        .iter()
        .any(|requirement| requirement.operator == "In" && dimension.has(&requirement.key))
}

/// Whether the requirements of `term` on `dimension` match a node whose label has `value`.
fn term_admits(term: &NodeSelectorTerm, dimension: Dimension, value: &str) -> bool {
    requirements(term).iter().all(|requirement| {
        !dimension.has(&requirement.key) || requirement_admits(requirement, value)
    })
}

/// Whether `requirement` matches a label that is present with `value`.
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
        // `DoesNotExist`: the label is there. Any other operator matches nothing.
        _ => false,
    }
}

#[cfg(test)]
mod tests;
