//! What settings say about images and registries.

use glob::Pattern;
use node_architecture_json::{Field, JsonType};

#[cfg(feature = "schema")]
use crate::settings::value_type::ValueType;
use crate::{
    platform::{Platform, Platforms},
    settings::{reader::Reader, setting::Setting},
};

const GLOB_REMEDY: &str = "use a pattern such as ghcr.io/acme/*";
pub(super) const PLATFORMS_REMEDY: &str =
    "use any or a list of os/architecture[/variant], such as [linux/amd64]";
const PROXY_REMEDY: &str =
    "use host[:port][/prefix] without a scheme, such as mirror.example.com/dockerhub";

object! {
    /// A registry whose lookups go to a proxy.
    RegistryProxy {
        /// Pattern of the registry's host, such as docker.io or *.gcr.io.
        registry: Glob = "registry";
        /// Host of the proxy, with a path prefix where it has one, without a scheme: mirror.example.com/dockerhub.
        proxy: ProxyHost = "proxy";
    }
}

object! {
    /// Images whose platforms the settings give.
    PlatformOverride {
        /// Pattern of the image, as the Pod writes it or in full: docker.io/library/nginx:1.
        image: Glob = "image";
        /// The platforms, os/architecture or os/architecture/variant; any: the image runs everywhere.
        platforms: OverridePlatforms = "platforms";
    }
}

/// A shell pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Glob(Pattern);

impl Glob {
    /// Whether `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        self.0.matches(text)
    }
}

impl Setting for Glob {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let Some(text) = field.json().as_str() else {
            reader.wrong_type(field, GLOB_REMEDY);
            return None;
        };
        if text.is_empty() {
            reader.wrong(field, "empty", GLOB_REMEDY);
            return None;
        }
        match Pattern::new(&text) {
            Ok(pattern) => Some(Self(pattern)),
            Err(error) => {
                let is = format!("not a glob ({} at character {})", error.msg, error.pos);
                reader.wrong(field, &is, GLOB_REMEDY);
                None
            }
        }
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::scalar("string", "string").with("minLength", 1)
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.0.as_str().into()
    }
}

/// The host of a registry proxy, with its path prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct ProxyHost(String);

impl ProxyHost {
    /// The text of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `host[:port][/prefix]`, where the host reads as one at the start of an image reference.
    fn parse(text: &str) -> Option<Self> {
        let (host, prefix) = match text.split_once('/') {
            Some((host, prefix)) => (host, Some(prefix)),
            None => (text, None),
        };
        let host_byte = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']')
        };
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
        valid.then(|| Self(text.to_owned()))
    }
}

impl Setting for ProxyHost {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        reader.parsed(field, "a registry host", PROXY_REMEDY, Self::parse)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::text(
            "^(localhost|[A-Za-z0-9\\[][A-Za-z0-9:\\[\\]-]*[.:][A-Za-z0-9.:\\[\\]-]*[A-Za-z0-9\\]])(/[a-z0-9]([a-z0-9._-]*[a-z0-9])?)*$",
        )
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.0.as_str().into()
    }
}

/// What a platform override says of its images.
#[derive(Clone, Debug, PartialEq)]
pub enum OverridePlatforms {
    /// They run everywhere.
    Any,
    /// They run on these.
    Only(Platforms),
}

impl Setting for OverridePlatforms {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let json = field.json();
        match json.json_type() {
            JsonType::String if json.as_str().is_some_and(|word| word == "any") => Some(Self::Any),
            JsonType::String => {
                reader.wrong(field, "unknown", PLATFORMS_REMEDY);
                None
            }
            JsonType::List if json.is_empty() => {
                reader.wrong(field, "empty", PLATFORMS_REMEDY);
                None
            }
            JsonType::List => {
                let platforms: Vec<Platform> = Vec::read(reader, field)?;
                Some(Self::Only(platforms.into_iter().collect()))
            }
            _ => {
                reader.wrong_type(field, PLATFORMS_REMEDY);
                None
            }
        }
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        let platforms = ValueType::list(Platform::describe()).with("minItems", 1);
        ValueType {
            schema: serde_json::json!({"anyOf": [{"const": "any"}, platforms.schema]}),
            question: platforms.question,
        }
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Any => "any".into(),
            Self::Only(platforms) => platforms.iter().map(Platform::to_json).collect(),
        }
    }
}
