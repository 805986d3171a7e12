//! From what a Pod demands and what its images run on to a decision.
//!
//! Pure: no JSON, no registry. Design, sections 5, 7 and 9.

use k8s_openapi::api::core::v1::{
    NodeSelectorRequirement, NodeSelectorTerm, PreferredSchedulingTerm, Toleration,
};

use crate::{
    platform::{ARCHITECTURE_LABEL, Architecture, Architectures, OS_LABEL, Os, Platforms},
    pod::{Dimension, PodContext, covers},
    settings::{OnLookupFailure, OnNoCommonArchitecture, OnUnsupportedSelection, Strict, Weight},
    unchanged::Unchanged,
};

mod candidates;
mod outcome;
mod preference;
mod problem;
mod warning;

pub use candidates::Candidates;
pub use outcome::{Addition, Nodes, Outcome};
pub use problem::{ImagePlatforms, Problem};
pub use warning::Warning;

use candidates::OsCandidates;
use preference::Preference;
use warning::Importance;

/// What the policy decided, and what it has to say about it.
#[derive(Debug, PartialEq)]
pub struct Decision {
    /// What comes of the request.
    pub outcome: Outcome,
    /// What is added to the Pod (template); nothing where it is rejected.
    pub placement: Placement,
    /// Warnings, most important first; not bounded yet.
    pub warnings: Vec<Warning>,
    /// The architectures of nodes that run every image and that the Pod admits; `None` where no image's platforms are
    /// known.
    pub architectures: Option<Architectures>,
    /// How many images couldn't be read.
    pub failed_lookups: usize,
}

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

/// Decides.
pub fn decide(pod: &PodContext<'_>, candidates: &Candidates<'_>) -> Decision {
    Decider {
        pod,
        candidates,
        problems: Vec::new(),
        warnings: Vec::new(),
    }
    .decide()
}

struct Decider<'d, 's> {
    pod: &'d PodContext<'s>,
    candidates: &'d Candidates<'s>,
    /// Why the object is rejected, if it is.
    problems: Vec<Problem>,
    warnings: Vec<Warning>,
}

impl Decider<'_, '_> {
    fn decide(mut self) -> Decision {
        let best = self.candidates.best(&self.pod.constraints);
        self.judge_failures();
        if let (Some(strict), Some(best)) = (self.pod.strict, &best) {
            self.judge_strictly(strict, best);
        }
        let (outcome, placement) = self.outcome(best.as_ref());
        let (outcome, placement) = if self.problems.is_empty() {
            (outcome, placement)
        } else {
            (Outcome::Rejected(self.problems), Placement::default())
        };
        let mut warnings = Vec::new();
        for importance in Importance::IN_ORDER {
            let of_it = |warning: &Warning| warning.importance() == importance;
            warnings.extend(
                self.warnings
                    .iter()
                    .filter(|warning| of_it(warning))
                    .cloned(),
            );
        }
        Decision {
            outcome,
            placement,
            warnings,
            architectures: best.map(|best| best.admitted),
            failed_lookups: self.candidates.failed().len(),
        }
    }

    /// What comes of it unless there is a problem, and what is added then.
    fn outcome(&mut self, best: Option<&OsCandidates>) -> (Outcome, Placement) {
        let (mut outcome, mut placement) = match best {
            _ if self.pod.selects_its_architecture() => self.keep_selection(best),
            None => not_placed(Unchanged::NoKnownPlatforms),
            Some(best) if best.architectures.is_empty() => {
                self.judge_nothing_in_common();
                not_placed(Unchanged::NoCommonArchitecture)
            }
            Some(best) if best.admitted.is_empty() => {
                self.judge_selection(best);
                not_placed(Unchanged::UnsupportedSelection)
            }
            Some(best) => self.place(best),
        };
        if self.problems.is_empty() && self.pod.is_placed && !self.candidates.failed().is_empty() {
            // It was placed when its images could be read. That they can't be now is no reason to let it go anywhere.
            return not_placed(Unchanged::EarlierPlacementStands);
        }
        placement
            .node_selector
            .extend(self.pod.matched_labels.iter().cloned());
        if let Outcome::NotPlaced { additions, .. } = &mut outcome {
            if !placement.node_selector.is_empty() {
                additions.push(Addition::MatchNodeLabels);
            }
            if !placement.tolerations.is_empty() {
                additions.push(Addition::Tolerations);
            }
        }
        (outcome, placement)
    }

