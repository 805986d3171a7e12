//! Which architecture is preferred where the images leave a choice, and how strongly.
//!
//! Design, section 7.

use super::warning::{LabelReason, Warning};
use crate::{
    platform::{Architecture, Architectures},
    pod::PodContext,
    settings::{PreferenceEnforcement, Weight},
    text::one_line,
};

/// Where a Pod may land, as far as a preference is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// The architectures of nodes that the Pod may land on.
    pub(super) remaining: Architectures,
    /// Those that run every image natively.
    pub(super) native: Architectures,
    /// Those that every live term admits: a pin to another one would cut a term off.
    pub(super) in_every_term: Architectures,
    /// The architectures of nodes that run every image, whatever the Pod admits.
    pub(super) supported: Architectures,
    /// Whether the Pod is bound to nodes by their names.
    pub(super) names_hosts: bool,
    /// Whether something but the node's platform decides where the Pod lands, so that a pin might leave it no node.
    pub(super) is_placed_elsewhere: bool,
}

/// What is preferred.
#[derive(Debug, Default)]
pub(super) struct Preference {
    /// The architecture to pin the Pod to.
    pub(super) pin: Option<Architecture>,
    /// The weights of what is asked for softly.
    pub(super) weights: Vec<(Architecture, Weight)>,
}

/// Whose preference counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The Pod's label.
    Label(Architecture),
    /// The settings.
    Settings,
}

impl Preference {
    /// The preference for a Pod that has this `choice`. What can't be followed of its label is warned of.
    pub(super) fn of(pod: &PodContext<'_>, choice: Choice, warnings: &mut Vec<Warning>) -> Self {
        // A Pod that is bound to a node by its name has no choice, and one of a DaemonSet runs on every node that can.
        if pod.object.runs_everywhere || choice.names_hosts {
            return Self::default();
        }
        let Some(source) = Source::of(pod, warnings) else {
            return Self::default();
        };
        let settings = pod.preferred;
        // Emulation is for what has nothing better.
        let counts = if choice.native.is_empty() {
            choice.remaining
        } else {
            choice.native
        };
        let preferred = match source {
            Source::Label(architecture) => Some(architecture),
            Source::Settings => settings.architecture,
        };
        let followed = preferred.filter(|architecture| counts.contains(*architecture));
        if let (Source::Label(architecture), None) = (source, followed) {
            warnings.push(not_followed(pod, architecture, choice));
        }
        let is_soft = settings.enforcement == PreferenceEnforcement::Preferred;
        if let (false, Some(architecture)) = (is_soft, followed)
            && !choice.is_placed_elsewhere
            && choice.in_every_term.contains(architecture)
        {
            return Self {
                pin: Some(architecture),
                weights: Vec::new(),
            };
        }
        let mut weights: Vec<(Architecture, Weight)> = match source {
            Source::Settings if is_soft && !settings.weights.is_empty() => {
                settings.weights.iter().copied().collect()
            }
            _ => followed.map(fully).into_iter().collect(),
        };
        weights.retain(|(architecture, _)| counts.contains(*architecture));
        let wishes = preferred.is_some() || !settings.weights.is_empty();
        if weights.is_empty() && source == Source::Settings && wishes && counts != choice.remaining
        {
            weights = counts.iter().map(fully).collect();
        }
        Self { pin: None, weights }
    }
}

fn fully(architecture: Architecture) -> (Architecture, Weight) {
    (architecture, Weight::FULL)
}

impl Source {
    /// Whose preference counts: the Pod's label, else its own soft affinity and its own selection, for which there is
    /// none, else the settings. A label that names no architecture that counts is warned of.
    fn of(pod: &PodContext<'_>, warnings: &mut Vec<Warning>) -> Option<Self> {
        let settings = pod.settings;
        if let Some(text) = &pod.preferred_label {
            let named = Architecture::parse(text);
            match named.filter(|label| settings.is_schedulable(*label)) {
                Some(architecture) => return Some(Self::Label(architecture)),
                None => warnings.push(Warning::LabelIgnored {
                    key: settings.preferred_architecture_label.as_str().to_owned(),
                    value: one_line(text),
                    schedulable: settings.schedulable_architectures,
                }),
            }
        }
        let has_its_own =
            pod.constraints.prefers_architecture || pod.constraints.selects_architecture;
        (!has_its_own).then_some(Self::Settings)
    }
}

fn not_followed(pod: &PodContext<'_>, architecture: Architecture, choice: Choice) -> Warning {
    Warning::LabelNotFollowed {
        key: pod
            .settings
            .preferred_architecture_label
            .as_str()
            .to_owned(),
        architecture,
        reason: if choice.remaining.contains(architecture) {
            LabelReason::OnlyEmulated
        } else if choice.supported.contains(architecture) {
            LabelReason::OwnAffinity
        } else {
            LabelReason::Unsupported
        },
        placed_on: choice.remaining,
    }
}
