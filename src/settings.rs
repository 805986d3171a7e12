//! The settings of the policy: read once into types that can't hold an invalid value.
//!
//! Design, section 4. Reading reports every error at once; each names the setting, the value and the remedy.

use std::{fmt, time::Duration};

use glob::Pattern;
use k8s_openapi::api::core::v1::Toleration;
use thiserror::Error;

use crate::{
    json::Json,
    platform::{Architecture, Architectures, Os, Platforms},
};

mod label_key;
mod reader;
mod toleration;

pub use label_key::LabelKey;
use reader::Reader;

/// The settings, as a policy's user writes them: camelCase keys, each of them optional.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename_all = "camelCase", deny_unknown_fields)
)]
pub struct Settings {
    /// Architectures the cluster can run; others are ignored. Empty: any.
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
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
    #[cfg_attr(feature = "schema", schemars(extend("default" = {})))]
    pub architecture_weights: Vec<(Architecture, i32)>,
    /// The operating systems of the cluster's nodes, in order of preference.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), extend("default" = ["linux"])))]
    pub operating_systems: Vec<Os>,
    /// Pod label keys whose value the node's label must equal.
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub match_node_labels: Vec<LabelKey>,
    /// Where lookups for a registry go instead; the first match wins. Changes lookups only, never the image.
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub registry_proxies: Vec<RegistryProxy>,
    /// Images whose platforms are given here and not looked up; the first match wins.
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
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
    #[cfg_attr(feature = "schema", schemars(extend("default" = {})))]
    pub tolerations: Vec<(Architecture, Vec<Toleration>)>,
    /// The image architectures that nodes of an architecture run besides their own, by hardware or emulation.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "crate::schema::ByArchitecture<Vec<Architecture>>")
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = {})))]
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
    /// Reads settings from the text of a JSON value. `null` and `{}` mean the defaults.
    ///
    /// # Errors
    /// [`InvalidSettings`] with every error that was found.
    pub fn parse(text: &str) -> Result<Self, InvalidSettings> {
        match Json::parse(text) {
            Ok(json) => Self::read(json),
            Err(error) => Err(InvalidSettings {
                errors: vec![format!("settings: not valid JSON, {error}")],
            }),
        }
    }

    /// Reads settings from a JSON value. `null` and `{}` mean the defaults.
    ///
    /// # Errors
    /// [`InvalidSettings`] with every error that was found.
    pub fn read(mut json: Json<'_>) -> Result<Self, InvalidSettings> {
        let mut reader = Reader::default();
        let settings = reader.document(&mut json);
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

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
