//! The wasm that ships says what the core says natively: for random Pods, and with every lookup of every fixture failing
//! in turn.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use node_architecture_harness::{
    admission::AdmissionResponse,
    capabilities::{Allowed, Answers, Lookup},
    engine::{Deadline, Policy},
    request,
    session::Exchange,
};
use node_architecture_policy::{host::Host, policy::validate};
use proptest::prelude::*;
use serde_json::{Value, json};

mod common;
#[path = "../../tests/model/mod.rs"]
mod model;

use model::random::{World, world};

static POLICY: LazyLock<Policy> = LazyLock::new(|| common::policy(Deadline::default()).unwrap());

/// Answers by lookup, whatever the order; what isn't there is unknown.
#[derive(Clone)]
struct Registry(Vec<(Lookup, Result<String, String>)>);

impl Registry {
    fn of_world(world: &World) -> Self {
        let mut answers = Vec::new();
        for (image, answer) in &world.registry {
            answers.push((Lookup::Manifest((*image).to_owned()), answer.manifest()));
            answers.push((
                Lookup::ManifestAndConfig((*image).to_owned()),
                answer.config(),
            ));
        }
        Self(answers)
    }

    fn of_session(text: &str) -> Self {
        let exchanges: Vec<Exchange> = yaml_serde::from_str(text).unwrap();
        Self(
            exchanges
                .iter()
                .map(|exchange| exchange.parts().unwrap())
                .collect(),
        )
    }
}

impl Answers for Registry {
    fn answer(&mut self, lookup: &Lookup) -> Result<String, String> {
        let found = self.0.iter().find(|(known, _)| known == lookup);
        found.map_or_else(
            || Err("manifest unknown".to_owned()),
            |(_, answer)| answer.clone(),
        )
    }
}

/// The same answers for the native core.
struct NativeHost(Registry);

impl NativeHost {
    fn answer(&mut self, lookup: &Lookup) -> Result<Vec<u8>, String> {
        self.0.answer(lookup).map(String::into_bytes)
    }
}

impl Host for NativeHost {
    fn manifest(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        self.answer(&Lookup::Manifest(reference.to_owned()))
    }

    fn manifest_and_config(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        self.answer(&Lookup::ManifestAndConfig(reference.to_owned()))
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn log(&mut self, _: &[u8]) {}
}

fn by_wasm(request: &Value, settings: &Value, registry: &Registry) -> AdmissionResponse {
    let answers = Box::new(registry.clone());
    POLICY
        .evaluate(request, settings, answers, Allowed::all())
        .unwrap()
        .response
}

fn natively(request: &Value, settings: &Value, registry: &Registry) -> AdmissionResponse {
    natively_on(NativeHost(registry.clone()), request, settings)
}

fn natively_on(mut host: impl Host, request: &Value, settings: &Value) -> AdmissionResponse {
    let payload = json!({"request": request, "settings": settings}).to_string();
    let response = validate(payload.as_bytes(), &mut host);
    let response = serde_json::from_slice(&response).unwrap();
    AdmissionResponse::new(
        request["uid"].as_str().unwrap(),
        &request["object"],
        response,
    )
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_pods_get_the_same_response(mut world in world()) {
        // On a busy machine the clock of the wasm may run out; the native one stands still.
        world.settings["lookupBudgetMilliseconds"] = json!(0);
        let registry = Registry::of_world(&world);
        let request = world.request();
        prop_assert_eq!(
            by_wasm(&request, &world.settings, &registry),
            natively(&request, &world.settings, &registry)
        );
    }
}

/// What a lookup answers instead of the truth.
fn faults() -> Vec<(&'static str, Result<String, String>)> {
    vec![
        ("an error", Err("not authorized".to_owned())),
        ("an empty error", Err(String::new())),
        ("a huge error", Err("out of order\n".repeat(100_000))),
        ("garbage", Ok("<html>\u{1}</html>".to_owned())),
        ("nothing", Ok(String::new())),
        ("another type", Ok("[null]".to_owned())),
        (
            "deep nesting",
            Ok("[".repeat(100_000) + &"]".repeat(100_000)),
        ),
        (
            "a huge manifest",
            Ok(json!({"manifests": vec![json!({"digest": "sha256:0"}); 20_000]}).to_string()),
        ),
    ]
}

/// A fixture, as far as faults need it.
struct Fixture {
    name: String,
    request: Value,
    settings: Value,
    registry: Registry,
}

/// Every fixture, with `budget` as the time for its lookups.
fn fixtures(budget: Duration) -> Vec<Fixture> {
    let folders = fs::read_dir(common::workspace().join("tests/fixtures")).unwrap();
    let fixture = |folder: PathBuf| {
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let mut settings: Value = yaml_serde::from_str(&read("settings.yml")).unwrap();
        settings["lookupBudgetMilliseconds"] = json!(budget.as_millis());
        Fixture {
            name: folder.display().to_string(),
            request: request::parse(&read("request.json")).unwrap(),
            settings,
            registry: Registry::of_session(&read("session.yml")),
        }
    };
    folders
        .flatten()
        .map(|entry| fixture(entry.path()))
        .collect()
}

#[test]
fn every_fault_of_every_lookup_ends_in_the_verdict_that_the_settings_promise() {
    let mut injected = 0;
    for fixture in fixtures(Duration::ZERO) {
        let Fixture {
            name,
            request,
            settings,
            registry,
        } = fixture;
        let untroubled = by_wasm(&request, &settings, &registry);
        for at in 0..registry.0.len() {
            for (what, fault) in faults() {
                let mut faulty = registry.clone();
                faulty.0[at].1 = fault;
                let response = by_wasm(&request, &settings, &faulty);
                let context = format!("{name} lookup {at}: {what}");
                assert_eq!(
                    response,
                    natively(&request, &settings, &faulty),
                    "{context}"
                );
                let code = response.status.as_ref().and_then(|status| status.code);
                assert!(
                    response.allowed || matches!(code, Some(400 | 403 | 424)),
                    "{context}: {response:?}"
                );
                assert_eq!(response.allowed, response.status.is_none(), "{context}");
                injected += 1;
            }
        }
        assert_eq!(
            by_wasm(&request, &settings, &registry),
            untroubled,
            "{name}"
        );
    }
    println!("{injected} faults injected");
    assert!(injected > 500, "{injected}");
}

/// A registry of which one answer comes late.
#[derive(Clone)]
struct Late {
    registry: Registry,
    late: Lookup,
    delay: Duration,
    was_asked: Arc<AtomicBool>,
}

impl Answers for Late {
    fn answer(&mut self, lookup: &Lookup) -> Result<String, String> {
        if *lookup == self.late {
            self.was_asked.store(true, Ordering::Relaxed);
            thread::sleep(self.delay);
        }
        self.registry.answer(lookup)
    }
}

/// The same registry for the native core, on a clock that only the late answer moves.
struct LateHost {
    host: NativeHost,
    late: Lookup,
    delay: Duration,
    elapsed: Duration,
}

impl LateHost {
    fn ask(&mut self, lookup: Lookup) -> Result<Vec<u8>, String> {
        if lookup == self.late {
            self.elapsed += self.delay;
        }
        self.host.answer(&lookup)
    }
}

impl Host for LateHost {
    fn manifest(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        self.ask(Lookup::Manifest(reference.to_owned()))
    }

