//! Operating systems, architectures and platforms, in the notation of Go that node labels and image manifests share.

use std::{borrow::Cow, fmt};

use crate::set::SortedSet;

/// The node label of the architecture, and its alias before Kubernetes 1.14.
pub const ARCHITECTURE_LABELS: [&str; 2] = ["kubernetes.io/arch", "beta.kubernetes.io/arch"];
/// The node label of the operating system, and its alias before Kubernetes 1.14.
pub const OS_LABELS: [&str; 2] = ["kubernetes.io/os", "beta.kubernetes.io/os"];

/// The node label that the policy writes for an architecture.
pub const ARCHITECTURE_LABEL: &str = "kubernetes.io/arch";
/// The node label that the policy writes for an operating system.
pub const OS_LABEL: &str = "kubernetes.io/os";

/// The longest architecture or operating system name: both become label values.
const LONGEST_NAME: usize = 63;

/// A CPU architecture by its GOARCH name, such as `amd64`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Architecture(Cow<'static, str>);

impl Architecture {
    /// The architecture that `name` means, in whichever notation: lower-cased, aliases resolved, a variant after a
    /// slash (`v7`) dropped. `None` where it can't be the name of an architecture (empty, `unknown`, anything but ASCII
    /// letters and digits). Design, section 6, step 4.
    pub fn parse(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let base = match lower.split_once('/') {
            Some((base, variant)) if is_variant(variant) => base,
            Some(_) => return None,
            None => lower.as_str(),
        };
        let known = match base {
            "amd64" | "x86_64" | "x86-64" | "x64" => "amd64",
            "arm64" | "aarch64" | "armv8" => "arm64",
            "386" | "i386" | "i486" | "i586" | "i686" | "x86" => "386",
            "arm" | "armhf" | "armel" => "arm",
            "ppc64le" | "ppc64el" => "ppc64le",
            _ if ["armv5", "armv6", "armv7"]
                .iter()
                .any(|prefix| base.starts_with(prefix)) =>
            {
                "arm"
            }
            _ => return name_of(base).map(|name| Self(Cow::Owned(name))),
        };
        Some(Self(Cow::Borrowed(known)))
    }

    /// The GOARCH name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a WebAssembly target, which a node runs through a runtime class and not by its CPU.
    pub fn is_wasm(&self) -> bool {
        self.0.starts_with("wasm")
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// An operating system by its GOOS name, such as `linux`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Os(Cow<'static, str>);

impl Os {
    /// The operating system that `name` means: lower-cased. `None` where it can't be the name of one (empty,
    /// `unknown`, `any`, anything but ASCII letters and digits).
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "linux" => Some(Self::linux()),
            _ => name_of(&name.to_ascii_lowercase())
                .filter(|name| name != "any")
                .map(|name| Self(Cow::Owned(name))),
        }
    }

    /// Linux.
    pub fn linux() -> Self {
        Self(Cow::Borrowed("linux"))
    }

    /// The GOOS name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Os {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Whether `text` is the variant of an architecture, such as `v8`.
fn is_variant(text: &str) -> bool {
    text.strip_prefix('v').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn name_of(lower: &str) -> Option<String> {
    let valid = !lower.is_empty()
        && lower.len() <= LONGEST_NAME
        && lower != "unknown"
        && lower.bytes().all(|byte| byte.is_ascii_alphanumeric());
    valid.then(|| lower.to_owned())
}

/// What an image, or one entry of an image index, runs on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Platform {
    /// The operating system; `None` where the image doesn't say, which counts as any.
    pub os: Option<Os>,
    /// The architecture.
    pub architecture: Architecture,
    /// The variant, such as `v7`: no node label tells it, so it stands in messages only.
    pub variant: Option<String>,
}

impl Platform {
    /// The platform `architecture` on every operating system.
    pub fn on_any_os(architecture: Architecture) -> Self {
        Self {
            os: None,
            architecture,
            variant: None,
        }
    }

    /// Reads `os/architecture` or `os/architecture/variant`, the notation of OCI tools.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let os = Os::parse(parts.next()?)?;
        let architecture = Architecture::parse(parts.next()?)?;
        let variant = parts.next().map(str::to_ascii_lowercase);
        if parts.next().is_some() || variant.as_deref().is_some_and(|text| !is_variant(text)) {
            return None;
        }
        Some(Self {
            os: Some(os),
            architecture,
            variant,
        })
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.os {
            Some(os) => write!(formatter, "{os}/{}", self.architecture)?,
            None => write!(formatter, "any/{}", self.architecture)?,
        }
        match &self.variant {
            Some(variant) => write!(formatter, "/{variant}"),
            None => Ok(()),
        }
    }
}

/// A set of architectures, sorted.
pub type Architectures = SortedSet<Architecture>;
/// A set of platforms, sorted.
pub type Platforms = SortedSet<Platform>;

#[cfg(test)]
mod tests;
