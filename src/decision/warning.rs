//! What a user is warned of.

use std::fmt;

use super::problem::Problem;
use crate::{
    image::LookupFailure,
    platform::{Architecture, Architectures},
    text::{elide_middle, join},
};

/// The longest image reference in a warning, which is short itself.
const LONGEST_IMAGE: usize = 80;

/// What a user is warned of.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// A problem that the settings don't reject.
    Problem(Problem),
    /// The platforms of an image couldn't be read.
    UnreadableImage {
        /// The image.
        image: String,
        /// Why.
        failure: LookupFailure,
        /// What it counts as; `None` where it is ignored.
        counted_as: Option<Architecture>,
    },
    /// The Pod's label names no architecture that counts.
    LabelIgnored {
        /// The label's key.
        key: String,
        /// Its value.
        value: String,
        /// The schedulable architectures; empty where any is.
        schedulable: Architectures,
    },
    /// The Pod's label names an architecture that it can't be placed on.
    LabelNotFollowed {
        /// The label's key.
        key: String,
        /// The architecture.
        architecture: Architecture,
        /// Whether the Pod's own affinity is the reason, and not its images.
        is_by_affinity: bool,
        /// Where it is placed instead.
        placed_on: Architectures,
    },
}

/// How much a warning matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Importance {
    /// The Pod may land where it can't run.
    Placement,
    /// An image isn't known.
    Lookup,
    /// A wish of the user's isn't met.
    Wish,
}

impl Importance {
    /// All of them, the most important first.
    pub(super) const IN_ORDER: [Self; 3] = [Self::Placement, Self::Lookup, Self::Wish];
}

impl Warning {
    /// How much it matters.
    pub(super) fn importance(&self) -> Importance {
        match self {
            Self::Problem(_) => Importance::Placement,
            Self::UnreadableImage { .. } => Importance::Lookup,
            Self::LabelIgnored { .. } | Self::LabelNotFollowed { .. } => Importance::Wish,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(problem) => problem.fmt(formatter),
            Self::UnreadableImage {
                image,
                failure,
                counted_as,
            } => {
                let image = elide_middle(image, LONGEST_IMAGE);
                match counted_as {
                    Some(architecture) => {
                        write!(
                            formatter,
                            "image {image} counted as {architecture}: {failure}"
                        )
                    }
                    None => write!(formatter, "image {image} ignored: {failure}"),
                }
            }
            Self::LabelIgnored {
                key,
                value,
                schedulable,
            } => {
                write!(formatter, "label {key}={value} ignored: not ")?;
                if schedulable.is_empty() {
                    formatter.write_str("an architecture")
                } else {
                    write!(formatter, "one of {}", join(schedulable))
                }
            }
            Self::LabelNotFollowed {
                key,
                architecture,
                is_by_affinity,
                placed_on,
            } => {
                let reason = if *is_by_affinity {
                    "the Pod's own affinity decides otherwise"
                } else {
                    "not every image supports it"
                };
                write!(
                    formatter,
                    "label {key}={architecture} not followed: {reason} (placed on {})",
                    join(placed_on)
                )
            }
        }
    }
}
