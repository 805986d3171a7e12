//! A native host for the policy: it runs the wasm that ships, on the engine that policy-server uses, and sees nothing of
//! the policy but its answers.
//!
//! - [`engine`] compiles the policy and evaluates requests, each in a fresh instance and within a deadline;
//! - [`capabilities`] is what the host answers: [`live`] from real registries, [`session`] from a recording in kwctl's
//!   own format;
//! - [`admission`] turns the policy's answer into the AdmissionResponse that the API server would get;
//! - [`manifests`] reads Kubernetes manifests, [`request`] admission requests, or makes them of manifests, and [`fleet`]
//!   finds the workloads among many;
//! - [`account`] tells a person what happened to one object, [`report`] what would happen to many.

pub mod account;
pub mod admission;
pub mod capabilities;
pub mod engine;
pub mod fleet;
pub mod live;
pub mod manifests;
pub mod quantity;
pub mod report;
pub mod request;
pub mod session;
