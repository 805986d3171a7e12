//! Writes a placement into a Pod (template), and takes an earlier one out again.
//!
//! Only the touched paths change. What was added is recorded in an annotation, so that a later evaluation of the same
//! object can remove exactly that, as far as it is still as it was written: `strip(apply(x)) == x` and
//! `apply(apply(x)) == apply(x)`. Design, sections 10 and 11.

mod apply;
mod json;
mod record;

pub use apply::apply;
pub use json::ANNOTATION;
pub use record::{PlacementRecord, strip};

#[cfg(test)]
mod tests;
