//! From images to their platforms: by overrides of the settings, or from registries by way of the host.
//!
//! Design, section 6.

use std::rc::Rc;

use super::{
    budget::{Budget, Start},
    failure::LookupFailure,
    images::Image,
    manifest::{Config, Entry, EntryKind, Manifest, config_of},
    reference::Reference,
};
use crate::{
    host::Host,
    platform::{Platform, Platforms},
    set::SortedMap,
    settings::{OnUnfinishedLookups, OverridePlatforms, Settings},
};

/// How deep an index inside an index is followed.
const DEEPEST: usize = 2;
/// How many lookups an index may cost besides its own.
const MOST_EXTRA_LOOKUPS: usize = 8;

/// What is known of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSupport {
    /// It runs on these platforms.
    Platforms(Platforms),
    /// It runs on these platforms, and perhaps on more: entries of its index couldn't be read.
    Partly(Platforms, LookupFailure),
    /// It runs, or is mounted, wherever the Pod lands.
    Unconstrained,
    /// Its platforms aren't known.
    Failed(LookupFailure),
    /// There was no time to read it; another try gets further.
    Unfinished,
}

/// What matters about the Pod whose images are looked up.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodTraits {
    /// Whether it sets a runtime class, which may run what no node does.
    pub has_runtime_class: bool,
    /// Whether it is in a strict namespace.
    pub is_strict: bool,
}

/// The lookups of one evaluation: no reference is asked for twice, and none after the time for lookups is over.
pub struct Lookups<'a> {
    host: &'a mut dyn Host,
    settings: &'a Settings,
    pod: PodTraits,
    budget: Budget,
    /// What was asked so far, by the reference in full.
    manifests: SortedMap<Answer<Rc<Manifest>>>,
    configs: SortedMap<Answer<Config>>,
}

/// What came of a lookup.
type Answer<T> = Result<T, Missing>;

/// Why there is no answer.
#[derive(Clone, Debug)]
enum Missing {
    Failed(LookupFailure),
    Unfinished,
}

/// How far an image is read.
enum Progress {
    /// To its end.
    Read(ImageSupport),
    /// Its manifest, at this reference: its config is next.
    Config(String, Rc<Manifest>),
    /// Its index, at this reference: entries without a platform are next.
    Entries(String, Rc<Manifest>),
}

impl<'a> Lookups<'a> {
    /// Lookups through `host`.
    pub fn new(host: &'a mut dyn Host, settings: &'a Settings) -> Self {
        Self {
            host,
            settings,
            pod: PodTraits::default(),
            budget: Budget::new(settings.lookup_budget()),
            manifests: SortedMap::default(),
            configs: SortedMap::default(),
        }
    }

    /// What each of `images` runs on for a Pod with these traits, in their order. Where `is_settled` says so after an
    /// image, the others don't matter and are left out.
    ///
    /// First comes every image's own manifest, then the configs of those that have no index and the entries of indexes
    /// that say no platform at all, last the entries without a platform in indexes that have others: what tells most for
    /// its time comes first.
    pub fn read(
        &mut self,
        images: &[Image],
        pod: PodTraits,
        is_settled: &mut dyn FnMut(&Image, &ImageSupport) -> bool,
    ) -> Vec<(usize, ImageSupport)> {
        self.pod = pod;
        let mut progress: Vec<Option<Progress>> = Vec::new();
        let mut settled = false;
        for image in images {
            if settled {
                progress.push(None);
                continue;
            }
            let step = self.start(image);
            if let Progress::Read(support) = &step {
                settled = is_settled(image, support);
            }
            progress.push(Some(step));
        }
        for entries_beside_others in [false, true] {
            for (image, place) in images.iter().zip(&mut progress) {
                if settled {
                    break;
                }
                let is_next = match place {
                    Some(Progress::Config(..)) => !entries_beside_others,
                    Some(Progress::Entries(_, index)) => {
                        has_platforms(index) == entries_beside_others
                    }
                    _ => false,
                };
                if is_next && let Some(step) = place.take() {
                    let support = self.finish(step);
                    settled = is_settled(image, &support);
                    *place = Some(Progress::Read(support));
                }
            }
        }
        let mut read = Vec::new();
        for (index, step) in progress.into_iter().enumerate() {
            if let Some(Progress::Read(support)) = step {
                read.push((index, support));
            }
        }
        read
    }

