//! Why a lookup failed, in a line that says what helps.

use std::{io, time::Duration};

use oci_client::errors::{OciDistributionError, OciErrorCode};
use reqwest::{StatusCode, header::RETRY_AFTER};
use thiserror::Error;

/// The registry doesn't answer.
#[derive(Debug, Error)]
#[error("the registry did not answer within {} s", .0.as_secs_f32())]
pub(super) struct NoAnswer(pub(super) Duration);

/// The address that a registry asks to be tried again later; `None` for what trying again doesn't help.
pub(super) fn address_to_try_again(error: &anyhow::Error) -> Option<&str> {
    match error.downcast_ref::<OciDistributionError>()? {
        OciDistributionError::ServerError { code, url, .. } => {
            (*code == 429 || *code >= 500).then_some(url)
        }
        OciDistributionError::RegistryError { envelope, url } => {
            let mut errors = envelope.errors.iter();
            errors
                .any(|error| matches!(error.code, OciErrorCode::Toomanyrequests))
                .then_some(url)
        }
        _ => None,
    }
}

/// How long the registry asks to wait. The client keeps the headers of a refusal to itself, so they are asked for once
/// more, without a body; Docker Hub doesn't count such requests.
pub(super) async fn pause_asked_for(address: &str) -> Option<Duration> {
    let response = reqwest::Client::new().head(address).send().await.ok()?;
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

/// The cause of `error` and what helps, in one line.
pub(super) fn explained(error: &anyhow::Error) -> String {
    let remedy = match kind(error) {
        Some(Kind::Unauthorized) => {
            "not authorized: log in to the registry, or give --docker-config-json-path"
        }
        Some(Kind::RateLimited) => {
            "the registry limits how often it is asked: log in to it, or try again later"
        }
        Some(Kind::NotFound) => {
            "not found: check the name; many registries answer so for what one may not see"
        }
        Some(Kind::UnknownHost) => "the registry's name is unknown: check it, and the network",
        Some(Kind::Refused) => "the registry refuses connections: check its name and its port",
        Some(Kind::PlainHttp) => {
            "the registry speaks plain HTTP: list it under insecure_sources in --sources-path"
        }
        Some(Kind::Certificate) => {
            "the registry's certificate isn't trusted: add its authority in --sources-path"
        }
        Some(Kind::NoAnswer) => {
            return format!(
                "{}: try again, or raise --lookup-timeout",
                error.root_cause()
            );
        }
        None => return error.root_cause().to_string().replace('\n', " "),
    };
    remedy.to_owned()
}

/// What people can do something about.
enum Kind {
    Unauthorized,
    RateLimited,
    NotFound,
    UnknownHost,
    Refused,
    PlainHttp,
    Certificate,
    NoAnswer,
}

fn kind(error: &anyhow::Error) -> Option<Kind> {
    if error.is::<NoAnswer>() {
        return Some(Kind::NoAnswer);
    }
    if let Some(error) = error.downcast_ref::<OciDistributionError>() {
        let by_code = |code: u16| match StatusCode::from_u16(code).ok()? {
            StatusCode::TOO_MANY_REQUESTS => Some(Kind::RateLimited),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Some(Kind::Unauthorized),
            StatusCode::NOT_FOUND => Some(Kind::NotFound),
            _ => None,
        };
        let kind = match error {
            OciDistributionError::UnauthorizedError { .. }
            | OciDistributionError::AuthenticationFailure(_) => Some(Kind::Unauthorized),
            OciDistributionError::ImageManifestNotFoundError(_) => Some(Kind::NotFound),
            OciDistributionError::ServerError { code, .. } => by_code(*code),
            OciDistributionError::RegistryError { envelope, .. } => {
                envelope.errors.iter().find_map(|error| match error.code {
                    OciErrorCode::Toomanyrequests => Some(Kind::RateLimited),
                    OciErrorCode::Unauthorized | OciErrorCode::Denied => Some(Kind::Unauthorized),
                    OciErrorCode::ManifestUnknown
                    | OciErrorCode::NameUnknown
                    | OciErrorCode::NotFound => Some(Kind::NotFound),
                    _ => None,
                })
            }
            _ => None,
        };
        if kind.is_some() {
            return kind;
        }
    }
    error.chain().find_map(of_connection)
}

fn of_connection(cause: &(dyn std::error::Error + 'static)) -> Option<Kind> {
    match tls_error(cause) {
        Some(rustls::Error::InvalidMessage(_)) => return Some(Kind::PlainHttp),
        Some(_) => return Some(Kind::Certificate),
        None => {}
    }
    match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => Some(Kind::Refused),
        Some(io::ErrorKind::TimedOut) => Some(Kind::NoAnswer),
        // The resolver's error has no type of its own.
        _ => (cause.to_string() == "dns error").then_some(Kind::UnknownHost),
    }
}

/// The error of TLS that `error` is, or that it wraps: errors of I/O don't tell the one inside as their source.
fn tls_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e rustls::Error> {
    if let Some(error) = error.downcast_ref() {
        return Some(error);
    }
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
    tls_error(inner)
}
