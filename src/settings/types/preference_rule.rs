//! Rules for the preference of a part of the workloads.

use super::{
    architecture::ByArchitecture,
    image::Glob,
    label_key::Labels,
    number::{Share, Weight},
    word::PreferenceEnforcement,
};
use crate::platform::Architecture;

object! {
    /// A preference for some workloads, in place of the global one.
    PreferenceRule {
        /// Patterns of the namespaces, such as team-*. Empty: all.
        namespaces: Vec<Glob> = "namespaces" or Vec::new();
        /// Labels that the Pod (template) must have, with their values. Empty: any.
        match_labels: Labels = "matchLabels" or Labels::default();
        /// The architecture to use when the images leave a choice. null: no preference.
        preferred_architecture: Option<Architecture> = "preferredArchitecture";
        /// required: pin the Pod to the preferred architecture. preferred: ask the scheduler for it, and allow every
        /// supported architecture.
        preference_enforcement: PreferenceEnforcement = "preferenceEnforcement" or PreferenceEnforcement::Required;
        /// With preferenceEnforcement preferred: the weight, 1 to 100, of each architecture.
        architecture_weights: ByArchitecture<Weight> = "architectureWeights" or ByArchitecture::default();
        /// The percentage of the workloads that the rule takes; the others go on to the next rule.
        share: Share = "share" or Share::ALL;
    }
}

/// What is preferred where the images leave a choice: by a rule, or by default.
#[derive(Clone, Copy, Debug)]
pub struct Preferred<'s> {
    /// The architecture.
    pub architecture: Option<Architecture>,
    /// How strongly.
    pub enforcement: PreferenceEnforcement,
    /// The weights of soft preferences.
    pub weights: &'s ByArchitecture<Weight>,
}

impl PreferenceRule {
    /// What the rule prefers.
    pub(in crate::settings) fn preferred(&self) -> Preferred<'_> {
        Preferred {
            architecture: self.preferred_architecture,
            enforcement: self.preference_enforcement,
            weights: &self.architecture_weights,
        }
    }

    /// Whether the rule takes a workload in `namespace` and `bucket` whose Pod (template) has the labels that `label_of`
    /// finds the values of.
    pub(in crate::settings) fn takes(
        &self,
        namespace: &str,
        bucket: u8,
        label_of: &dyn Fn(&str) -> Option<String>,
    ) -> bool {
        self.share.takes(bucket)
            && (self.namespaces.is_empty()
                || self.namespaces.iter().any(|glob| glob.matches(namespace)))
            && self
                .match_labels
                .iter()
                .all(|(key, value)| label_of(key.as_str()).is_some_and(|own| own == *value))
    }

    /// Whether the rule takes every workload that `other` would: its namespaces and labels are no narrower, and its share
    /// is no smaller.
    pub(in crate::settings) fn covers(&self, other: &Self) -> bool {
        let has_namespaces = self.namespaces.is_empty()
            || (!other.namespaces.is_empty()
                && other
                    .namespaces
                    .iter()
                    .all(|it| self.namespaces.contains(it)));
        let mut labels = self.match_labels.iter();
        has_namespaces
            && labels.all(|label| other.match_labels.iter().any(|own| own == label))
            && self.share >= other.share
    }
}