    /// The first step: an override, or the image's own manifest.
    fn start(&mut self, image: &Image) -> Progress {
        let reference = Reference::new(&image.reference);
        if let Some(support) = self.override_of(image, &reference) {
            return Progress::Read(self.for_pod(support));
        }
        let target = self
            .behind_proxy(&reference)
            .unwrap_or_else(|| image.reference.clone());
        let asked = Reference::new(&target);
        let registries = &self.settings.registries;
        let is_allowed = |glob: &crate::settings::Glob| glob.matches(asked.registry);
        if !registries.is_empty() && !registries.iter().any(is_allowed) {
            let failure = LookupFailure::RegistryNotListed(asked.registry.to_owned());
            return Progress::Read(ImageSupport::Failed(failure));
        }
        let full = asked.full();
        let manifest = match self.manifest(&target, full) {
            Ok(manifest) => manifest,
            Err(missing) => return Progress::Read(missing.into()),
        };
        match &*manifest {
            Manifest::Index(entries) => {
                let is_unclear = |entry: &Entry| matches!(entry, Entry::Unclear { .. });
                if entries.iter().any(is_unclear) {
                    Progress::Entries(target, manifest)
                } else {
                    Progress::Read(self.for_pod(platforms_of(entries)))
                }
            }
            // Any node mounts what has no platforms to choose from.
            _ if !image.is_run => Progress::Read(ImageSupport::Unconstrained),
            Manifest::Image(_) => Progress::Config(target, manifest),
            // A runtime class may run what isn't a container image.
            Manifest::Artifact(_) if self.pod.has_runtime_class => {
                Progress::Read(ImageSupport::Unconstrained)
            }
            Manifest::Artifact(media_type) => Progress::Read(ImageSupport::Failed(
                LookupFailure::not_a_container_image(media_type),
            )),
        }
    }

    /// The second step.
    fn finish(&mut self, step: Progress) -> ImageSupport {
        let support = match step {
            Progress::Read(support) => support,
            Progress::Config(reference, manifest) => self.by_config(&reference, &manifest),
            Progress::Entries(reference, manifest) => match &*manifest {
                Manifest::Index(entries) => self.by_entries(&reference, entries),
                _ => ImageSupport::Failed(LookupFailure::NoPlatform),
            },
        };
        self.for_pod(support)
    }

    fn by_config(&mut self, reference: &str, manifest: &Manifest) -> ImageSupport {
        let failure = match self.config(reference) {
            Ok(Config::Platform(platform)) => {
                return ImageSupport::Platforms([platform].into_iter().collect());
            }
            // Files for a cluster's operators, and nothing that runs.
            Ok(Config::OlmBundle) if !self.pod.is_strict => return ImageSupport::Unconstrained,
            Ok(Config::OlmBundle) => LookupFailure::not_a_container_image("OLM bundle"),
            Ok(Config::UnknownPlatform(word)) => LookupFailure::UnknownPlatform(word),
            Ok(Config::NoArchitecture) => match manifest {
                Manifest::Image(Some(_)) if self.pod.has_runtime_class => {
                    return ImageSupport::Unconstrained;
                }
                Manifest::Image(Some(config_type)) => {
                    LookupFailure::not_a_container_image(config_type)
                }
                _ => LookupFailure::NoArchitecture,
            },
            Err(missing) => return missing.into(),
        };
        ImageSupport::Failed(failure)
    }

