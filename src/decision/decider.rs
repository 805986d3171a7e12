//! Decides: narrows each live term, follows the preference, adds tolerations and labels to match.
//!
//! Design, sections 5, 7 and 8.

use k8s_openapi::api::core::v1::Toleration;

use super::{
    candidates::Candidates,
    outcome::{Addition, Nodes, Outcome},
    placement::{Placement, Requirement, node_in, prefer},
    preference::{Choice, Preference},
    problem::Problem,
    terms::{TermPlacement, names, placements},
    warning::{Importance, Warning},
};
use crate::{
    platform::{ARCHITECTURE_LABEL, Architecture, Architectures, OS_LABEL, Os},
    pod::{NodeConstraints, PodContext, covers},
    settings::{OnUnplaced, OnUnsupportedSelection, Weight},
    unchanged::Unchanged,
};

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

impl Decision {
    /// Whether the Pod (template) holds as it is: it is accepted, and admits only nodes that run its images.
    pub fn holds(&self) -> bool {
        let is_rejected = matches!(
            self.outcome,
            Outcome::Rejected(_)
                | Outcome::NotApplied(_)
                | Outcome::NotPlaced {
                    reason: Unchanged::Unfinished,
                    ..
                }
        );
        let is_excluded = self.architectures.is_some_and(Architectures::is_empty);
        let mut selector = self.placement.node_selector.iter();
        let is_pinned = selector.any(|(key, _)| key == ARCHITECTURE_LABEL || key == OS_LABEL);
        !is_rejected && !is_excluded && !is_pinned && self.placement.requirements.is_empty()
    }
}

/// What decides on a Pod with what is known of its images.
pub(super) struct Decider<'d, 's> {
    pub(super) pod: &'d PodContext<'s>,
    pub(super) candidates: &'d Candidates<'s>,
    /// How many images the Pod has.
    pub(super) images: usize,
    /// What the object as it came demands of its nodes, where it isn't to be changed.
    pub(super) as_it_came: Option<&'d NodeConstraints>,
    /// Why the object is rejected, if it is.
    pub(super) problems: Vec<Problem>,
    /// What the user is warned of.
    pub(super) warnings: Vec<Warning>,
}

impl Decider<'_, '_> {
    pub(super) fn decide(mut self) -> Decision {
        self.judge_failures();
        for (key, value) in &self.pod.excluded_labels {
            self.warnings.push(Warning::LabelExcluded {
                key: key.clone(),
                value: value.clone(),
            });
        }
        let are_known = !self.candidates.are_unknown();
        let terms = placements(self.candidates, self.pod).filter(|_| are_known);
        if let Some(strict) = self.pod.strict.filter(|_| are_known) {
            self.judge_strictly(strict, terms.as_deref());
        }
        let (mut outcome, mut placement) = if self.is_unfinished(terms.is_some() || !are_known) {
            self.judge_unfinished()
        } else {
            let (mut outcome, mut placement) = self.outcome(terms.as_deref());
            self.match_labels(&mut outcome, &mut placement);
            (outcome, placement)
        };
        if let Some(unplaced) = self.unplaced().filter(|_| self.problems.is_empty()) {
            if self.pod.settings.on_unplaced == OnUnplaced::Reject {
                self.problems.push(unplaced);
            } else {
                outcome = Outcome::NotApplied(Box::new(outcome));
            }
        }
        if !self.problems.is_empty() {
            outcome = Outcome::Rejected(Problem::in_order(self.problems));
            placement = Placement::default();
        }
        let mut warnings = Vec::new();
        for importance in Importance::IN_ORDER {
            let of_it = |warning: &&Warning| warning.importance() == importance;
            warnings.extend(self.warnings.iter().filter(of_it).cloned());
        }
        Decision {
            outcome,
            placement,
            warnings,
            architectures: are_known.then(|| remaining(terms.as_deref().unwrap_or_default())),
            failed_lookups: self.candidates.failed().len() + self.candidates.remembered().len(),
        }
    }

