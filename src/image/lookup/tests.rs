use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::host::table::TableHost;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

fn container(reference: &str) -> Image {
    Image {
        reference: reference.to_owned(),
        is_run: true,
    }
}

fn volume(reference: &str) -> Image {
    Image {
        reference: reference.to_owned(),
        is_run: false,
    }
}

fn settings(settings: Value) -> Settings {
    Settings::parse(&settings.to_string()).unwrap()
}

/// The finding in words: platforms, `no say`, or the failure.
fn words(finding: &ImageSupport) -> String {
    match finding {
        ImageSupport::Platforms(platforms) => crate::text::join(platforms),
        ImageSupport::Unconstrained => "no say".to_owned(),
        ImageSupport::Failed(failure) => format!("failed: {failure}"),
    }
}

fn find(host: &mut TableHost, settings: &Settings, image: &Image) -> String {
    words(&Lookups::new(host, settings, false).find(image))
}

fn nested(digest: &str, media_type: &str) -> Value {
    json!({"digest": digest, "mediaType": media_type})
}

#[test]
fn an_index_costs_one_lookup() {
    let mut host =
        TableHost::default().index("app:1", &["linux/arm64", "linux/amd64", "windows/amd64"]);
    assert_eq!(
        find(&mut host, &Settings::default(), &container("app:1")),
        "linux/amd64, linux/arm64, windows/amd64"
    );
    assert_eq!(host.lookups, ["manifest app:1"]);
}

#[test]
fn a_single_manifest_is_read_through_its_config_and_never_assumed_to_be_amd64() {
    let mut host =
        TableHost::default().single("app:1", &json!({"os": "linux", "architecture": "arm64"}));
    assert_eq!(
        find(&mut host, &Settings::default(), &container("app:1")),
        "linux/arm64"
    );
    assert_eq!(host.lookups, ["manifest app:1", "config app:1"]);
}

#[rstest]
#[case::attestations_only(json!({"manifests": [{"digest": "sha256:1", "platform": {"os": "unknown", "architecture": "unknown"}}]}), "failed: its index names no platform")]
#[case::empty_index(json!({"manifests": []}), "failed: its index names no platform")]
#[case::helm_chart(json!({"config": {"mediaType": "application/vnd.cncf.helm.config.v1+json"}}), "failed: not a container image (application/vnd.cncf.helm.config.v1+json)")]
#[case::not_a_manifest(json!([1]), "failed: the answer is not an image manifest")]
fn what_tells_no_platform_is_a_failed_lookup(#[case] answer: Value, #[case] expected: &str) {
    let mut host = TableHost::default().manifest("app", &answer);
    assert_eq!(
        find(&mut host, &Settings::default(), &container("app")),
        expected
    );
}

#[rstest]
#[case::null(json!({"os": "linux", "architecture": null}))]
#[case::empty(json!({"os": "linux", "architecture": ""}))]
#[case::missing(json!({"os": "linux"}))]
fn a_config_without_an_architecture_is_a_failed_lookup(#[case] config: Value) {
    let mut host = TableHost::default().single("app", &config);
    assert_eq!(
        find(&mut host, &Settings::default(), &container("app")),
        "failed: its config names no architecture"
    );
}

#[test]
fn an_entry_without_a_platform_is_read_through_its_own_config() {
    let mut host = TableHost::default()
        .manifest(
            "quay.io/a/b:1",
            &json!({"manifests": [
                nested("sha256:1", MANIFEST),
                {"digest": "sha256:2", "platform": {"os": "linux", "architecture": "amd64"}}
            ]}),
        )
        .single(
            "quay.io/a/b@sha256:1",
            &json!({"os": "linux", "architecture": "arm64"}),
        );
    assert_eq!(
        find(&mut host, &Settings::default(), &container("quay.io/a/b:1")),
        "linux/amd64, linux/arm64"
    );
    assert_eq!(
        host.lookups,
        ["manifest quay.io/a/b:1", "config quay.io/a/b@sha256:1"]
    );
}

#[test]
fn an_entry_of_unknown_type_is_asked_for_its_manifest_first() {
    let mut host = TableHost::default()
        .manifest("app", &json!({"manifests": [{"digest": "sha256:1"}]}))
        .single(
            "docker.io/library/app@sha256:1",
            &json!({"os": "linux", "architecture": "arm64"}),
        );
    assert_eq!(
        find(&mut host, &Settings::default(), &container("app")),
        "linux/arm64"
    );
    assert_eq!(host.lookups.len(), 3);
}

#[test]
fn the_failure_of_the_only_entry_is_that_of_the_image() {
    let mut host =
        TableHost::default().manifest("app", &json!({"manifests": [nested("sha256:1", MANIFEST)]}));
    assert_eq!(
        find(&mut host, &Settings::default(), &container("app")),
        "failed: manifest unknown: docker.io/library/app@sha256:1"
    );
}

