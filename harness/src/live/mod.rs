//! Answers from real registries, through the library that policy-server uses.

mod failure;
mod sources;

use std::{
    collections::HashMap,
    fs::File,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use docker_credential::DockerCredential;
use oci_client::{
    Client, Reference,
    client::{ClientConfig, ClientProtocol},
    errors::OciDistributionError,
    manifest::{OciImageManifest, OciManifest},
    secrets::RegistryAuth,
};
use serde_json::json;
use tokio::{runtime::Runtime, task::JoinSet};

use crate::capabilities::{Answers, Lookup};
pub use sources::Sources;

/// How long policy-server remembers an answer.
const REMEMBERED: Duration = Duration::from_secs(60);
/// How long a patient lookup may take, pauses included.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first pause before a patient lookup is tried again; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// How lookups are made.
#[derive(Clone, Debug)]
pub struct Options {
    /// How registries are reached.
    pub sources: Sources,
    /// The folder of Docker's `config.json`; `None` for Docker's own place.
    pub docker_config: Option<PathBuf>,
    /// How long a lookup may take.
    pub timeout: Duration,
    /// How lookups are made.
    pub manner: Manner,
}

/// How lookups are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As policy-server makes them: each once, with its errors as it prints them.
    AsPolicyServer,
    /// With patience: what a registry asks to be tried again is, no manifest is read twice, and errors say what helps.
    Patient,
}

/// Real registries.
#[derive(Clone)]
pub struct Registries {
    runtime: Arc<Runtime>,
    options: Arc<Options>,
    clients: Arc<Mutex<HashMap<(String, Transport), Client>>>,
    /// The single manifests that were read so far, with their digests, by image.
    manifests: Arc<Mutex<HashMap<String, (OciImageManifest, String)>>>,
}

/// How a registry is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Transport {
    Https,
    UncheckedHttps,
    Http,
}

impl Registries {
    /// Registries, reached as `options` say.
    ///
    /// # Errors
    /// Where the system grants no threads, or Docker's `config.json` isn't where the options say.
    pub fn new(options: Options) -> Result<Self> {
        if let Some(folder) = &options.docker_config {
            let path = folder.join("config.json");
            if !path.is_file() {
                bail!("there is no {}", path.display());
            }
        }
        // It is an error where one is installed already, by an earlier call.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("cannot start threads")?;
        Ok(Self {
            runtime: Arc::new(runtime),
            options: Arc::new(options),
            clients: Arc::default(),
            manifests: Arc::default(),
        })
    }

    /// Makes one lookup.
    ///
    /// # Errors
    /// The text of the error, with its causes, as policy-server prints it.
    pub fn look_up(&self, lookup: &Lookup) -> Result<String, String> {
        self.runtime.block_on(self.answer(lookup))
    }

    /// Makes `lookups`, at most `at_once` of them at a time, and hands each answer to `done` as it comes.
    pub fn look_up_all(
        &self,
        lookups: Vec<Lookup>,
        at_once: usize,
        mut done: impl FnMut(Lookup, Result<String, String>),
    ) {
        self.runtime.block_on(async {
            let mut waiting = lookups.into_iter();
            let mut running = JoinSet::new();
            loop {
                while running.len() < at_once.max(1)
                    && let Some(lookup) = waiting.next()
                {
                    let registries = self.clone();
                    running.spawn(async move {
                        let answer = registries.answer(&lookup).await;
                        (lookup, answer)
                    });
                }
                match running.join_next().await {
                    Some(Ok((lookup, answer))) => done(lookup, answer),
                    Some(Err(_)) => {} // A lookup that panicked stays unanswered.
                    None => break,
                }
            }
        });
    }

