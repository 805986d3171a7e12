//! What fuzzing starts from, and what it found, once each.

#![allow(clippy::unwrap_used, clippy::panic)] // Tests may fail by panicking.

use std::{fs, path::Path};

use rstest::rstest;

mod fuzzing;

#[rstest]
#[case::validate("validate", fuzzing::validate)]
#[case::settings("settings", fuzzing::settings)]
#[case::answers("answers", fuzzing::answers)]
#[case::references("references", fuzzing::references)]
#[case::json("json", fuzzing::json)]
fn the_corpus_passes(#[case] target: &str, #[case] check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        check(&fs::read(entry.path()).unwrap());
        files += 1;
    }
    assert!(files > 0, "{folder:?} is empty");
}
