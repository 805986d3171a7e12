//! Host capabilities: what the policy may ask, and who answers.

use std::fmt;

use thiserror::Error;

/// The namespace of the two capabilities that the policy uses.
pub const OCI: &str = "oci";
/// The operation that answers with a manifest or an index.
pub const MANIFEST: &str = "v1/oci_manifest";
/// The operation that answers with a manifest, its digest and its config.
pub const MANIFEST_AND_CONFIG: &str = "v1/oci_manifest_config";

/// A question of the policy to the registry, about an image.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Lookup {
    /// `oci/v1/oci_manifest`.
    Manifest(String),
    /// `oci/v1/oci_manifest_config`.
    ManifestAndConfig(String),
}

impl Lookup {
    /// The image asked about.
    pub fn image(&self) -> &str {
        match self {
            Self::Manifest(image) | Self::ManifestAndConfig(image) => image,
        }
    }
}

impl fmt::Display for Lookup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest(image) => write!(formatter, "{OCI}/{MANIFEST} of {image}"),
            Self::ManifestAndConfig(image) => {
                write!(formatter, "{OCI}/{MANIFEST_AND_CONFIG} of {image}")
            }
        }
    }
}

/// Who answers lookups.
pub trait Answers: Send {
    /// The answer to `lookup`, JSON.
    ///
    /// # Errors
    /// The text of an error, which the policy gets to see.
    fn answer(&mut self, lookup: &Lookup) -> Result<String, String>;

    /// What went wrong with answering, apart from errors that the policy got to see; nothing by default. An evaluation
    /// with such a problem proves nothing.
    fn problems(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The capabilities that the policy is granted, as patterns: `*`, `oci/*`, `oci/v1/*` or a whole path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed(Vec<String>);

/// A pattern that grants nothing the host has.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "host capability {pattern:?} is unknown, use *, a path such as oci/v1/oci_manifest, or a prefix of one with /*"
)]
pub struct UnknownCapability {
    pattern: String,
}

/// Every capability of the host.
const CAPABILITIES: [&str; 11] = [
    "crypto/v1/is_certificate_trusted",
    "kubernetes/can_i",
    "kubernetes/get_resource",
    "kubernetes/list_resources_all",
    "kubernetes/list_resources_by_namespace",
    "net/v1/dns_lookup_host",
    "oci/v1/manifest_digest",
    "oci/v1/oci_manifest",
    "oci/v1/oci_manifest_config",
    "oci/v1/verify",
    "oci/v2/verify",
];

impl Allowed {
    /// Everything.
    pub fn all() -> Self {
        Self(vec!["*".to_owned()])
    }

    /// What `patterns` match.
    ///
    /// # Errors
    /// [`UnknownCapability`] for a pattern that matches no capability of the host.
    pub fn new(patterns: &[String]) -> Result<Self, UnknownCapability> {
        for pattern in patterns {
            if !CAPABILITIES.iter().any(|path| matches(pattern, path)) {
                return Err(UnknownCapability {
                    pattern: pattern.clone(),
                });
            }
        }
        Ok(Self(patterns.to_vec()))
    }

    /// Whether the capability `path` is granted.
    pub fn allows(&self, path: &str) -> bool {
        self.0.iter().any(|pattern| matches(pattern, path))
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("") => true,
        Some(prefix) => prefix.ends_with('/') && path.starts_with(prefix),
        None => pattern == path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(pattern: &str) -> Result<Allowed, UnknownCapability> {
        Allowed::new(&[pattern.to_owned()])
    }

    #[test]
    fn patterns_grant_what_they_match() {
        for pattern in ["*", "oci/*", "oci/v1/*", "oci/v1/oci_manifest"] {
            let allowed = allowed(pattern).unwrap();
            assert!(allowed.allows("oci/v1/oci_manifest"), "{pattern}");
        }
        for pattern in ["net/*", "oci/v2/*", "oci/v1/oci_manifest_config"] {
            let allowed = allowed(pattern).unwrap();
            assert!(!allowed.allows("oci/v1/oci_manifest"), "{pattern}");
        }
        assert!(!Allowed::new(&[]).unwrap().allows("oci/v1/oci_manifest"));
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_refused_by_name() {
        for pattern in ["", "oci", "oci*", "oci/v1/oci_*", "oci/v9/verify"] {
            let error = allowed(pattern).unwrap_err().to_string();
            assert!(error.contains(&format!("{pattern:?}")), "{error}");
        }
    }
}