    fn judge_failures(&mut self) {
        let settings = self.pod.settings;
        let failed = self.candidates.failed();
        if self.pod.strict.is_some() || settings.on_lookup_failure == OnLookupFailure::Reject {
            if !failed.is_empty() {
                self.problems
                    .push(Problem::UnreadableImages(failed.to_vec()));
            }
            return;
        }
        let counted_as = match settings.on_lookup_failure {
            OnLookupFailure::Fallback => settings.fallback_architecture.clone(),
            _ => None,
        };
        for (image, failure) in failed {
            self.warnings.push(Warning::UnreadableImage {
                image: image.clone(),
                failure: failure.clone(),
                counted_as: counted_as.clone(),
            });
        }
    }

    /// What only strict namespaces demand: that images say their operating system, and support what is required.
    fn judge_strictly(&mut self, strict: &Strict, best: &OsCandidates) {
        for image in self.candidates.known() {
            let mut platforms = image.platforms.iter();
            if platforms.any(|platform| platform.os.is_none()) {
                self.problems
                    .push(Problem::NoOperatingSystem(image.image.clone()));
            }
            let nodes = self.candidates.running(&image.platforms, &best.os);
            let mut missing = strict.required_architectures.clone();
            missing.retain(|required| !nodes.contains(required));
            if !missing.is_empty() {
                self.problems.push(Problem::MissingArchitectures {
                    image: image.clone(),
                    missing,
                    os: best.os.clone(),
                });
            }
        }
    }

    fn judge_nothing_in_common(&mut self) {
        let rejects = self.pod.strict.is_some()
            || self.pod.settings.on_no_common_architecture == OnNoCommonArchitecture::Reject;
        let problem = Problem::NoCommonArchitecture {
            images: self.candidates.listing(|_| true),
            systems: self.candidates.systems().cloned().collect(),
            schedulable: self.candidates.schedulable().cloned(),
        };
        self.judge(problem, rejects);
    }

    /// The Pod admits no node that runs its images.
    fn judge_selection(&mut self, best: &OsCandidates) {
        let action = match self.pod.strict {
            Some(_) => OnUnsupportedSelection::Reject,
            None => self.pod.settings.on_unsupported_selection,
        };
        if action == OnUnsupportedSelection::Ignore {
            return;
        }
        let constraints = &self.pod.constraints;
        let admits = |node: &Architecture| constraints.admits_platform(&best.os, node);
        let is_excluded = |platforms: &Platforms| {
            !self
                .candidates
                .running(platforms, &best.os)
                .iter()
                .any(admits)
        };
        let mut images = self.candidates.listing(is_excluded);
        if images.is_empty() {
            images = self.candidates.listing(|_| true);
        }
        let problem = Problem::UnsupportedSelection {
            selected: constraints.selected_values(Dimension::Architecture),
            os: best.os.clone(),
            images,
            schedulable: self.candidates.schedulable().cloned(),
        };
        self.judge(problem, action == OnUnsupportedSelection::Reject);
    }

    fn judge(&mut self, problem: Problem, rejects: bool) {
        if rejects {
            self.problems.push(problem);
        } else {
            self.warnings.push(Warning::Problem(problem));
        }
    }