#[test]
fn an_index_inside_an_index_is_followed_two_levels_deep() {
    let name = |digest: &str| format!("docker.io/library/app@sha256:{digest}");
    let host = || {
        TableHost::default()
            .manifest("app", &json!({"manifests": [nested("sha256:1", INDEX)]}))
            .manifest(
                &name("1"),
                &json!({"manifests": [nested("sha256:2", INDEX)]}),
            )
    };
    let mut two = host().index(&name("2"), &["linux/arm64"]);
    assert_eq!(
        find(&mut two, &Settings::default(), &container("app")),
        "linux/arm64"
    );
    let mut three = host()
        .manifest(
            &name("2"),
            &json!({"manifests": [nested("sha256:3", INDEX)]}),
        )
        .index(&name("3"), &["linux/arm64"]);
    assert_eq!(
        find(&mut three, &Settings::default(), &container("app")),
        "failed: its index names no platform"
    );
    assert_eq!(three.lookups.len(), 3);
}

#[test]
fn a_cycle_of_indexes_ends() {
    let cycle = json!({"manifests": [nested("sha256:1", INDEX), nested("sha256:1", INDEX)]});
    let mut host = TableHost::default()
        .manifest("app", &cycle)
        .manifest("docker.io/library/app@sha256:1", &cycle);
    assert_eq!(
        find(&mut host, &Settings::default(), &container("app")),
        "failed: its index names no platform"
    );
    assert_eq!(host.lookups.len(), 2, "{:?}", host.lookups);
}

#[test]
fn an_index_costs_eight_extra_lookups_at_most() {
    let entries: Vec<Value> = (0..20)
        .map(|number| nested(&format!("sha256:{number}"), MANIFEST))
        .collect();
    let mut host = TableHost::default().manifest("app", &json!({"manifests": entries}));
    for number in 0..20 {
        host = host.single(
            &format!("docker.io/library/app@sha256:{number}"),
            &json!({"os": "linux", "architecture": format!("arch{number}")}),
        );
    }
    find(&mut host, &Settings::default(), &container("app"));
    assert_eq!(host.lookups.len(), 9);
}

#[test]
fn no_reference_is_looked_up_twice() {
    let mut host = TableHost::default().index("app", &["linux/amd64"]);
    let settings = Settings::default();
    let mut lookups = Lookups::new(&mut host, &settings, false);
    for image in [
        "app",
        "app:latest",
        "docker.io/app",
        "docker.io/library/app:latest",
    ] {
        assert_eq!(words(&lookups.find(&container(image))), "linux/amd64");
    }
    assert_eq!(host.lookups, ["manifest app"]);
}

#[test]
fn a_failed_lookup_is_not_repeated() {
    let mut host = TableHost::default();
    let settings = Settings::default();
    let mut lookups = Lookups::new(&mut host, &settings, false);
    lookups.find(&container("app"));
    lookups.find(&container("docker.io/library/app"));
    assert_eq!(host.lookups, ["manifest app"]);
}

#[rstest]
#[case::as_written("private.example.com/*")]
#[case::in_full("private.example.com/team/app:*")]
fn an_override_answers_without_a_lookup(#[case] image: &str) {
    let settings = settings(json!({
        "platformOverrides": [
            {"image": image, "platforms": ["linux/arm64", "linux/arm/v7"]},
            {"image": "*", "platforms": "any"}
        ]
    }));
    let mut host = TableHost::default();
    let image = container("private.example.com/team/app");
    assert_eq!(
        find(&mut host, &settings, &image),
        "linux/arm/v7, linux/arm64"
    );
    assert_eq!(find(&mut host, &settings, &container("other")), "no say");
    assert_eq!(host.lookups, [""; 0]);
}

#[test]
fn an_override_of_a_short_name_may_be_written_in_full() {
    let settings = settings(json!({
        "platformOverrides": [{"image": "docker.io/library/nginx:*", "platforms": ["linux/arm64"]}]
    }));
    let mut host = TableHost::default();
    assert_eq!(
        find(&mut host, &settings, &container("nginx")),
        "linux/arm64"
    );
}

#[rstest]
#[case::short_name("nginx:1", "manifest mirror.local/hub/library/nginx:1")]
#[case::glob("eu.gcr.io/a/b", "manifest gcr.local:5000/a/b")]
#[case::no_match("quay.io/a/b", "manifest quay.io/a/b")]
#[case::glob_needs_a_subdomain("gcr.io/a/b", "manifest gcr.io/a/b")]
fn a_proxy_takes_the_lookups_of_its_registry(#[case] image: &str, #[case] lookup: &str) {
    let settings = settings(json!({
        "registryProxies": [
            {"registry": "docker.io", "proxy": "mirror.local/hub"},
            {"registry": "*.gcr.io", "proxy": "gcr.local:5000"},
            {"registry": "*.gcr.io", "proxy": "never.local"}
        ]
    }));
    let mut host = TableHost::default();
    find(&mut host, &settings, &container(image));
    assert_eq!(host.lookups, [lookup]);
}

