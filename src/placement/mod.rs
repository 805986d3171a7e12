//! Writes a placement into a Pod (template), and takes that of a template out again.
//!
//! Only the touched paths change. What is added to a template is recorded in an annotation of it; what is left when that
//! is taken out is its *base*. A Pod's annotation is for people, and decides nothing. Design, section 10.

mod apply;
mod base;
mod json;
mod record;

pub use apply::{Additions, annotate, apply};
pub use base::Base;
pub use json::ANNOTATION;
pub use record::PlacementRecord;

#[cfg(test)]
mod tests;
