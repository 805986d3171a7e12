//! What the images say, gathered one by one: the architectures of nodes that run all of them.
//!
//! Design, sections 6 and 7.

use super::problem::ImagePlatforms;
use crate::{
    image::{ImageSupport, LookupFailure},
    platform::{Architectures, Os, Platform, Platforms},
    pod::{Constraints, PodContext},
    set::SortedSet,
    settings::{OnLookupFailure, OnNoCommonArchitecture, OnUnsupportedSelection, Settings},
};

/// The architectures of nodes that run every image so far, by operating system.
#[derive(Debug)]
pub struct Candidates<'s> {
    settings: &'s Settings,
    /// Whether only schedulable architectures count: a Pod that selects its own is held to its images alone.
    within_schedulable: bool,
    /// Whether further images matter even when no node runs those so far: one that can't be read would still turn a
    /// warning into a rejection.
    failures_decide: bool,
    /// The operating systems in question, each with its candidates; `None` where no image's platforms are known.
    systems: Vec<(Os, Option<Architectures>)>,
    /// The images whose platforms are known, those that count as the fallback last.
    known: Vec<ImagePlatforms>,
    /// The images that count as the fallback.
    counted: Vec<ImagePlatforms>,
    /// The images whose platforms couldn't be read.
    failed: Vec<(String, LookupFailure)>,
}

/// The candidates on one operating system.
#[derive(Clone, Debug)]
pub(super) struct OsCandidates {
    /// The operating system.
    pub(super) os: Os,
    /// The architectures of nodes that run every image.
    pub(super) architectures: Architectures,
    /// Those of them that the Pod's own constraints admit.
    pub(super) admitted: Architectures,
}

impl<'s> Candidates<'s> {
    /// The candidates for a Pod before any image is known.
    pub fn new(pod: &PodContext<'s>) -> Self {
        let settings = pod.settings;
        let selects = pod.selects_its_architecture();
        let rejects_emptiness = if selects {
            settings.on_unsupported_selection == OnUnsupportedSelection::Reject
        } else {
            settings.on_no_common_architecture == OnNoCommonArchitecture::Reject
        };
        let systems = pod
            .constraints
            .operating_systems(settings.operating_systems.as_slice());
        Self {
            settings,
            within_schedulable: !selects,
            failures_decide: settings.on_lookup_failure == OnLookupFailure::Reject
                && pod.strict.is_none()
                && !rejects_emptiness,
            systems: systems.into_iter().map(|os| (os, None)).collect(),
            known: Vec::new(),
            counted: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Narrows the candidates by what is known of an image.
    pub fn add(&mut self, image: String, support: ImageSupport) {
        match support {
            ImageSupport::Platforms(platforms) => {
                self.narrow(&platforms);
                self.known.push(ImagePlatforms {
                    image,
                    platforms,
                    is_counted: false,
                });
            }
            ImageSupport::Failed(failure) => {
                if self.settings.on_lookup_failure == OnLookupFailure::Fallback
                    && let Some(fallback) = &self.settings.fallback_architecture
                {
                    let platforms = [Platform::on_any_os(fallback.clone())];
                    let platforms: Platforms = platforms.into_iter().collect();
                    self.narrow(&platforms);
                    self.counted.push(ImagePlatforms {
                        image: image.clone(),
                        platforms,
                        is_counted: true,
                    });
                }
                self.failed.push((image, failure));
            }
            ImageSupport::Unconstrained => {}
        }
    }

    /// Leaves the architectures of nodes that also run one of `platforms`.
    fn narrow(&mut self, platforms: &Platforms) {
        let mut systems = std::mem::take(&mut self.systems);
        for (os, known) in &mut systems {
            let nodes = self.running(platforms, os);
            match known {
                Some(known) => known.retain(|node| nodes.contains(node)),
                None => *known = Some(nodes),
            }
        }
        self.systems = systems;
    }

    /// Whether no further image can change the outcome: no node runs those so far.
    pub fn is_settled(&self) -> bool {
        let is_empty =
            |known: &Option<Architectures>| known.as_ref().is_some_and(SortedSet::is_empty);
        !self.failures_decide && self.systems.iter().all(|(_, known)| is_empty(known))
    }

    /// The architectures of nodes with `os` that run one of `platforms`, natively or by compatibility.
    pub(super) fn running(&self, platforms: &Platforms, os: &Os) -> Architectures {
        let mut native = Architectures::default();
        for platform in platforms {
            let is_of_os = platform.os.as_ref().is_none_or(|own| own == os);
            if is_of_os && !platform.architecture.is_wasm() {
                native.insert(platform.architecture.clone());
            }
        }
        let mut nodes = native.clone();
        for (node, images) in self.settings.compatible_architectures.iter() {
            if images.iter().any(|image| native.contains(image)) {
                nodes.insert(node.clone());
            }
        }
        nodes.retain(|node| !self.within_schedulable || self.settings.is_schedulable(node));
        nodes
    }

    /// Whether nodes of `os` run every image on each of `architectures`.
    pub(super) fn all_run_on(&self, os: &Os, architectures: &Architectures) -> bool {
        let nodes = self.systems.iter().find(|(known, _)| known == os);
        let nodes = nodes.and_then(|(_, nodes)| nodes.as_ref());
        nodes.is_some_and(|nodes| architectures.iter().all(|name| nodes.contains(name)))
    }

    /// The operating systems in question.
    pub(super) fn systems(&self) -> impl Iterator<Item = &Os> {
        self.systems.iter().map(|(os, _)| os)
    }

    /// The images whose platforms were read.
    pub(super) fn known(&self) -> &[ImagePlatforms] {
        &self.known
    }

    /// The images whose platforms are known or counted for which `is_listed` holds.
    pub(super) fn listing(&self, is_listed: impl Fn(&Platforms) -> bool) -> Vec<ImagePlatforms> {
        let mut listed: Vec<ImagePlatforms> = Vec::new();
        for image in self.known.iter().chain(&self.counted) {
            if is_listed(&image.platforms) {
                listed.push(image.clone());
            }
        }
        listed
    }

    /// The images whose platforms couldn't be read, and why.
    pub(super) fn failed(&self) -> &[(String, LookupFailure)] {
        &self.failed
    }

    /// The schedulable architectures, if only they count.
    pub(super) fn schedulable(&self) -> Option<&Architectures> {
        let schedulable = &self.settings.schedulable_architectures;
        (self.within_schedulable && !schedulable.is_empty()).then_some(schedulable)
    }

    /// The candidates on the operating system to place on: the first that has such nodes, one that the Pod admits if
    /// there is one. `None` where no image's platforms are known.
    pub(super) fn best(&self, constraints: &Constraints) -> Option<OsCandidates> {
        let mut best: Option<OsCandidates> = None;
        for (os, nodes) in &self.systems {
            let architectures = nodes.clone()?;
            let mut admitted = architectures.clone();
            admitted.retain(|node| constraints.admits_platform(os, node));
            let is_better = match &best {
                None => true,
                Some(best) if best.architectures.is_empty() => !architectures.is_empty(),
                Some(best) => best.admitted.is_empty() && !admitted.is_empty(),
            };
            if is_better {
                best = Some(OsCandidates {
                    os: os.clone(),
                    architectures,
                    admitted,
                });
            }
        }
        best
    }
}
