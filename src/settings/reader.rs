//! Reads settings, and collects what is wrong with them.

use glob::Pattern;

use super::{
    KEYS, LabelKey, OnLookupFailure, OverridePlatforms, PlatformOverride, PreferenceEnforcement,
    RegistryProxy, Settings, Strict, Word, toleration,
};
use crate::{
    json::{Json, Object},
    platform::{Architecture, Architectures, Os, Platform},
    text::{elide_end, join, one_line},
};

/// The longest value that a message shows.
const LONGEST_VALUE: usize = 60;

/// A value for a message: its JSON, bounded.
fn shown(value: &Json<'_>) -> String {
    elide_end(one_line(&value.to_string()), LONGEST_VALUE)
}

const ARCHITECTURE_REMEDY: &str = "use a GOARCH name such as amd64 or arm64";
const OS_REMEDY: &str = "use a GOOS name such as linux or windows";
const GLOB_REMEDY: &str = "use a pattern such as ghcr.io/acme/*";
pub(super) const LABEL_REMEDY: &str =
    "use name or prefix/name of letters, digits, '-', '_' and '.'";
const PLATFORMS_REMEDY: &str =
    "use any or a list of os/architecture[/variant], such as [linux/amd64]";
const PROXY_REMEDY: &str =
    "use host[:port][/prefix] without a scheme, such as mirror.example.com/dockerhub";

/// Reads a member of an object with architectures as keys, whose key may be invalid.
type ReadMember<'r> = dyn FnMut(&mut Reader, &str, Option<Architecture>, &mut Json<'_>) + 'r;

/// Reads the values of settings and collects their errors. Every reading function returns `None` after it has
/// reported why.
#[derive(Default)]
pub(super) struct Reader {
    /// What was wrong so far.
    pub(super) errors: Vec<String>,
}

impl Reader {
    pub(super) fn document(&mut self, json: &mut Json<'_>) -> Settings {
        if json.is_null() {
            return Settings::default();
        }
        match json.as_object() {
            Some(members) => self.settings(members),
            None => {
                self.wrong_type("settings", json, "use an object");
                Settings::default()
            }
        }
    }

    fn settings(&mut self, members: &mut Object<'_>) -> Settings {
        let defaults = Settings::default();
        let preferred_is_given = members.get("preferredArchitecture").is_some();
        let settings = Settings {
            schedulable_architectures: self
                .member(members, "schedulableArchitectures", Self::architectures)
                .unwrap_or_default(),
            preferred_architecture: if preferred_is_given {
                self.member(members, "preferredArchitecture", Self::architecture)
            } else {
                defaults.preferred_architecture
            },
            preferred_architecture_label: self
                .member(members, "preferredArchitectureLabel", Self::label_key)
                .unwrap_or(defaults.preferred_architecture_label),
            preference_enforcement: self
                .member(members, "preferenceEnforcement", Self::word)
                .unwrap_or(defaults.preference_enforcement),
            architecture_weights: self
                .member(members, "architectureWeights", |reader, path, value| {
                    reader.by_architecture(path, value, Self::weight)
                })
                .unwrap_or_default(),
            operating_systems: self
                .member(members, "operatingSystems", Self::operating_systems)
                .unwrap_or(defaults.operating_systems),
            match_node_labels: self
                .member(members, "matchNodeLabels", |reader, path, value| {
                    reader.list(path, value, Self::label_key)
                })
                .unwrap_or_default(),
            registry_proxies: self
                .member(members, "registryProxies", |reader, path, value| {
                    reader.list(path, value, Self::registry_proxy)
                })
                .unwrap_or_default(),
            platform_overrides: self
                .member(members, "platformOverrides", |reader, path, value| {
                    reader.list(path, value, Self::platform_override)
                })
                .unwrap_or_default(),
            on_lookup_failure: self
                .member(members, "onLookupFailure", Self::word)
                .unwrap_or(defaults.on_lookup_failure),
            fallback_architecture: self.member(members, "fallbackArchitecture", Self::architecture),
            on_no_common_architecture: self
                .member(members, "onNoCommonArchitecture", Self::word)
                .unwrap_or(defaults.on_no_common_architecture),
            on_unsupported_selection: self
                .member(members, "onUnsupportedSelection", Self::word)
                .unwrap_or(defaults.on_unsupported_selection),
            tolerations: self
                .member(members, "tolerations", |reader, path, value| {
                    reader.by_architecture(path, value, |reader, path, value| {
                        reader.list(path, value, toleration::read)
                    })
                })
                .unwrap_or_default(),
            compatible_architectures: self
                .member(members, "compatibleArchitectures", |reader, path, value| {
                    reader.by_architecture(path, value, Self::architectures)
                })
                .unwrap_or_default(),
            image_volumes: self
                .member(members, "imageVolumes", Self::boolean)
                .unwrap_or(defaults.image_volumes),
            strict: self.member(members, "strict", Self::strict),
            lookup_budget_milliseconds: self
                .member(members, "lookupBudgetMilliseconds", Self::milliseconds)
                .unwrap_or(defaults.lookup_budget_milliseconds),
            annotate: self
                .member(members, "annotate", Self::boolean)
                .unwrap_or(defaults.annotate),
        };
        // The Rancher UI sends `null` for whatever a form leaves empty.
        self.unknown(members, "", KEYS, true);
        self.across(&settings, preferred_is_given);
        settings
    }