#[test]
fn an_index_behind_a_proxy_is_followed_behind_the_proxy() {
    let settings = settings(json!({
        "registryProxies": [{"registry": "docker.io", "proxy": "mirror.local/hub"}]
    }));
    let mut host = TableHost::default().manifest(
        "mirror.local/hub/library/app:1",
        &json!({"manifests": [nested("sha256:1", MANIFEST)]}),
    );
    find(&mut host, &settings, &container("app:1"));
    assert_eq!(
        host.lookups[1],
        "config mirror.local/hub/library/app@sha256:1"
    );
}

#[rstest]
#[case::image(json!({"config": {"mediaType": "application/vnd.oci.image.config.v1+json"}}), "no say")]
#[case::artifact(json!({"config": {"mediaType": "application/vnd.example.model"}}), "no say")]
#[case::index(json!({"manifests": [{"platform": {"os": "linux", "architecture": "arm64"}}]}), "linux/arm64")]
fn an_image_volume_has_a_say_only_as_an_index(#[case] answer: Value, #[case] expected: &str) {
    let mut host = TableHost::default().manifest("data", &answer);
    assert_eq!(
        find(&mut host, &Settings::default(), &volume("data")),
        expected
    );
    assert_eq!(host.lookups, ["manifest data"]);
}

#[rstest]
#[case::only_wasm(&["wasi/wasm"], "no say", "wasi/wasm")]
#[case::also_native(&["wasi/wasm", "linux/amd64"], "linux/amd64", "linux/amd64, wasi/wasm")]
#[case::wasm32(&["wasip1/wasm32"], "no say", "wasip1/wasm32")]
fn wasm_platforms_have_no_say_under_a_runtime_class(
    #[case] platforms: &[&str],
    #[case] with_class: &str,
    #[case] without: &str,
) {
    let settings = Settings::default();
    for (has_runtime_class, expected) in [(true, with_class), (false, without)] {
        let mut host = TableHost::default().index("app", platforms);
        let mut lookups = Lookups::new(&mut host, &settings, has_runtime_class);
        assert_eq!(words(&lookups.find(&container("app"))), expected);
    }
}

#[test]
fn no_lookup_starts_after_the_budget_is_spent() {
    let settings = settings(json!({"lookupBudgetMilliseconds": 500}));
    let mut host = TableHost {
        latency: Duration::from_millis(300),
        ..TableHost::default()
    }
    .index("a", &["linux/amd64"])
    .single("b", &json!({"os": "linux", "architecture": "amd64"}));
    let mut lookups = Lookups::new(&mut host, &settings, false);
    assert_eq!(words(&lookups.find(&container("a"))), "linux/amd64");
    let spent = "failed: the lookup budget of 500 ms was spent";
    assert_eq!(words(&lookups.find(&container("b"))), spent);
    assert_eq!(words(&lookups.find(&container("c"))), spent);
    assert_eq!(host.lookups, ["manifest a", "manifest b"]);
}

#[test]
fn a_budget_of_zero_is_no_limit() {
    let settings = settings(json!({"lookupBudgetMilliseconds": 0}));
    let mut host = TableHost {
        latency: Duration::from_secs(3600),
        ..TableHost::default()
    }
    .index("a", &["linux/amd64"])
    .index("b", &["linux/arm64"]);
    let mut lookups = Lookups::new(&mut host, &settings, false);
    lookups.find(&container("a"));
    assert_eq!(words(&lookups.find(&container("b"))), "linux/arm64");
}

#[rstest]
#[case::empty_digest("app@")]
#[case::colon(":")]
#[case::upper_case("Ghcr.IO/Acme/App:1")]
#[case::trailing_space("nginx ")]
#[case::ipv6("[::1]:5000/a")]
#[case::sha512(&format!("app@sha512:{}", "0".repeat(128)))]
#[case::four_kilobytes(&"a".repeat(4096))]
#[case::tag_and_digest(&format!("app:1@sha256:{}", "0".repeat(64)))]
fn every_reference_reaches_the_host_as_it_is_written(#[case] reference: &str) {
    let mut host = TableHost::default().error(reference, "cannot parse reference");
    assert_eq!(
        find(&mut host, &Settings::default(), &container(reference)),
        "failed: cannot parse reference"
    );
    assert_eq!(host.lookups, [format!("manifest {reference}")]);
}
