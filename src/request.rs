//! The admission request: what the host hands over, read as far as it matters.
//!
//! The fields are those of
//! <https://kubernetes.io/docs/reference/config-api/apiserver-admission.v1/#admission-k8s-io-v1-AdmissionRequest>.

use node_architecture_json::{Document, Field, Json, Mismatch};
use thiserror::Error;

/// What the host hands over to be validated.
#[derive(Debug)]
pub struct Payload<'a> {
    /// The admission request.
    pub request: AdmissionRequest<'a>,
    /// The settings; `null` where there are none.
    pub settings: Json<'a>,
}

/// An admission request.
#[derive(Debug)]
pub struct AdmissionRequest<'a> {
    /// The operation; `None` for those that the policy isn't for.
    pub operation: Option<Operation>,
    /// Whether it is for a subresource.
    pub is_for_subresource: bool,
    /// The kind of the object; `None` where it holds no Pod.
    pub kind: Option<Kind>,
    /// The namespace.
    pub namespace: Option<String>,
    /// The object.
    pub object: Option<Json<'a>>,
    /// The object that is updated.
    pub old_object: Option<Json<'a>>,
}

/// The operations that the policy is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The object is to be made.
    Create,
    /// The object is to be changed.
    Update,
}

/// The kinds of object that are or hold a Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `v1` Pod.
    Pod,
    /// `v1` ReplicationController.
    ReplicationController,
    /// `apps/v1` Deployment.
    Deployment,
    /// `apps/v1` ReplicaSet.
    ReplicaSet,
    /// `apps/v1` StatefulSet.
    StatefulSet,
    /// `apps/v1` DaemonSet.
    DaemonSet,
    /// `batch/v1` Job.
    Job,
    /// `batch/v1` CronJob.
    CronJob,
}

/// Why a payload can't be read.
#[derive(Debug, Error)]
pub enum UnreadablePayload {
    /// It isn't UTF-8.
    #[error(transparent)]
    NotUtf8(#[from] std::str::Utf8Error),
    /// It isn't JSON.
    #[error(transparent)]
    NotJson(#[from] serde_json::Error),
    /// A field has another type than the API gives it.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// There is no request in it.
    #[error("request: missing")]
    NoRequest,
}

impl<'a> Payload<'a> {
    /// The JSON that `payload` is.
    ///
    /// # Errors
    /// [`UnreadablePayload`] where it is none.
    pub fn parse(payload: &[u8]) -> Result<Document<'_>, UnreadablePayload> {
        Ok(Document::parse(std::str::from_utf8(payload)?)?)
    }

    /// Reads `{"request": …, "settings": …}`.
    ///
    /// # Errors
    /// [`UnreadablePayload`] where it can't be read.
    pub fn read(payload: Json<'a>) -> Result<Self, UnreadablePayload> {
        // Their errors are of documents of their own.
        let [request, settings] = Field::root(payload, "payload").pick(["request", "settings"])?;
        let request = request.ok_or(UnreadablePayload::NoRequest)?;
        Ok(Self {
            request: AdmissionRequest::read(&Field::root(request, "request"))?,
            settings: settings.unwrap_or(Json::NULL),
        })
    }
}

impl<'a> AdmissionRequest<'a> {
    fn read(request: &Field<'a, '_>) -> Result<Self, Mismatch> {
        let [operation, subresource, kind, namespace, object, old_object] = request.pick([
            "operation",
            "subResource",
            "kind",
            "namespace",
            "object",
            "oldObject",
        ])?;
        let text = |json: Option<Json<'a>>| {
            let text = json.and_then(Json::as_str);
            text.filter(|text| !text.is_empty())
        };
        Ok(Self {
            operation: match text(operation).as_deref() {
                Some("CREATE") => Some(Operation::Create),
                Some("UPDATE") => Some(Operation::Update),
                _ => None,
            },
            is_for_subresource: text(subresource).is_some(),
            kind: kind.and_then(Kind::of),
            namespace: text(namespace).map(|namespace| namespace.into_owned()),
            object,
            old_object,
        })
    }
}

impl Kind {
    /// The kind that a GroupVersionKind names, whatever its version.
    fn of(gvk: Json<'_>) -> Option<Self> {
        let [group, kind] = gvk.pick(["group", "kind"]);
        let group = group.and_then(Json::as_str).unwrap_or_default();
        let (kind, its_group) = match &*kind?.as_str()? {
            "Pod" => (Self::Pod, ""),
            "ReplicationController" => (Self::ReplicationController, ""),
            "Deployment" => (Self::Deployment, "apps"),
            "ReplicaSet" => (Self::ReplicaSet, "apps"),
            "StatefulSet" => (Self::StatefulSet, "apps"),
            "DaemonSet" => (Self::DaemonSet, "apps"),
            "Job" => (Self::Job, "batch"),
            "CronJob" => (Self::CronJob, "batch"),
            _ => return None,
        };
        (group == its_group).then_some(kind)
    }

    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pod => "Pod",
            Self::ReplicationController => "ReplicationController",
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
            Self::CronJob => "CronJob",
        }
    }

    /// Where the Pod template is in the object; empty for a Pod, which is its own.
    pub fn template_path(self) -> &'static [&'static str] {
        match self {
            Self::Pod => &[],
            Self::CronJob => &["spec", "jobTemplate", "spec", "template"],
            _ => &["spec", "template"],
        }
    }

    /// [`Self::template_path`] in messages.
    pub fn template_name(self) -> &'static str {
        match self {
            Self::Pod => "",
            Self::CronJob => "spec.jobTemplate.spec.template",
            _ => "spec.template",
        }
    }
}
