//! What a registry says of an image, read leniently: only the fields that tell a platform, and an odd value anywhere
//! else fails nothing.
//!
//! Design, section 6; OCI image specification, `image-index.md`, `manifest.md` and `config.md`.

use crate::{
    json::{Json, Object},
    platform::{Architecture, Os, Platform},
};

/// Annotations by which BuildKit marks the entry of an attestation.
const ATTESTATION_ANNOTATIONS: [&str; 2] =
    ["vnd.docker.reference.type", "vnd.docker.reference.digest"];
/// Media types of indexes.
const INDEX_TYPES: [&str; 2] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];
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
/// The longest variant that is shown.
const LONGEST_VARIANT: usize = 16;

/// The answer of `oci/v1/oci_manifest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Manifest {
    /// An index, without its attestations.
    Index(Vec<Entry>),
    /// The manifest of an image, whose config has the platform.
    Image,
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
        let mut json = Json::parse(std::str::from_utf8(answer).ok()?).ok()?;
        let object = json.as_object()?;
        let is_index = object
            .get_str("mediaType")
            .is_some_and(|media_type| INDEX_TYPES.contains(&media_type.as_ref()));
        if is_index || object.get_some("manifests").is_some() {
            let entries = object.get_array("manifests").map(|entries| {
                entries
                    .iter_mut()
                    .filter_map(|entry| Entry::parse(entry.as_object()?))
                    .collect()
            });
            return Some(Self::Index(entries.unwrap_or_default()));
        }
        if let Some(config) = object.get_object("config") {
            let media_type = config.get_str("mediaType").unwrap_or_default();
            return Some(
                if media_type.is_empty() || CONFIG_TYPES.contains(&media_type.as_ref()) {
                    Self::Image
                } else {
                    Self::Artifact(media_type.into_owned())
                },
            );
        }
        let media_type = ["artifactType", "mediaType"]
            .iter()
            .find_map(|key| object.get_str(key).map(|text| text.into_owned()));
        let is_manifest = media_type.is_some() || object.get("schemaVersion").is_some();
        is_manifest.then(|| Self::Artifact(media_type.unwrap_or_else(|| "no config".to_owned())))
    }
}

