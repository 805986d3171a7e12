//! What a registry says of an image, read leniently: only the fields that tell a platform, and an odd value anywhere
//! else fails nothing.
//!
//! Design, section 6; OCI image specification, `image-index.md`, `manifest.md` and `config.md`.

use std::borrow::Cow;

use node_architecture_json::{Document, Json, JsonType};

use crate::{
    platform::{Architecture, Os, Platform},
    text::{elide_end, one_line},
};

/// Annotations by which BuildKit marks the entry of an attestation.
const ATTESTATION_ANNOTATIONS: [&str; 2] =
    ["vnd.docker.reference.type", "vnd.docker.reference.digest"];
/// Media types of indexes.
const INDEX_TYPES: [&str; 2] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];
/// Media types of configs that runtimes accept, and that have an operating system and an architecture if they are those
/// of an image.
const OTHER_CONFIG_TYPES: [&str; 3] = ["application/octet-stream", "text/html", "application/json"];
/// Media types of configs that have an operating system and an architecture: containers and WebAssembly modules.
const CONFIG_TYPES: [&str; 3] = [
    "application/vnd.oci.image.config.v1+json",
    "application/vnd.docker.container.image.v1+json",
    "application/vnd.wasm.config.v0+json",
];
/// Media types of single manifests.
const MANIFEST_TYPES: [&str; 2] = [
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];

/// The label by which a bundle of the Operator Lifecycle Manager says what it holds.
const OLM_BUNDLE_LABEL: &str = "operators.operatorframework.io.bundle.mediatype.v1";
/// What tells a platform, in an index entry and in a config.
const PLATFORM_KEYS: [&str; 3] = ["os", "architecture", "variant"];
/// The longest name that is shown which isn't known.
const LONGEST_WORD: usize = 40;
/// The longest variant that is shown.
const LONGEST_VARIANT: usize = 16;

/// The answer of `oci/v1/oci_manifest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Manifest {
    /// An index, without its attestations.
    Index(Vec<Entry>),
    /// The manifest of an image, whose config has the platform. One whose config is of another media type than that of
    /// images, here, may be that of something else.
    Image(Option<String>),
    /// The manifest of something else, by the media type of its config.
    Artifact(String),
}

/// An entry of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Its platform stands in the index.
    Platform(Platform),
    /// Its platform has to be looked up.
    Unclear {
        /// The digest of what it refers to.
        digest: String,
        /// What it refers to, as far as the index tells.
        kind: EntryKind,
    },
}

/// What an index entry refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// Another index.
    Index,
    /// A single manifest.
    Manifest,
    /// The index doesn't say.
    Unknown,
}

impl Manifest {
    /// Reads the answer of `oci/v1/oci_manifest`; `None` where it is neither an index nor a manifest.
    pub(super) fn parse(answer: &[u8]) -> Option<Self> {
        let document = Document::parse(std::str::from_utf8(answer).ok()?).ok()?;
        let [media_type, manifests, config, artifact_type, schema_version] =
            document.root().pick([
                "mediaType",
                "manifests",
                "config",
                "artifactType",
                "schemaVersion",
            ]);
        let media_type = media_type.and_then(Json::as_str);
        if is_one_of(&media_type, &INDEX_TYPES) || manifests.is_some() {
            let entries = manifests.into_iter().flat_map(Json::elements);
            return Some(Self::Index(entries.filter_map(Entry::parse).collect()));
        }
        if let Some(config) = config.filter(|config| config.json_type() == JsonType::Object) {
            let config_type = config.get("mediaType").and_then(Json::as_str);
            let config_type = config_type.unwrap_or_default();
            return Some(match &*config_type {
                "" => Self::Image(None),
                known if CONFIG_TYPES.contains(&known) => Self::Image(None),
                other if OTHER_CONFIG_TYPES.contains(&other) => {
                    Self::Image(Some(config_type.into_owned()))
                }
                _ => Self::Artifact(config_type.into_owned()),
            });
        }
        let artifact_type = artifact_type.and_then(Json::as_str).or(media_type);
        let is_manifest = artifact_type.is_some() || schema_version.is_some();
        let name = artifact_type.unwrap_or(Cow::Borrowed("no config"));
        is_manifest.then(|| Self::Artifact(name.into_owned()))
    }
}

