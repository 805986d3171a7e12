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
        ImageSupport::Partly(platforms, failure) => {
            format!(
                "{}, and perhaps more: {failure}",
                crate::text::join(platforms)
            )
        }
        ImageSupport::Failed(failure) => format!("failed: {failure}"),
        ImageSupport::Unfinished => "unfinished".to_owned(),
    }
}

fn find(host: &mut TableHost, settings: &Settings, image: &Image) -> String {
    words(&read(host, settings, false, image))
}

/// What one image runs on, for a Pod with a runtime class or without.
fn read(
    host: &mut TableHost,
    settings: &Settings,
    has_runtime_class: bool,
    image: &Image,
) -> ImageSupport {
    let traits = PodTraits {
        has_runtime_class,
        is_strict: false,
    };
    let mut lookups = Lookups::new(host, settings);
    let images = std::slice::from_ref(image);
    lookups.read(images, traits, &mut |_, _| false).remove(0).1
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
            &json!({"os": "linux", "architecture": "amd64"}),
        );
    }
    find(&mut host, &Settings::default(), &container("app"));
    assert_eq!(host.lookups.len(), 9);
}

/// What each of the images runs on, in words.
fn read_all(host: &mut TableHost, settings: &Settings, images: &[&str]) -> Vec<String> {
    let images: Vec<Image> = images.iter().map(|image| container(image)).collect();
    let mut lookups = Lookups::new(host, settings);
    let read = lookups.read(&images, PodTraits::default(), &mut |_, _| false);
    read.iter().map(|(_, support)| words(support)).collect()
}

#[test]
fn no_reference_is_looked_up_twice() {
    let mut host = TableHost::default().index("app", &["linux/amd64"]);
    let images = [
        "app",
        "app:latest",
        "docker.io/app",
        "docker.io/library/app:latest",
    ];
    let read = read_all(&mut host, &Settings::default(), &images);
    assert_eq!(read, ["linux/amd64"; 4]);
    assert_eq!(host.lookups, ["manifest app"]);
}

#[test]
fn a_failed_lookup_is_not_repeated() {
    let mut host = TableHost::default();
    let images = ["app", "docker.io/library/app"];
    read_all(&mut host, &Settings::default(), &images);
    assert_eq!(host.lookups, ["manifest app"]);
}

#[test]
fn manifests_come_first_then_configs_then_entries_beside_others() {
    let sbom = json!({"manifests": [
        {"digest": "sha256:1", "platform": {"os": "linux", "architecture": "amd64"}},
        nested("sha256:2", MANIFEST)
    ]});
    let config = json!({"os": "linux", "architecture": "amd64"});
    let mut host = TableHost::default()
        .manifest("quay.io/sbom", &sbom)
        .single("quay.io/sbom@sha256:2", &json!({}))
        .single("single", &config)
        .manifest(
            "bare",
            &json!({"manifests": [nested("sha256:3", MANIFEST)]}),
        )
        .single("docker.io/library/bare@sha256:3", &config)
        .index("last", &["linux/amd64"]);
    let images = ["quay.io/sbom", "single", "bare", "last"];
    let read = read_all(&mut host, &Settings::default(), &images);
    assert_eq!(read, ["linux/amd64"; 4]);
    assert_eq!(
        host.lookups,
        [
            "manifest quay.io/sbom",
            "manifest single",
            "manifest bare",
            "manifest last",
            "config single",
            "config docker.io/library/bare@sha256:3",
            "config quay.io/sbom@sha256:2",
        ]
    );
}

#[test]
fn an_entry_that_cannot_be_read_leaves_the_image_partly_read() {
    let index = json!({"manifests": [
        {"digest": "sha256:1", "platform": {"os": "linux", "architecture": "amd64"}},
        nested("sha256:2", MANIFEST)
    ]});
    let mut host = TableHost::default().manifest("quay.io/a", &index);
    assert_eq!(
        find(&mut host, &Settings::default(), &container("quay.io/a")),
        "linux/amd64, and perhaps more: manifest unknown: quay.io/a@sha256:2"
    );
}

#[test]
fn once_nothing_is_in_common_no_other_image_is_looked_up() {
    let mut host = TableHost::default()
        .index("a", &["linux/amd64"])
        .index("b", &["linux/arm64"]);
    let settings = Settings::default();
    let images = [container("a"), container("b"), container("c")];
    let mut lookups = Lookups::new(&mut host, &settings);
    let read = lookups.read(&images, PodTraits::default(), &mut |image, _| {
        image.reference == "b"
    });
    assert_eq!(read.len(), 2);
    assert_eq!(host.lookups, ["manifest a", "manifest b"]);
}

#[rstest]
#[case::listed("quay.io/a", "linux/amd64")]
#[case::glob("eu.example.com/a", "linux/amd64")]
#[case::elsewhere(
    "evil.io/a",
    "failed: registry evil.io is not in the policy's registries"
)]
#[case::behind_a_proxy("docker.io/a/b", "linux/amd64")]
fn lookups_go_to_the_registries_of_the_settings_only(#[case] image: &str, #[case] expected: &str) {
    let settings = settings(json!({
        "registries": ["quay.io", "*.example.com", "mirror.local"],
        "registryProxies": [{"registry": "docker.io", "proxy": "mirror.local"}]
    }));
    let mut host = TableHost::default()
        .index("quay.io/a", &["linux/amd64"])
        .index("eu.example.com/a", &["linux/amd64"])
        .index("mirror.local/a/b", &["linux/amd64"]);
    assert_eq!(find(&mut host, &settings, &container(image)), expected);
}

