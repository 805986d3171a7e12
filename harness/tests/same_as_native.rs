//! The wasm that ships says what the core says natively: for random Pods, and with every lookup of every fixture failing
//! in turn.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{fs, sync::LazyLock, time::Duration};

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
    let payload = json!({"request": request, "settings": settings}).to_string();
    let mut host = NativeHost(registry.clone());
    let response = validate(payload.as_bytes(), &mut host)
        .into_json()
        .to_string();
    let response = serde_json::from_str(&response).unwrap();
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

#[test]
fn every_fault_of_every_lookup_ends_in_the_verdict_that_the_settings_promise() {
    let mut injected = 0;
    for entry in fs::read_dir(common::workspace().join("tests/fixtures"))
        .unwrap()
        .flatten()
    {
        let folder = entry.path();
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let request = request::parse(&read("request.json")).unwrap();
        let mut settings: Value = yaml_serde::from_str(&read("settings.yml")).unwrap();
        settings["lookupBudgetMilliseconds"] = json!(0);
        let registry = Registry::of_session(&read("session.yml"));
        let untroubled = by_wasm(&request, &settings, &registry);
        for at in 0..registry.0.len() {
            for (what, fault) in faults() {
                let mut faulty = registry.clone();
                faulty.0[at].1 = fault;
                let response = by_wasm(&request, &settings, &faulty);
                let context = format!("{} lookup {at}: {what}", folder.display());
                assert_eq!(
                    response,
                    natively(&request, &settings, &faulty),
                    "{context}"
                );
                let code = response.status.as_ref().and_then(|status| status.code);
                assert!(
                    response.allowed || code == Some(403),
                    "{context}: {response:?}"
                );
                assert_eq!(response.allowed, response.status.is_none(), "{context}");
                injected += 1;
            }
        }
        assert_eq!(
            by_wasm(&request, &settings, &registry),
            untroubled,
            "{folder:?}"
        );
    }
    assert!(injected > 500, "{injected}");
}