    /// The platforms of an index with entries that don't say theirs. What can't be read of them is left out; where
    /// nothing else is there, its failure is that of the image.
    fn by_entries(&mut self, reference: &str, entries: &[Entry]) -> ImageSupport {
        let mut walk = Walk::default();
        self.walk(&Reference::new(reference), entries, 0, &mut walk);
        match (walk.platforms.is_empty(), walk.missing) {
            (true, Some(missing)) => missing.into(),
            (true, None) => ImageSupport::Failed(LookupFailure::NoPlatform),
            (false, Some(missing)) => {
                let failure = missing.into_failure(self.settings);
                ImageSupport::Partly(walk.platforms, failure)
            }
            (false, None) => ImageSupport::Platforms(walk.platforms),
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
                EntryKind::Manifest => Ok(Rc::new(Manifest::Image(None))),
                EntryKind::Index | EntryKind::Unknown if depth < DEEPEST && walk.take_lookup() => {
                    self.manifest(&reference, reference.clone())
                }
                EntryKind::Index | EntryKind::Unknown => {
                    Err(Missing::Failed(LookupFailure::NoPlatform))
                }
            };
            let missing = match nested.as_deref() {
                Ok(Manifest::Index(entries)) if depth < DEEPEST => {
                    self.walk(index, entries, depth + 1, walk);
                    continue;
                }
                Ok(Manifest::Image(_)) if !walk.take_lookup() => {
                    Missing::Failed(LookupFailure::NoPlatform)
                }
                Ok(Manifest::Image(_)) => match self.config(&reference) {
                    Ok(Config::Platform(platform)) => {
                        walk.platforms.insert(platform);
                        continue;
                    }
                    // An SBOM or a signature, or what no node runs.
                    Ok(Config::NoArchitecture | Config::OlmBundle) => {
                        walk.nothing.get_or_insert(LookupFailure::NoArchitecture);
                        continue;
                    }
                    Ok(Config::UnknownPlatform(word)) => {
                        walk.nothing
                            .get_or_insert(LookupFailure::UnknownPlatform(word));
                        continue;
                    }
                    Err(missing) => missing,
                },
                Ok(_) => continue,
                Err(missing) => missing.clone(),
            };
            walk.missing.get_or_insert(missing);
        }
        if depth == 0 && walk.platforms.is_empty() && walk.missing.is_none() {
            walk.missing = walk.nothing.take().map(Missing::Failed);
        }
    }

    /// What `support` means for the Pod: a runtime class may bring a WebAssembly runtime, so that such a platform proves
    /// and excludes nothing then.
    fn for_pod(&self, support: ImageSupport) -> ImageSupport {
        if !self.pod.has_runtime_class {
            return support;
        }
        let native = |mut platforms: Platforms| {
            platforms.retain(|platform| !platform.architecture.is_wasm());
            platforms
        };
        match support {
            ImageSupport::Platforms(platforms) => match native(platforms) {
                none if none.is_empty() => ImageSupport::Unconstrained,
                platforms => ImageSupport::Platforms(platforms),
            },
            ImageSupport::Partly(platforms, failure) => match native(platforms) {
                none if none.is_empty() => ImageSupport::Failed(failure),
                platforms => ImageSupport::Partly(platforms, failure),
            },
            other => other,
        }
    }

    fn override_of(&self, image: &Image, reference: &Reference<'_>) -> Option<ImageSupport> {
        if self.settings.platform_overrides.is_empty() {
            return None;
        }
        let full = reference.full();
        let mut overrides = self.settings.platform_overrides.iter();
        let found = overrides
            .find(|over| over.image.matches(&image.reference) || over.image.matches(&full))?;
        Some(match &found.platforms {
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

    fn manifest(&mut self, reference: &str, full: String) -> Answer<Rc<Manifest>> {
        if let Some(known) = self.manifests.get(&full) {
            return known.clone();
        }
        let found = self.ask(reference, |host| host.manifest(reference));
        let found = found.and_then(|answer| {
            let manifest = Manifest::parse(&answer).map(Rc::new);
            manifest.ok_or(Missing::Failed(LookupFailure::Unreadable))
        });
        self.manifests.insert(full, found.clone());
        found
    }

    fn config(&mut self, reference: &str) -> Answer<Config> {
        let full = Reference::new(reference).full();
        if let Some(known) = self.configs.get(&full) {
            return known.clone();
        }
        let found = self.ask(reference, |host| host.manifest_and_config(reference));
        let found = found.and_then(|answer| {
            config_of(&answer).ok_or(Missing::Failed(LookupFailure::Unreadable))
        });
        self.configs.insert(full, found.clone());
        found
    }

    /// Makes a lookup, if there is time for it. The host counts lookups against the time it grants an evaluation, and
    /// rejects the object when that is over; no call can be interrupted, only not started.
    fn ask(
        &mut self,
        reference: &str,
        call: impl FnOnce(&mut dyn Host) -> Result<Vec<u8>, String>,
    ) -> Answer<Vec<u8>> {
        let registry = Reference::new(reference).registry;
        let began = self.host.elapsed();
        match self.budget.may_start(registry, began) {
            Start::Now => {}
            Start::AnotherTime
                if self.settings.on_unfinished_lookups == OnUnfinishedLookups::Reject =>
            {
                return Err(Missing::Unfinished);
            }
            Start::AnotherTime | Start::Never => {
                return Err(Missing::Unfinished.into_failed(self.settings));
            }
        }
        let answer = call(self.host);
        let took = self.host.elapsed().saturating_sub(began);
        self.budget.took(registry, took, answer.is_ok());
        answer.map_err(|error| Missing::Failed(LookupFailure::from_host_error(&error)))
    }
}

impl Missing {
    fn into_failure(self, settings: &Settings) -> LookupFailure {
        match self {
            Self::Failed(failure) => failure,
            Self::Unfinished => LookupFailure::BudgetSpent(settings.lookup_budget_milliseconds.0),
        }
    }

    fn into_failed(self, settings: &Settings) -> Self {
        Self::Failed(self.into_failure(settings))
    }
}

impl From<Missing> for ImageSupport {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Failed(failure) => Self::Failed(failure),
            Missing::Unfinished => Self::Unfinished,
        }
    }
}

/// Whether an index has entries that say their platform.
fn has_platforms(index: &Manifest) -> bool {
    let Manifest::Index(entries) = index else {
        return false;
    };
    let says = |entry: &Entry| matches!(entry, Entry::Platform(_));
    entries.iter().any(says)
}

/// The platforms of an index whose entries all say theirs.
fn platforms_of(entries: &[Entry]) -> ImageSupport {
    let platform = |entry: &Entry| match entry {
        Entry::Platform(platform) => Some(Platform::clone(platform)),
        Entry::Unclear { .. } => None,
    };
    let platforms: Platforms = entries.iter().filter_map(platform).collect();
    if platforms.is_empty() {
        ImageSupport::Failed(LookupFailure::NoPlatform)
    } else {
        ImageSupport::Platforms(platforms)
    }
}

/// What a walk through an index has found.
#[derive(Default)]
struct Walk {
    platforms: Platforms,
    /// Why the first entry that couldn't be read couldn't.
    missing: Option<Missing>,
    /// What the first entry without a platform that counts says.
    nothing: Option<LookupFailure>,
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

#[cfg(test)]
mod tests;
