//! What the images say together: the architectures of nodes that run all of them, by operating system.
//!
//! Design, sections 6 and 7.

use super::problem::ImagePlatforms;
use crate::{
    image::{ImageSupport, LookupFailure},
    platform::{Architectures, Known, Os, Platform, Platforms},
    pod::{PodContext, Term},
    settings::{OnLookupFailure, OnNoCommonArchitecture, OnUnsupportedSelection, Settings},
};

/// How many operating systems there are.
const SYSTEMS: usize = Os::COUNT as usize;

/// The architectures of nodes that run every image whose platforms are known.
#[derive(Debug)]
pub struct Candidates<'s> {
    settings: &'s Settings,
    /// Whether a Pod's own selection is held to all architectures, and not only to the schedulable ones.
    selects: bool,
    /// Whether further images matter even when no node runs those so far: one that can't be read would still turn a
    /// warning into a rejection.
    failures_decide: bool,
    /// The operating systems that the Pod may be placed on.
    systems: Vec<Os>,
    /// The architectures of nodes that run every image, natively or not, by operating system.
    running: BySystem,
    /// Those that run every image natively.
    native: BySystem,
    /// The images whose platforms are known.
    known: Vec<ImagePlatforms>,
    /// The images that count as the fallback.
    counted: Vec<ImagePlatforms>,
    /// The images whose platforms couldn't be read.
    failed: Vec<(String, LookupFailure)>,
    /// The images that couldn't be read, and count as they did when they were read last.
    remembered: Vec<(String, LookupFailure)>,
    /// The images that may run on more than what is known.
    partly: Vec<String>,
    /// How many images there was no time for.
    unfinished: usize,
}

/// Architectures by operating system.
#[derive(Clone, Copy, Debug)]
struct BySystem([Architectures; SYSTEMS]);

impl BySystem {
    fn of(self, os: Os) -> Architectures {
        let found = self.0.get(usize::from(os.number()));
        found.copied().unwrap_or(Architectures::none())
    }

    fn and(&mut self, other: Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = own.and(other);
        }
    }
}

impl<'s> Candidates<'s> {
    /// The candidates for a Pod before any image is known.
    pub fn new(pod: &PodContext<'s>) -> Self {
        let settings = pod.settings;
        let selects = pod.constraints.selects_architecture;
        let rejects_emptiness = if selects {
            settings.on_unsupported_selection == OnUnsupportedSelection::Reject
        } else {
            settings.on_no_common_architecture == OnNoCommonArchitecture::Reject
        };
        let mut systems = Vec::new();
        for term in &pod.constraints.terms {
            for os in systems_of(pod, term) {
                if !systems.contains(&os) {
                    systems.push(os);
                }
            }
        }
        if systems.is_empty() {
            systems = settings.operating_systems.as_slice().to_vec();
        }
        let any = BySystem([Architectures::all(); SYSTEMS]);
        Self {
            settings,
            selects: pod
                .constraints
                .terms
                .iter()
                .any(|term| term.selects_architecture),
            failures_decide: settings.on_lookup_failure == OnLookupFailure::Reject
                && pod.strict.is_none()
                && !rejects_emptiness,
            systems,
            running: any,
            native: any,
            known: Vec::new(),
            counted: Vec::new(),
            failed: Vec::new(),
            remembered: Vec::new(),
            partly: Vec::new(),
            unfinished: 0,
        }
    }

