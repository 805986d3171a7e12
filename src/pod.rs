//! Reads out of a pod (template) what a decision rests on.
//!
//! Absent and `null` are the same everywhere, as in the Kubernetes API; a field of another type than the API gives it
//! is a [`Mismatch`], for nothing can be decided on it.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm, Toleration};

use crate::{
    constraints::Constraints,
    json::{Json, Mismatch, Object},
    platform::Os,
    settings::Settings,
};

/// The labels of a pod (template) that the settings make matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The value of `preferredArchitectureLabel`.
    pub preferred: Option<String>,
    /// The keys of `matchNodeLabels` that the pod has, with their values.
    pub matched: Vec<(String, String)>,
}

impl Labels {
    /// Reads the labels of `template`.
    ///
    /// # Errors
    /// [`Mismatch`] where `metadata` or its `labels` is no object.
    pub fn read(template: &mut Object<'_>, settings: &Settings) -> Result<Self, Mismatch> {
        let Some(metadata) = template.member("metadata", "metadata")? else {
            return Ok(Self::default());
        };
        let Some(labels) = metadata.member("labels", "metadata.labels")? else {
            return Ok(Self::default());
        };
        let mut value = |key: &str| labels.get_str(key).map(|value| value.into_owned());
        let preferred = value(settings.preferred_architecture_label.as_str());
        let mut matched = Vec::new();
        for key in &settings.match_node_labels {
            if let Some(value) = value(key.as_str()) {
                matched.push((key.as_str().to_owned(), value));
            }
        }
        Ok(Self { preferred, matched })
    }
}

/// What the pod with this `spec` says about its nodes. The labels to match count as its own selection; those whose key
/// its node selector has already are taken out of `matched_labels`.
///
/// # Errors
/// [`Mismatch`] where a field isn't as the API has it.
pub fn constraints(
    spec: &mut Object<'_>,
    matched_labels: &mut Vec<(String, String)>,
) -> Result<Constraints, Mismatch> {
    let mut node_selector = Vec::new();
    if let Some(selected) = spec.member("nodeSelector", "spec.nodeSelector")? {
        matched_labels.retain(|(key, _)| selected.get(key).is_none());
        for (key, value) in selected.iter_mut() {
            let value = string(value, "spec.nodeSelector")?;
            node_selector.push((key.to_owned(), value));
        }
    }
    node_selector.extend(matched_labels.iter().cloned());

    let mut required = None;
    let mut preferred = Vec::new();
    let path = "spec.affinity";
    if let Some(affinity) = spec.member("affinity", path)?
        && let Some(affinity) = affinity.member("nodeAffinity", path)?
    {
        if let Some(selector) =
            affinity.member("requiredDuringSchedulingIgnoredDuringExecution", path)?
        {
            let terms = selector.list("nodeSelectorTerms", path)?;
            required = Some(each(terms, path, term)?);
        }
        let soft = affinity.list("preferredDuringSchedulingIgnoredDuringExecution", path)?;
        preferred = each(soft, path, |soft, path| {
            match soft.member("preference", path)? {
                Some(preference) => term(preference, path),
                None => Ok(NodeSelectorTerm::default()),
            }
        })?;
    }
    let os = spec
        .member("os", "spec.os")?
        .and_then(|os| os.get_str("name"))
        .and_then(|name| Os::parse(&name));
    Ok(Constraints::new(node_selector, required, &preferred, os))
}

/// The tolerations of the pod with this `spec`.
///
/// # Errors
/// [`Mismatch`] where they aren't as the API has them.
pub fn tolerations(spec: &mut Object<'_>) -> Result<Vec<Toleration>, Mismatch> {
    let path = "spec.tolerations";
    each(spec.list("tolerations", path)?, path, |toleration, _| {
        Ok(Toleration {
            key: toleration.text("key"),
            operator: toleration.text("operator"),
            value: toleration.text("value"),
            effect: toleration.text("effect"),
            toleration_seconds: toleration
                .get("tolerationSeconds")
                .and_then(|seconds| seconds.as_integer()),
        })
    })
}

fn term(term: &mut Object<'_>, path: &str) -> Result<NodeSelectorTerm, Mismatch> {
    let expressions = term.list("matchExpressions", path)?;
    let match_expressions = Some(each(expressions, path, requirement)?);
    let fields = term.list("matchFields", path)?;
    let match_fields = Some(each(fields, path, requirement)?);
    Ok(NodeSelectorTerm {
        match_expressions,
        match_fields,
    })
}

fn requirement(
    requirement: &mut Object<'_>,
    path: &str,
) -> Result<NodeSelectorRequirement, Mismatch> {
    let mut values = Vec::new();
    for value in requirement.list("values", path)?.into_iter().flatten() {
        values.push(string(value, path)?);
    }
    Ok(NodeSelectorRequirement {
        key: requirement.text("key").unwrap_or_default(),
        operator: requirement.text("operator").unwrap_or_default(),
        values: Some(values),
    })
}

/// Reads each object of a list.
fn each<'a, T: Default>(
    list: Option<&mut Vec<Json<'a>>>,
    path: &str,
    read: impl Fn(&mut Object<'a>, &str) -> Result<T, Mismatch>,
) -> Result<Vec<T>, Mismatch> {
    let mut all = Vec::new();
    for element in list.into_iter().flatten() {
        if element.is_null() {
            all.push(T::default());
            continue;
        }
        let element = element.object_at(path).map_err(|mismatch| Mismatch {
            expected: "a list of objects",
            ..mismatch
        })?;
        all.push(read(element, path)?);
    }
    Ok(all)
}

fn string(value: &Json<'_>, path: &str) -> Result<String, Mismatch> {
    match value.str_at(path) {
        Ok(text) => Ok(text.into_owned()),
        Err(mismatch) => Err(Mismatch {
            expected: "strings as values",
            ..mismatch
        }),
    }
}
