//! Admission requests: read as they are, or made of plain manifests.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::manifests::{documents, read_text};

/// Reads the admission request in the file `path`, `-` for standard input: an AdmissionReview, an AdmissionRequest, or a
/// Kubernetes manifest in YAML or JSON, of which a request to create it is made.
///
/// # Errors
/// Where the file can't be read or holds none of these, or more than one document.
pub fn read(path: &Path) -> Result<Value> {
    let text = read_text(path)?;
    parse(&text).with_context(|| format!("{} is not a request", path.display()))
}

/// Reads an admission request from its text; see [`read`].
///
/// # Errors
/// Where the text is none, or more than one document.
pub fn parse(text: &str) -> Result<Value> {
    let mut documents = documents(text)?;
    let document = match (documents.pop(), documents.len()) {
        (Some(document), 0) => document,
        (None, _) => bail!("it is empty"),
        (Some(_), others) => bail!("it holds {} documents, give one", others + 1),
    };
    if document["kind"] == "AdmissionReview" {
        return match document.get("request") {
            Some(request @ Value::Object(_)) => Ok(request.clone()),
            _ => bail!("the AdmissionReview has no request"),
        };
    }
    if document["kind"].is_object() && document["operation"].is_string() {
        return Ok(document);
    }
    creation_of(document)
}

/// The request to create `object`.
///
/// # Errors
/// Where `object` isn't a Kubernetes object.
pub fn creation_of(object: Value) -> Result<Value> {
    let (Some(api_version), Some(kind)) = (object["apiVersion"].as_str(), object["kind"].as_str())
    else {
        bail!("it is neither an admission request nor a manifest with apiVersion and kind");
    };
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let metadata = &object["metadata"];
    Ok(json!({
        "uid": "00000000-0000-0000-0000-000000000000",
        "kind": {"group": group, "version": version, "kind": kind},
        "resource": {"group": group, "version": version, "resource": format!("{}s", kind.to_lowercase())},
        "name": metadata["name"].as_str().unwrap_or_default(),
        "namespace": metadata["namespace"].as_str().unwrap_or("default"),
        "operation": "CREATE",
        "userInfo": {},
        "dryRun": true,
        "object": object,
        "options": null
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_holds_its_request() {
        let text = r#"{"kind": "AdmissionReview", "request": {"uid": "1", "operation": "UPDATE"}}"#;
        assert_eq!(
            parse(text).unwrap(),
            json!({"uid": "1", "operation": "UPDATE"})
        );
    }

    #[test]
    fn a_request_is_taken_as_it_is() {
        let request =
            json!({"kind": {"kind": "Pod"}, "operation": "CREATE", "n": 12345678901234567890_u64});
        assert_eq!(parse(&request.to_string()).unwrap(), request);
    }

    #[test]
    fn a_manifest_becomes_a_request_to_create_it() {
        let request = parse("---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\n---\n").unwrap();
        assert_eq!(request["operation"], "CREATE");
        assert_eq!(
            request["kind"],
            json!({"group": "apps", "version": "v1", "kind": "Deployment"})
        );
        assert_eq!(request["namespace"], "shop");
        assert_eq!(request["name"], "web");
        assert_eq!(request["object"]["metadata"]["name"], "web");
        let pod = parse(r#"{"apiVersion": "v1", "kind": "Pod"}"#).unwrap();
        assert_eq!(pod["kind"]["group"], "");
        assert_eq!(pod["namespace"], "default");
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        for (text, expected) in [
            ("", "it is empty"),
            ("a: 1\n---\nb: 2\n", "it holds 2 documents, give one"),
            (
                "a: 1",
                "it is neither an admission request nor a manifest with apiVersion and kind",
            ),
            (
                "kind: AdmissionReview",
                "the AdmissionReview has no request",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), expected);
        }
        let error = parse("a: [").unwrap_err().to_string();
        assert_eq!(error, "it is neither JSON nor YAML");
    }
}
