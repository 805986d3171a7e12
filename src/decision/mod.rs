//! From what a Pod demands and what its images run on to a decision.
//!
//! Pure: no JSON, no registry. Design, sections 5, 7 and 9.

use k8s_openapi::api::core::v1::{
    NodeSelectorRequirement, NodeSelectorTerm, PreferredSchedulingTerm, Toleration,
};

use crate::{
    platform::{ARCHITECTURE_LABEL, Architecture, Architectures, OS_LABEL, Os, Platforms},
    pod::{PodContext, covers},
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
pub use warning::{LabelReason, Warning};

use candidates::{TermPlacement, names};
use preference::{Choice, Preference};
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

impl Decision {
    /// Whether the Pod (template) stands as it is: it is accepted, and admits only nodes that run its images.
    pub fn narrows_nothing(&self) -> bool {
        let is_rejected = matches!(
            self.outcome,
            Outcome::Rejected(_)
                | Outcome::NotPlaced {
                    reason: Unchanged::Unfinished,
                    ..
                }
        );
        let is_excluded = self.architectures.is_some_and(Architectures::is_empty);
        !is_rejected && !is_excluded && self.placement.requirements.is_empty()
    }
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
    /// Indices of the terms; empty where the Pod has no required node affinity, and a term is made for it.
    pub terms: Vec<usize>,
}

impl Placement {
    /// Requires `requirement` of the term at `index`, or of the one that is made.
    fn require(&mut self, requirement: NodeSelectorRequirement, index: Option<usize>) {
        let same = |other: &&mut Requirement| other.requirement == requirement;
        match self.requirements.iter_mut().find(same) {
            Some(other) => other.terms.extend(index),
            None => self.requirements.push(Requirement {
                requirement,
                terms: index.into_iter().collect(),
            }),
        }
    }

    /// Whether nothing is added.
    pub fn is_empty(&self) -> bool {
        self.node_selector.is_empty()
            && self.requirements.is_empty()
            && self.preferences.is_empty()
            && self.tolerations.is_empty()
    }
}

/// Decides.
///
/// `images` is how many images the Pod has.
pub fn decide(pod: &PodContext<'_>, candidates: &Candidates<'_>, images: usize) -> Decision {
    Decider {
        pod,
        candidates,
        images,
        problems: Vec::new(),
        warnings: Vec::new(),
    }
    .decide()
}

struct Decider<'d, 's> {
    pod: &'d PodContext<'s>,
    candidates: &'d Candidates<'s>,
    images: usize,
    /// Why the object is rejected, if it is.
    problems: Vec<Problem>,
    warnings: Vec<Warning>,
}

impl Decider<'_, '_> {
    fn decide(mut self) -> Decision {
        self.judge_failures();
        for (key, value) in &self.pod.excluded_labels {
            self.warnings.push(Warning::LabelExcluded {
                key: key.clone(),
                value: value.clone(),
            });
        }
        let are_known = !self.candidates.are_unknown();
        let terms = self.candidates.placements(self.pod).filter(|_| are_known);
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
        if !self.problems.is_empty() {
            (outcome, placement) = (Outcome::Rejected(self.problems), Placement::default());
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

    /// Whether images are unread for time, and matter: `some candidate` is still left.
    fn is_unfinished(&self, some_candidate: bool) -> bool {
        self.candidates.unfinished() > 0 && some_candidate
    }

    /// A Pod whose images weren't all read might be placed where one of them can't run: it is refused, to be tried again.
    /// So is whatever nobody judges again. Any other template passes as its author wrote it.
    fn judge_unfinished(&mut self) -> (Outcome, Placement) {
        let (read, of) = (self.images - self.candidates.unfinished(), self.images);
        let object = self.pod.object;
        if !object.is_template || object.runs_everywhere || self.pod.strict.is_some() {
            self.problems.push(Problem::Unfinished { read, of });
        } else {
            self.warnings.push(Warning::Unfinished { read, of });
        }
        not_placed(Unchanged::Unfinished)
    }

    /// Adds the labels to match, and says so of an object that isn't placed.
    fn match_labels(&self, outcome: &mut Outcome, placement: &mut Placement) {
        let labels = &self.pod.matched_labels;
        if self.pod.takes_affinity_only() {
            for (key, value) in labels {
                let terms = self.pod.constraints.terms.iter();
                placement.requirements.push(Requirement {
                    requirement: node_in(key, vec![value.clone()]),
                    terms: terms.filter_map(|term| term.index).collect(),
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
            OnLookupFailure::Fallback => settings.fallback_architecture,
            _ => None,
        };
        for (image, failure) in self.candidates.remembered() {
            self.warnings.push(Warning::RememberedImage {
                image: image.clone(),
                failure: failure.clone(),
            });
        }
        for (image, failure) in failed {
            self.warnings.push(Warning::UnreadableImage {
                image: image.clone(),
                failure: failure.clone(),
                counted_as,
            });
        }
    }

    /// What only strict namespaces demand: that images say their operating system, and natively support what is
    /// required.
    fn judge_strictly(&mut self, strict: &Strict, terms: Option<&[TermPlacement]>) {
        let os = self.os_of(terms);
        for image in self.candidates.known() {
            let mut platforms = image.platforms.iter();
            if platforms.any(|platform| platform.os.is_none()) {
                self.problems
                    .push(Problem::NoOperatingSystem(image.image.clone()));
            }
            let native = self.candidates.native(&image.platforms, os);
            let missing = strict.required_architectures.minus(native);
            if !missing.is_empty() {
                self.problems.push(Problem::MissingArchitectures {
                    image: image.clone(),
                    missing,
                    os,
                });
            }
        }
    }

    /// The operating system that messages are about: that of the first placed term, else the first with candidates,
    /// else the first.
    fn os_of(&self, terms: Option<&[TermPlacement]>) -> Os {
        if let Some(term) = terms.and_then(|terms| terms.first()) {
            return term.os;
        }
        let selects = self.pod.constraints.selects_architecture;
        let systems = self.candidates.systems();
        let with_candidates = systems
            .iter()
            .find(|os| !self.candidates.on(**os, selects).is_empty());
        *with_candidates.or(systems.first()).unwrap_or(&Os::LINUX)
    }

    fn judge_nothing_in_common(&mut self) {
        let rejects = self.pod.strict.is_some()
            || self.pod.settings.on_no_common_architecture == OnNoCommonArchitecture::Reject;
        let problem = Problem::NoCommonArchitecture {
            images: self.candidates.listing(|_| true),
            systems: self.candidates.systems().to_vec(),
            schedulable: self.candidates.schedulable(),
        };
        self.judge(problem, rejects);
    }

    /// The Pod admits no node that runs its images.
    fn judge_selection(&mut self) {
        let action = match self.pod.strict {
            Some(_) => OnUnsupportedSelection::Reject,
            None => self.pod.settings.on_unsupported_selection,
        };
        if action == OnUnsupportedSelection::Ignore {
            return;
        }
        let os = self.os_of(None);
        let constraints = &self.pod.constraints;
        let is_excluded = |platforms: &Platforms| {
            let nodes = self.candidates.running(platforms, os);
            let mut terms = constraints.terms.iter();
            !terms
                .any(|term| term.systems.contains(os) && !term.architectures.and(nodes).is_empty())
        };
        let mut images = self.candidates.listing(is_excluded);
        if images.is_empty() {
            images = self.candidates.listing(|_| true);
        }
        let problem = Problem::UnsupportedSelection {
            selected: constraints.selected.clone(),
            is_of_template: !self.pod.object.is_template && self.pod.has_annotation,
            os,
            images,
            schedulable: self.candidates.schedulable(),
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
            for term in terms.iter().filter(|term| term.admits_others) {
                let values = if term.admitted.is_empty() {
                    term.candidates
                } else {
                    term.admitted
                };
                placement.require(node_in(ARCHITECTURE_LABEL, names(values)), term.index);
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
            for term in terms.iter().filter(admits_another) {
                placement.require(node_in(OS_LABEL, vec![term.os.to_string()]), term.index);
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

fn prefer(architecture: Architecture, Weight(weight): Weight) -> PreferredSchedulingTerm {
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
