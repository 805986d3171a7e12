//! Answers from real registries, through the library that policy-server uses.

use std::{
    collections::HashMap,
    fs::{self, File},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use docker_credential::DockerCredential;
use oci_client::{
    Client, Reference,
    client::{Certificate, CertificateEncoding, ClientConfig, ClientProtocol},
    errors::OciDistributionError,
    secrets::RegistryAuth,
};
use serde::Deserialize;
use serde_json::json;
use tokio::{runtime::Runtime, task::JoinSet};

use crate::capabilities::{Answers, Lookup};

/// How long policy-server remembers an answer.
const REMEMBERED: Duration = Duration::from_secs(60);

/// How registries are reached: which are insecure, and which authorities sign their certificates. The format is that of
/// kwctl's `--sources-path`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sources {
    /// Hosts, with their ports, whose certificates aren't checked and that may speak plain HTTP.
    insecure_sources: Vec<String>,
    /// Authorities, besides the usual ones, by host.
    source_authorities: HashMap<String, Vec<Authority>>,
    /// Proxies of the network; read and left to the environment, as kwctl does.
    proxies: Option<serde_json::Value>,
}

/// An authority that signs certificates.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type")]
enum Authority {
    /// In a file, PEM or DER.
    Path { path: PathBuf },
    /// PEM.
    Data { data: String },
}

impl Sources {
    /// Reads a file of sources.
    ///
    /// # Errors
    /// Where the file can't be read or isn't one.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        yaml_serde::from_str(&text)
            .with_context(|| format!("{} is not a file of sources", path.display()))
    }

    fn is_insecure(&self, host: &str) -> bool {
        self.insecure_sources
            .iter()
            .any(|insecure| insecure == host)
    }

    fn certificates(&self, host: &str) -> Result<Vec<Certificate>> {
        let authorities = self.source_authorities.get(host);
        authorities
            .into_iter()
            .flatten()
            .map(|authority| {
                let data = match authority {
                    Authority::Data { data } => data.clone().into_bytes(),
                    Authority::Path { path } => fs::read(path)
                        .with_context(|| format!("cannot read the authority {}", path.display()))?,
                };
                let is_pem = data.starts_with(b"-----BEGIN");
                Ok(Certificate {
                    encoding: if is_pem {
                        CertificateEncoding::Pem
                    } else {
                        CertificateEncoding::Der
                    },
                    data,
                })
            })
            .collect()
    }
}

/// How lookups are made.
#[derive(Clone, Debug)]
pub struct Options {
    /// How registries are reached.
    pub sources: Sources,
    /// The folder of Docker's `config.json`; `None` for Docker's own place.
    pub docker_config: Option<PathBuf>,
    /// How long a lookup may take.
    pub timeout: Duration,
}

/// Real registries.
#[derive(Clone)]
pub struct Registries {
    runtime: Arc<Runtime>,
    options: Arc<Options>,
    clients: Arc<Mutex<HashMap<(String, Transport), Client>>>,
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
        let timeout = self.options.timeout;
        match tokio::time::timeout(timeout, self.try_transports(lookup)).await {
            Ok(answer) => answer.map_err(|error| {
                let text = format!("{error:?}");
                let without_backtrace = text.split("Stack backtrace:").next();
                without_backtrace.unwrap_or_default().trim_end().to_owned()
            }),
            Err(_) => Err(format!(
                "the registry did not answer within {} s",
                timeout.as_secs_f32()
            )),
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
            Lookup::Manifest(_) => {
                let (manifest, _) = client.pull_manifest(reference, &auth).await?;
                serde_json::to_string(&manifest)?
            }
            Lookup::ManifestAndConfig(_) => {
                let (manifest, digest, config) =
                    client.pull_manifest_and_config(reference, &auth).await?;
                let config: serde_json::Value = serde_json::from_str(&config).map_err(|error| {
                    OciDistributionError::ConfigConversionError(error.to_string())
                })?;
                json!({"manifest": manifest, "digest": digest, "config": config}).to_string()
            }
        };
        Ok(answer)
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
    fn sources_are_read_in_the_format_of_kwctl() {
        let sources: Sources = yaml_serde::from_str(
            "insecure_sources:\n  - localhost:5000\nsource_authorities:\n  a.example.com:\n    - type: Data\n      data: |\n        -----BEGIN CERTIFICATE-----\n",
        )
        .unwrap();
        assert!(sources.is_insecure("localhost:5000"));
        assert!(!sources.is_insecure("localhost"));
        assert_eq!(sources.certificates("a.example.com").unwrap().len(), 1);
        assert_eq!(sources.certificates("b.example.com").unwrap().len(), 0);
    }

    #[test]
    fn a_missing_docker_config_is_named() {
        let options = Options {
            sources: Sources::default(),
            docker_config: Some(PathBuf::from("/nowhere")),
            timeout: Duration::from_secs(1),
        };
        let error = Registries::new(options).err().unwrap().to_string();
        assert_eq!(error, "there is no /nowhere/config.json");
    }
}
