//! How registries are reached.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use oci_client::client::{Certificate, CertificateEncoding};
use serde::Deserialize;

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
        Self::parse(&text).with_context(|| format!("{} is not a file of sources", path.display()))
    }

    /// Reads sources from their text.
    ///
    /// # Errors
    /// Where it isn't made of such, or names a host in a way that matches none.
    fn parse(text: &str) -> Result<Self> {
        let sources: Self = yaml_serde::from_str(text)?;
        let insecure = sources.insecure_sources.iter();
        for host in insecure.chain(sources.source_authorities.keys()) {
            let bare = host.split_once("://").map_or(&**host, |(_, bare)| bare);
            let bare = bare.split('/').next().unwrap_or_default();
            if bare != host {
                bail!("{host:?} matches no registry, use {bare:?}");
            }
        }
        Ok(sources)
    }

    pub(super) fn is_insecure(&self, host: &str) -> bool {
        self.insecure_sources
            .iter()
            .any(|insecure| insecure == host)
    }

    pub(super) fn certificates(&self, host: &str) -> Result<Vec<Certificate>> {
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
    fn what_is_wrong_in_a_file_of_sources_is_named_with_its_remedy() {
        for (text, expected) in [
            (
                "insecureSources: [a]",
                "unknown field `insecureSources`, expected one of `insecure_sources`",
            ),
            (
                "insecure_sources: [\"http://a:5000/\"]",
                "\"http://a:5000/\" matches no registry, use \"a:5000\"",
            ),
            (
                "source_authorities: {a/b: []}",
                "\"a/b\" matches no registry, use \"a\"",
            ),
        ] {
            let error = Sources::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