fn is_one_of(media_type: &Option<Cow<'_, str>>, types: &[&str]) -> bool {
    let media_type = media_type.as_deref();
    media_type.is_some_and(|media_type| types.contains(&media_type))
}

impl Entry {
    /// Reads an entry; `None` where it can be no platform of the image.
    fn parse(entry: Json<'_>) -> Option<Self> {
        let [annotations, platform, media_type, digest] =
            entry.pick(["annotations", "platform", "mediaType", "digest"]);
        if let Some(annotations) = annotations
            && annotations
                .pick(ATTESTATION_ANNOTATIONS)
                .iter()
                .any(Option::is_some)
        {
            return None;
        }
        // An entry with another word than a known one can be no platform of the image: `unknown`, most often.
        match platform.map_or(Named::Nothing, |platform| {
            named(platform.pick(PLATFORM_KEYS))
        }) {
            Named::Platform(platform) => return Some(Self::Platform(platform)),
            Named::Unknown(_) => return None,
            Named::Nothing => {}
        }
        let media_type = media_type.and_then(Json::as_str);
        let kind = if is_one_of(&media_type, &INDEX_TYPES) {
            EntryKind::Index
        } else if is_one_of(&media_type, &MANIFEST_TYPES) {
            EntryKind::Manifest
        } else {
            EntryKind::Unknown
        };
        let digest = digest?.as_str()?;
        let is_digest =
            digest.contains(':') && !digest.contains(|letter: char| letter.is_whitespace());
        is_digest.then(|| Self::Unclear {
            digest: digest.into_owned(),
            kind,
        })
    }
}

/// What the config of an image says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Config {
    /// The platform.
    Platform(Platform),
    /// It names no architecture.
    NoArchitecture,
    /// It names an operating system or an architecture that no node has.
    UnknownPlatform(String),
    /// It is that of a bundle of the Operator Lifecycle Manager: files, and nothing that runs.
    OlmBundle,
}

/// The config in an answer of `oci/v1/oci_manifest_config`; `None` where the answer has none.
pub(super) fn config_of(answer: &[u8]) -> Option<Config> {
    let document = Document::parse(std::str::from_utf8(answer).ok()?).ok()?;
    let config = document.root().get("config")?;
    if config.json_type() != JsonType::Object {
        return None;
    }
    let [os, architecture, variant, runtime] =
        config.pick(["os", "architecture", "variant", "config"]);
    let labels = runtime.and_then(|runtime| runtime.get("Labels"));
    if labels.is_some_and(|labels| labels.get(OLM_BUNDLE_LABEL).is_some()) {
        return Some(Config::OlmBundle);
    }
    Some(match named([os, architecture, variant]) {
        Named::Platform(platform) => Config::Platform(platform),
        Named::Unknown(word) => Config::UnknownPlatform(word),
        Named::Nothing => Config::NoArchitecture,
    })
}

/// What the values of [`PLATFORM_KEYS`] tell.
enum Named {
    /// A platform.
    Platform(Platform),
    /// A word that is no known name.
    Unknown(String),
    /// No architecture.
    Nothing,
}

fn named([os, architecture, variant]: [Option<Json<'_>>; 3]) -> Named {
    let text = |json: Option<Json<'_>>| {
        let text = json.and_then(Json::as_str).unwrap_or_default();
        elide_end(one_line(&text), LONGEST_WORD)
    };
    let (os, architecture) = (text(os), text(architecture));
    if architecture.is_empty() {
        // An entry for an unknown system has no platform either.
        return if os.eq_ignore_ascii_case("unknown") {
            Named::Unknown(os)
        } else {
            Named::Nothing
        };
    }
    let Some(architecture) = Architecture::parse(&architecture) else {
        return Named::Unknown(architecture);
    };
    let known_os = Os::parse(&os);
    if known_os.is_none() && !os.is_empty() {
        return Named::Unknown(os);
    }
    let variant = variant
        .and_then(Json::as_str)
        .filter(|variant| {
            (1..=LONGEST_VARIANT).contains(&variant.len())
                && variant.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
        .map(|variant| variant.to_ascii_lowercase());
    Named::Platform(Platform {
        os: known_os,
        architecture,
        variant,
    })
}

#[cfg(test)]
mod tests;
