//! Judges what is wrong with a Pod: a problem rejects it, or is warned of, as the settings say.
//!
//! Design, sections 5, 6, 7 and 9.

use super::{
    decider::{Decider, not_placed},
    outcome::Outcome,
    placement::Placement,
    problem::Problem,
    terms::TermPlacement,
    warning::Warning,
};
use crate::{
    platform::{Architecture, Architectures, Os, Platforms},
    settings::{OnLookupFailure, OnNoCommonArchitecture, OnUnsupportedSelection, Strict},
    unchanged::Unchanged,
};

impl Decider<'_, '_> {
    /// Whether images are unread for time, and matter: `some candidate` is still left.
    pub(super) fn is_unfinished(&self, some_candidate: bool) -> bool {
        self.candidates.unfinished() > 0 && some_candidate
    }

    /// A Pod whose images weren't all read might be placed where one of them can't run: it is refused, to be tried again.
    /// So is whatever nobody judges again. Any other template passes as its author wrote it.
    pub(super) fn judge_unfinished(&mut self) -> (Outcome, Placement) {
        let (read, of) = (self.images - self.candidates.unfinished(), self.images);
        let object = self.pod.object;
        if !object.is_template || object.runs_everywhere || self.pod.strict.is_some() {
            self.problems.push(Problem::Unfinished { read, of });
        } else {
            self.warnings.push(Warning::Unfinished { read, of });
        }
        not_placed(Unchanged::Unfinished)
    }

    pub(super) fn judge_failures(&mut self) {
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
    pub(super) fn judge_strictly(&mut self, strict: &Strict, terms: Option<&[TermPlacement]>) {
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

    pub(super) fn judge_nothing_in_common(&mut self) {
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
    pub(super) fn judge_selection(&mut self) {
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

    /// What is wrong with an object that isn't to be changed where it admits nodes that can't run its images.
    pub(super) fn unplaced(&self) -> Option<Problem> {
        let constraints = self.as_it_came?;
        let systems = self.pod.settings.operating_systems.as_slice();
        let schedulable = self.pod.settings.schedulable_architectures;
        constraints.terms.iter().find_map(|term| {
            let mut systems = systems.iter().filter(|os| term.systems.contains(**os));
            systems.find_map(|os| {
                let running = self.candidates.on(*os, true);
                let architecture = example_of(term.architectures.minus(running), schedulable)?;
                let lacks = |platforms: &Platforms| {
                    let nodes = self.candidates.all_running(platforms, *os);
                    !nodes.contains(architecture)
                };
                Some(Problem::Unplaced {
                    os: *os,
                    architecture,
                    images: self.candidates.listing(lacks),
                })
            })
        })
    }

    fn judge(&mut self, problem: Problem, rejects: bool) {
        if rejects {
            self.problems.push(problem);
        } else {
            self.warnings.push(Warning::Problem(problem));
        }
    }
}

/// One of `architectures` for a message: one that is schedulable, or common, if there is such.
fn example_of(architectures: Architectures, schedulable: Architectures) -> Option<Architecture> {
    let common: Architectures = ["amd64", "arm64"]
        .into_iter()
        .filter_map(Architecture::parse)
        .collect();
    let of = |preferred: Architectures| architectures.and(preferred).iter().next();
    of(schedulable)
        .or_else(|| of(common))
        .or_else(|| of(architectures))
}