impl Entry {
    /// Reads an entry; `None` where it can be no platform of the image.
    fn parse(entry: &mut Object<'_>) -> Option<Self> {
        if let Some(annotations) = entry.get_object("annotations")
            && ATTESTATION_ANNOTATIONS
                .iter()
                .any(|key| annotations.get(key).is_some())
        {
            return None;
        }
        if let Some(platform) = entry.get_object("platform") {
            let is_unknown = ["os", "architecture"].iter().any(|key| {
                platform
                    .get_str(key)
                    .is_some_and(|text| text.eq_ignore_ascii_case("unknown"))
            });
            if is_unknown {
                return None;
            }
            if let Some(platform) = platform_of(platform) {
                return Some(Self::Platform(platform));
            }
        }
        let kind = match entry.get_str("mediaType") {
            Some(media_type) if INDEX_TYPES.contains(&media_type.as_ref()) => EntryKind::Index,
            Some(media_type) if MANIFEST_TYPES.contains(&media_type.as_ref()) => {
                EntryKind::Manifest
            }
            _ => EntryKind::Unknown,
        };
        let digest = entry.get_str("digest")?;
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
    /// It is that of a bundle of the Operator Lifecycle Manager: files, and nothing that runs.
    OlmBundle,
}

/// The config in an answer of `oci/v1/oci_manifest_config`; `None` where the answer has none.
pub(super) fn config_of(answer: &[u8]) -> Option<Config> {
    let mut json = Json::parse(std::str::from_utf8(answer).ok()?).ok()?;
    let config = json.as_object()?.get_object("config")?;
    let labels = config
        .get_object("config")
        .and_then(|runtime| runtime.get_object("Labels"));
    if labels.is_some_and(|labels| labels.get(OLM_BUNDLE_LABEL).is_some()) {
        return Some(Config::OlmBundle);
    }
    Some(platform_of(config).map_or(Config::NoArchitecture, Config::Platform))
}

/// The platform that `os`, `architecture` and `variant` of an object tell; `None` without an architecture.
fn platform_of(object: &mut Object<'_>) -> Option<Platform> {
    let architecture = Architecture::parse(&object.get_str("architecture")?)?;
    let os = object.get_str("os").and_then(|os| Os::parse(&os));
    let variant = object
        .get_str("variant")
        .filter(|variant| {
            (1..=LONGEST_VARIANT).contains(&variant.len())
                && variant.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
        .map(|variant| variant.to_ascii_lowercase());
    Some(Platform {
        os,
        architecture,
        variant,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn parse(answer: &Value) -> Option<Manifest> {
        Manifest::parse(answer.to_string().as_bytes())
    }

    fn index(entry: Value) -> Vec<Entry> {
        match parse(&json!({"manifests": [entry]})) {
            Some(Manifest::Index(entries)) => entries,
            other => panic!("{other:?}"),
        }
    }

    fn platform(text: &str) -> Entry {
        Entry::Platform(Platform::parse(text).unwrap())
    }

    #[rstest]
    #[case::plain(json!({"platform": {"os": "linux", "architecture": "amd64"}}), "linux/amd64")]
    #[case::alias(json!({"platform": {"os": "linux", "architecture": "aarch64"}}), "linux/arm64")]
    #[case::variant(json!({"platform": {"os": "linux", "architecture": "arm", "variant": "v7"}}), "linux/arm/v7")]
    #[case::os_version(json!({"platform": {"os": "windows", "architecture": "amd64", "os.version": "10.0.20348.1"}}), "windows/amd64")]
    #[case::odd_fields(json!({"size": "big", "annotations": 7, "platform": {"os": "linux", "architecture": "amd64", "features": 1, "variant": null}}), "linux/amd64")]
    fn an_entry_has_the_platform_that_the_index_gives(
        #[case] entry: Value,
        #[case] expected: &str,
    ) {
        assert_eq!(index(entry), [platform(expected)]);
    }

    #[rstest]
    #[case::unknown(json!({"digest": "sha256:1", "platform": {"os": "unknown", "architecture": "unknown"}}))]
    #[case::unknown_os(json!({"digest": "sha256:1", "platform": {"os": "unknown", "architecture": "amd64"}}))]
    #[case::marked_by_type(json!({"digest": "sha256:1", "annotations": {"vnd.docker.reference.type": "attestation-manifest"}}))]
    #[case::real_platform_but_marked_by_digest(json!({"digest": "sha256:1", "platform": {"os": "linux", "architecture": "amd64"}, "annotations": {"vnd.docker.reference.digest": "sha256:2"}}))]
    #[case::no_platform_and_no_digest(json!({"mediaType": "application/vnd.oci.image.manifest.v1+json"}))]
    #[case::digest_that_is_none(json!({"digest": "latest"}))]
    #[case::not_an_object(json!("sha256:1"))]
    fn attestations_and_unreadable_entries_are_no_platform(#[case] entry: Value) {
        assert_eq!(index(entry), []);
    }

    #[rstest]
    #[case::no_platform(json!({"digest": "sha256:1", "mediaType": "application/vnd.oci.image.manifest.v1+json"}), EntryKind::Manifest)]
    #[case::null_platform(json!({"digest": "sha256:1", "platform": null, "mediaType": "application/vnd.docker.distribution.manifest.v2+json"}), EntryKind::Manifest)]
    #[case::empty_platform(json!({"digest": "sha256:1", "platform": {}}), EntryKind::Unknown)]
    #[case::empty_architecture(json!({"digest": "sha256:1", "platform": {"os": "linux", "architecture": ""}}), EntryKind::Unknown)]
    #[case::nested_index(json!({"digest": "sha256:1", "mediaType": "application/vnd.oci.image.index.v1+json"}), EntryKind::Index)]
    #[case::nested_list(json!({"digest": "sha256:1", "mediaType": "application/vnd.docker.distribution.manifest.list.v2+json"}), EntryKind::Index)]
    fn an_entry_without_a_platform_is_to_be_looked_up(
        #[case] entry: Value,
        #[case] kind: EntryKind,
    ) {
        let digest = "sha256:1".to_owned();
        assert_eq!(index(entry), [Entry::Unclear { digest, kind }]);
    }

    #[rstest]
    #[case::empty_index(json!({"manifests": []}), Manifest::Index(vec![]))]
    #[case::index_by_media_type(json!({"mediaType": "application/vnd.oci.image.index.v1+json"}), Manifest::Index(vec![]))]
    #[case::odd_manifests(json!({"manifests": "none"}), Manifest::Index(vec![]))]
    #[case::oci_image(json!({"config": {"mediaType": "application/vnd.oci.image.config.v1+json"}}), Manifest::Image)]
    #[case::docker_image(json!({"manifests": null, "config": {"mediaType": "application/vnd.docker.container.image.v1+json"}}), Manifest::Image)]
    #[case::config_without_a_type(json!({"config": {}}), Manifest::Image)]
    #[case::wasm_module(json!({"config": {"mediaType": "application/vnd.wasm.config.v0+json"}}), Manifest::Image)]
    #[case::helm_chart(json!({"config": {"mediaType": "application/vnd.cncf.helm.config.v1+json"}}), Manifest::Artifact("application/vnd.cncf.helm.config.v1+json".to_owned()))]
    #[case::empty_config(json!({"artifactType": "a/b", "config": {"mediaType": "application/vnd.oci.empty.v1+json"}}), Manifest::Artifact("application/vnd.oci.empty.v1+json".to_owned()))]
    #[case::artifact_without_config(json!({"artifactType": "application/vnd.example"}), Manifest::Artifact("application/vnd.example".to_owned()))]
    #[case::schema_1(json!({"schemaVersion": 1, "fsLayers": []}), Manifest::Artifact("no config".to_owned()))]
    fn an_answer_is_an_index_an_image_or_an_artifact(
        #[case] answer: Value,
        #[case] expected: Manifest,
    ) {
        assert_eq!(parse(&answer), Some(expected));
    }

    #[rstest]
    #[case::not_json(b"<html>")]
    #[case::not_utf8(b"\xff\xfe")]
    #[case::no_object(b"[]")]
    #[case::nothing(b"")]
    #[case::another_object(b"{\"a\":1}")]
    fn anything_else_is_no_manifest(#[case] answer: &[u8]) {
        assert_eq!(Manifest::parse(answer), None);
    }

    #[rstest]
    #[case::plain(json!({"os": "linux", "architecture": "arm64", "variant": "v8"}), Some("linux/arm64/v8"))]
    #[case::unknown_fields(json!({"os": "linux", "architecture": "amd64", "rootfs": 3, "history": {}, "x": [1]}), Some("linux/amd64"))]
    #[case::missing_os(json!({"architecture": "amd64"}), Some("any/amd64"))]
    #[case::empty_os(json!({"os": "", "architecture": "amd64"}), Some("any/amd64"))]
    #[case::null_architecture(json!({"os": "linux", "architecture": null}), None)]
    #[case::empty_architecture(json!({"os": "linux", "architecture": ""}), None)]
    #[case::missing_architecture(json!({"os": "linux"}), None)]
    #[case::architecture_of_another_type(json!({"os": "linux", "architecture": ["amd64"]}), None)]
    fn the_platform_of_a_single_manifest_is_in_its_config(
        #[case] config: Value,
        #[case] expected: Option<&str>,
    ) {
        let answer = json!({"manifest": {}, "digest": "sha256:1", "config": config});
        let platform = match config_of(answer.to_string().as_bytes()).unwrap() {
            Config::Platform(platform) => Some(platform.to_string()),
            Config::NoArchitecture => None,
            Config::OlmBundle => panic!("no bundle"),
        };
        assert_eq!(platform, expected.map(str::to_owned));
    }

    #[test]
    fn an_olm_bundle_is_known_by_its_label() {
        let labels = json!({OLM_BUNDLE_LABEL: "registry+v1"});
        let config = json!({"os": "linux", "architecture": "amd64", "config": {"Labels": labels}});
        let answer = json!({"config": config}).to_string();
        assert_eq!(config_of(answer.as_bytes()), Some(Config::OlmBundle));
    }

    #[test]
    fn an_answer_without_a_config_is_no_platform() {
        assert_eq!(config_of(b"{}"), None);
        assert_eq!(config_of(b"{\"config\":null}"), None);
        assert_eq!(config_of(b"no"), None);
    }
}