    /// The rules that span several settings.
    fn across(&mut self, settings: &Settings, preferred_is_given: bool) {
        // A value that couldn't be read is one error, not two.
        let is_read = |key: &str| !self.errors.iter().any(|error| error.starts_with(key));
        let enforcement_is_read = is_read("preferenceEnforcement:");
        let fallback_is_read = is_read("fallbackArchitecture:");
        if enforcement_is_read
            && !settings.architecture_weights.is_empty()
            && settings.preference_enforcement != PreferenceEnforcement::Preferred
        {
            self.errors.push(
                "architectureWeights: weights need preferenceEnforcement: preferred, set it or remove them"
                    .to_owned(),
            );
        }
        if fallback_is_read
            && settings.on_lookup_failure == OnLookupFailure::Fallback
            && settings.fallback_architecture.is_none()
        {
            self.errors.push(
                "fallbackArchitecture: missing, onLookupFailure: fallback needs an architecture to fall back to"
                    .to_owned(),
            );
        }
        let preferred = settings
            .preferred_architecture
            .iter()
            .filter(|_| preferred_is_given)
            .map(|architecture| ("preferredArchitecture", architecture));
        let fallback = settings
            .fallback_architecture
            .iter()
            .map(|architecture| ("fallbackArchitecture", architecture));
        let required = settings
            .strict
            .iter()
            .flat_map(|strict| &strict.required_architectures)
            .map(|architecture| ("strict.requiredArchitectures", architecture));
        for (path, architecture) in preferred.chain(fallback).chain(required) {
            if !settings.is_schedulable(architecture) {
                self.errors.push(format!(
                    "{path}: \"{architecture}\" is not in schedulableArchitectures ({}), add it there or use one of them",
                    join(&settings.schedulable_architectures)
                ));
            }
        }
    }

    /// Reports that `value` at `path` `is` something it mustn't be, with the remedy.
    pub(super) fn wrong(&mut self, path: &str, value: &Json<'_>, is: &str, remedy: &str) {
        self.errors
            .push(format!("{path}: {} is {is}, {remedy}", shown(value)));
    }

    pub(super) fn wrong_type(&mut self, path: &str, value: &Json<'_>, remedy: &str) {
        self.wrong(path, value, value.type_name(), remedy);
    }

