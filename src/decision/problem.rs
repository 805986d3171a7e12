//! What can be wrong with a Pod: causes of a rejection, or of a warning where the settings say so.

use std::fmt;

use crate::{
    image::LookupFailure,
    platform::{Architecture, Architectures, Os, Platforms},
    set::SortedSet,
    text::{elide_middle, join, join_with},
    unchanged::Unchanged,
};

/// The longest image reference in a message; a reference may be kilobytes long.
const LONGEST_IMAGE: usize = 256;
/// The most platforms of an image in a message.
const MOST_PLATFORMS: usize = 12;

/// The cause of an object that admits nodes which can't run its images, and isn't to be changed.
pub(super) const UNPLACED: &str = "UnplacedPod";

/// The Pod asks for what can't be.
const BAD_REQUEST: u16 = 400;
/// Its images aren't for the nodes.
const FORBIDDEN: u16 = 403;
/// A registry doesn't say what its images are for.
const FAILED_DEPENDENCY: u16 = 424;
/// It is to be tried again: clients that know transient errors do so.
const TOO_MANY_REQUESTS: u16 = 429;

/// What is wrong with a Pod.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The platforms of these images can't be read.
    UnreadableImages(Vec<(String, LookupFailure)>),
    /// Time ran out before every image was read. Trying again goes on from there.
    Unfinished {
        /// How many were read.
        read: usize,
        /// How many there are.
        of: usize,
    },
    /// An image doesn't say which operating system it needs. Design, section 9.
    NoOperatingSystem(String),
    /// An image lacks required architectures. Design, section 9.
    MissingArchitectures {
        /// The image.
        image: ImagePlatforms,
        /// What it lacks.
        missing: Architectures,
        /// On which operating system.
        os: Os,
    },
    /// No architecture runs every image. Design, section 7.
    NoCommonArchitecture {
        /// The images.
        images: Vec<ImagePlatforms>,
        /// The operating systems in question.
        systems: Vec<Os>,
        /// The schedulable architectures, if only they count.
        schedulable: Option<Architectures>,
    },
    /// The Pod admits no node that runs its images. Design, section 5.
    UnsupportedSelection {
        /// The architectures that the Pod names.
        selected: SortedSet<String>,
        /// Whether the Pod comes with the placement of its template.
        is_of_template: bool,
        /// The operating system.
        os: Os,
        /// The images that the selection excludes.
        images: Vec<ImagePlatforms>,
        /// The schedulable architectures, if only they count.
        schedulable: Option<Architectures>,
    },
    /// The Pod, which isn't to be changed, admits nodes that can't run its images. Design, section 10.
    Unplaced {
        /// A platform of such nodes.
        os: Os,
        /// Their architecture.
        architecture: Architecture,
        /// The images that they can't run.
        images: Vec<ImagePlatforms>,
    },
}

/// An image and its platforms.
#[derive(Clone, Debug, PartialEq)]
pub struct ImagePlatforms {
    /// The image, as the Pod has it.
    pub image: String,
    /// Its platforms.
    pub platforms: Platforms,
    /// Whether they are those of `fallbackArchitecture`, for its own couldn't be read.
    pub is_counted: bool,
}

impl Problem {
    /// The word for it, at the start of messages and in the audit annotation `cause`, which stays the same from release to
    /// release.
    pub fn cause(&self) -> &'static str {
        self.for_programs().0
    }

    /// The HTTP status of a rejection for it. Of several problems the first counts. Design, section 11.
    pub fn code(&self) -> u16 {
        self.for_programs().1
    }

    /// The problems in the order of their codes.
    pub(super) fn in_order(problems: Vec<Self>) -> Vec<Self> {
        let mut sorted: Vec<Self> = Vec::with_capacity(problems.len());
        for problem in problems {
            let at = sorted.iter().take_while(|it| it.code() <= problem.code());
            sorted.insert(at.count(), problem);
        }
        sorted
    }

    fn for_programs(&self) -> (&'static str, u16) {
        match self {
            Self::UnsupportedSelection { .. } => {
                (Unchanged::UnsupportedSelection.cause(), BAD_REQUEST)
            }
            Self::NoOperatingSystem(_) => ("NoOperatingSystem", FORBIDDEN),
            Self::MissingArchitectures { .. } => ("MissingArchitectures", FORBIDDEN),
            Self::NoCommonArchitecture { .. } => {
                (Unchanged::NoCommonArchitecture.cause(), FORBIDDEN)
            }
            Self::Unplaced { .. } => (UNPLACED, FORBIDDEN),
            Self::UnreadableImages(_) => ("UnreadableImages", FAILED_DEPENDENCY),
            Self::Unfinished { .. } => (Unchanged::Unfinished.cause(), TOO_MANY_REQUESTS),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnreadableImages(images) => {
                let images = images
                    .iter()
                    .map(|(image, failure)| format!("{} ({failure})", shown(image)));
                let images = join(images);
                write!(
                    formatter,
                    "cannot tell which platforms these images support: {images}"
                )
            }
            Self::Unfinished { read, of } => write!(
                formatter,
                "{read} of {of} images were read in time; trying again goes on from there"
            ),
            Self::NoOperatingSystem(image) => write!(
                formatter,
                "{} doesn't say which operating system it needs",
                shown(image)
            ),
            Self::MissingArchitectures { image, missing, os } => {
                let missing = join(missing.iter());
                write!(formatter, "{image} doesn't support {missing} on {os}")
            }
            Self::NoCommonArchitecture {
                images,
                systems,
                schedulable,
            } => write!(
                formatter,
                "no architecture runs every image on {}: {}{}",
                join_with(" or ", systems),
                join(images),
                Within(schedulable)
            ),
            Self::UnsupportedSelection {
                selected,
                is_of_template,
                os,
                images,
                schedulable,
            } => {
                if *is_of_template {
                    formatter.write_str("the placement of the Pod's template excludes")?;
                } else if selected.is_empty() {
                    formatter.write_str("the Pod's node affinity excludes")?;
                } else {
                    let selected = join(selected);
                    write!(formatter, "the Pod selects {selected}, which excludes")?;
                }
                write!(
                    formatter,
                    " every architecture that its images support on {os}: {}{}",
                    join(images),
                    Within(schedulable)
                )
            }
            Self::Unplaced {
                os,
                architecture,
                images,
            } => write!(
                formatter,
                "the Pod admits nodes, such as {os}/{architecture}, that can't run {}: have a policy that mutates place it, or select its nodes",
                join(images)
            ),
        }
    }
}

/// What messages add about the schedulable architectures, if only they count.
struct Within<'p>(&'p Option<Architectures>);

impl fmt::Display for Within<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(schedulable) => {
                let schedulable = join(schedulable.iter());
                write!(formatter, "; schedulable architectures: {schedulable}")
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for ImagePlatforms {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&shown(&self.image))?;
        if self.is_counted {
            let architectures = join(self.platforms.iter().map(|platform| &platform.architecture));
            return write!(formatter, " (counted as {architectures})");
        }
        let platforms = join(self.platforms.iter().take(MOST_PLATFORMS));
        match self.platforms.iter().count().saturating_sub(MOST_PLATFORMS) {
            0 => write!(formatter, " ({platforms})"),
            others => write!(formatter, " ({platforms} and {others} more)"),
        }
    }
}

fn shown(image: &str) -> String {
    elide_middle(image, LONGEST_IMAGE)
}
