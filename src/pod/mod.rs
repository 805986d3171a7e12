//! Reads out of a Pod (template) what a decision rests on, but for its images.
//!
//! Absent and `null` are the same everywhere, as in the Kubernetes API; a field of another type than the API gives it
//! is a [`Mismatch`], for nothing can be decided on it.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm, Toleration};
use node_architecture_json::{Field, Json, JsonType, Mismatch};

use crate::{
    platform::Os,
    settings::{OnUnsupportedSelection, Preferred, Settings, Strict},
};

mod constraints;
mod elsewhere;
mod toleration;

pub use constraints::{NodeConstraints, Term};
pub use toleration::covers;

/// Everything about a Pod (template) that a decision rests on, but for its images.
#[derive(Debug)]
pub struct PodContext<'s> {
    /// The settings.
    pub settings: &'s Settings,
    /// The strict rules, where they hold.
    pub strict: Option<&'s Strict>,
    /// What object it is the Pod (template) of.
    pub object: PodObject<'s>,
    /// What the Pod says about its nodes, `matched_labels` included.
    pub constraints: NodeConstraints,
    /// Node labels that the Pod has to match by `matchNodeLabels`, as far as its node selector lacks them.
    pub matched_labels: Vec<(String, String)>,
    /// Those that no node can match which the Pod's own terms admit.
    pub excluded_labels: Vec<(String, String)>,
    /// The value of the Pod's label that overrides the preferred architecture.
    pub preferred_label: Option<String>,
    /// What the settings prefer for it.
    pub preferred: Preferred<'s>,
    /// Whether something but the labels of nodes decides where the Pod lands, so that a pin might leave it no node.
    pub is_placed_elsewhere: bool,
    /// The terms of the Pod's soft node affinity, as canonical JSON.
    pub preferences: Vec<String>,
    /// The Pod's tolerations, where the settings have some to add.
    pub tolerations: Vec<Toleration>,
    /// Whether the Pod sets a runtime class.
    pub has_runtime_class: bool,
    /// Whether the Pod has the annotation of a placement.
    pub has_annotation: bool,
}

/// What object a Pod (template) is of, as far as it matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodObject<'o> {
    /// The namespace that it is in.
    pub namespace: &'o str,
    /// The bucket of the workload, 0 to 99, by which preference rules take a share.
    pub bucket: u8,
    /// Whether it is the template of another object, and not a Pod.
    pub is_template: bool,
    /// Whether its Pods run on every node that can run them: those of a DaemonSet.
    pub runs_everywhere: bool,
    /// Whether the object is suspended: a queue may place its Pods before they run.
    pub is_suspended: bool,
}

impl<'s> PodContext<'s> {
    /// Reads the Pod (template) `pod` with this `spec`, in a namespace with the rules `strict`; `annotation` is the key
    /// of the annotation of placements.
    ///
    /// # Errors
    /// [`Mismatch`] where a field isn't as the API has it.
    pub fn read(
        pod: &Field<'_, '_>,
        spec: &Field<'_, '_>,
        settings: &'s Settings,
        strict: Option<&'s Strict>,
        object: PodObject<'s>,
        annotation: &str,
    ) -> Result<Self, Mismatch> {
        let labels = Labels::read(pod, settings, annotation)?;
        let Selection {
            node_selector: mut selector,
            affinity,
            os,
        } = Selection::read(spec)?;
        let required = affinity.required.as_deref();
        let all_labels = labels.all;
        let mut matched_labels = Vec::new();
        let mut excluded_labels = Vec::new();
        for (key, value) in labels.matched {
            let is_selected = selector.iter().any(|(selected, _)| *selected == key);
            if is_selected || constraints::require_label(required, &key, &value) {
                continue;
            }
            if constraints::admit_label(required, &key, &value) {
                matched_labels.push((key, value));
            } else {
                excluded_labels.push((key, value));
            }
        }
        selector.extend(matched_labels.iter().cloned());
        let constraints = NodeConstraints::new(&selector, required, &affinity.preferred, os);
        let has_runtime_class = spec.json().text_of("runtimeClassName").is_some();
        Ok(Self {
            settings,
            strict,
            object,
            is_placed_elsewhere: object.is_suspended
                || (object.is_template && has_runtime_class)
                || elsewhere::is_placed(spec.json()),
            constraints,
            matched_labels,
            excluded_labels,
            preferred_label: labels.preferred,
            preferred: settings.preferred(object.namespace, object.bucket, &|key| {
                all_labels.and_then(|all| value_of(all, key))
            }),
            preferences: affinity.preferences,
            tolerations: match spec.field("tolerations")? {
                Some(tolerations) if !settings.tolerations.is_empty() => {
                    each(&tolerations, toleration)?
                }
                _ => Vec::new(),
            },
            has_runtime_class,
            has_annotation: labels.has_annotation,
        })
    }

    /// Whether what the images run on matters: always, unless the Pod selects its architecture and nothing is done
    /// about that.
    pub fn needs_images(&self) -> bool {
        !self.constraints.selects_architecture
            || self.strict.is_some()
            || self.settings.on_unsupported_selection != OnUnsupportedSelection::Ignore
            || !self.settings.tolerations.is_empty()
    }

