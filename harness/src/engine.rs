//! The engine that runs the policy: wasmtime under waPC, as policy-server sets them up.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use wapc::WapcHost;
use wasmtime_provider::{
    EpochDeadlines, WasmtimeEngineProviderBuilder, WasmtimeEngineProviderPre, wasmtime,
};

use crate::{
    admission::{AdmissionResponse, PolicyResponse},
    capabilities::{Allowed, Answers, Lookup, MANIFEST, MANIFEST_AND_CONFIG, OCI},
};

/// How long an evaluation may take: it is interrupted at the end of its last tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// How long a tick is; ticks go on whether or not anything is evaluated.
    pub tick: Duration,
    /// How many ticks an evaluation gets: the one under way when it starts counts as a whole one.
    pub ticks: u64,
}

impl Default for Deadline {
    /// That of policy-server.
    fn default() -> Self {
        Self {
            tick: Duration::from_secs(1),
            ticks: 2,
        }
    }
}

/// What the engine says when it interrupts a policy; waPC has no error of its own for it.
const INTERRUPTED: &str = "guest code interrupted, execution deadline exceeded";

/// A compiled policy.
pub struct Policy {
    provider: WasmtimeEngineProviderPre,
    deadline: Deadline,
    _ticker: Ticker,
}

/// An instance of a policy, which has answered nothing yet.
pub struct Instance {
    host: WapcHost,
    state: Arc<Mutex<HostState>>,
}

/// What crossed the boundary between the host and an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How often the policy called the host.
    pub host_calls: usize,
    /// The bytes that the policy got: what it was called with, and answers of the host.
    pub bytes_in: usize,
    /// The bytes that the policy gave: its answer, and what it called the host with.
    pub bytes_out: usize,
}

/// What came of an evaluation.
#[derive(Debug)]
pub struct Evaluation {
    /// The response to the API server.
    pub response: AdmissionResponse,
    /// The lookups, with the answers that the policy got.
    pub lookups: Vec<(Lookup, Result<String, String>)>,
    /// The events that the policy logged.
    pub events: Vec<Value>,
    /// What crossed the boundary.
    pub traffic: Traffic,
}

/// What the host did for an evaluation.
struct HostState {
    answers: Box<dyn Answers>,
    allowed: Allowed,
    lookups: Vec<(Lookup, Result<String, String>)>,
    events: Vec<Value>,
    traffic: Traffic,
}

impl Policy {
    /// Compiles the policy in the file `path`.
    ///
    /// # Errors
    /// Where the file can't be read or isn't a wasm module.
    pub fn read(path: &Path, deadline: Deadline) -> Result<Self> {
        let wasm = std::fs::read(path)
            .with_context(|| format!("cannot read the policy {}", path.display()))?;
        Self::compile(&wasm, deadline)
            .with_context(|| format!("{} is not a waPC policy", path.display()))
    }

    /// Compiles a policy, or takes it from wasmtime's cache, which is in the user's cache folder.
    ///
    /// # Errors
    /// Where `wasm` isn't a wasm module.
    pub fn compile(wasm: &[u8], deadline: Deadline) -> Result<Self> {
        let mut config = wasmtime::Config::new();
        config.wasm_function_references(true);
        config.epoch_interruption(true);
        // Without a place for the cache, every run compiles.
        config.cache(wasmtime::Cache::from_file(None).ok());
        let engine = wasmtime::Engine::new(&config).map_err(|error| anyhow!("{error:#}"))?;
        let module = wasmtime::Module::new(&engine, wasm).map_err(|error| anyhow!("{error:#}"))?;
        let provider = WasmtimeEngineProviderBuilder::new()
            .engine(engine.clone())
            .module(module)
            .build_pre()
            .map_err(|error| anyhow!("{error}"))?;
        Ok(Self {
            provider,
            deadline,
            _ticker: Ticker::start(engine, deadline.tick),
        })
    }

    /// Evaluates an admission request with `settings` in a fresh instance. `answers` answers the lookups, as far as
    /// `allowed` grants them.
    ///
    /// A rejection is a response, and so is what policy-server makes of an exceeded deadline or of a fault of the policy.
    ///
    /// # Errors
    /// Where the request or the settings are none, or where answering went wrong: then the response proves nothing.
    pub fn evaluate(
        &self,
        request: &Value,
        settings: &Value,
        answers: Box<dyn Answers>,
        allowed: Allowed,
    ) -> Result<Evaluation> {
        self.check_settings(settings)?;
        let uid = request["uid"].as_str().unwrap_or_default();
        let payload = serde_json::to_vec(&json!({"request": request, "settings": settings}))?;
        let instance = self
            .instance(answers, allowed)
            .map_err(|error| anyhow!("the policy failed to start: {error}"))?;
        let response = match instance.call("validate", &payload) {
            Ok(answer) => {
                let answer: PolicyResponse = serde_json::from_slice(&answer)
                    .context("the policy's answer is not a ValidationResponse")?;
                AdmissionResponse::new(uid, &request["object"], answer)?
            }
            Err(error) if error.contains(INTERRUPTED) => AdmissionResponse::internal_error(
                uid,
                "Policy execution interrupted because it exceeded the allowed execution time",
            ),
            Err(error) => AdmissionResponse::internal_error(uid, &error),
        };
        let mut state = lock(&instance.state);
        let problems = state.answers.problems();
        if !problems.is_empty() {
            bail!("{}", problems.join("; "));
        }
        Ok(Evaluation {
            response,
            lookups: std::mem::take(&mut state.lookups),
            events: std::mem::take(&mut state.events),
            traffic: state.traffic,
        })
    }