    /// Narrows the candidates by what is known of an image.
    pub fn add(&mut self, image: String, support: ImageSupport) {
        match support {
            ImageSupport::Partly(platforms, _) => {
                self.partly.push(image.clone());
                self.add(image, ImageSupport::Platforms(platforms));
            }
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
                    && let Some(fallback) = self.settings.fallback_architecture
                {
                    let platforms = [Platform::on_any_os(fallback)];
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
            ImageSupport::Unfinished => self.unfinished += 1,
        }
    }

    /// Narrows the candidates by what was known of an image that couldn't be read for this reason.
    pub fn remember(&mut self, image: String, platforms: Platforms, failure: LookupFailure) {
        self.remembered.push((image.clone(), failure));
        self.add(image, ImageSupport::Platforms(platforms));
    }

    /// Leaves the architectures of nodes that also run one of `platforms`.
    fn narrow(&mut self, platforms: &Platforms) {
        let (native, running) = self.nodes_for(platforms);
        self.native.and(native);
        self.running.and(running);
    }

    /// The architectures of nodes that run one of `platforms`: natively, and natively or by compatibility.
    fn nodes_for(&self, platforms: &Platforms) -> (BySystem, BySystem) {
        let mut native = BySystem([Architectures::none(); SYSTEMS]);
        for platform in platforms
            .iter()
            .filter(|platform| !platform.architecture.is_wasm())
        {
            for (number, of_os) in native.0.iter_mut().enumerate() {
                let is_of_os = platform
                    .os
                    .is_none_or(|own| usize::from(own.number()) == number);
                if is_of_os {
                    of_os.insert(platform.architecture);
                }
            }
        }
        let mut running = native;
        for (native, running) in native.0.iter().zip(&mut running.0) {
            for (node, images) in self.settings.compatible_architectures.iter() {
                if !images.and(*native).is_empty() {
                    running.insert(*node);
                }
            }
        }
        (native, running)
    }

    /// Whether no image's platforms are known.
    pub(super) fn are_unknown(&self) -> bool {
        self.known.is_empty() && self.counted.is_empty()
    }

    /// Whether no further image can change the outcome: no node runs those so far.
    pub fn is_settled(&self) -> bool {
        !self.failures_decide && !self.are_unknown() && self.are_none()
    }

    /// Whether no node that the Pod may be placed on runs every image.
    pub(super) fn are_none(&self) -> bool {
        let on = |os: &Os| self.on(*os, self.selects);
        self.systems.iter().all(|os| on(os).is_empty())
    }

    /// The architectures of nodes with `os` that run every image: all, or the schedulable ones of them.
    pub(super) fn on(&self, os: Os, all: bool) -> Architectures {
        let running = self.running.of(os);
        if all {
            running
        } else {
            running.and(self.schedulable_set())
        }
    }

    /// The architectures of nodes with `os` that run every image natively.
    pub(super) fn natively_on(&self, os: Os) -> Architectures {
        self.native.of(os)
    }

    /// The architectures of nodes with `os` that run an image with these `platforms`.
    pub(super) fn running(&self, platforms: &Platforms, os: Os) -> Architectures {
        let running = self.all_running(platforms, os);
        if self.selects {
            running
        } else {
            running.and(self.schedulable_set())
        }
    }

    /// The same, schedulable or not.
    pub(super) fn all_running(&self, platforms: &Platforms, os: Os) -> Architectures {
        self.nodes_for(platforms).1.of(os)
    }

    /// Those that run an image with these `platforms` natively.
    pub(super) fn native(&self, platforms: &Platforms, os: Os) -> Architectures {
        self.nodes_for(platforms).0.of(os)
    }

    fn schedulable_set(&self) -> Architectures {
        if self.settings.schedulable_architectures.is_empty() {
            Architectures::all()
        } else {
            self.settings.schedulable_architectures
        }
    }

    /// The operating systems that the Pod may be placed on.
    pub(super) fn systems(&self) -> &[Os] {
        &self.systems
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

    /// The images whose platforms count as they did when they were read last, and why they couldn't be read.
    pub(super) fn remembered(&self) -> &[(String, LookupFailure)] {
        &self.remembered
    }

    /// How many images there was no time for.
    pub(super) fn unfinished(&self) -> usize {
        self.unfinished
    }

    /// The platforms of the images that are known in full, for a record.
    pub fn platforms(&self) -> Vec<(String, Platforms)> {
        let is_whole = |it: &&ImagePlatforms| !self.partly.contains(&it.image);
        let known = self.known.iter().filter(is_whole);
        known
            .map(|it| (it.image.clone(), it.platforms.clone()))
            .collect()
    }

    /// The images whose platforms couldn't be read, and why.
    pub(super) fn failed(&self) -> &[(String, LookupFailure)] {
        &self.failed
    }

    /// The schedulable architectures, if only they count.
    pub(super) fn schedulable(&self) -> Option<Architectures> {
        let schedulable = self.settings.schedulable_architectures;
        (!self.selects && !schedulable.is_empty()).then_some(schedulable)
    }
}

/// The operating systems that a term may be placed on, in order of preference: `spec.os.name`, else those of the cluster
/// that it admits; where it admits none of these, those it names itself.
pub(super) fn systems_of(pod: &PodContext<'_>, term: &Term) -> Vec<Os> {
    if let Some(os) = pod.constraints.pod_os {
        return vec![os];
    }
    let cluster = pod.settings.operating_systems.as_slice().iter().copied();
    let admitted: Vec<Os> = cluster.filter(|os| term.systems.contains(*os)).collect();
    if admitted.is_empty() && term.names_systems {
        term.systems.iter().collect()
    } else {
        admitted
    }
}
