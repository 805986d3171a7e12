//! What is added to a Pod (template).

use k8s_openapi::api::core::v1::{
    NodeSelectorRequirement, NodeSelectorTerm, PreferredSchedulingTerm, Toleration,
};

use crate::{
    platform::{ARCHITECTURE_LABEL, Architecture},
    settings::Weight,
};

/// What is added to a Pod (template).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Labels of the node, for `nodeSelector`.
    pub node_selector: Vec<(String, String)>,
    /// Requirements for the required node affinity.
    pub requirements: Vec<Requirement>,
    /// Terms for the preferred node affinity.
    pub preferences: Vec<PreferredSchedulingTerm>,
    /// Tolerations.
    pub tolerations: Vec<Toleration>,
}

/// A requirement, and the required terms that it is ANDed into.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The requirement.
    pub requirement: NodeSelectorRequirement,
    /// Indices of the terms; `None` where the Pod has no required node affinity, and a term is made for it.
    pub terms: Option<Vec<usize>>,
}

impl Placement {
    /// Whether nothing is added.
    pub fn is_empty(&self) -> bool {
        self.node_selector.is_empty()
            && self.requirements.is_empty()
            && self.preferences.is_empty()
            && self.tolerations.is_empty()
    }
}

pub(super) fn node_in(key: &str, values: Vec<String>) -> NodeSelectorRequirement {
    NodeSelectorRequirement {
        key: key.to_owned(),
        operator: "In".to_owned(),
        values: Some(values),
    }
}

pub(super) fn prefer(
    architecture: Architecture,
    Weight(weight): Weight,
) -> PreferredSchedulingTerm {
    let requirement = node_in(ARCHITECTURE_LABEL, vec![architecture.to_string()]);
    PreferredSchedulingTerm {
        preference: NodeSelectorTerm {
            match_expressions: Some(vec![requirement]),
            match_fields: None,
        },
        weight,
    }
}