    /// Has the policy check its settings.
    ///
    /// # Errors
    /// Where they are invalid, with what the policy says about them.
    pub fn check_settings(&self, settings: &Value) -> Result<()> {
        #[derive(Deserialize)]
        struct Answer {
            valid: bool,
            message: Option<String>,
        }
        let answer = self
            .call_alone("validate_settings", &serde_json::to_vec(settings)?)
            .map_err(|error| anyhow!("the policy failed on its settings: {error}"))?;
        let answer: Answer = serde_json::from_slice(&answer)
            .context("the policy's answer is not a SettingsValidationResponse")?;
        if answer.valid {
            Ok(())
        } else {
            bail!(
                "Provided settings are not valid: {}",
                answer.message.unwrap_or_default()
            )
        }
    }

    /// Calls a function of the policy that asks the host for nothing.
    ///
    /// # Errors
    /// The text of the error where the policy fails.
    pub fn call_alone(&self, function: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let answers = Box::new(crate::session::Session::default());
        self.instance(answers, Allowed::all())?
            .call(function, payload)
    }

    /// A fresh instance. `answers` answers its lookups, as far as `allowed` grants them.
    ///
    /// # Errors
    /// The text of the error where the policy can't be started.
    pub fn instance(
        &self,
        answers: Box<dyn Answers>,
        allowed: Allowed,
    ) -> Result<Instance, String> {
        let state = Arc::new(Mutex::new(HostState {
            answers,
            allowed,
            lookups: Vec::new(),
            events: Vec::new(),
            traffic: Traffic::default(),
        }));
        let deadlines = EpochDeadlines {
            wapc_init: self.deadline.ticks,
            wapc_func: self.deadline.ticks,
        };
        let provider = self
            .provider
            .rehydrate(Some(deadlines))
            .map_err(|error| error.to_string())?;
        let shared = Arc::clone(&state);
        let callback =
            move |_id: u64, binding: &str, namespace: &str, operation: &str, payload: &[u8]| {
                let mut state = lock(&shared);
                let answer = state.call(binding, namespace, operation, payload);
                let bytes = answer.as_ref().map_or_else(String::len, Vec::len);
                state.traffic.host_calls += 1;
                state.traffic.bytes_in += bytes;
                state.traffic.bytes_out += payload.len();
                answer.map_err(Into::into)
            };
        let host = WapcHost::new(Box::new(provider), Some(Box::new(callback)))
            .map_err(|error| error.to_string())?;
        Ok(Instance { host, state })
    }
}

impl Instance {
    /// Calls a function of the policy.
    ///
    /// # Errors
    /// The text of the error where the policy fails.
    pub fn call(&self, function: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let answer = self
            .host
            .call(function, payload)
            .map_err(|error| error.to_string())?;
        let traffic = &mut lock(&self.state).traffic;
        traffic.bytes_in += payload.len();
        traffic.bytes_out += answer.len();
        Ok(answer)
    }

    /// What crossed the boundary so far.
    pub fn traffic(&self) -> Traffic {
        lock(&self.state).traffic
    }
}

impl HostState {
    fn call(
        &mut self,
        binding: &str,
        namespace: &str,
        operation: &str,
        payload: &[u8],
    ) -> Result<Vec<u8>, String> {
        if binding != "kubewarden" {
            return Err(format!("unknown binding: {binding}"));
        }
        if namespace == "tracing" {
            self.events
                .push(serde_json::from_slice(payload).map_err(|error| error.to_string())?);
            return Ok(Vec::new());
        }
        let path = format!("{namespace}/{operation}");
        if !self.allowed.allows(&path) {
            return Err(format!(
                "Policy has not been granted access to the '{path}' host capability. The violation has been reported."
            ));
        }
        let image = || serde_json::from_slice::<String>(payload).map_err(|error| error.to_string());
        let lookup = match (namespace, operation) {
            (OCI, MANIFEST) => Lookup::Manifest(image()?),
            (OCI, MANIFEST_AND_CONFIG) => Lookup::ManifestAndConfig(image()?),
            _ => return Err(format!("unknown operation: {path}")),
        };
        let answer = self.answers.answer(&lookup);
        self.lookups.push((lookup, answer.clone()));
        answer
            .map(String::into_bytes)
            .map_err(|error| format!("Callback evaluation failure: {error}"))
    }
}

fn lock(state: &Mutex<HostState>) -> MutexGuard<'_, HostState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ticks the engine's clock until it is dropped.
struct Ticker {
    stop: mpsc::Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(engine: wasmtime::Engine, tick: Duration) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(tick) == Err(mpsc::RecvTimeoutError::Timeout) {
                engine.increment_epoch();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        let _ = self.stop.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
