//! JSON that is read in place and changed only where it has to be.
//!
//! An admission request carries objects of up to a megabyte, of which the policy reads a few fields and changes fewer.
//! A [`Document`] is a text whose syntax was checked, split into its values. A [`Json`] is a value to read: a piece of a
//! document. A [`Draft`] is a value to change: whatever of it was never opened is written back byte for byte, so that
//! unknown fields, the order of members and the exact notation of numbers survive.
//!
//! Reading comes in two ways. The methods of [`Json`] are lenient: a value of another type is `None`. Those of
//! [`Field`] are strict: it knows where it is in its document, and a value of another type is a [`Mismatch`] that says
//! so. For both, `null` is the same as absent, as in the Kubernetes API.
//!
//! serde_json checks the syntax of a whole text, once. Reading into types with it as well would bring its formatting of
//! floats into the policy, an eighth of its size.

#![deny(clippy::indexing_slicing)] // Input must reach no panic.

mod canonical;
mod document;
mod draft;
mod json_type;
mod split;
mod strict;
mod string;
mod value;

pub use document::Document;
pub use draft::{Draft, DraftObject};
pub use json_type::JsonType;
pub use split::{Elements, Members};
pub use strict::{Field, Mismatch};
pub use value::Json;

#[cfg(test)]
mod tests;
