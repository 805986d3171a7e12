//! Places Pods on nodes whose CPU architecture their images support.
//!
//! A [Kubewarden](https://kubewarden.io) policy: the host hands over an admission request, answers which manifests the
//! Pod's images have, and gets the Pod back, constrained to the nodes that can run all of them.
//!
//! Data flows one way: [`request`] reads the admission request, [`scope`] finds the Pod (template) in it or leaves it
//! alone, [`pod`] reads what the Pod demands of its nodes, [`image`] finds out what its images run on, [`decision`]
//! decides, [`judge`] puts these together, [`placement`] writes the decision into the Pod, and [`response`] answers. [`policy`] puts them one after the
//! other. Each imports only what comes before it: docs/architecture.md has the table.

#![deny(clippy::indexing_slicing)] // Input must reach no panic.

pub mod bucket;
pub mod decision;
#[cfg(target_family = "wasm")]
mod guest;
pub mod hash;
pub mod host;
pub mod image;
pub mod judge;
pub mod kind;
pub mod placement;
pub mod platform;
pub mod pod;
pub mod policy;
pub mod request;
pub mod response;
pub mod scope;
pub mod set;
pub mod settings;
pub mod text;
pub mod unchanged;
