//! What comes of a request.

use std::fmt;

use super::problem::{Problem, UNPLACED};
use crate::{
    platform::{Architecture, Architectures, Os},
    settings::Weight,
    text::join_with,
    unchanged::Unchanged,
};

/// What comes of a request, as the audit annotation `placement` and the log tell it. Design, section 10.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The Pod (template) is placed.
    Placed {
        /// Where to; `None` where it admits nothing else already.
        on: Option<Nodes>,
        /// The weighted preferences beside that.
        preferred: Vec<(Architecture, Weight)>,
        /// The operating system that is required, too.
        os: Option<Os>,
    },
    /// It isn't placed, and gets at most what has nothing to do with its images.
    NotPlaced {
        /// Why not.
        reason: Unchanged,
        /// What it gets all the same.
        additions: Vec<Addition>,
    },
    /// The object isn't to be changed, and admits nodes that can't run its images: this would have come of it.
    NotApplied(Box<Outcome>),
    /// The object is rejected. The problem whose code counts comes first.
    Rejected(Vec<Problem>),
}

/// The nodes that a Pod is placed on.
#[derive(Clone, Debug, PartialEq)]
pub enum Nodes {
    /// Those of one architecture, by the node selector.
    Selector(Architecture),
    /// Those of some architectures, by required node affinity.
    Affinity(Architectures),
}

/// What a Pod gets that has nothing to do with what its images run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addition {
    /// Node labels to match.
    MatchNodeLabels,
    /// Tolerations.
    Tolerations,
}

impl Outcome {
    /// Why the object isn't placed: a word for each cause, as the audit annotation `cause` has it. None where it is
    /// placed. Design, section 11.
    pub fn cause(&self) -> Option<String> {
        match self {
            Self::Placed { .. } => None,
            Self::NotPlaced { reason, .. } => Some(reason.cause().to_owned()),
            Self::NotApplied(outcome) => Some(match outcome.cause() {
                Some(cause) => format!("{UNPLACED},{cause}"),
                None => UNPLACED.to_owned(),
            }),
            Self::Rejected(problems) => {
                let mut causes: Vec<&str> = Vec::new();
                for problem in problems {
                    let cause = problem.cause();
                    if !causes.contains(&cause) {
                        causes.push(cause);
                    }
                }
                Some(causes.join(","))
            }
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Placed { on, preferred, os } => {
                let mut separator = "";
                if let Some(on) = on {
                    on.fmt(formatter)?;
                    separator = " ";
                }
                for (architecture, Weight(weight)) in preferred {
                    write!(formatter, "{separator}preferred={architecture}:{weight}")?;
                    separator = " ";
                }
                match os {
                    Some(os) => write!(formatter, "{separator}os={os}"),
                    None => Ok(()),
                }
            }
            Self::NotPlaced { reason, additions } => {
                if additions.is_empty() {
                    write!(formatter, "unchanged: {reason}")
                } else {
                    let additions = join_with(",", additions);
                    write!(formatter, "only {additions}: {reason}")
                }
            }
            Self::NotApplied(outcome) => {
                formatter.write_str("not applied: ")?;
                match &**outcome {
                    Self::NotPlaced { reason, .. } => reason.fmt(formatter),
                    other => other.fmt(formatter),
                }
            }
            Self::Rejected(problems) => {
                let mut last = "";
                for problem in problems {
                    let cause = problem.cause();
                    if !last.is_empty() {
                        formatter.write_str("; ")?;
                    }
                    // Several of one cause share it.
                    if cause != last {
                        write!(formatter, "{cause}: ")?;
                    }
                    problem.fmt(formatter)?;
                    last = cause;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Nodes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Selector(architecture) => write!(formatter, "nodeSelector={architecture}"),
            Self::Affinity(architectures) => {
                let architectures = join_with(",", architectures.iter());
                write!(formatter, "nodeAffinity={architectures}")
            }
        }
    }
}

impl fmt::Display for Addition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::MatchNodeLabels => "matchNodeLabels",
            Self::Tolerations => "tolerations",
        })
    }
}
