//! Where each live term of a Pod is placed.
//!
//! Design, section 5: terms are ORed, so that each has a system and candidates of its own.

use super::candidates::{Candidates, systems_of};
use crate::{
    platform::{Architecture, Architectures, Os, Systems},
    pod::{PodContext, Term},
};

/// Where a live term of a Pod is placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct TermPlacement {
    /// Its index; `None` where the Pod has no required node affinity.
    pub(super) index: Option<usize>,
    /// The operating system.
    pub(super) os: Os,
    /// The architectures of nodes that run every image there.
    pub(super) candidates: Architectures,
    /// Those of them that the term admits.
    pub(super) admitted: Architectures,
    /// Whether the term admits an architecture that is no candidate.
    pub(super) admits_others: bool,
    /// The operating systems that the term admits.
    pub(super) systems: Systems,
    /// Whether it names its nodes.
    pub(super) names_hosts: bool,
    /// Whether something but architecture, operating system and topology narrows its nodes down.
    pub(super) is_placed_by_labels: bool,
}

/// Where each live term of the Pod is placed: on the first of its systems that it admits a candidate on. A term
/// without one takes the system of the first term that has one, and so matches nothing. `None` where no term has
/// one.
pub(super) fn placements(
    candidates: &Candidates<'_>,
    pod: &PodContext<'_>,
) -> Option<Vec<TermPlacement>> {
    let terms = &pod.constraints.terms;
    let own = |term: &Term| {
        let mut systems = systems_of(pod, term).into_iter();
        systems.find_map(|os| {
            let running = candidates.on(os, term.selects_architecture);
            let has_one = term.systems.contains(os) && !running.and(term.architectures).is_empty();
            has_one.then_some((os, running))
        })
    };
    let (first, _) = terms.iter().find_map(own)?;
    let placed = terms.iter().map(|term| {
        let (os, running) = own(term).unwrap_or_else(|| {
            let running = candidates.on(first, term.selects_architecture);
            // An `In` mustn't be empty. Some term has a candidate there, if only one that isn't schedulable.
            let or_all = if running.is_empty() {
                candidates.on(first, true)
            } else {
                running
            };
            (first, or_all)
        });
        TermPlacement {
            index: term.index,
            os,
            candidates: running,
            admitted: if term.systems.contains(os) {
                running.and(term.architectures)
            } else {
                Architectures::none()
            },
            admits_others: !term.architectures.is_within(running),
            systems: term.systems,
            names_hosts: term.names_hosts,
            is_placed_by_labels: term.is_placed_by_labels,
        }
    });
    Some(placed.collect())
}

/// The architectures as values of a requirement.
pub(super) fn names(architectures: Architectures) -> Vec<String> {
    architectures
        .iter()
        .map(|name: Architecture| name.to_string())
        .collect()
}