    /// What comes of it unless there is a problem, and what is added then. `terms` are those of the Pod that are live,
    /// if some of them admits a candidate.
    fn outcome(&mut self, terms: Option<&[TermPlacement]>) -> (Outcome, Placement) {
        let constraints = &self.pod.constraints;
        if self.candidates.are_unknown() {
            if !constraints.selects_architecture {
                return not_placed(Unchanged::NoKnownPlatforms);
            }
            let mut admitted = Architectures::none();
            for term in &constraints.terms {
                admitted = admitted.or(term.architectures);
            }
            let (outcome, mut placement) = not_placed(Unchanged::SelectsItsArchitecture);
            placement.tolerations = self.tolerations(admitted);
            return (outcome, placement);
        }
        let Some(terms) = terms else {
            if constraints.selects_architecture {
                self.judge_selection();
                return not_placed(Unchanged::SelectsItsArchitecture);
            }
            if self.candidates.are_none() {
                self.judge_nothing_in_common();
                return not_placed(Unchanged::NoCommonArchitecture);
            }
            self.judge_selection();
            return not_placed(Unchanged::UnsupportedSelection);
        };
        self.place(terms)
    }

    /// Adds the labels to match, and says so of an object that isn't placed.
    fn match_labels(&self, outcome: &mut Outcome, placement: &mut Placement) {
        let labels = &self.pod.matched_labels;
        if self.pod.takes_affinity_only() {
            // Without a live term no node matches, and nothing is to be added.
            let terms = self.pod.constraints.terms.iter();
            let indices: Vec<Option<usize>> = terms.map(|term| term.index).collect();
            if indices.is_empty() {
                return;
            }
            for (key, value) in labels {
                placement.requirements.push(Requirement {
                    requirement: node_in(key, vec![value.clone()]),
                    terms: indices.iter().copied().collect(),
                });
            }
        } else {
            placement.node_selector.extend(labels.iter().cloned());
        }
        if let Outcome::NotPlaced { additions, .. } = outcome {
            if !labels.is_empty() {
                additions.push(Addition::MatchNodeLabels);
            }
            if !placement.tolerations.is_empty() {
                additions.push(Addition::Tolerations);
            }
        }
    }

    /// Places the Pod on the nodes that run its images: each live term is narrowed where it admits others.
    fn place(&mut self, terms: &[TermPlacement]) -> (Outcome, Placement) {
        let constraints = &self.pod.constraints;
        let mut all = remaining(terms);
        // Who ignores unsupported selections wants them as they are.
        if constraints.selects_architecture
            && self.pod.strict.is_none()
            && self.pod.settings.on_unsupported_selection == OnUnsupportedSelection::Ignore
        {
            let (outcome, mut placement) = not_placed(Unchanged::SelectsItsArchitecture);
            placement.tolerations = self.tolerations(all);
            return (outcome, placement);
        }
        let preference = Preference::of(self.pod, self.choice(terms), &mut self.warnings);
        let mut placement = Placement::default();
        let mut on = None;
        if let Some(architecture) = preference.pin {
            // A node selector that has one admits nothing else already.
            if !constraints.selector_has_architecture {
                let label = (ARCHITECTURE_LABEL.to_owned(), architecture.to_string());
                placement.node_selector.push(label);
                on = Some(Nodes::Selector(architecture));
            }
            all = [architecture].into_iter().collect();
        } else {
            // Terms that get the same are written together; there may be thousands.
            let mut groups: Vec<(Architectures, Vec<Option<usize>>)> = Vec::new();
            for term in terms.iter().filter(|term| term.admits_others) {
                let values = if term.admitted.is_empty() {
                    term.candidates
                } else {
                    term.admitted
                };
                match groups.iter_mut().find(|(group, _)| *group == values) {
                    Some((_, indices)) => indices.push(term.index),
                    None => groups.push((values, vec![term.index])),
                }
            }
            for (values, indices) in groups {
                placement.requirements.push(Requirement {
                    requirement: node_in(ARCHITECTURE_LABEL, names(values)),
                    terms: indices.into_iter().collect(),
                });
                on = Some(Nodes::Affinity(all));
            }
        }
        let weights = self.new_preferences(&preference.weights);
        placement.preferences = weights
            .iter()
            .map(|(architecture, weight)| prefer(*architecture, *weight))
            .collect();
        let os = self.require_os(terms, preference.pin.is_some(), &mut placement);
        placement.tolerations = self.tolerations(all);
        if placement.requirements.is_empty()
            && placement.node_selector.is_empty()
            && placement.preferences.is_empty()
        {
            let reason = if constraints.selects_architecture {
                Unchanged::SelectsItsArchitecture
            } else {
                Unchanged::AdmitsCandidatesOnly
            };
            let (outcome, _) = not_placed(reason);
            return (outcome, placement);
        }
        let outcome = Outcome::Placed {
            on,
            preferred: weights,
            os,
        };
        (outcome, placement)
    }

