use super::*;
use rstest::rstest;

const SHA256: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[rstest]
#[case::short_name("nginx", "docker.io/library/nginx:latest")]
#[case::tag("nginx:1.27", "docker.io/library/nginx:1.27")]
#[case::docker_hub_user("grafana/loki", "docker.io/grafana/loki:latest")]
#[case::two_components_are_no_registry("a/b", "docker.io/a/b:latest")]
#[case::docker_hub_alias("index.docker.io/nginx", "docker.io/library/nginx:latest")]
#[case::registry("a.b/c:1", "a.b/c:1")]
#[case::localhost("localhost/a", "localhost/a:latest")]
#[case::port("localhost:5000/a/b", "localhost:5000/a/b:latest")]
#[case::ip_address("10.0.0.1:5000/a", "10.0.0.1:5000/a:latest")]
#[case::digest(&format!("a.b/c@{SHA256}"), &format!("a.b/c@{SHA256}"))]
#[case::tag_and_digest(&format!("a.b/c:1@{SHA256}"), &format!("a.b/c:1@{SHA256}"))]
fn a_reference_reads_in_full_as_the_oci_library_reads_it(#[case] image: &str, #[case] full: &str) {
    let reference = Reference::new(image);
    assert_eq!(reference.full(), full);
    let oracle: oci_spec::distribution::Reference = image.parse().unwrap();
    assert_eq!(reference.registry, oracle.registry());
    assert_eq!(reference.repository, oracle.repository());
    assert_eq!(full, oracle.whole());
}

#[rstest]
#[case::ipv6("[::1]:5000/a", "[::1]:5000", "a")]
#[case::nothing("", "docker.io", "library/")]
#[case::colon(":", "docker.io", "library/")]
#[case::only_a_digest("@", "docker.io", "library/")]
#[case::upper_case("Ghcr.IO/A", "Ghcr.IO", "A")]
#[case::trailing_space("nginx ", "docker.io", "library/nginx ")]
fn what_is_no_reference_is_split_all_the_same(
    #[case] image: &str,
    #[case] registry: &str,
    #[case] repository: &str,
) {
    let reference = Reference::new(image);
    assert_eq!(reference.registry, registry);
    assert_eq!(reference.repository, repository);
}

#[rstest]
#[case::short_name("nginx", "mirror.local", "mirror.local/library/nginx")]
#[case::prefix("nginx:1", "mirror.local/hub", "mirror.local/hub/library/nginx:1")]
#[case::tag_and_digest(&format!("quay.io/a/b:1@{SHA256}"), "m:5000", &format!("m:5000/a/b:1@{SHA256}"))]
fn a_proxy_replaces_the_registry_and_nothing_else(
    #[case] image: &str,
    #[case] proxy: &str,
    #[case] expected: &str,
) {
    assert_eq!(Reference::new(image).behind(proxy), expected);
}

#[test]
fn a_manifest_of_an_index_is_addressed_by_digest_alone() {
    let expected = format!("docker.io/library/nginx@{SHA256}");
    assert_eq!(Reference::new("nginx:1").with_digest(SHA256), expected);
}
