//! Reads out of a Pod (template) what a decision rests on, but for its images.
//!
//! Absent and `null` are the same everywhere, as in the Kubernetes API; a field of another type than the API gives it
//! is a [`Mismatch`], for nothing can be decided on it.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm, Toleration};
use node_architecture_json::{Field, Json, JsonType, Mismatch};

use crate::{
    platform::Os,
    settings::{OnUnsupportedSelection, Settings, Strict},
};

mod constraints;
mod toleration;

pub use constraints::{Constraints, Dimension, OsGap};
pub use toleration::covers;

/// Everything about a Pod (template) that a decision rests on, but for its images.
#[derive(Debug)]
pub struct PodContext<'s> {
    /// The settings.
    pub settings: &'s Settings,
    /// The strict rules, where they hold.
    pub strict: Option<&'s Strict>,
    /// What the Pod says about its nodes, `matched_labels` included.
    pub constraints: Constraints,
    /// Node labels that the Pod has to match by `matchNodeLabels`, as far as its node selector lacks them.
    pub matched_labels: Vec<(String, String)>,
    /// The value of the Pod's label that overrides the preferred architecture.
    pub preferred_label: Option<String>,
    /// Whether the Pod runs on every node that can run it, as those of a DaemonSet do.
    pub runs_everywhere: bool,
    /// The Pod's tolerations, where the settings have some to add.
    pub tolerations: Vec<Toleration>,
    /// Whether the Pod sets a runtime class.
    pub has_runtime_class: bool,
    /// Whether the Pod was placed before, with the same images.
    pub is_placed: bool,
}

impl<'s> PodContext<'s> {
    /// Reads the Pod (template) `pod` with this `spec`, in a namespace with the rules `strict`, of an object that runs
    /// everywhere or doesn't, and was placed before or wasn't.
    ///
    /// # Errors
    /// [`Mismatch`] where a field isn't as the API has it.
    pub fn read(
        pod: &Field<'_, '_>,
        spec: &Field<'_, '_>,
        settings: &'s Settings,
        strict: Option<&'s Strict>,
        runs_everywhere: bool,
        is_placed: bool,
    ) -> Result<Self, Mismatch> {
        let labels = Labels::read(pod, settings)?;
        let [selector, affinity, os, tolerations, runtime_class] = spec.fields([
            "nodeSelector",
            "affinity",
            "os",
            "tolerations",
            "runtimeClassName",
        ])?;
        let selector = node_selector(selector.as_ref())?;
        let mut matched_labels = labels.matched;
        matched_labels.retain(|(key, _)| !selector.iter().any(|(selected, _)| selected == key));
        Ok(Self {
            settings,
            strict,
            constraints: constraints(
                [selector, matched_labels.clone()].concat(),
                affinity.as_ref(),
                os.as_ref(),
            )?,
            matched_labels,
            preferred_label: labels.preferred,
            runs_everywhere,
            tolerations: match tolerations {
                Some(tolerations) if !settings.tolerations.is_empty() => {
                    each(&tolerations, toleration)?
                }
                _ => Vec::new(),
            },
            has_runtime_class: runtime_class
                .and_then(|class| class.json().as_str())
                .is_some_and(|class| !class.is_empty()),
            is_placed,
        })
    }

    /// Whether the Pod selects its architecture itself, so that placement is its own.
    pub fn selects_its_architecture(&self) -> bool {
        self.constraints.selects(Dimension::Architecture)
    }

    /// Whether what the images run on matters: always, unless the Pod selects its architecture and nothing is done
    /// about that.
    pub fn needs_images(&self) -> bool {
        !self.selects_its_architecture()
            || self.strict.is_some()
            || self.settings.on_unsupported_selection != OnUnsupportedSelection::Ignore
            || !self.settings.tolerations.is_empty()
    }
}

/// The labels of a Pod (template) that the settings make matter.
#[derive(Default)]
struct Labels {
    /// The value of `preferredArchitectureLabel`.
    preferred: Option<String>,
    /// The keys of `matchNodeLabels` that the Pod has, with their values.
    matched: Vec<(String, String)>,
}

