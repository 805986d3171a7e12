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
fn an_entry_has_the_platform_that_the_index_gives(#[case] entry: Value, #[case] expected: &str) {
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
fn an_entry_without_a_platform_is_to_be_looked_up(#[case] entry: Value, #[case] kind: EntryKind) {
    let digest = "sha256:1".to_owned();
    assert_eq!(index(entry), [Entry::Unclear { digest, kind }]);
}

#[rstest]
#[case::empty_index(json!({"manifests": []}), Manifest::Index(vec![]))]
#[case::index_by_media_type(json!({"mediaType": "application/vnd.oci.image.index.v1+json"}), Manifest::Index(vec![]))]
#[case::odd_manifests(json!({"manifests": "none"}), Manifest::Index(vec![]))]
#[case::oci_image(json!({"config": {"mediaType": "application/vnd.oci.image.config.v1+json"}}), Manifest::Image(None))]
#[case::docker_image(json!({"manifests": null, "config": {"mediaType": "application/vnd.docker.container.image.v1+json"}}), Manifest::Image(None))]
#[case::config_without_a_type(json!({"config": {}}), Manifest::Image(None))]
#[case::wasm_module(json!({"config": {"mediaType": "application/vnd.wasm.config.v0+json"}}), Manifest::Image(None))]
#[case::odd_type_that_runtimes_accept(json!({"config": {"mediaType": "application/octet-stream"}}), Manifest::Image(Some("application/octet-stream".to_owned())))]
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
        Config::NoArchitecture | Config::UnknownPlatform(_) => None,
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
