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
    /// The API group of the object's kind; empty for the core group.
    pub group: String,
    /// The name of the object's kind.
    pub kind: String,
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
        let of_kind = |key: &str| kind.and_then(|kind| kind.text_of(key)).unwrap_or_default();
        Ok(Self {
            operation: match text(operation).as_deref() {
                Some("CREATE") => Some(Operation::Create),
                Some("UPDATE") => Some(Operation::Update),
                _ => None,
            },
            is_for_subresource: text(subresource).is_some(),
            group: of_kind("group"),
            kind: of_kind("kind"),
            namespace: text(namespace).map(|namespace| namespace.into_owned()),
            object,
            old_object,
        })
    }
}