    /// Whether everything is written as node affinity: the RuntimeClass of a template's Pods may have a node selector
    /// of its own, and Kubernetes refuses Pods whose selector disagrees with it.
    pub fn takes_affinity_only(&self) -> bool {
        self.object.is_template && self.has_runtime_class
    }
}

impl NodeConstraints {
    /// What the Pod (template) `pod`, which is at `path` in its object, demands of its nodes by itself; `None` where it has
    /// no spec.
    ///
    /// # Errors
    /// [`Mismatch`] where a field isn't as the API has it.
    pub fn of_object(pod: Json<'_>, path: &str) -> Result<Option<Self>, Mismatch> {
        let root = Field::root(pod, path);
        let Some(spec) = root.field("spec")? else {
            return Ok(None);
        };
        let Selection {
            node_selector,
            affinity,
            os,
        } = Selection::read(&spec)?;
        let required = affinity.required.as_deref();
        Ok(Some(Self::new(
            &node_selector,
            required,
            &affinity.preferred,
            os,
        )))
    }
}

/// What a Pod's spec says of its nodes.
struct Selection {
    node_selector: Vec<(String, String)>,
    affinity: Affinity,
    /// `spec.os.name`.
    os: Option<Os>,
}

impl Selection {
    fn read(spec: &Field<'_, '_>) -> Result<Self, Mismatch> {
        let [selector, affinity, os] = spec.fields(["nodeSelector", "affinity", "os"])?;
        let os = match os {
            Some(os) => os.field("name")?.and_then(|name| name.json().as_str()),
            None => None,
        };
        Ok(Self {
            node_selector: node_selector(selector.as_ref())?,
            affinity: Affinity::read(affinity.as_ref())?,
            os: os.and_then(|name| Os::parse(&name)),
        })
    }
}

/// The labels of a Pod (template) that the settings make matter.
#[derive(Default)]
struct Labels<'a> {
    /// All of them.
    all: Option<Json<'a>>,
    /// The value of `preferredArchitectureLabel`.
    preferred: Option<String>,
    /// The keys of `matchNodeLabels` that the Pod has, with their values.
    matched: Vec<(String, String)>,
    /// Whether the Pod has the annotation of a placement.
    has_annotation: bool,
}

impl<'a> Labels<'a> {
    fn read(pod: &Field<'a, '_>, settings: &Settings, annotation: &str) -> Result<Self, Mismatch> {
        let Some(metadata) = pod.field("metadata")? else {
            return Ok(Self::default());
        };
        let [labels, annotations] = metadata.fields(["labels", "annotations"])?;
        // They are written to.
        let mut has_annotation = false;
        if let Some(annotations) = annotations {
            annotations.expect(JsonType::Object)?;
            has_annotation = annotations.json().get(annotation).is_some();
        }
        let Some(labels) = labels else {
            return Ok(Self {
                has_annotation,
                ..Self::default()
            });
        };
        labels.expect(JsonType::Object)?;
        let value = |key: &str| value_of(labels.json(), key);
        let preferred = value(settings.preferred_architecture_label.as_str());
        let mut matched = Vec::new();
        for key in &settings.match_node_labels {
            if let Some(value) = value(key.as_str()) {
                matched.push((key.as_str().to_owned(), value));
            }
        }
        Ok(Self {
            all: Some(labels.json()),
            preferred,
            matched,
            has_annotation,
        })
    }
}

/// The value of the label `key`, which may be empty.
fn value_of(labels: Json<'_>, key: &str) -> Option<String> {
    let value = labels.get(key).and_then(Json::as_str);
    value.map(|value| value.into_owned())
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

/// A Pod's node affinity.
#[derive(Default)]
struct Affinity {
    /// The required terms; `None` where there is no required node affinity.
    required: Option<Vec<NodeSelectorTerm>>,
    /// The terms that are preferred.
    preferred: Vec<NodeSelectorTerm>,
    /// The same with their weights, as canonical JSON.
    preferences: Vec<String>,
}

impl Affinity {
    fn read(affinity: Option<&Field<'_, '_>>) -> Result<Self, Mismatch> {
        let mut read = Self::default();
        let Some(affinity) = affinity else {
            return Ok(read);
        };
        let Some(affinity) = affinity.field("nodeAffinity")? else {
            return Ok(read);
        };
        let [hard, soft] = affinity.fields([
            "requiredDuringSchedulingIgnoredDuringExecution",
            "preferredDuringSchedulingIgnoredDuringExecution",
        ])?;
        if let Some(hard) = hard {
            read.required = Some(match hard.field("nodeSelectorTerms")? {
                Some(terms) => each(&terms, term)?,
                None => Vec::new(),
            });
        }
        if let Some(soft) = soft {
            read.preferred = each(&soft, |soft| match soft.field("preference")? {
                Some(preference) => term(&preference),
                None => Ok(NodeSelectorTerm::default()),
            })?;
            read.preferences = soft.json().elements().map(Json::canonical).collect();
        }
        Ok(read)
    }
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
