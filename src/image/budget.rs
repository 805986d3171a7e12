//! The time for lookups: when another one may start.
//!
//! Design, section 6. The host keeps what it read for a minute, and controllers try again, so that short evaluations that
//! ask to be tried again read a Pod's images as fast as the host can. Each has to get further than the one before.

use std::time::Duration;

/// A lookup that took less was one that the host had kept.
const KEPT: Duration = Duration::from_millis(5);
/// What a registry counts as that wasn't asked before.
const UNKNOWN: Duration = Duration::from_millis(300);

/// The time for the lookups of one evaluation.
#[derive(Debug)]
pub(super) struct Budget {
    /// The time after which no lookup is to end; `None` without a limit.
    limit: Option<Duration>,
    /// The longest that a lookup took.
    slowest: Duration,
    /// The registries that were asked.
    asked: Vec<String>,
    /// How many of the last lookups failed one after the other, those aside that the host had kept.
    failures: usize,
}

/// Whether a lookup may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// It may.
    Now,
    /// It may not, and another try will get to it.
    AnotherTime,
    /// It may not, and another try would get no further: failures aren't kept.
    Never,
}

impl Budget {
    /// A budget of `limit`.
    pub(super) fn new(limit: Option<Duration>) -> Self {
        Self {
            limit,
            slowest: Duration::ZERO,
            asked: Vec::new(),
            failures: 0,
        }
    }

    /// Whether a lookup in `registry` may start, `elapsed` after the evaluation began.
    ///
    /// One may always start while none took longer than one that the host had kept. After that none starts that would
    /// end after the limit if it took as long as the slowest before it. After a failure one more may start whatever the
    /// time.
    pub(super) fn may_start(&self, registry: &str, elapsed: Duration) -> Start {
        let Some(limit) = self.limit else {
            return Start::Now;
        };
        let was_asked = self.asked.iter().any(|asked| asked == registry);
        let expected = if was_asked { self.slowest } else { UNKNOWN };
        if self.slowest < KEPT || elapsed.saturating_add(expected) <= limit {
            return Start::Now;
        }
        match self.failures {
            0 => Start::AnotherTime,
            1 => Start::Now,
            _ => Start::Never,
        }
    }

    /// Notes that a lookup in `registry` took this long.
    pub(super) fn took(&mut self, registry: &str, time: Duration, succeeded: bool) {
        self.slowest = self.slowest.max(time);
        if !self.asked.iter().any(|asked| asked == registry) {
            self.asked.push(registry.to_owned());
        }
        if !succeeded {
            self.failures += 1;
        } else if time >= KEPT {
            self.failures = 0;
        }
    }
}
