//! Lookups in real registries: Debian's `docker-registry` on a free port of the loopback interface, filled through its
//! API, plain, with credentials, and with TLS and an authority of its own; and servers that misbehave.
//!
//! Without `docker-registry` the tests that need it are reported as ignored; in CI they must run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use libtest_mimic::{Arguments, Trial};
use node_architecture_harness::{
    capabilities::{Allowed, Answers, Lookup},
    engine::{Deadline, Evaluation, Policy},
    fleet::Fleet,
    live::{Live, Manner, Options, Registries, Sources},
    report::{self, report},
    request::creation_of,
    session::{Exchange, Session},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

mod common;
mod servers;

use servers::{Authority, DockerRegistry, Server, Transport, fill};

/// A test's name, and what it does with the registries.
type Test = (&'static str, fn(&World));

const WITH_A_REGISTRY: &[Test] = &[
    ("an_index_is_read", an_index_is_read),
    ("a_docker_list_is_read", a_docker_list_is_read),
    (
        "single_manifests_are_read_through_their_config",
        single_manifests,
    ),
    ("attestations_are_no_platforms", attestations),
    ("a_nested_index_is_followed", a_nested_index),
    (
        "an_entry_without_a_platform_is_read_through_its_config",
        an_entry_without_a_platform,
    ),
    ("artifacts_are_no_container_images", artifacts),
    (
        "odd_configs_are_failed_lookups_or_count_for_any_os",
        odd_configs,
    ),
    ("a_reference_by_digest_is_read", by_digest),
    ("a_missing_image_is_a_failed_lookup", a_missing_image),
    ("a_proxy_prefix_is_followed", a_proxy_prefix),
    ("credentials_of_docker_are_used", credentials),
    ("wrong_credentials_are_one_clear_warning", wrong_credentials),
    (
        "a_private_authority_is_trusted_by_the_sources_file",
        a_private_authority,
    ),
    (
        "an_unknown_authority_is_one_clear_warning",
        an_unknown_authority,
    ),
    (
        "a_recorded_session_replays_with_the_same_response",
        a_recorded_session,
    ),
];

/// A test that needs no `docker-registry`.
type OtherTest = (&'static str, fn(&Policy));

const WITHOUT_A_REGISTRY: &[OtherTest] = &[
    ("a_registry_that_hangs_is_given_up", a_registry_that_hangs),
    (
        "a_registry_that_refuses_is_one_clear_warning",
        a_registry_that_refuses,
    ),
    (
        "a_registry_that_answers_429_is_one_clear_warning",
        too_many_requests,
    ),
    (
        "a_registry_that_answers_500_is_one_clear_warning",
        a_server_error,
    ),
    (
        "a_registry_that_answers_nonsense_is_one_clear_warning",
        nonsense,
    ),
    (
        "answers_are_remembered_for_a_while_and_errors_are_not",
        memory,
    ),
    ("a_report_looks_each_image_up_once", a_report),
    (
        "a_report_reads_a_single_manifest_and_its_config_once_each",
        a_single_manifest_in_a_report,
    ),
    (
        "a_report_tries_again_what_a_registry_asks_to_be_tried_again",
        a_patient_report,
    ),
    ("a_report_says_what_helps_with_a_registry", remedies),
];

/// The policy and the registries, which all serve the same images.
struct World {
    policy: Policy,
    plain: DockerRegistry,
    with_credentials: DockerRegistry,
    with_tls: DockerRegistry,
    authority: Authority,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let is_there = DockerRegistry::is_installed();
    if !is_there && std::env::var_os("CI").is_some() {
        eprintln!("error: CI needs docker-registry");
        return ExitCode::FAILURE;
    }
    let world = (is_there && !arguments.list).then(|| Arc::new(World::new()));
    let registry_trials = WITH_A_REGISTRY.iter().map(|(name, test)| {
        let world = world.clone();
        let trial = Trial::test(*name, move || {
            test(world.as_ref().expect("the registries run"));
            Ok(())
        });
        trial.with_ignored_flag(!is_there)
    });
    let other_trials = WITHOUT_A_REGISTRY.iter().map(|(name, test)| {
        Trial::test(*name, move || {
            test(&policy());
            Ok(())
        })
    });
    let trials = registry_trials.chain(other_trials).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn policy() -> Policy {
    // Lookups on a busy machine take their time.
    let deadline = Deadline {
        tick: Duration::from_secs(60),
        ticks: 2,
    };
    common::policy(deadline).unwrap()
}

impl World {
    fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let authority = Authority::new();
        let plain = DockerRegistry::start(&folder, &Transport::Plain);
        fill(&plain.host);
        Self {
            policy: policy(),
            plain,
            with_credentials: DockerRegistry::start(&folder, &Transport::Credentials),
            with_tls: DockerRegistry::start(&folder, &Transport::Tls(&authority)),
            authority,
        }
    }

    /// Evaluates a Pod with an image of the plain registry.
    fn evaluate(&self, image: &str) -> Evaluation {
        let image = format!("{}/{image}", self.plain.host);
        evaluate(
            &self.policy,
            &image,
            json!({}),
            insecure(&self.plain.host, 10),
        )
    }

    fn placement(&self, image: &str) -> String {
        placement(&self.evaluate(image))
    }

    fn warning(&self, image: &str) -> String {
        let warning = warning(&self.evaluate(image));
        warning.replace(&self.plain.host, "HOST")
    }
}

fn options(sources: &str, seconds: u64) -> Options {
    Options {
        sources: yaml_serde::from_str::<Sources>(sources).unwrap(),
        docker_config: None,
        timeout: Duration::from_secs(seconds),
        manner: Manner::AsPolicyServer,
    }
}

fn insecure(host: &str, seconds: u64) -> Options {
    options(&format!("insecure_sources: [{host:?}]"), seconds)
}

fn pod(image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"}, "spec": {"containers": [{"name": "app", "image": image}]}})
}

fn evaluate(policy: &Policy, image: &str, mut settings: Value, options: Options) -> Evaluation {
    settings["lookupBudgetMilliseconds"] = json!(0);
    settings["preferredArchitecture"] = json!(null);
    let live = Live::new(Registries::new(options).unwrap());
    let request = creation_of(pod(image)).unwrap();
    policy
        .evaluate(&request, &settings, Box::new(live), Allowed::all())
        .unwrap()
}

fn placement(evaluation: &Evaluation) -> String {
    let placement = evaluation.response.annotation("placement");
    placement.unwrap_or_default().to_owned()
}

/// The only warning.
fn warning(evaluation: &Evaluation) -> String {
    let warnings = evaluation.response.warnings.clone().unwrap_or_default();
    assert_eq!(warnings.len(), 1, "{:?}", evaluation.response);
    warnings[0].clone()
}

fn an_index_is_read(world: &World) {
    assert_eq!(world.placement("acme/multi:1"), "nodeAffinity=amd64,arm64");
    assert_eq!(world.evaluate("acme/multi:1").lookups.len(), 1);
}

fn a_docker_list_is_read(world: &World) {
    assert_eq!(world.placement("acme/list:1"), "nodeAffinity=amd64,arm");
}

fn single_manifests(world: &World) {
    assert_eq!(world.placement("acme/arm64:oci"), "nodeAffinity=arm64");
    assert_eq!(world.placement("acme/arm64:docker"), "nodeAffinity=arm64");
    assert_eq!(world.evaluate("acme/arm64:oci").lookups.len(), 2);
}

fn attestations(world: &World) {
    assert_eq!(world.placement("acme/attested:1"), "nodeAffinity=arm64");
}

fn a_nested_index(world: &World) {
    assert_eq!(world.placement("acme/nested:1"), "nodeAffinity=amd64,arm64");
}

fn an_entry_without_a_platform(world: &World) {
    assert_eq!(world.placement("acme/platformless:1"), "nodeAffinity=arm64");
}

fn artifacts(world: &World) {
    assert_eq!(
        world.warning("acme/chart:1"),
        "image HOST/acme/chart:1 ignored: not a container image (application/vnd.cncf.helm.config.v1+json)"
    );
    assert_eq!(
        world.warning("acme/artifact:1"),
        "image HOST/acme/artifact:1 ignored: not a container image (application/vnd.oci.empty.v1+json)"
    );
}

fn odd_configs(world: &World) {
    assert_eq!(
        world.warning("acme/odd:no-architecture"),
        "image HOST/acme/odd:no-architecture ignored: its config names no architecture"
    );
    assert_eq!(world.placement("acme/odd:no-os"), "nodeAffinity=arm64");
}

fn by_digest(world: &World) {
    let image = format!("acme/multi@{}", servers::multi_digest());
    assert_eq!(world.placement(&image), "nodeAffinity=amd64,arm64");
    let both = format!("acme/multi:1@{}", servers::multi_digest());
    assert_eq!(world.placement(&both), "nodeAffinity=amd64,arm64");
}

fn a_missing_image(world: &World) {
    assert_eq!(
        world.warning("acme/multi:2"),
        "image HOST/acme/multi:2 ignored: manifest unknown"
    );
}

fn a_proxy_prefix(world: &World) {
    let host = &world.plain.host;
    let settings =
        json!({"registryProxies": [{"registry": "docker.io", "proxy": format!("{host}/mirror")}]});
    let evaluation = evaluate(&world.policy, "nginx:1", settings, insecure(host, 10));
    assert_eq!(placement(&evaluation), "nodeAffinity=amd64,arm64");
    assert_eq!(
        evaluation.lookups[0].0,
        Lookup::Manifest(format!("{host}/mirror/library/nginx:1"))
    );
}

/// The evaluation of an image that needs credentials, with those of Docker's config for `user`.
fn with_credentials(world: &World, user: &str) -> Evaluation {
    let host = &world.with_credentials.host;
    let folder = servers::docker_config(host, user);
    let options = Options {
        docker_config: Some(folder.path().to_owned()),
        ..insecure(host, 10)
    };
    evaluate(
        &world.policy,
        &format!("{host}/acme/multi:1"),
        json!({}),
        options,
    )
}

fn credentials(world: &World) {
    let evaluation = with_credentials(world, servers::USER);
    assert_eq!(placement(&evaluation), "nodeAffinity=amd64,arm64");
}

fn wrong_credentials(world: &World) {
    let host = &world.with_credentials.host;
    assert_eq!(
        warning(&with_credentials(world, "somebody")),
        format!("image {host}/acme/multi:1 ignored: not authorized")
    );
    let anonymous = evaluate(
        &world.policy,
        &format!("{host}/acme/multi:1"),
        json!({}),
        insecure(host, 10),
    );
    assert_eq!(
        warning(&anonymous),
        format!("image {host}/acme/multi:1 ignored: not authorized")
    );
}

fn a_private_authority(world: &World) {
    let host = &world.with_tls.host;
    let path = world.authority.path();
    let sources = json!({"source_authorities": {host: [{"type": "Path", "path": path}]}});
    let evaluation = evaluate(
        &world.policy,
        &format!("{host}/acme/multi:1"),
        json!({}),
        options(&sources.to_string(), 10),
    );
    assert_eq!(placement(&evaluation), "nodeAffinity=amd64,arm64");
}

fn an_unknown_authority(world: &World) {
    let host = &world.with_tls.host;
    let evaluation = evaluate(
        &world.policy,
        &format!("{host}/acme/multi:1"),
        json!({}),
        options("{}", 10),
    );
    let warning = warning(&evaluation);
    assert!(warning.contains("certificate"), "{warning}");
    assert_eq!(
        cause(
            &world.policy,
            &format!("{host}/acme/multi:1"),
            options("{}", 10)
        ),
        "the registry's certificate isn't trusted: add its authority in --sources-path"
    );
}

fn a_recorded_session(world: &World) {
    for image in ["acme/multi:1", "acme/arm64:oci", "acme/missing:1"] {
        let live = world.evaluate(image);
        let exchanges: Vec<Exchange> = live
            .lookups
            .iter()
            .map(|(lookup, answer)| Exchange::new(lookup, answer).unwrap())
            .collect();
        let session = Session::parse(&yaml_serde::to_string(&exchanges).unwrap()).unwrap();
        let request = creation_of(pod(&format!("{}/{image}", world.plain.host))).unwrap();
        let settings = json!({"preferredArchitecture": null});
        let replayed = world
            .policy
            .evaluate(&request, &settings, Box::new(session), Allowed::all())
            .unwrap();
        assert_eq!(replayed.response, live.response);
    }
}

/// The warning about an image of a registry that answers every request with `status` and `body`.
fn warning_of(policy: &Policy, status: &'static str, body: &'static str) -> String {
    let server = Server::start(move |_| Some((status, body.to_owned())));
    let image = format!("{}/acme/app:1", server.host);
    let evaluation = evaluate(policy, &image, json!({}), insecure(&server.host, 10));
    warning(&evaluation).replace(&server.host, "HOST")
}

fn a_registry_that_hangs(policy: &Policy) {
    let server = Server::start(|_| None);
    let image = format!("{}/acme/app:1", server.host);
    let evaluation = evaluate(policy, &image, json!({}), insecure(&server.host, 1));
    assert_eq!(
        warning(&evaluation).replace(&server.host, "HOST"),
        "image HOST/acme/app:1 ignored: the registry did not answer within 1 s"
    );
}

fn a_registry_that_refuses(policy: &Policy) {
    let host = servers::free_host();
    let evaluation = evaluate(
        policy,
        &format!("{host}/acme/app:1"),
        json!({}),
        insecure(&host, 10),
    );
    assert_eq!(
        warning(&evaluation),
        format!("image {host}/acme/app:1 ignored: connection refused (os error 111)")
    );
}

fn too_many_requests(policy: &Policy) {
    let body = r#"{"errors":[{"code":"TOOMANYREQUESTS","message":"You have reached your pull rate limit."}]}"#;
    let warning = warning_of(policy, "429 Too Many Requests", body);
    assert!(
        warning.starts_with("image HOST/acme/app:1 ignored: "),
        "{warning}"
    );
    assert!(warning.contains("pull rate limit"), "{warning}");
}

fn a_server_error(policy: &Policy) {
    assert_eq!(
        warning_of(policy, "500 Internal Server Error", "out of order"),
        "image HOST/acme/app:1 ignored: server error: code: 500, message: out of order"
    );
}

fn nonsense(policy: &Policy) {
    let warning = warning_of(policy, "200 OK", "<html>Welcome</html>");
    assert!(
        warning.starts_with("image HOST/acme/app:1 ignored: "),
        "{warning}"
    );
}

fn memory(_: &Policy) {
    let server = Server::start(|path| {
        let index = r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}"#;
        match path.contains("/good/") {
            true => Some(("200 OK", index.to_owned())),
            false => Some(("404 Not Found", "{}".to_owned())),
        }
    });
    let mut live = Live::new(Registries::new(insecure(&server.host, 10)).unwrap());
    let mut ask = |name: &str| {
        let lookup = Lookup::Manifest(format!("{}/{name}/app:1", server.host));
        (live.answer(&lookup), live.answer(&lookup))
    };
    let (first, second) = ask("good");
    assert!(first.is_ok());
    assert_eq!(first, second);
    assert_eq!(server.requests("/good/"), 1);
    let (first, second) = ask("bad");
    assert!(first.is_err() && second.is_err());
    assert_eq!(server.requests("/bad/"), 2);
}

/// A registry where every image has an index for amd64, and those of even number one for arm64 too.
fn counting_registry() -> Server {
    Server::start(|path| {
        let number: u32 = path
            .strip_prefix("/v2/acme/app")?
            .split('/')
            .next()?
            .parse()
            .ok()?;
        let mut manifests = vec![
            json!({"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": format!("sha256:{}", "1".repeat(64)), "size": 1, "platform": {"os": "linux", "architecture": "amd64"}}),
        ];
        if number.is_multiple_of(2) {
            manifests.push(json!({"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": format!("sha256:{}", "2".repeat(64)), "size": 1, "platform": {"os": "linux", "architecture": "arm64"}}));
        }
        let index = json!({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests});
        Some(("200 OK", index.to_string()))
    })
}

/// A List of `count` Deployments over `images` distinct images.
fn list(host: &str, count: usize, images: usize) -> Value {
    let items: Vec<Value> = (0..count)
        .map(|number| {
            let image = format!("{host}/acme/app{}:1", number % images);
            json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": format!("web-{number}"), "namespace": "shop"},
                "spec": {"replicas": 2, "template": {"spec": {"containers": [
                    {"name": "app", "image": image, "resources": {"requests": {"cpu": "250m", "memory": "64Mi"}}}
                ]}}}
            })
        })
        .collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

/// A report on the Deployments of `list`, with patient lookups.
fn report_on(policy: &Policy, list: Value, options: Options) -> report::Report {
    let options = Options {
        manner: Manner::Patient,
        ..options
    };
    let registries = Registries::new(options).unwrap();
    let mut look_up_all = |lookups, done: &mut dyn FnMut(Lookup, Result<String, String>)| {
        registries.look_up_all(lookups, 8, done);
    };
    let fleet = Fleet::of(vec![list], &Value::Null);
    report(policy, &fleet, &Value::Null, "aarch64", &mut look_up_all).unwrap()
}

fn a_report(policy: &Policy) {
    let server = counting_registry();
    let list = list(&server.host, 500, 60);
    let report = report_on(policy, list, insecure(&server.host, 10));
    assert_eq!(report.architecture, "arm64");
    let workloads = report.totals.workloads;
    assert_eq!((workloads.ready, workloads.blocked), (250, 250));
    assert_eq!(report.totals.cpu_millicores.all(), 250_000);
    assert_eq!(server.requests("/manifests/"), 60);
}

fn a_single_manifest_in_a_report(policy: &Policy) {
    let config = r#"{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]},"config":{}}"#;
    let digest = format!("sha256:{}", hex(&Sha256::digest(config)));
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest, "size": config.len()},
        "layers": []
    });
    let server = Server::start(move |path| {
        let body = if path.contains("/blobs/") {
            config.to_owned()
        } else {
            manifest.to_string()
        };
        Some(("200 OK", body))
    });
    let list = list(&server.host, 1, 1);
    let report = report_on(policy, list, insecure(&server.host, 10));
    assert_eq!(report.images[0].platforms, ["linux/amd64"]);
    assert_eq!(report.workloads[0].status, report::Status::Blocked);
    assert_eq!(server.requests("/manifests/"), 1);
    assert_eq!(server.requests("/blobs/"), 1);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn a_patient_report(policy: &Policy) {
    for refusal in [
        "429 Too Many Requests\r\nRetry-After: 0",
        "503 Service Unavailable\r\nRetry-After: 0",
        "500 Internal Server Error",
    ] {
        let index = json!({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
            {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": format!("sha256:{}", "2".repeat(64)), "size": 1, "platform": {"os": "linux", "architecture": "arm64"}}
        ]});
        // The second request is the one for the pause.
        let requests = AtomicU32::new(0);
        let server = Server::start(move |_| {
            let status = match requests.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => refusal,
                _ => "200 OK",
            };
            Some((status, index.to_string()))
        });
        let list = list(&server.host, 1, 1);
        let report = report_on(policy, list, insecure(&server.host, 10));
        assert_eq!(
            report.workloads[0].status,
            report::Status::Ready,
            "{refusal}"
        );
        assert_eq!(server.requests("/manifests/"), 3, "{refusal}");
    }
}

