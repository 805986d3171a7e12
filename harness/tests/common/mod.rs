//! What the tests of the harness share.

#![allow(dead_code)] // Each test uses a part of it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use node_architecture_harness::engine::{Deadline, Policy};

/// The root of the repository.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
        .to_owned()
}

/// The wasm that ships.
pub(crate) fn wasm_path() -> PathBuf {
    workspace().join("policy.wasm")
}

/// The policy that ships, compiled.
pub(crate) fn policy(deadline: Deadline) -> Result<Policy> {
    Policy::read(&wasm_path(), deadline).context("build it first, with: make policy.wasm")
}