    /// What a preference can choose from.
    fn choice(&self, terms: &[TermPlacement]) -> Choice {
        let mut choice = Choice {
            remaining: remaining(terms),
            native: Architectures::none(),
            in_every_term: Architectures::all(),
            supported: Architectures::none(),
            names_hosts: true,
            is_placed_elsewhere: self.pod.is_placed_elsewhere,
        };
        // What a term says that can match no node doesn't count.
        for term in terms.iter().filter(|term| !term.admitted.is_empty()) {
            choice.names_hosts &= term.names_hosts;
            choice.is_placed_elsewhere |= term.is_placed_by_labels;
            let native = self.candidates.natively_on(term.os).and(term.admitted);
            choice.native = choice.native.or(native);
            choice.in_every_term = choice.in_every_term.and(term.admitted);
            choice.supported = choice.supported.or(term.candidates);
        }
        choice
    }

    /// The soft preferences that the Pod hasn't got already.
    fn new_preferences(&self, weights: &[(Architecture, Weight)]) -> Vec<(Architecture, Weight)> {
        let mut new = weights.to_vec();
        new.retain(|(architecture, Weight(weight))| {
            let term = format!(
                r#"{{"preference":{{"matchExpressions":[{{"key":"{ARCHITECTURE_LABEL}","operator":"In","values":["{architecture}"]}}]}},"weight":{weight}}}"#
            );
            !self.pod.preferences.contains(&term)
        });
        new
    }

    /// Requires its operating system of each term that admits another one of the cluster: by the node selector beside a
    /// pin, if all terms have the same. `spec.os.name` moves no scheduler, so it is written for such Pods too.
    fn require_os(
        &self,
        terms: &[TermPlacement],
        is_pinned: bool,
        placement: &mut Placement,
    ) -> Option<Os> {
        let cluster = self.pod.settings.operating_systems.as_slice();
        let admits_another = |term: &&TermPlacement| {
            let mut others = cluster.iter().filter(|os| **os != term.os);
            others.any(|os| term.systems.contains(*os))
        };
        let first = terms.iter().find(admits_another)?.os;
        if is_pinned && terms.iter().all(|term| term.os == first) {
            let label = (OS_LABEL.to_owned(), first.to_string());
            placement.node_selector.push(label);
        } else {
            for os in self.candidates.systems() {
                let of_os = terms.iter().filter(admits_another);
                let indices: Vec<Option<usize>> = of_os
                    .filter(|term| term.os == *os)
                    .map(|term| term.index)
                    .collect();
                if !indices.is_empty() {
                    placement.requirements.push(Requirement {
                        requirement: node_in(OS_LABEL, vec![os.to_string()]),
                        terms: indices.into_iter().collect(),
                    });
                }
            }
        }
        Some(first)
    }

    /// The tolerations of `architectures` that the Pod lacks.
    fn tolerations(&self, architectures: Architectures) -> Vec<Toleration> {
        let mut added: Vec<Toleration> = Vec::new();
        for architecture in architectures.iter() {
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

/// The architectures of nodes that run every image and that some term admits.
fn remaining(terms: &[TermPlacement]) -> Architectures {
    let mut remaining = Architectures::none();
    for term in terms {
        remaining = remaining.or(term.admitted);
    }
    remaining
}

pub(super) fn not_placed(reason: Unchanged) -> (Outcome, Placement) {
    let outcome = Outcome::NotPlaced {
        reason,
        additions: Vec::new(),
    };
    (outcome, Placement::default())
}