/// Why a report can't tell anything of `image`.
fn cause(policy: &Policy, image: &str, options: Options) -> String {
    let report = report_on(policy, pod(image), options);
    assert_eq!(report.workloads[0].status, report::Status::Unknown);
    let cause = report.workloads[0].cause.clone().unwrap();
    assert_eq!(
        report.images[0].failure.as_deref(),
        cause.strip_prefix(&format!("{image}: "))
    );
    report.images[0].failure.clone().unwrap()
}

fn remedies(policy: &Policy) {
    let answering = |status: &'static str, body: &'static str| {
        let server = Server::start(move |_| Some((status, body.to_owned())));
        cause(
            policy,
            &format!("{}/acme/app:1", server.host),
            insecure(&server.host, 10),
        )
    };
    assert_eq!(
        answering("401 Unauthorized", "{}"),
        "not authorized: log in to the registry, or give --docker-config-json-path"
    );
    let unknown = r#"{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}"#;
    assert_eq!(
        answering("404 Not Found", unknown),
        "not found: check the name; many registries answer so for what one may not see"
    );
    let slow_down = r#"{"errors":[{"code":"TOOMANYREQUESTS","message":"slow down"}]}"#;
    assert_eq!(
        answering("429 Too Many Requests\r\nRetry-After: 3600", slow_down),
        "the registry limits how often it is asked: log in to it, or try again later"
    );
    let plain = Server::start(|_| Some(("200 OK", "{}".to_owned())));
    assert_eq!(
        cause(
            policy,
            &format!("{}/acme/app:1", plain.host),
            options("{}", 10)
        ),
        "the registry speaks plain HTTP: list it under insecure_sources in --sources-path"
    );
    assert_eq!(
        cause(
            policy,
            &format!("{}/acme/app:1", servers::free_host()),
            options("{}", 10)
        ),
        "the registry refuses connections: check its name and its port"
    );
    assert_eq!(
        cause(policy, "registry.invalid/acme/app:1", options("{}", 10)),
        "the registry's name is unknown: check it, and the network"
    );
    let hanging = Server::start(|_| None);
    assert_eq!(
        cause(
            policy,
            &format!("{}/acme/app:1", hanging.host),
            insecure(&hanging.host, 1)
        ),
        "the registry did not answer within 1 s: try again, or raise --lookup-timeout"
    );
}
