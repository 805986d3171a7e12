//! Where the policy is strict.

use super::image::Glob;
use crate::platform::Architectures;

object! {
    /// Where the policy is strict, and what it demands there.
    Strict {
        /// Patterns of the namespaces, such as prod-*.
        namespaces: Vec<Glob> = "namespaces" or Vec::new();
        /// Architectures that every image must support there.
        required_architectures: Architectures = "requiredArchitectures" or Architectures::none();
    }
}