impl Labels {
    fn read(pod: &Field<'_, '_>, settings: &Settings) -> Result<Self, Mismatch> {
        let Some(metadata) = pod.field("metadata")? else {
            return Ok(Self::default());
        };
        let [labels, annotations] = metadata.fields(["labels", "annotations"])?;
        // They are written to.
        if let Some(annotations) = annotations {
            annotations.expect(JsonType::Object)?;
        }
        let Some(labels) = labels else {
            return Ok(Self::default());
        };
        labels.expect(JsonType::Object)?;
        let value = |key: &str| {
            let value = labels.json().get(key).and_then(Json::as_str);
            value.map(|value| value.into_owned())
        };
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

/// The labels of `spec.nodeSelector`; a value of `null` is empty.
fn node_selector(selector: Option<&Field<'_, '_>>) -> Result<Vec<(String, String)>, Mismatch> {
    let mut labels = Vec::new();
    let Some(selector) = selector else {
        return Ok(labels);
    };
    selector.expect(JsonType::Object)?;
    for (key, value) in selector.json().members() {
        let value = string(&selector.member(&key, value))?;
        labels.push((key.into_owned(), value));
    }
    Ok(labels)
}

/// What the node selector, `spec.affinity` and `spec.os` say about the Pod's nodes.
fn constraints(
    node_selector: Vec<(String, String)>,
    affinity: Option<&Field<'_, '_>>,
    os: Option<&Field<'_, '_>>,
) -> Result<Constraints, Mismatch> {
    let mut required = None;
    let mut preferred = Vec::new();
    if let Some(affinity) = affinity
        && let Some(affinity) = affinity.field("nodeAffinity")?
    {
        let [hard, soft] = affinity.fields([
            "requiredDuringSchedulingIgnoredDuringExecution",
            "preferredDuringSchedulingIgnoredDuringExecution",
        ])?;
        if let Some(hard) = hard {
            let terms = hard.field("nodeSelectorTerms")?;
            required = Some(match terms {
                Some(terms) => each(&terms, term)?,
                None => Vec::new(),
            });
        }
        if let Some(soft) = soft {
            preferred = each(&soft, |soft| match soft.field("preference")? {
                Some(preference) => term(&preference),
                None => Ok(NodeSelectorTerm::default()),
            })?;
        }
    }
    let os = match os {
        Some(os) => os.field("name")?.and_then(|name| name.json().as_str()),
        None => None,
    };
    let os = os.and_then(|name| Os::parse(&name));
    Ok(Constraints::new(node_selector, required, &preferred, os))
}

fn toleration(toleration: &Field<'_, '_>) -> Result<Toleration, Mismatch> {
    let [key, operator, value, effect, seconds] =
        toleration.pick(["key", "operator", "value", "effect", "tolerationSeconds"])?;
    let text = |json: Option<Json<'_>>| {
        let text = json.and_then(Json::as_str);
        text.filter(|text| !text.is_empty())
            .map(|text| text.into_owned())
    };
    Ok(Toleration {
        key: text(key),
        operator: text(operator),
        value: text(value),
        effect: text(effect),
        toleration_seconds: seconds.and_then(Json::as_integer),
    })
}

fn term(term: &Field<'_, '_>) -> Result<NodeSelectorTerm, Mismatch> {
    let [expressions, fields] = term.fields(["matchExpressions", "matchFields"])?;
    let requirements = |list: Option<Field<'_, '_>>| match list {
        Some(list) => each(&list, requirement),
        None => Ok(Vec::new()),
    };
    Ok(NodeSelectorTerm {
        match_expressions: Some(requirements(expressions)?),
        match_fields: Some(requirements(fields)?),
    })
}

fn requirement(requirement: &Field<'_, '_>) -> Result<NodeSelectorRequirement, Mismatch> {
    let [key, operator, values] = requirement.fields(["key", "operator", "values"])?;
    let text = |field: Option<Field<'_, '_>>| {
        let text = field.and_then(|field| field.json().as_str());
        text.unwrap_or_default().into_owned()
    };
    Ok(NodeSelectorRequirement {
        key: text(key),
        operator: text(operator),
        values: Some(match values {
            Some(values) => {
                let mut texts = Vec::new();
                for value in values.elements()? {
                    texts.push(string(&value)?);
                }
                texts
            }
            None => Vec::new(),
        }),
    })
}

/// Reads each object of a list; `null` is an empty one.
fn each<T: Default>(
    list: &Field<'_, '_>,
    read: impl Fn(&Field<'_, '_>) -> Result<T, Mismatch>,
) -> Result<Vec<T>, Mismatch> {
    let mut all = Vec::new();
    for element in list.elements()? {
        all.push(if element.json().is_null() {
            T::default()
        } else {
            read(&element)?
        });
    }
    Ok(all)
}

/// A string; empty where it is `null`, as in the Kubernetes API.
fn string(field: &Field<'_, '_>) -> Result<String, Mismatch> {
    if field.json().is_null() {
        Ok(String::new())
    } else {
        field.string().map(|text| text.into_owned())
    }
}
