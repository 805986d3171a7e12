//! A registry that is slow, behind a host that keeps what it read for a minute: every Pod is placed on all of its images in
//! the end, and no evaluation takes longer than the host grants it. The clock is simulated.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{collections::HashMap, time::Duration};

use node_architecture_policy::{host::Host, policy::validate};
use rstest::rstest;
use serde_json::{Value, json};

mod index;

/// How long the host keeps an answer.
const KEPT: Duration = Duration::from_secs(60);
/// How long an answer takes that it has kept.
const QUICK: Duration = Duration::from_micros(50);
/// What the default limit of the host, two seconds, grants at least.
const GRANTED: Duration = Duration::from_secs(1);
/// The longest pause of a controller between its tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A host with one latency for all that it hasn't kept.
struct SlowHost {
    latency: Duration,
    now: Duration,
    began: Duration,
    kept: HashMap<String, Duration>,
}

impl SlowHost {
    fn look_up(&mut self, reference: &str) {
        let is_kept = self
            .kept
            .get(reference)
            .is_some_and(|since| self.now - *since < KEPT);
        if is_kept {
            self.now += QUICK;
        } else {
            self.now += self.latency;
            self.kept.insert(reference.to_owned(), self.now);
        }
    }
}

impl Host for SlowHost {
    fn manifest(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        self.look_up(reference);
        // The last image alone decides, so that a Pod placed without it would be placed wrong.
        let architectures = if reference.starts_with("last") {
            vec!["arm64"]
        } else {
            vec!["amd64", "arm64"]
        };
        Ok(index::linux_index(&architectures))
    }

    fn manifest_and_config(&mut self, _: &str) -> Result<Vec<u8>, String> {
        Err("no image here has a config".to_owned())
    }

    fn elapsed(&self) -> Duration {
        self.now - self.began
    }

    fn log(&mut self, _: &[u8]) {}
}

/// Tries a Pod of `images` until it is placed, as a controller does that pauses for `pause` after the first refusal and for
/// twice as long after each further one. Returns how many tries it took.
fn tries(images: usize, latency: Duration, mut pause: Duration) -> usize {
    let names = (1..images).map(|number| format!("image-{number}"));
    let containers: Vec<Value> = names
        .chain(["last".to_owned()])
        .map(|image| json!({ "image": image }))
        .collect();
    let request = json!({
        "kind": {"group": "", "kind": "Pod"},
        "operation": "CREATE",
        "object": {"spec": {"containers": containers}}
    });
    let payload = json!({ "request": request }).to_string();
    let mut host = SlowHost {
        latency,
        now: Duration::ZERO,
        began: Duration::ZERO,
        kept: HashMap::new(),
    };
    for attempt in 1..100 {
        host.began = host.now;
        let response: Value =
            serde_json::from_slice(&validate(payload.as_bytes(), &mut host)).unwrap();
        assert!(
            host.elapsed() < GRANTED,
            "{:?} of {latency:?}",
            host.elapsed()
        );
        if response["accepted"] == true {
            let placement = &response["audit_annotations"]["placement"];
            assert_eq!(placement, "nodeAffinity=arm64", "{images} of {latency:?}");
            return attempt;
        }
        assert_eq!(response["code"], 429, "{response}");
        host.now += pause;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    panic!("{images} images of {latency:?} are never read");
}

#[rstest]
#[case::replica_set(Duration::from_millis(5), 14)]
#[case::job(Duration::from_secs(1), 6)]
fn every_image_is_read_in_the_end(#[case] pause: Duration, #[case] most: usize) {
    for images in 1..=most {
        for hundredths in 1..=90 {
            tries(images, Duration::from_millis(10 * hundredths), pause);
        }
    }
}

#[test]
fn each_try_gets_further() {
    let latency = Duration::from_millis(800);
    for images in 1..=6 {
        assert_eq!(tries(images, latency, Duration::from_millis(5)), images);
    }
}