#[rstest]
#[case::unknown_architecture(json!({"os": "linux", "architecture": "noarch"}), "failed: its config names no known platform but noarch")]
#[case::unknown_system(json!({"os": "linus", "architecture": "amd64"}), "failed: its config names no known platform but linus")]
#[case::alias(json!({"os": "linux", "architecture": "loongarch64"}), "linux/loong64")]
fn a_config_counts_by_known_names(#[case] config: Value, #[case] expected: &str) {
    let mut host = TableHost::default().single("app", &config);
    assert_eq!(
        find(&mut host, &Settings::default(), &container("app")),
        expected
    );
}

#[test]
fn an_entry_of_an_unknown_word_is_skipped() {
    let mut host =
        TableHost::default().index("app", &["linux/noarch", "linux/arm64", "linus/amd64"]);
    assert_eq!(
        find(&mut host, &Settings::default(), &container("app")),
        "linux/arm64"
    );
}

#[rstest]
#[case::octet_stream("application/octet-stream")]
#[case::json("application/json")]
#[case::html("text/html")]
fn a_config_of_a_type_that_runtimes_accept_counts_if_it_names_an_architecture(
    #[case] media_type: &str,
) {
    let manifest = json!({"config": {"mediaType": media_type}, "layers": []});
    let answer = |config: Value| json!({"config": config}).to_string();
    for (config, expected) in [
        (
            json!({"os": "linux", "architecture": "arm64"}),
            "linux/arm64".to_owned(),
        ),
        (
            json!({"x": 1}),
            format!("failed: not a container image ({media_type})"),
        ),
    ] {
        let mut host = TableHost::default().manifest("app", &manifest);
        host.configs.insert("app".to_owned(), Ok(answer(config)));
        assert_eq!(
            find(&mut host, &Settings::default(), &container("app")),
            expected
        );
    }
}

#[test]
fn an_olm_bundle_narrows_nothing_but_in_strict_namespaces() {
    let config = json!({"architecture": "amd64", "os": "linux", "config": {"Labels": {"operators.operatorframework.io.bundle.mediatype.v1": "registry+v1"}}});
    for (is_strict, expected) in [
        (false, "no say"),
        (true, "failed: not a container image (OLM bundle)"),
    ] {
        let mut host = TableHost::default().single("bundle", &config);
        let traits = PodTraits {
            is_strict,
            ..PodTraits::default()
        };
        let settings = Settings::default();
        let mut lookups = Lookups::new(&mut host, &settings);
        let read = lookups.read(&[container("bundle")], traits, &mut |_, _| false);
        assert_eq!(words(&read[0].1), expected);
    }
}

#[test]
fn an_artifact_narrows_nothing_under_a_runtime_class() {
    let spin =
        json!({"config": {"mediaType": "application/vnd.fermyon.spin.application.v1+config"}});
    let mut host = TableHost::default().manifest("app", &spin);
    let settings = Settings::default();
    assert_eq!(
        words(&read(&mut host, &settings, true, &container("app"))),
        "no say"
    );
    assert!(find(&mut host, &settings, &container("app")).starts_with("failed"));
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
#[case::wasm32(&["wasip1/wasm32"], "no say", "wasip1/wasm")]
fn wasm_platforms_have_no_say_under_a_runtime_class(
    #[case] platforms: &[&str],
    #[case] with_class: &str,
    #[case] without: &str,
) {
    let settings = Settings::default();
    for (has_runtime_class, expected) in [(true, with_class), (false, without)] {
        let mut host = TableHost::default().index("app", platforms);
        let support = read(&mut host, &settings, has_runtime_class, &container("app"));
        assert_eq!(words(&support), expected);
    }
}

fn slow(milliseconds: u64) -> TableHost {
    TableHost {
        latency: Duration::from_millis(milliseconds),
        ..TableHost::default()
    }
}

#[test]
fn no_lookup_starts_that_would_end_after_the_budget() {
    let mut host = slow(400);
    for image in ["a", "b", "c"] {
        host = host.index(image, &["linux/amd64"]);
    }
    let read = read_all(&mut host, &Settings::default(), &["a", "b", "c"]);
    assert_eq!(read, ["linux/amd64", "linux/amd64", "unfinished"]);
    assert_eq!(host.lookups, ["manifest a", "manifest b"]);
}

#[test]
fn what_there_is_no_time_for_counts_as_failed_where_the_settings_say_so() {
    let settings =
        settings(json!({"lookupBudgetMilliseconds": 500, "onUnfinishedLookups": "ignore"}));
    let mut host = slow(400).index("a", &["linux/amd64"]);
    let read = read_all(&mut host, &settings, &["a", "b"]);
    assert_eq!(
        read,
        [
            "linux/amd64",
            "failed: the lookup budget of 500 ms was spent"
        ]
    );
}

#[test]
fn after_a_failure_one_more_lookup_is_made_and_then_the_rest_counts_as_failed() {
    let mut host = slow(900).index("c", &["linux/amd64"]);
    let read = read_all(&mut host, &Settings::default(), &["a", "b", "c"]);
    let spent = "failed: the lookup budget of 900 ms was spent";
    assert_eq!(
        read,
        [
            "failed: manifest unknown: a",
            "failed: manifest unknown: b",
            spent
        ]
    );
    let mut host = slow(900).index("b", &["linux/amd64"]);
    let read = read_all(&mut host, &Settings::default(), &["a", "b", "c"]);
    assert_eq!(
        read,
        ["failed: manifest unknown: a", "linux/amd64", "unfinished"]
    );
}

#[test]
fn a_budget_of_zero_is_no_limit() {
    let settings = settings(json!({"lookupBudgetMilliseconds": 0}));
    let mut host = slow(3_600_000)
        .index("a", &["linux/amd64"])
        .index("b", &["linux/arm64"]);
    let read = read_all(&mut host, &settings, &["a", "b"]);
    assert_eq!(read, ["linux/amd64", "linux/arm64"]);
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
