//! Which architecture is preferred where the images leave a choice, and how strongly.
//!
//! Design, section 7.

use super::{candidates::OsCandidates, warning::Warning};
use crate::{
    platform::{Architecture, Architectures},
    pod::{Dimension, PodContext},
    settings::{PreferenceEnforcement, Weight},
    text::one_line,
};

/// Whose preference counts.
#[derive(Debug)]
pub(super) enum Preference {
    /// Nobody's: the Pod has to run on every node that can, or says itself what it prefers.
    Nothing,
    /// That of the Pod's label.
    Label(Architecture),
    /// That of the settings.
    Default,
}

impl Preference {
    /// The preference for a Pod: that of its label, else its own soft affinity, else the settings'. A label that names no
    /// architecture that counts is warned of.
    pub(super) fn of(pod: &PodContext<'_>, warnings: &mut Vec<Warning>) -> Self {
        let settings = pod.settings;
        if pod.runs_everywhere {
            return Self::Nothing;
        }
        if let Some(text) = &pod.preferred_label {
            let named = Architecture::parse(text);
            match named.filter(|label| settings.is_schedulable(label)) {
                Some(architecture) => return Self::Label(architecture),
                None => warnings.push(Warning::LabelIgnored {
                    key: settings.preferred_architecture_label.as_str().to_owned(),
                    value: one_line(text),
                    schedulable: settings.schedulable_architectures.clone(),
                }),
            }
        }
        if pod.constraints.prefers_architecture() {
            Self::Nothing
        } else {
            Self::Default
        }
    }

    /// The architecture to pin the Pod to, if there is one: with enforcement `required`, where the preferred one runs
    /// every image and no term of the Pod's own affinity would be cut off.
    pub(super) fn pin(
        &self,
        pod: &PodContext<'_>,
        candidates: &OsCandidates,
        warnings: &mut Vec<Warning>,
    ) -> Option<Architecture> {
        if pod.settings.preference_enforcement != PreferenceEnforcement::Required {
            return None;
        }
        let architecture = match self {
            Self::Nothing => return None,
            Self::Label(architecture) => architecture,
            Self::Default => pod.settings.preferred_architecture.as_ref()?,
        };
        let admitted = &candidates.admitted;
        let cuts_no_term_off = !pod.constraints.selects_in_a_term(Dimension::Architecture)
            && pod
                .constraints
                .every_live_term_admits(&candidates.os, admitted, architecture);
        if admitted.contains(architecture) && cuts_no_term_off {
            return Some(architecture.clone());
        }
        self.warn(pod, candidates, warnings);
        None
    }

    /// The weights of the soft preferences: with enforcement `preferred`.
    pub(super) fn weights(
        &self,
        pod: &PodContext<'_>,
        candidates: &OsCandidates,
        warnings: &mut Vec<Warning>,
    ) -> Vec<(Architecture, Weight)> {
        let settings = pod.settings;
        if settings.preference_enforcement != PreferenceEnforcement::Preferred {
            return Vec::new();
        }
        let admitted = &candidates.admitted;
        let fully = |architecture: &Architecture| (architecture.clone(), Weight::FULL);
        let mut weights: Vec<(Architecture, Weight)> = match self {
            Self::Nothing => Vec::new(),
            Self::Label(architecture) => {
                if !admitted.contains(architecture) {
                    self.warn(pod, candidates, warnings);
                }
                vec![fully(architecture)]
            }
            Self::Default if settings.architecture_weights.is_empty() => {
                settings.preferred_architecture.iter().map(fully).collect()
            }
            Self::Default => settings.architecture_weights.iter().cloned().collect(),
        };
        weights.retain(|(architecture, _)| admitted.contains(architecture));
        weights
    }

    /// Warns of a label that can't be followed.
    fn warn(&self, pod: &PodContext<'_>, candidates: &OsCandidates, warnings: &mut Vec<Warning>) {
        let Self::Label(architecture) = self else {
            return;
        };
        warnings.push(Warning::LabelNotFollowed {
            key: pod
                .settings
                .preferred_architecture_label
                .as_str()
                .to_owned(),
            architecture: architecture.clone(),
            is_by_affinity: candidates.architectures.contains(architecture),
            placed_on: Architectures::clone(&candidates.admitted),
        });
    }
}
