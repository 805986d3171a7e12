//! The settings of the policy: read once into types that can't hold an invalid value.
//!
//! [`table`] lists them all. [`types`] has, for each type that a setting can have, how it is read, which errors it gives
//! and its JSON Schema; [`rules`] what several settings have to agree on. Design, section 4.

use std::{fmt, time::Duration};

use node_architecture_json::{Document, Field, Json};
use thiserror::Error;

use crate::{kind::Kind, platform::Architecture};

#[macro_use]
mod members;
#[cfg(feature = "schema")]
pub mod describe;
mod reader;
mod rules;
mod setting;
mod table;
mod types;
#[cfg(feature = "schema")]
mod value_type;

use reader::Reader;
pub use table::Settings;
pub use types::{
    ApiGroup, ByArchitecture, Glob, KindName, LabelKey, Labels, Milliseconds, OnLookupFailure,
    OnNoCommonArchitecture, OnUnfinishedLookups, OnUnplaced, OnUnsupportedSelection,
    OperatingSystems, OverridePlatforms, PlatformOverride, PreferenceEnforcement, PreferenceRule,
    Preferred, ProxyHost, RegistryProxy, Share, Strict, TemplatePath, Weight, WorkloadKind,
};

/// Why settings aren't valid: one text per error.
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
        match Document::parse(text) {
            Ok(document) => Self::read(document.root()),
            Err(error) => Err(InvalidSettings {
                errors: vec![format!("settings: not valid JSON, {error}")],
            }),
        }
    }

    /// Reads settings from a JSON value. `null` and `{}` mean the defaults.
    ///
    /// # Errors
    /// [`InvalidSettings`] with every error that was found.
    pub fn read(json: Json<'_>) -> Result<Self, InvalidSettings> {
        if json.is_null() {
            return Ok(Self::default());
        }
        let mut reader = Reader::default();
        let mut found = [None; Self::KEYS.len()];
        let document = Field::root(json, "");
        let settings = Self::read_document(&mut reader, &document, &mut found);
        if let Some(settings) = &settings {
            rules::check(&mut reader, settings, &found);
        }
        match settings {
            Some(settings) if reader.errors.is_empty() => Ok(settings),
            _ => Err(InvalidSettings {
                errors: reader.errors,
            }),
        }
    }

    /// Whether nodes of `architecture` exist, as far as the settings know.
    pub fn is_schedulable(&self, architecture: Architecture) -> bool {
        self.schedulable_architectures.is_empty()
            || self.schedulable_architectures.contains(architecture)
    }

    /// The kind with this API group and name, whatever its version, if its objects are or hold a Pod.
    pub fn kind(&self, group: &str, name: &str) -> Option<Kind<'_>> {
        Kind::built_in(group, name).or_else(|| {
            let mut added = self.workloads.iter();
            let added = added.find(|it| it.group.as_str() == group && it.kind.as_str() == name)?;
            Some(Kind::Added {
                name: added.kind.as_str(),
                template: added.template.as_str(),
            })
        })
    }

    /// What is preferred for a workload in `namespace` and `bucket` whose Pod (template) has the labels that `label_of`
    /// finds the values of: by the first rule that takes it, else by the settings for all.
    pub fn preferred(
        &self,
        namespace: &str,
        bucket: u8,
        label_of: &dyn Fn(&str) -> Option<String>,
    ) -> Preferred<'_> {
        let mut rules = self.preference_rules.iter();
        match rules.find(|rule| rule.takes(namespace, bucket, label_of)) {
            Some(rule) => rule.preferred(),
            None => self.preferred_by_default(),
        }
    }

    /// What is preferred for workloads that no rule takes.
    fn preferred_by_default(&self) -> Preferred<'_> {
        Preferred {
            architecture: self.preferred_architecture,
            enforcement: self.preference_enforcement,
            weights: &self.architecture_weights,
        }
    }

    /// The strict rules, if they hold in `namespace`.
    pub fn strict_in(&self, namespace: &str) -> Option<&Strict> {
        self.strict
            .as_ref()
            .filter(|strict| strict.namespaces.iter().any(|glob| glob.matches(namespace)))
    }

    /// The time after which no lookup starts; `None` without a limit.
    pub fn lookup_budget(&self) -> Option<Duration> {
        let Milliseconds(budget) = self.lookup_budget_milliseconds;
        (budget > 0).then(|| Duration::from_millis(budget.into()))
    }
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
