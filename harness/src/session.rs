//! Recorded sessions: exchanges between a policy and its host, in the format of kwctl's
//! `--record-host-capabilities-interactions`.
//!
//! ```yaml
//! - type: Exchange
//!   request: |
//!     !OciManifest
//!     image: nginx:1
//!   response:
//!     type: Success
//!     payload: '{"schemaVersion": 2, …}'
//! ```

use std::{
    collections::{HashMap, VecDeque},
    fs,
    path::Path,
};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::capabilities::{Answers, Lookup};

/// One question of the policy and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub struct Exchange {
    /// The question, itself YAML: a tag and its fields.
    pub request: String,
    /// The answer.
    pub response: Response,
}

/// An answer of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Response {
    /// The payload, JSON.
    Success {
        /// What the policy got.
        payload: String,
    },
    /// The text of an error.
    Error {
        /// What the policy got.
        message: String,
    },
}

/// A question as kwctl tags it; others than these the policy never asks.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    OciManifest { image: String },
    OciManifestAndConfig { image: String },
}

impl Exchange {
    /// The exchange of `lookup` and its `answer`.
    ///
    /// # Errors
    /// Where the question can't be written as YAML.
    pub fn new(lookup: &Lookup, answer: &Result<String, String>) -> Result<Self> {
        let request = match lookup.clone() {
            Lookup::Manifest(image) => Request::OciManifest { image },
            Lookup::ManifestAndConfig(image) => Request::OciManifestAndConfig { image },
        };
        Ok(Self {
            request: yaml_serde::to_string(&request)?,
            response: match answer.clone() {
                Ok(payload) => Response::Success { payload },
                Err(message) => Response::Error { message },
            },
        })
    }

    /// The question and its answer.
    ///
    /// # Errors
    /// Where the question is none that the policy asks.
    pub fn parts(&self) -> Result<(Lookup, Result<String, String>)> {
        let request = yaml_serde::from_str(&self.request)
            .with_context(|| format!("not a lookup: {}", self.request.trim_end()))?;
        let lookup = match request {
            Request::OciManifest { image } => Lookup::Manifest(image),
            Request::OciManifestAndConfig { image } => Lookup::ManifestAndConfig(image),
        };
        let answer = match self.response.clone() {
            Response::Success { payload } => Ok(payload),
            Response::Error { message } => Err(message),
        };
        Ok((lookup, answer))
    }
}

/// Answers from a recording: strictly in its order, and all of it.
#[derive(Debug, Default)]
pub struct Session {
    left: VecDeque<(Lookup, Result<String, String>)>,
    problems: Vec<String>,
}

impl Session {
    /// Reads a recording.
    ///
    /// # Errors
    /// Where the file can't be read or isn't a recording of lookups.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is not a session", path.display()))
    }

    /// Reads a recording from its text.
    ///
    /// # Errors
    /// Where the text isn't a recording of lookups.
    pub fn parse(text: &str) -> Result<Self> {
        let exchanges: Vec<Exchange> = yaml_serde::from_str(text)?;
        let left = exchanges
            .into_iter()
            .enumerate()
            .map(|(index, exchange)| {
                exchange
                    .parts()
                    .with_context(|| format!("exchange {}", index + 1))
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            left,
            problems: Vec::new(),
        })
    }
}

/// Answers from a recording, in any order and as often as they are asked for.
#[derive(Debug, Default)]
pub struct Recording(HashMap<Lookup, Result<String, String>>);

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// Where the file can't be read or isn't a recording of lookups.
    pub fn read(path: &Path) -> Result<Self> {
        let Session { left, .. } = Session::read(path)?;
        Ok(Self(left.into_iter().collect()))
    }

    /// The answer to `lookup`.
    ///
    /// # Errors
    /// The error that was recorded, or that nothing was.
    pub fn answer(&self, lookup: &Lookup) -> Result<String, String> {
        let missing = || Err(format!("the recording has no {lookup}"));
        self.0.get(lookup).cloned().unwrap_or_else(missing)
    }
}

impl Answers for Session {
    fn answer(&mut self, lookup: &Lookup) -> Result<String, String> {
        let problem = match self.left.pop_front() {
            Some((expected, answer)) if expected == *lookup => return answer,
            Some((expected, _)) => {
                format!("the session has {expected} next, and the policy asked for {lookup}")
            }
            None => format!("the session is over, and the policy asked for {lookup}"),
        };
        self.problems.push(problem.clone());
        Err(problem)
    }

    fn problems(&self) -> Vec<String> {
        let left = self.left.iter().map(|(lookup, _)| {
            format!("the session has {lookup}, which the policy never asked for")
        });
        self.problems.iter().cloned().chain(left).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "
- type: Exchange
  request: |
    !OciManifest
    image: nginx:1
  response:
    type: Success
    payload: '{}'
- type: Exchange
  request: |
    !OciManifestAndConfig
    image: nginx:1
  response:
    type: Error
    message: not found
";

    fn manifest() -> Lookup {
        Lookup::Manifest("nginx:1".to_owned())
    }

    fn config() -> Lookup {
        Lookup::ManifestAndConfig("nginx:1".to_owned())
    }

    #[test]
    fn a_session_answers_in_its_order() {
        let mut session = Session::parse(SESSION).unwrap();
        assert_eq!(session.answer(&manifest()), Ok("{}".to_owned()));
        assert_eq!(session.answer(&config()), Err("not found".to_owned()));
        assert_eq!(session.problems(), [""; 0]);
    }

    #[test]
    fn another_order_leftovers_and_one_lookup_too_many_are_problems() {
        let mut session = Session::parse(SESSION).unwrap();
        assert!(session.answer(&config()).is_err());
        assert_eq!(session.problems().len(), 2, "{:?}", session.problems());
        let mut session = Session::parse(SESSION).unwrap();
        assert_eq!(session.problems().len(), 2);
        for lookup in [manifest(), config(), config()] {
            let _ = session.answer(&lookup);
        }
        assert_eq!(
            session.problems(),
            ["the session is over, and the policy asked for oci/v1/oci_manifest_config of nginx:1"]
        );
    }

    #[test]
    fn an_exchange_is_written_as_it_is_read() {
        let exchanges = [
            Exchange::new(&manifest(), &Ok("{}".to_owned())).unwrap(),
            Exchange::new(&config(), &Err("not found".to_owned())).unwrap(),
        ];
        let read: Vec<Exchange> = yaml_serde::from_str(SESSION).unwrap();
        assert_eq!(read, exchanges);
        let written = yaml_serde::to_string(&exchanges).unwrap();
        assert_eq!(
            yaml_serde::from_str::<Vec<Exchange>>(&written).unwrap(),
            exchanges
        );
    }

    #[test]
    fn other_requests_are_no_lookups() {
        let text = "
- type: Exchange
  request: |
    !DNSLookupHost
    host: example.com
  response:
    type: Success
    payload: '{}'
";
        let error = format!("{:#}", Session::parse(text).unwrap_err());
        assert!(
            error.starts_with("exchange 1: not a lookup: !DNSLookupHost"),
            "{error}"
        );
    }
}