    fn manifest_and_config(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        self.ask(Lookup::ManifestAndConfig(reference.to_owned()))
    }

    fn elapsed(&self) -> Duration {
        self.elapsed
    }

    fn log(&mut self, _: &[u8]) {}
}

/// Runs `check` on every fixture with every lookup of it late in turn, many at once: they only sleep.
fn with_each_lookup_late(
    budget: Duration,
    delay: Duration,
    check: impl Fn(&Fixture, &Late) + Sync,
) -> usize {
    let fixtures = fixtures(budget);
    let mut jobs = Vec::new();
    for fixture in &fixtures {
        for (late, _) in &fixture.registry.0 {
            let late = Late {
                registry: fixture.registry.clone(),
                late: late.clone(),
                delay,
                was_asked: Arc::default(),
            };
            jobs.push((fixture, late));
        }
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                while let Some((fixture, late)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(fixture, late);
                }
            });
        }
    });
    jobs.len()
}

#[test]
fn lookups_after_one_that_used_up_the_budget_fail_and_nothing_else_does() {
    let (budget, delay) = (Duration::from_millis(600), Duration::from_millis(700));
    let injected = with_each_lookup_late(budget, delay, |fixture, late| {
        let Fixture {
            request, settings, ..
        } = fixture;
        let response = POLICY
            .evaluate(request, settings, Box::new(late.clone()), Allowed::all())
            .unwrap()
            .response;
        let host = LateHost {
            host: NativeHost(late.registry.clone()),
            late: late.late.clone(),
            delay,
            elapsed: Duration::ZERO,
        };
        let expected = natively_on(host, request, settings);
        assert_eq!(response, expected, "{}: {:?}", fixture.name, late.late);
    });
    println!("{injected} lookups were late");
    assert!(injected > 100, "{injected}");
}

#[test]
fn past_the_deadline_every_fixture_is_rejected_and_the_next_evaluation_is_right() {
    let tick = Duration::from_millis(500);
    let policy = common::policy(Deadline { tick, ticks: 2 }).unwrap();
    let injected = with_each_lookup_late(Duration::ZERO, 3 * tick, |fixture, late| {
        let Fixture {
            request,
            settings,
            registry,
            ..
        } = fixture;
        let evaluate = |answers: Box<dyn Answers>| {
            policy
                .evaluate(request, settings, answers, Allowed::all())
                .unwrap()
                .response
        };
        let response = evaluate(Box::new(late.clone()));
        let expected = natively(request, settings, registry);
        if late.was_asked.load(Ordering::Relaxed) {
            let status = response.status.as_ref().unwrap();
            assert_eq!(status.code, Some(500), "{}", fixture.name);
            let message = status.message.as_deref().unwrap_or_default();
            assert!(
                message.contains("exceeded the allowed execution time"),
                "{message}"
            );
        } else {
            assert_eq!(response, expected, "{}", fixture.name);
        }
        assert_eq!(
            evaluate(Box::new(registry.clone())),
            expected,
            "{}",
            fixture.name
        );
    });
    println!("{injected} lookups were late");
    assert!(injected > 100, "{injected}");
}
