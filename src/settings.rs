//! The settings of the policy: read once into types that can't hold an invalid value.
//!
//! Design, section 4. Reading reports every error at once; each names the setting, the value and the remedy.

use std::{fmt, time::Duration};

use glob::Pattern;
use k8s_openapi::api::core::v1::Toleration;
use thiserror::Error;

use crate::{
    json::{Json, Object},
    platform::{Architecture, Architectures, Os, Platform, Platforms},
    text::{elide_end, join, one_line},
};

mod label_key;
mod toleration;

pub use label_key::LabelKey;

/// The settings, as a policy's user writes them: camelCase keys, each of them optional.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename_all = "camelCase", deny_unknown_fields)
)]
pub struct Settings {
    /// Architectures the cluster can run; others are ignored. Empty: any.
    pub schedulable_architectures: Architectures,
    /// The architecture to use when the images leave a choice. null: no preference.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("default" = "amd64"))
    )]
    pub preferred_architecture: Option<Architecture>,
    /// Pod label that overrides preferredArchitecture for one Pod.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("default" = DEFAULT_LABEL))
    )]
    pub preferred_architecture_label: LabelKey,
    /// required: pin the Pod to the preferred architecture. preferred: ask the scheduler for it, and allow every
    /// supported architecture.
    #[cfg_attr(feature = "schema", schemars(extend("default" = "required")))]
    pub preference_enforcement: PreferenceEnforcement,
    /// With preferenceEnforcement preferred: the weight, 1 to 100, of each architecture. Without it, the preferred
    /// one gets 100.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "crate::schema::ByArchitecture<crate::schema::Weight>")
    )]
    pub architecture_weights: Vec<(Architecture, i32)>,
    /// The operating systems of the cluster's nodes, in order of preference.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), extend("default" = ["linux"])))]
    pub operating_systems: Vec<Os>,
    /// Pod label keys whose value the node's label must equal.
    pub match_node_labels: Vec<LabelKey>,
    /// Where lookups for a registry go instead; the first match wins. Changes lookups only, never the image.
    pub registry_proxies: Vec<RegistryProxy>,
    /// Images whose platforms are given here and not looked up; the first match wins.
    pub platform_overrides: Vec<PlatformOverride>,
    /// What an image counts as when its platforms can't be read. ignore: it has no say. fallback: it counts as
    /// fallbackArchitecture. reject: the Pod is rejected.
    #[cfg_attr(feature = "schema", schemars(extend("default" = "ignore")))]
    pub on_lookup_failure: OnLookupFailure,
    /// The architecture of images that can't be read, with onLookupFailure fallback.
    pub fallback_architecture: Option<Architecture>,
    /// What happens to a Pod whose images share no architecture. warn: it passes unchanged, with a warning.
    #[cfg_attr(feature = "schema", schemars(extend("default" = "reject")))]
    pub on_no_common_architecture: OnNoCommonArchitecture,
    /// What happens to a Pod that itself selects an architecture its images don't support. ignore: it isn't looked at.
    #[cfg_attr(feature = "schema", schemars(extend("default" = "warn")))]
    pub on_unsupported_selection: OnUnsupportedSelection,
    /// Tolerations to add to Pods that may land on an architecture, such as the taint of an arm64 pool.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "crate::schema::ByArchitecture<Vec<crate::schema::Toleration>>")
    )]
    pub tolerations: Vec<(Architecture, Vec<Toleration>)>,
    /// The image architectures that nodes of an architecture run besides their own, by hardware or emulation.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "crate::schema::ByArchitecture<Vec<Architecture>>")
    )]
    pub compatible_architectures: Vec<(Architecture, Architectures)>,
    /// Whether image volumes (volumes[].image) take part.
    #[cfg_attr(feature = "schema", schemars(extend("default" = true)))]
    pub image_volumes: bool,
    /// Namespaces in which whatever is unclear or unsupported is rejected.
    pub strict: Option<Strict>,
    /// No lookup starts after this many milliseconds; the rest count as failed lookups. 0: no limit.
    #[cfg_attr(feature = "schema", schemars(with = "u32", range(max = u32::MAX), extend("default" = DEFAULT_BUDGET)))]
    pub lookup_budget_milliseconds: u32,
    /// Whether the decision is recorded in an annotation of the Pod, so that a later evaluation can take it back.
    #[cfg_attr(feature = "schema", schemars(extend("default" = true)))]
    pub annotate: bool,
}