    /// Reports the members that aren't `known`.
    fn unknown(
        &mut self,
        members: &mut Object<'_>,
        prefix: &str,
        known: &[&str],
        null_passes: bool,
    ) {
        /// Beyond this many edits two names have nothing to do with each other.
        const FARTHEST: usize = 4;
        /// As many names as a message can list.
        const FEW: usize = 5;
        for (key, value) in members.iter_mut() {
            if known.contains(&key) || (null_passes && value.is_null()) {
                continue;
            }
            let nearest = known
                .iter()
                .map(|candidate| (strsim::levenshtein(key, candidate), candidate))
                .min_by_key(|(distance, _)| *distance)
                .filter(|(distance, _)| *distance <= FARTHEST);
            let remedy = match nearest {
                Some((_, candidate)) => format!("did you mean {candidate}?"),
                None if known.len() <= FEW => format!("use {}", join(known)),
                None => "remove it".to_owned(),
            };
            self.errors.push(format!(
                "{prefix}{}: unknown setting with value {}, {remedy}",
                elide_end(one_line(key), LONGEST_VALUE),
                shown(value)
            ));
        }
    }

    /// Reads the member `key`, if it has a value.
    fn member<T>(
        &mut self,
        members: &mut Object<'_>,
        key: &str,
        read: impl FnOnce(&mut Self, &str, &mut Json<'_>) -> Option<T>,
    ) -> Option<T> {
        read(self, key, members.get_some(key)?)
    }

    fn boolean(&mut self, path: &str, value: &mut Json<'_>) -> Option<bool> {
        let read = value.as_bool();
        if read.is_none() {
            self.wrong_type(path, value, "use true or false");
        }
        read
    }

    /// A whole number from `least` to `most`.
    pub(super) fn number(
        &mut self,
        path: &str,
        value: &Json<'_>,
        (least, most): (i64, i64),
        remedy: &str,
    ) -> Option<i64> {
        let read = value
            .as_integer()
            .filter(|number| (least..=most).contains(number));
        if read.is_none() {
            let is = match value.type_name() {
                "a number" => "out of range",
                other => other,
            };
            self.wrong(path, value, is, remedy);
        }
        read
    }

    fn milliseconds(&mut self, path: &str, value: &mut Json<'_>) -> Option<u32> {
        let remedy = "use a whole number of milliseconds, 0 for no limit";
        let number = self.number(path, value, (0, u32::MAX.into()), remedy)?;
        u32::try_from(number).ok()
    }

    fn weight(&mut self, path: &str, value: &mut Json<'_>) -> Option<i32> {
        let number = self.number(path, value, (1, 100), "use a whole number from 1 to 100")?;
        i32::try_from(number).ok()
    }

    fn word<W: Word>(&mut self, path: &str, value: &mut Json<'_>) -> Option<W> {
        let meaning = value.as_str().and_then(|text| {
            let found = W::WORDS.iter().find(|(word, _)| *word == text);
            found.map(|(_, meaning)| *meaning)
        });
        if meaning.is_none() {
            let words = join(W::WORDS.iter().map(|(word, _)| *word)).replace(", ", " or ");
            let is = match value.type_name() {
                "a string" => "unknown",
                other => other,
            };
            self.wrong(path, value, is, &format!("use {words}"));
        }
        meaning
    }

    /// Reads a string with `parse`, or reports that it isn't `what`.
    fn parsed<T>(
        &mut self,
        path: &str,
        value: &Json<'_>,
        what: &str,
        remedy: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let Some(text) = value.as_str() else {
            self.wrong_type(path, value, remedy);
            return None;
        };
        let parsed = parse(&text);
        if parsed.is_none() {
            self.wrong(path, value, &format!("not {what}"), remedy);
        }
        parsed
    }

    fn architecture(&mut self, path: &str, value: &mut Json<'_>) -> Option<Architecture> {
        let parse = Architecture::parse;
        self.parsed(path, value, "an architecture", ARCHITECTURE_REMEDY, parse)
    }

    fn architectures(&mut self, path: &str, value: &mut Json<'_>) -> Option<Architectures> {
        let list = self.list(path, value, Self::architecture)?;
        Some(list.into_iter().collect())
    }

    fn operating_system(&mut self, path: &str, value: &mut Json<'_>) -> Option<Os> {
        self.parsed(path, value, "an operating system", OS_REMEDY, Os::parse)
    }

    fn operating_systems(&mut self, path: &str, value: &mut Json<'_>) -> Option<Vec<Os>> {
        if value.is_empty() {
            self.wrong(path, value, "empty", "name at least one, such as linux");
            return None;
        }
        let mut systems: Vec<Os> = Vec::new();
        for os in self.list(path, value, Self::operating_system)? {
            if !systems.contains(&os) {
                systems.push(os);
            }
        }
        Some(systems)
    }

    fn label_key(&mut self, path: &str, value: &mut Json<'_>) -> Option<LabelKey> {
        self.parsed(path, value, "a label key", LABEL_REMEDY, LabelKey::parse)
    }

    fn glob(&mut self, path: &str, value: &mut Json<'_>) -> Option<Pattern> {
        let Some(text) = value.as_str() else {
            self.wrong_type(path, value, GLOB_REMEDY);
            return None;
        };
        if text.is_empty() {
            self.wrong(path, value, "empty", GLOB_REMEDY);
            return None;
        }
        match Pattern::new(&text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let is = format!("not a glob ({} at character {})", error.msg, error.pos);
                self.wrong(path, value, &is, GLOB_REMEDY);
                None
            }
        }
    }

