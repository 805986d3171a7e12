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
    /// The platforms of an image couldn't be read now, and those that were known before count.
    RememberedImage {
        /// The image.
        image: String,
        /// Why it couldn't be read.
        failure: LookupFailure,
    },
    /// Time ran out before every image of a template was read, and its Pods are judged as they come.
    Unfinished {
        /// How many images were read.
        read: usize,
        /// How many there are.
        of: usize,
    },
    /// The record of what was added is too long to be written.
    RecordTooLong,
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
        /// Why it can't.
        reason: LabelReason,
        /// Where it is placed instead.
        placed_on: Architectures,
    },
    /// A label of `matchNodeLabels` that no node can match which the Pod admits.
    LabelExcluded {
        /// The label's key.
        key: String,
        /// Its value.
        value: String,
    },
}

/// Why a Pod isn't placed on the architecture that its label names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelReason {
    /// Not every image supports it.
    Unsupported,
    /// The Pod's own affinity excludes it.
    OwnAffinity,
    /// Its nodes run the images only by emulation, and others run them natively.
    OnlyEmulated,
}

impl fmt::Display for LabelReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unsupported => "not every image supports it",
            Self::OwnAffinity => "the Pod's own affinity decides otherwise",
            Self::OnlyEmulated => "other nodes run every image natively",
        })
    }
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
            Self::UnreadableImage { .. }
            | Self::RememberedImage { .. }
            | Self::Unfinished { .. }
            | Self::RecordTooLong => Importance::Lookup,
            Self::LabelIgnored { .. }
            | Self::LabelNotFollowed { .. }
            | Self::LabelExcluded { .. } => Importance::Wish,
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
            Self::RememberedImage { image, failure } => {
                let image = elide_middle(image, LONGEST_IMAGE);
                write!(
                    formatter,
                    "image {image} counted as when it was read last: {failure}"
                )
            }
            Self::Unfinished { read, of } => write!(
                formatter,
                "{read} of {of} images were read in time: not placed, its Pods are judged as they come"
            ),
            Self::RecordTooLong => formatter.write_str(
                "what was added is too much for a record: later changes won't take it back",
            ),
            Self::LabelIgnored {
                key,
                value,
                schedulable,
            } => {
                write!(formatter, "label {key}={value} ignored: not ")?;
                if schedulable.is_empty() {
                    formatter.write_str("an architecture")
                } else {
                    write!(formatter, "one of {}", join(schedulable.iter()))
                }
            }
            Self::LabelNotFollowed {
                key,
                architecture,
                reason,
                placed_on,
            } => write!(
                formatter,
                "label {key}={architecture} not followed: {reason} (placed on {})",
                join(placed_on.iter())
            ),
            Self::LabelExcluded { key, value } => write!(
                formatter,
                "label {key}={value} not matched: the Pod's own node affinity excludes such nodes"
            ),
        }
    }
}