/// The label that Noe reads.
const DEFAULT_LABEL: &str = "arch.noe.adevinta.com/preferred";
/// Well within the one second that policy-server's default limit grants at least.
const DEFAULT_BUDGET: u32 = 700;

impl Default for Settings {
    fn default() -> Self {
        Self {
            schedulable_architectures: Architectures::default(),
            preferred_architecture: Architecture::parse("amd64"),
            preferred_architecture_label: LabelKey::from_static(DEFAULT_LABEL),
            preference_enforcement: PreferenceEnforcement::Required,
            architecture_weights: Vec::new(),
            operating_systems: vec![Os::linux()],
            match_node_labels: Vec::new(),
            registry_proxies: Vec::new(),
            platform_overrides: Vec::new(),
            on_lookup_failure: OnLookupFailure::Ignore,
            fallback_architecture: None,
            on_no_common_architecture: OnNoCommonArchitecture::Reject,
            on_unsupported_selection: OnUnsupportedSelection::Warn,
            tolerations: Vec::new(),
            compatible_architectures: Vec::new(),
            image_volumes: true,
            strict: None,
            lookup_budget_milliseconds: DEFAULT_BUDGET,
            annotate: true,
        }
    }
}

/// Declares an enum that a setting spells as one of a few words.
macro_rules! word_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(inline))]
        pub enum $name {
            $(
                $(#[$variant_meta])*
                #[cfg_attr(feature = "schema", schemars(rename = $word))]
                $variant
            ),+
        }

        impl Word for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    };
}

trait Word: Copy + 'static {
    const WORDS: &'static [(&'static str, Self)];
}

word_enum! {
    /// How strongly a preference binds.
    PreferenceEnforcement {
        /// A node selector, as Noe does.
        Required = "required",
        /// A weighted term of the preferred node affinity.
        Preferred = "preferred",
    }
}

word_enum! {
    /// What a failed lookup means.
    OnLookupFailure {
        /// The image has no say, as in Noe.
        Ignore = "ignore",
        /// The image counts as `fallbackArchitecture`.
        Fallback = "fallback",
        /// The object is rejected.
        Reject = "reject",
    }
}

word_enum! {
    /// What follows when no architecture runs every image.
    OnNoCommonArchitecture {
        /// The object is rejected.
        Reject = "reject",
        /// The object passes unchanged, with a warning.
        Warn = "warn",
    }
}

word_enum! {
    /// What follows when the object selects an architecture that its images don't support.
    OnUnsupportedSelection {
        /// Nothing; the images aren't looked up for it.
        Ignore = "ignore",
        /// A warning.
        Warn = "warn",
        /// The object is rejected.
        Reject = "reject",
    }
}

/// A registry whose lookups go to a proxy.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename_all = "camelCase", deny_unknown_fields)
)]
pub struct RegistryProxy {
    /// Glob of the registry's host, such as docker.io or *.gcr.io.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Glob"))]
    pub registry: Pattern,
    /// Host of the proxy, with a path prefix where it has one: mirror.example.com/dockerhub.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Proxy"))]
    pub proxy: String,
}

/// Images whose platforms the settings give.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename_all = "camelCase", deny_unknown_fields)
)]
pub struct PlatformOverride {
    /// Glob of the image, as the Pod writes it or in full (docker.io/library/nginx:1).
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Glob"))]
    pub image: Pattern,
    /// The platforms, os/architecture or os/architecture/variant; any: the image runs everywhere and has no say.
    pub platforms: OverridePlatforms,
}

/// What a platform override says of its images.
#[derive(Clone, Debug, PartialEq)]
pub enum OverridePlatforms {
    /// They run everywhere.
    Any,
    /// They run on these.
    Only(Platforms),
}

/// Where the policy is strict, and what it demands there.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename_all = "camelCase", deny_unknown_fields)
)]
pub struct Strict {
    /// Globs of the namespaces.
    #[cfg_attr(
        feature = "schema",
        schemars(default, with = "Vec<crate::schema::Glob>")
    )]
    pub namespaces: Vec<Pattern>,
    /// Architectures that every image must support.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub required_architectures: Architectures,
}