    async fn answer(&self, lookup: &Lookup) -> Result<String, String> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match self.answer_once(lookup).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if self.options.manner == Manner::AsPolicyServer {
                let text = format!("{error:?}");
                let without_backtrace = text.split("Stack backtrace:").next();
                return Err(without_backtrace.unwrap_or_default().trim_end().to_owned());
            }
            let next = match failure::address_to_try_again(&error) {
                Some(address) => failure::pause_asked_for(address).await.unwrap_or(pause),
                None => return Err(failure::explained(&error)),
            };
            if began.elapsed() + next > PATIENCE {
                return Err(failure::explained(&error));
            }
            tokio::time::sleep(next).await;
            pause *= 2;
        }
    }

    async fn answer_once(&self, lookup: &Lookup) -> Result<String> {
        let timeout = self.options.timeout;
        match tokio::time::timeout(timeout, self.try_transports(lookup)).await {
            Ok(answer) => answer,
            Err(_) => Err(failure::NoAnswer(timeout).into()),
        }
    }

    /// An insecure registry is tried by HTTPS, by HTTPS with any certificate, and by plain HTTP, in this order.
    async fn try_transports(&self, lookup: &Lookup) -> Result<String> {
        let reference: Reference = lookup
            .image()
            .parse()
            .with_context(|| format!("invalid image reference {:?}", lookup.image()))?;
        let secure = self.ask(lookup, &reference, Transport::Https).await;
        if secure.is_ok() || !self.options.sources.is_insecure(reference.registry()) {
            return secure;
        }
        let unchecked = self
            .ask(lookup, &reference, Transport::UncheckedHttps)
            .await;
        if unchecked.is_ok() {
            return unchecked;
        }
        self.ask(lookup, &reference, Transport::Http).await
    }

    async fn ask(
        &self,
        lookup: &Lookup,
        reference: &Reference,
        transport: Transport,
    ) -> Result<String> {
        let client = self.client(reference.registry(), transport)?;
        let auth = self.credentials(reference.registry())?;
        let answer = match lookup {
            Lookup::Manifest(image) => {
                let (manifest, digest) = client.pull_manifest(reference, &auth).await?;
                let text = serde_json::to_string(&manifest)?;
                if let OciManifest::Image(manifest) = manifest {
                    self.remember(image, manifest, digest);
                }
                text
            }
            Lookup::ManifestAndConfig(image) => {
                let (manifest, digest, config) = match self.remembered(image) {
                    Some((manifest, digest)) => {
                        let mut config = Vec::new();
                        client
                            .pull_blob(reference, &manifest.config, &mut config)
                            .await?;
                        (manifest, digest, String::from_utf8(config)?)
                    }
                    None => client.pull_manifest_and_config(reference, &auth).await?,
                };
                let config: serde_json::Value = serde_json::from_str(&config).map_err(|error| {
                    OciDistributionError::ConfigConversionError(error.to_string())
                })?;
                json!({"manifest": manifest, "digest": digest, "config": config}).to_string()
            }
        };
        Ok(answer)
    }

    fn remember(&self, image: &str, manifest: OciImageManifest, digest: String) {
        let mut manifests = self
            .manifests
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        manifests.insert(image.to_owned(), (manifest, digest));
    }

    /// The single manifest of an image that was read before; none where policy-server would read it again.
    fn remembered(&self, image: &str) -> Option<(OciImageManifest, String)> {
        if self.options.manner == Manner::AsPolicyServer {
            return None;
        }
        let manifests = self
            .manifests
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        manifests.get(image).cloned()
    }

    fn client(&self, host: &str, transport: Transport) -> Result<Client> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.to_owned(), transport);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let config = ClientConfig {
            protocol: match transport {
                Transport::Http => ClientProtocol::Http,
                Transport::Https | Transport::UncheckedHttps => ClientProtocol::Https,
            },
            accept_invalid_certificates: transport == Transport::UncheckedHttps,
            extra_root_certificates: self.options.sources.certificates(host)?,
            connect_timeout: Some(self.options.timeout),
            ..ClientConfig::default()
        };
        let client = Client::new(config);
        clients.insert(key, client.clone());
        Ok(client)
    }

    fn credentials(&self, host: &str) -> Result<RegistryAuth> {
        let found = match &self.options.docker_config {
            Some(folder) => {
                let path = folder.join("config.json");
                let file =
                    File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
                docker_credential::get_credential_from_reader(file, host)
            }
            None => docker_credential::get_credential(host),
        };
        Ok(match found {
            Ok(DockerCredential::UsernamePassword(user, password)) => {
                RegistryAuth::Basic(user, password)
            }
            // As for policy-server, no credentials and identity tokens mean an anonymous request.
            Ok(DockerCredential::IdentityToken(_)) | Err(_) => RegistryAuth::Anonymous,
        })
    }
}

/// Answers from registries, and remembers answers, but no errors, for as long as policy-server does.
pub struct Live {
    registries: Registries,
    remembered: Vec<(Instant, Lookup, String)>,
}

impl Live {
    /// Answers from `registries`.
    pub fn new(registries: Registries) -> Self {
        Self {
            registries,
            remembered: Vec::new(),
        }
    }
}

impl Answers for Live {
    fn answer(&mut self, lookup: &Lookup) -> Result<String, String> {
        self.remembered
            .retain(|(since, ..)| since.elapsed() < REMEMBERED);
        if let Some((_, _, answer)) = self.remembered.iter().find(|(_, known, _)| known == lookup) {
            return Ok(answer.clone());
        }
        let answer = self.registries.look_up(lookup)?;
        self.remembered
            .push((Instant::now(), lookup.clone(), answer.clone()));
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_docker_config_is_named() {
        let options = Options {
            sources: Sources::default(),
            docker_config: Some(PathBuf::from("/nowhere")),
            timeout: Duration::from_secs(1),
            manner: Manner::AsPolicyServer,
        };
        let error = Registries::new(options).err().unwrap().to_string();
        assert_eq!(error, "there is no /nowhere/config.json");
    }
}
