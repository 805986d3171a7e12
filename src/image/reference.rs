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
mod tests;