    fn list<T>(
        &mut self,
        path: &str,
        value: &mut Json<'_>,
        read: impl Fn(&mut Self, &str, &mut Json<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut list = Vec::new();
        self.each(path, value, &mut |reader, path, element| {
            list.extend(read(reader, path, element));
        })?;
        Some(list)
    }

    /// Hands out the elements of a list with their paths.
    fn each(
        &mut self,
        path: &str,
        value: &mut Json<'_>,
        read: &mut dyn FnMut(&mut Self, &str, &mut Json<'_>),
    ) -> Option<()> {
        let Some(elements) = value.as_array() else {
            self.wrong_type(path, value, "use a list");
            return None;
        };
        for (index, element) in elements.iter_mut().enumerate() {
            read(self, &format!("{path}[{index}]"), element);
        }
        Some(())
    }

    fn by_architecture<T>(
        &mut self,
        path: &str,
        value: &mut Json<'_>,
        read: impl Fn(&mut Self, &str, &mut Json<'_>) -> Option<T>,
    ) -> Option<Vec<(Architecture, T)>> {
        let mut list: Vec<(Architecture, T)> = Vec::new();
        self.each_architecture(path, value, &mut |reader, path, architecture, member| {
            let member = read(reader, path, member);
            if let (Some(architecture), Some(member)) = (architecture, member) {
                // Sorted, so that nothing depends on the order of the settings.
                let at = list.partition_point(|(known, _)| *known < architecture);
                list.insert(at, (architecture, member));
            }
        })?;
        Some(list)
    }

    /// Hands out the members of an object with architectures as keys, and their paths; an invalid key is `None`.
    fn each_architecture(
        &mut self,
        path: &str,
        value: &mut Json<'_>,
        read: &mut ReadMember<'_>,
    ) -> Option<()> {
        let Some(members) = value.as_object() else {
            self.wrong_type(path, value, "use an object with architectures as keys");
            return None;
        };
        let mut seen = Architectures::default();
        for (key, member) in members.iter_mut() {
            let architecture = Architecture::parse(key);
            let key = elide_end(one_line(key), LONGEST_VALUE);
            let path = format!("{path}.{key}");
            match &architecture {
                None => self.errors.push(format!(
                    "{path}: \"{key}\" is not an architecture, {ARCHITECTURE_REMEDY}"
                )),
                Some(known) if seen.contains(known) => self.errors.push(format!(
                    "{path}: \"{key}\" is {known} again, keep one of the two"
                )),
                Some(known) => seen.insert(known.clone()),
            }
            read(self, &path, architecture, member);
        }
        Some(())
    }

    /// Opens an object of the settings, and reports the members it mustn't have.
    pub(super) fn object<'v, 'a>(
        &mut self,
        path: &str,
        value: &'v mut Json<'a>,
        known: &[&str],
    ) -> Option<&'v mut Object<'a>> {
        if value.as_object().is_none() {
            self.wrong_type(path, value, &format!("use an object with {}", join(known)));
        }
        let members = value.as_object()?;
        self.unknown(members, &format!("{path}."), known, false);
        Some(members)
    }

    /// Reads the member `key` of the object at `path`, which has to have it.
    fn required<T>(
        &mut self,
        path: &str,
        members: &mut Object<'_>,
        key: &str,
        read: impl Fn(&mut Self, &str, &mut Json<'_>) -> Option<T>,
    ) -> Option<T> {
        let path = format!("{path}.{key}");
        match members.get_some(key) {
            Some(value) => read(self, &path, value),
            None => {
                self.errors
                    .push(format!("{path}: missing, give it a value"));
                None
            }
        }
    }

    fn registry_proxy(&mut self, path: &str, value: &mut Json<'_>) -> Option<RegistryProxy> {
        let members = self.object(path, value, &["registry", "proxy"])?;
        let registry = self.required(path, members, "registry", Self::glob);
        let proxy = self.required(path, members, "proxy", |reader, path, value| {
            reader.parsed(path, value, "a registry host", PROXY_REMEDY, proxy)
        });
        Some(RegistryProxy {
            registry: registry?,
            proxy: proxy?,
        })
    }

    fn platform_override(&mut self, path: &str, value: &mut Json<'_>) -> Option<PlatformOverride> {
        let members = self.object(path, value, &["image", "platforms"])?;
        let image = self.required(path, members, "image", Self::glob);
        let platforms = self.required(path, members, "platforms", Self::override_platforms);
        Some(PlatformOverride {
            image: image?,
            platforms: platforms?,
        })
    }

    fn override_platforms(
        &mut self,
        path: &str,
        value: &mut Json<'_>,
    ) -> Option<OverridePlatforms> {
        if value.as_str().is_some_and(|word| word == "any") {
            return Some(OverridePlatforms::Any);
        }
        let is = match value.type_name() {
            "a list" if value.is_empty() => "empty",
            "a list" => {
                let platforms = self.list(path, value, |reader, path, value| {
                    reader.parsed(path, value, "a platform", PLATFORMS_REMEDY, Platform::parse)
                })?;
                return Some(OverridePlatforms::Only(platforms.into_iter().collect()));
            }
            "a string" => "unknown",
            other => other,
        };
        self.wrong(path, value, is, PLATFORMS_REMEDY);
        None
    }

    fn strict(&mut self, path: &str, value: &mut Json<'_>) -> Option<Strict> {
        let members = self.object(path, value, &["namespaces", "requiredArchitectures"])?;
        let namespaces = self.member(members, "namespaces", |reader, key, value| {
            reader.list(&format!("{path}.{key}"), value, Self::glob)
        });
        let required = self.member(members, "requiredArchitectures", |reader, key, value| {
            reader.architectures(&format!("{path}.{key}"), value)
        });
        Some(Strict {
            namespaces: namespaces.unwrap_or_default(),
            required_architectures: required.unwrap_or_default(),
        })
    }
}

/// `host[:port][/prefix]`, where the host reads as one at the start of an image reference.
fn proxy(text: &str) -> Option<String> {
    let (host, prefix) = match text.split_once('/') {
        Some((host, prefix)) => (host, Some(prefix)),
        None => (text, None),
    };
    let host_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    let is_host = (host.contains(['.', ':']) || host == "localhost")
        && host.bytes().all(host_byte)
        && host.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[')
        && host.ends_with(|last: char| last.is_ascii_alphanumeric() || last == ']');
    let is_component = |component: &str| {
        !component.is_empty()
            && component.bytes().all(|byte| {
                byte.is_ascii_lowercase()
                    || byte.is_ascii_digit()
                    || matches!(byte, b'.' | b'_' | b'-')
            })
            && component.starts_with(|first: char| first.is_ascii_alphanumeric())
            && component.ends_with(|last: char| last.is_ascii_alphanumeric())
    };
    let valid = is_host && prefix.is_none_or(|prefix| prefix.split('/').all(is_component));
    valid.then(|| text.to_owned())
}