    /// The Pod selects its architecture: nothing changes but the tolerations.
    fn keep_selection(&mut self, best: Option<&OsCandidates>) -> (Outcome, Placement) {
        let (outcome, mut placement) = not_placed(Unchanged::SelectsItsArchitecture);
        if let Some(best) = best {
            if best.admitted.is_empty() {
                self.judge_selection(best);
            }
            placement.tolerations = self.tolerations(&best.admitted);
        }
        (outcome, placement)
    }

    fn place(&mut self, best: &OsCandidates) -> (Outcome, Placement) {
        let preference = Preference::of(self.pod, &mut self.warnings);
        let mut placement = Placement::default();

        let on = match preference.pin(self.pod, best, &mut self.warnings) {
            Some(architecture) => Nodes::Selector(architecture),
            None => Nodes::Affinity(best.admitted.clone()),
        };
        let remaining = match &on {
            Nodes::Selector(architecture) => {
                let label = (ARCHITECTURE_LABEL.to_owned(), architecture.to_string());
                placement.node_selector.push(label);
                [architecture.clone()].into_iter().collect()
            }
            Nodes::Affinity(architectures) => {
                let names = architectures.iter().map(Architecture::to_string);
                placement.requirements.push(Requirement {
                    requirement: node_in(ARCHITECTURE_LABEL, names.collect()),
                    terms: self
                        .pod
                        .constraints
                        .terms_to_constrain(Dimension::Architecture),
                });
                architectures.clone()
            }
        };
        let preferred = preference.weights(self.pod, best, &mut self.warnings);
        let preferences = preferred.iter();
        placement.preferences = preferences
            .map(|(architecture, weight)| prefer(architecture, *weight))
            .collect();
        let os = self.require_os(&best.os, &remaining, &mut placement);
        placement.tolerations = self.tolerations(&remaining);
        (Outcome::Placed { on, preferred, os }, placement)
    }

    /// Requires `os` where the Pod admits nodes of another system, on which not every image runs on the architectures
    /// that `remain`.
    fn require_os(&self, os: &Os, remain: &Architectures, placement: &mut Placement) -> Option<Os> {
        let is_safe = |other: &Os| self.candidates.all_run_on(other, remain);
        let cluster = self.pod.settings.operating_systems.as_slice();
        let gap = self.pod.constraints.os_gap(os, cluster, is_safe)?;
        if placement.requirements.is_empty() && gap.is_everywhere {
            let label = (OS_LABEL.to_owned(), os.to_string());
            placement.node_selector.push(label);
        } else {
            placement.requirements.push(Requirement {
                requirement: node_in(OS_LABEL, vec![os.to_string()]),
                terms: gap.terms,
            });
        }
        Some(os.clone())
    }

    /// The tolerations of `architectures` that the Pod lacks.
    fn tolerations(&self, architectures: &Architectures) -> Vec<Toleration> {
        let mut added: Vec<Toleration> = Vec::new();
        for architecture in architectures {
            let wanted = self.pod.settings.tolerations.get(architecture);
            for toleration in wanted.into_iter().flatten() {
                let mut present = self.pod.tolerations.iter().chain(&added);
                if !present.any(|present| covers(present, toleration)) {
                    added.push(toleration.clone());
                }
            }
        }
        added
    }
}

fn not_placed(reason: Unchanged) -> (Outcome, Placement) {
    let outcome = Outcome::NotPlaced {
        reason,
        additions: Vec::new(),
    };
    (outcome, Placement::default())
}

fn node_in(key: &str, values: Vec<String>) -> NodeSelectorRequirement {
    NodeSelectorRequirement {
        key: key.to_owned(),
        operator: "In".to_owned(),
        values: Some(values),
    }
}

fn prefer(architecture: &Architecture, Weight(weight): Weight) -> PreferredSchedulingTerm {
    let requirement = node_in(ARCHITECTURE_LABEL, vec![architecture.to_string()]);
    PreferredSchedulingTerm {
        preference: NodeSelectorTerm {
            match_expressions: Some(vec![requirement]),
            match_fields: None,
        },
        weight,
    }
}

#[cfg(test)]
mod tests;
