//! Operating systems, architectures and platforms, in the notation of Go that node labels and image manifests share.
//!
//! Only known names count: a word that no node has as its label can't be what an image runs on. Design, section 6.

use std::fmt;

use crate::set::SortedSet;

mod values;

pub use values::{Known, Values};

/// The node label of the architecture, and its alias before Kubernetes 1.14.
pub const ARCHITECTURE_LABELS: [&str; 2] = ["kubernetes.io/arch", "beta.kubernetes.io/arch"];
/// The node label of the operating system, and its alias before Kubernetes 1.14.
pub const OS_LABELS: [&str; 2] = ["kubernetes.io/os", "beta.kubernetes.io/os"];

/// The node label that the policy writes for an architecture.
pub const ARCHITECTURE_LABEL: &str = "kubernetes.io/arch";
/// The node label that the policy writes for an operating system.
pub const OS_LABEL: &str = "kubernetes.io/os";

/// A known name, and the other names for it. An alias that ends in `*` stands for all that continue it with letters.
type Name = (&'static str, &'static [&'static str]);

/// The architectures: GOARCH, sorted, with the names that kernels, distributions and registries use.
const ARCHITECTURES: [Name; 14] = [
    ("386", &["i386", "i486", "i586", "i686", "x86"]),
    ("amd64", &["x86_64", "x86-64", "x64"]),
    (
        "arm",
        &[
            "arm32v5", "arm32v6", "arm32v7", "armel", "armhf", "armv5*", "armv6*", "armv7*",
            "armv8l",
        ],
    ),
    ("arm64", &["aarch64", "arm64v8", "armv8"]),
    ("loong64", &["loongarch64"]),
    ("mips", &[]),
    ("mips64", &[]),
    ("mips64le", &["mips64el"]),
    ("mipsle", &["mipsel"]),
    ("ppc64", &[]),
    ("ppc64le", &["ppc64el"]),
    ("riscv64", &[]),
    ("s390x", &[]),
    ("wasm", &["wasm32"]),
];

/// The operating systems: GOOS, sorted, and `wasi`, which WebAssembly images have.
const SYSTEMS: [Name; 16] = [
    ("aix", &[]),
    ("android", &[]),
    ("darwin", &[]),
    ("dragonfly", &[]),
    ("freebsd", &[]),
    ("illumos", &[]),
    ("ios", &[]),
    ("js", &[]),
    ("linux", &[]),
    ("netbsd", &[]),
    ("openbsd", &[]),
    ("plan9", &[]),
    ("solaris", &[]),
    ("wasi", &[]),
    ("wasip1", &[]),
    ("windows", &[]),
];

/// Where `lower` is among `names`.
fn known(names: &[Name], lower: &str) -> Option<u8> {
    let means = |alias: &&str| match alias.strip_suffix('*') {
        Some(start) => lower
            .strip_prefix(start)
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_lowercase())),
        None => *alias == lower,
    };
    let is_it = |(name, aliases): &Name| *name == lower || aliases.iter().any(means);
    u8::try_from(names.iter().position(is_it)?).ok()
}

/// Where the name that is exactly `value` is among `names`.
fn exactly(names: &[Name], value: &str) -> Option<u8> {
    u8::try_from(names.iter().position(|(name, _)| *name == value)?).ok()
}

/// The name at `position` of `names`.
fn name_at(names: &[Name], position: u8) -> &'static str {
    names
        .get(usize::from(position))
        .map_or("", |(name, _)| name)
}

/// A CPU architecture by its GOARCH name, such as `amd64`. They are ordered by their names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Architecture(u8);

impl Architecture {
    /// The architecture that `name` means, in whichever notation: in any case, aliases resolved, a variant after a
    /// slash (`v7`) dropped. `None` where no known architecture is meant.
    pub fn parse(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let base = match lower.split_once('/') {
            Some((base, variant)) if is_variant(variant) => base,
            Some(_) => return None,
            None => lower.as_str(),
        };
        known(&ARCHITECTURES, base).map(Self)
    }

    /// The architecture of nodes that have `value` as their label: its exact name.
    pub fn of_label(value: &str) -> Option<Self> {
        exactly(&ARCHITECTURES, value).map(Self)
    }

    /// The GOARCH name.
    pub fn as_str(self) -> &'static str {
        name_at(&ARCHITECTURES, self.0)
    }

    /// Every known name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ARCHITECTURES.iter().map(|(name, _)| *name)
    }

    /// Every spelling: the known names and their aliases, those that end in `*` with more letters.
    #[cfg(feature = "schema")]
    pub(crate) fn spellings() -> impl Iterator<Item = &'static str> {
        let spellings = |(name, aliases): &Name| [&[*name][..], aliases].concat();
        ARCHITECTURES.iter().flat_map(spellings)
    }

    /// Whether this is WebAssembly, which a node runs through a runtime class and not by its CPU.
    pub fn is_wasm(self) -> bool {
        self.as_str() == "wasm"
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// An operating system by its GOOS name, such as `linux`. They are ordered by their names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Os(u8);

impl Os {
    /// Linux.
    pub const LINUX: Self = Self(8);

    /// The operating system that `name` means, in any case; `None` where no known one is meant.
    pub fn parse(name: &str) -> Option<Self> {
        known(&SYSTEMS, &name.to_ascii_lowercase()).map(Self)
    }

    /// The operating system of nodes that have `value` as their label: its exact name.
    pub fn of_label(value: &str) -> Option<Self> {
        exactly(&SYSTEMS, value).map(Self)
    }

    /// The GOOS name.
    pub fn as_str(self) -> &'static str {
        name_at(&SYSTEMS, self.0)
    }

    /// Every known name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SYSTEMS.iter().map(|(name, _)| *name)
    }
}

impl fmt::Display for Os {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for Os {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A set of architectures.
pub type Architectures = Values<Architecture>;
/// A set of operating systems.
pub type Systems = Values<Os>;

impl Known for Architecture {
    const COUNT: u8 = ARCHITECTURES.len() as u8;

    fn numbered(number: u8) -> Self {
        Self(number)
    }

    fn number(self) -> u8 {
        self.0
    }

    fn of_label(value: &str) -> Option<Self> {
        Self::of_label(value)
    }
}

impl Known for Os {
    const COUNT: u8 = SYSTEMS.len() as u8;

    fn numbered(number: u8) -> Self {
        Self(number)
    }

    fn number(self) -> u8 {
        self.0
    }

    fn of_label(value: &str) -> Option<Self> {
        Self::of_label(value)
    }
}

/// Whether `text` is the variant of an architecture, such as `v8`.
fn is_variant(text: &str) -> bool {
    text.strip_prefix('v').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// What an image, or one entry of an image index, runs on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Platform {
    /// The operating system; `None` where the image doesn't say, which counts as any.
    pub os: Option<Os>,
    /// The architecture.
    pub architecture: Architecture,
    /// The variant, such as `v7`: no node label tells it, so it is only for messages.
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

/// A set of platforms, sorted.
pub type Platforms = SortedSet<Platform>;

#[cfg(test)]
mod tests;
