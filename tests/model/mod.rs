//! What property tests share: random Pods, images, settings and clusters, and a model of the scheduler.

#![allow(dead_code)] // Each test uses a part of it.

pub(crate) mod random;
pub(crate) mod scheduler;
