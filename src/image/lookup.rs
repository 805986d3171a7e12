//! From an image to its platforms: an override of the settings, or the registry by way of the host.
//!
//! Design, section 6.

use std::rc::Rc;

use crate::{
    host::Host,
    platform::{Platform, Platforms},
    set::SortedMap,
    settings::{OverridePlatforms, Settings},
    text::{elide_end, one_line},
};

use super::{
    failure::LookupFailure,
    images::Image,
    manifest::{Config, Entry, EntryKind, Manifest, config_of},
    reference::Reference,
};

/// How deep an index inside an index is followed.
const DEEPEST: usize = 2;
/// The longest media type that is shown.
const LONGEST_MEDIA_TYPE: usize = 80;
/// How many lookups an index may cost besides its own.
const MOST_EXTRA_LOOKUPS: usize = 8;

/// What is known of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSupport {
    /// It runs on these platforms.
    Platforms(Platforms),
    /// It runs, or is mounted, wherever the Pod lands.
    Unconstrained,
    /// Its platforms aren't known.
    Failed(LookupFailure),
}

/// The lookups of one evaluation: no reference is asked for twice, and none after the time for lookups is over.
pub struct Lookups<'a> {
    host: &'a mut dyn Host,
    settings: &'a Settings,
    has_runtime_class: bool,
    /// What was asked so far, by the reference in full.
    manifests: SortedMap<Result<Rc<Manifest>, LookupFailure>>,
    configs: SortedMap<Result<Platform, LookupFailure>>,
}

impl<'a> Lookups<'a> {
    /// Lookups through `host` for a pod, which sets a runtime class or doesn't.
    pub fn new(host: &'a mut dyn Host, settings: &'a Settings, has_runtime_class: bool) -> Self {
        Self {
            host,
            settings,
            has_runtime_class,
            manifests: SortedMap::default(),
            configs: SortedMap::default(),
        }
    }

    /// What `image` runs on.
    pub fn find(&mut self, image: &Image) -> ImageSupport {
        let reference = Reference::new(&image.reference);
        let finding = match self.override_of(image, &reference) {
            Some(finding) => finding,
            None => match self.behind_proxy(&reference) {
                Some(target) => {
                    let full = Reference::new(&target).full();
                    self.look_up(&target, full, image.is_run)
                }
                None => self.look_up(&image.reference, reference.full(), image.is_run),
            },
        };
        match finding {
            ImageSupport::Platforms(platforms) if self.has_runtime_class => without_wasm(platforms),
            other => other,
        }
    }

    fn override_of(&self, image: &Image, reference: &Reference<'_>) -> Option<ImageSupport> {
        if self.settings.platform_overrides.is_empty() {
            return None;
        }
        let full = reference.full();
        self.settings
            .platform_overrides
            .iter()
            .find(|over| over.image.matches(&image.reference) || over.image.matches(&full))
            .map(|over| match &over.platforms {
                OverridePlatforms::Any => ImageSupport::Unconstrained,
                OverridePlatforms::Only(platforms) => ImageSupport::Platforms(platforms.clone()),
            })
    }

    /// Where the lookup of `reference` goes, if a proxy serves its registry.
    fn behind_proxy(&self, reference: &Reference<'_>) -> Option<String> {
        let mut proxies = self.settings.registry_proxies.iter();
        let proxy = proxies.find(|proxy| proxy.registry.matches(reference.registry))?;
        Some(reference.behind(proxy.proxy.as_str()))
    }

    /// What the image at `reference`, which is `full` in full, runs on.
    fn look_up(&mut self, reference: &str, full: String, is_run: bool) -> ImageSupport {
        let manifest = match self.manifest(reference, full) {
            Ok(manifest) => manifest,
            Err(failure) => return ImageSupport::Failed(failure),
        };
        let found = match &*manifest {
            Manifest::Index(entries) => self.platforms_of(reference, entries),
            // Any node mounts what has no platforms to choose from.
            _ if !is_run => return ImageSupport::Unconstrained,
            Manifest::Image => self
                .config(reference)
                .map(|platform| [platform].into_iter().collect()),
            Manifest::Artifact(media_type) => {
                let media_type = elide_end(one_line(media_type), LONGEST_MEDIA_TYPE);
                Err(LookupFailure::NotAContainerImage(media_type))
            }
        };
        match found {
            Ok(platforms) => ImageSupport::Platforms(platforms),
            Err(failure) => ImageSupport::Failed(failure),
        }
    }

