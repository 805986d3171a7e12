//! From what a Pod demands and what its images run on to a decision.
//!
//! Pure: no JSON, no registry. Design, sections 5, 7 and 9.

use crate::pod::{NodeConstraints, PodContext};

mod candidates;
mod decider;
mod judging;
mod outcome;
mod placement;
mod preference;
mod problem;
mod terms;
mod warning;

pub use candidates::Candidates;
use decider::Decider;
pub use decider::Decision;
pub use outcome::{Addition, Nodes, Outcome};
pub use placement::{Placement, Requirement};
pub use problem::{ImagePlatforms, Problem};
pub use warning::{LabelReason, Warning};

/// Decides on a Pod with what is known of its images; `images` is how many it has. `as_it_came` is what the object demands
/// of its nodes, where it isn't to be changed.
pub fn decide(
    pod: &PodContext<'_>,
    candidates: &Candidates<'_>,
    images: usize,
    as_it_came: Option<&NodeConstraints>,
) -> Decision {
    Decider {
        pod,
        candidates,
        images,
        as_it_came,
        problems: Vec::new(),
        warnings: Vec::new(),
    }
    .decide()
}

/// Whether no live term of the Pod admits a candidate.
pub fn admits_none(pod: &PodContext<'_>, candidates: &Candidates<'_>) -> bool {
    terms::placements(candidates, pod).is_none()
}

#[cfg(test)]
mod tests;
