//! Image references: which registry they name, and how they read when a lookup goes elsewhere.
//!
//! The rules are those of Docker's references, which container runtimes share:
//! <https://github.com/distribution/reference>. Nothing is validated here: the host refuses what isn't a reference.

use std::borrow::Cow;

/// The registry of short names.
const DEFAULT_REGISTRY: &str = "docker.io";
/// Another host name of the same registry.
const DEFAULT_REGISTRY_ALIAS: &str = "index.docker.io";
/// Where names of one component live in the default registry.
const DEFAULT_NAMESPACE: &str = "library/";
/// The tag of a reference that gives neither tag nor digest.
const DEFAULT_TAG: &str = "latest";

/// The parts of an image reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference<'a> {
    /// The registry's host, with its port.
    pub registry: &'a str,
    /// The repository: with `library/` where the reference leaves it out.
    pub repository: Cow<'a, str>,
    tag: Option<&'a str>,
    digest: Option<&'a str>,
}

impl<'a> Reference<'a> {
    /// Splits `image` into its parts.
    pub fn new(image: &'a str) -> Self {
        let (name, digest) = match split_once(image, b'@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (image, None),
        };
        let (registry, path) = match split_once(name, b'/') {
            Some((first, rest)) if is_registry(first) => (first, rest),
            _ => (DEFAULT_REGISTRY, name),
        };
        let registry = match registry {
            DEFAULT_REGISTRY_ALIAS => DEFAULT_REGISTRY,
            other => other,
        };
        let (path, tag) = match path.rsplit_once(':') {
            Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
            _ => (path, None),
        };
        let repository = if registry == DEFAULT_REGISTRY && !path.contains('/') {
            Cow::Owned(format!("{DEFAULT_NAMESPACE}{path}"))
        } else {
            Cow::Borrowed(path)
        };
        Self {
            registry,
            repository,
            tag,
            digest,
        }
    }

    /// The same image in the repository below `proxy`, a host with or without a path prefix.
    pub fn behind(&self, proxy: &str) -> String {
        [proxy, "/", &self.repository, &self.version()].concat()
    }

    /// The manifest `digest` of the same repository.
    pub fn with_digest(&self, digest: &str) -> String {
        [self.registry, "/", &self.repository, "@", digest].concat()
    }

    /// The reference in full: registry, repository, and tag or digest.
    pub fn full(&self) -> String {
        let version = match (self.tag, self.digest) {
            (None, None) => [":", DEFAULT_TAG].concat(),
            _ => self.version(),
        };
        [self.registry, "/", &self.repository, &version].concat()
    }

    /// `:tag`, `@digest` or both, as the reference has them.
    fn version(&self) -> String {
        let mut version = String::new();
        for (mark, part) in [(":", self.tag), ("@", self.digest)] {
            if let Some(part) = part {
                version.push_str(mark);
                version.push_str(part);
            }
        }
        version
    }
}

fn is_registry(component: &str) -> bool {
    component == "localhost" || component.bytes().any(|byte| matches!(byte, b'.' | b':'))
}

/// `text` before and after the first `byte`, which is ASCII: leaner than the standard library's search for a character.
fn split_once(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|other| other == byte)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

#[cfg(test)]
mod tests {
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
    fn a_reference_reads_in_full_as_the_oci_library_reads_it(
        #[case] image: &str,
        #[case] full: &str,
    ) {
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
}