    /// The platforms of the index at `reference`. An entry that can't be read is left out; where nothing else is
    /// there, its failure is that of the image.
    fn platforms_of(
        &mut self,
        reference: &str,
        entries: &[Entry],
    ) -> Result<Platforms, LookupFailure> {
        let mut walk = Walk::default();
        self.walk(&Reference::new(reference), entries, 0, &mut walk);
        if walk.platforms.is_empty() {
            Err(walk.failure.unwrap_or(LookupFailure::NoPlatform))
        } else {
            Ok(walk.platforms)
        }
    }

    fn walk(&mut self, index: &Reference<'_>, entries: &[Entry], depth: usize, walk: &mut Walk) {
        for entry in entries {
            let (digest, kind) = match entry {
                Entry::Platform(platform) => {
                    walk.platforms.insert(platform.clone());
                    continue;
                }
                Entry::Unclear { digest, kind } => (digest, kind),
            };
            let reference = index.with_digest(digest);
            let nested = match kind {
                EntryKind::Manifest => Ok(Rc::new(Manifest::Image)),
                EntryKind::Index if depth == DEEPEST => continue,
                EntryKind::Index | EntryKind::Unknown if walk.take_lookup() => {
                    self.manifest(&reference, reference.clone())
                }
                EntryKind::Index | EntryKind::Unknown => continue,
            };
            let failure = match nested.as_deref() {
                Ok(Manifest::Index(entries)) if depth < DEEPEST => {
                    self.walk(index, entries, depth + 1, walk);
                    continue;
                }
                Ok(Manifest::Image) if walk.take_lookup() => match self.config(&reference) {
                    Ok(platform) => {
                        walk.platforms.insert(platform);
                        continue;
                    }
                    Err(failure) => failure,
                },
                Ok(_) => continue,
                Err(failure) => failure.clone(),
            };
            walk.failure.get_or_insert(failure);
        }
    }

    fn manifest(&mut self, reference: &str, full: String) -> Result<Rc<Manifest>, LookupFailure> {
        if let Some(known) = self.manifests.get(&full) {
            return known.clone();
        }
        self.within_budget()?;
        let found = match self.host.manifest(reference) {
            Ok(answer) => Manifest::parse(&answer)
                .map(Rc::new)
                .ok_or(LookupFailure::Unreadable),
            Err(error) => Err(LookupFailure::from_host_error(&error)),
        };
        self.manifests.insert(full, found.clone());
        found
    }

    fn config(&mut self, reference: &str) -> Result<Platform, LookupFailure> {
        let key = Reference::new(reference).full();
        if let Some(known) = self.configs.get(&key) {
            return known.clone();
        }
        self.within_budget()?;
        let found = match self.host.manifest_and_config(reference) {
            Ok(answer) => match config_of(&answer) {
                Some(Config::Platform(platform)) => Ok(platform),
                Some(Config::NoArchitecture) => Err(LookupFailure::NoArchitecture),
                Some(Config::OlmBundle) => {
                    Err(LookupFailure::NotAContainerImage("OLM bundle".to_owned()))
                }
                None => Err(LookupFailure::Unreadable),
            },
            Err(error) => Err(LookupFailure::from_host_error(&error)),
        };
        self.configs.insert(key, found.clone());
        found
    }

    /// The host counts lookups against the time it grants an evaluation, and rejects the object when that is over;
    /// no call can be interrupted, only not started.
    fn within_budget(&self) -> Result<(), LookupFailure> {
        match self.settings.lookup_budget() {
            Some(budget) if self.host.elapsed() >= budget => Err(LookupFailure::BudgetSpent(
                self.settings.lookup_budget_milliseconds.0,
            )),
            _ => Ok(()),
        }
    }
}

/// What a walk through an index has found.
#[derive(Default)]
struct Walk {
    platforms: Platforms,
    failure: Option<LookupFailure>,
    lookups: usize,
}

impl Walk {
    /// Takes one of the lookups that an index may cost, if any is left.
    fn take_lookup(&mut self) -> bool {
        let left = self.lookups < MOST_EXTRA_LOOKUPS;
        self.lookups += usize::from(left);
        left
    }
}

/// A runtime class may bring a WebAssembly runtime, so such a platform proves and excludes nothing.
fn without_wasm(mut native: Platforms) -> ImageSupport {
    native.retain(|platform| !platform.architecture.is_wasm());
    if native.is_empty() {
        ImageSupport::Unconstrained
    } else {
        ImageSupport::Platforms(native)
    }
}

#[cfg(test)]
mod tests;