/// Why settings aren't valid: one text an error.
#[derive(Debug, Error, PartialEq, Eq)]
pub struct InvalidSettings {
    /// Each names the setting, the value and the remedy.
    pub errors: Vec<String>,
}

impl fmt::Display for InvalidSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.errors.join("; "))
    }
}

impl Settings {
    /// Reads settings from JSON. `null` and `{}` mean the defaults.
    ///
    /// # Errors
    /// [`InvalidSettings`] with every error that was found.
    pub fn parse(text: &str) -> Result<Self, InvalidSettings> {
        let mut reader = Reader::default();
        let settings = match Json::parse(text) {
            Ok(mut json) => reader.document(&mut json),
            Err(error) => {
                reader
                    .errors
                    .push(format!("settings: not valid JSON, {error}"));
                Self::default()
            }
        };
        if reader.errors.is_empty() {
            Ok(settings)
        } else {
            Err(InvalidSettings {
                errors: reader.errors,
            })
        }
    }

    /// Whether nodes of `architecture` exist, as far as the settings know.
    pub fn is_schedulable(&self, architecture: &Architecture) -> bool {
        self.schedulable_architectures.is_empty()
            || self.schedulable_architectures.contains(architecture)
    }

    /// The strict rules, if they hold in `namespace`.
    pub fn strict_in(&self, namespace: &str) -> Option<&Strict> {
        self.strict
            .as_ref()
            .filter(|strict| strict.namespaces.iter().any(|glob| glob.matches(namespace)))
    }

    /// The time after which no lookup starts; `None` without a limit.
    pub fn lookup_budget(&self) -> Option<Duration> {
        (self.lookup_budget_milliseconds > 0)
            .then(|| Duration::from_millis(self.lookup_budget_milliseconds.into()))
    }
}

/// The longest value that a message shows.
const LONGEST_VALUE: usize = 60;

/// A value for a message: its JSON, bounded.
fn shown(value: &Json<'_>) -> String {
    elide_end(&one_line(&value.to_string()), LONGEST_VALUE)
}

const ARCHITECTURE_REMEDY: &str = "use a GOARCH name such as amd64 or arm64";
const OS_REMEDY: &str = "use a GOOS name such as linux or windows";
const GLOB_REMEDY: &str = "use a pattern such as ghcr.io/acme/*";
const LABEL_REMEDY: &str = "use name or prefix/name of letters, digits, '-', '_' and '.'";
const PLATFORMS_REMEDY: &str =
    "use any or a list of os/architecture[/variant], such as [linux/amd64]";
const PROXY_REMEDY: &str =
    "use host[:port][/prefix] without a scheme, such as mirror.example.com/dockerhub";

/// Reads a member of an object with architectures as keys, whose key may be invalid.
type ReadMember<'r> = dyn FnMut(&mut Reader, &str, Option<Architecture>, &mut Json<'_>) + 'r;

/// Reads the values of settings and collects their errors. Every reading function returns `None` after it has
/// reported why.
#[derive(Default)]
struct Reader {
    errors: Vec<String>,
}

impl Reader {
    fn document(&mut self, json: &mut Json<'_>) -> Settings {
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
    fn wrong(&mut self, path: &str, value: &Json<'_>, is: &str, remedy: &str) {
        self.errors
            .push(format!("{path}: {} is {is}, {remedy}", shown(value)));
    }

    fn wrong_type(&mut self, path: &str, value: &Json<'_>, remedy: &str) {
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
                elide_end(&one_line(key), LONGEST_VALUE),
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
    fn number(
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
            let key = elide_end(&one_line(key), LONGEST_VALUE);
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
    fn object<'v, 'a>(
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

/// The settings' keys, in the order of the design.
pub const KEYS: &[&str] = &[
    "schedulableArchitectures",
    "preferredArchitecture",
    "preferredArchitectureLabel",
    "preferenceEnforcement",
    "architectureWeights",
    "operatingSystems",
    "matchNodeLabels",
    "registryProxies",
    "platformOverrides",
    "onLookupFailure",
    "fallbackArchitecture",
    "onNoCommonArchitecture",
    "onUnsupportedSelection",
    "tolerations",
    "compatibleArchitectures",
    "imageVolumes",
    "strict",
    "lookupBudgetMilliseconds",
    "annotate",
];

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

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
