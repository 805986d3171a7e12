//! From an admission request to the Pod (template) in it, or why the object is left alone without a lookup.
//!
//! Design, section 3.

use node_architecture_json::{Field, Json, Mismatch};

use crate::{
    image::images_of,
    request::{AdmissionRequest, Kind, Operation},
    unchanged::Unchanged,
};

/// Whether the object is the policy's business.
#[derive(Debug)]
pub enum Scope<'a> {
    /// It isn't.
    Out(Unchanged),
    /// It is.
    In(Workload<'a>),
}

/// An object with a Pod (template) that may be placed.
#[derive(Debug)]
pub struct Workload<'a> {
    /// The object's kind.
    pub kind: Kind,
    /// The namespace it is in; empty where neither the request nor the object says.
    pub namespace: String,
    /// The object.
    pub object: Json<'a>,
    /// The Pod (template): an object with `metadata` and `spec`.
    pub template: Json<'a>,
    /// Whether an earlier placement is that of the same images: of a Pod that was made from a template, or of an update
    /// that leaves the images as they are.
    pub images_are_placed: bool,
}

impl<'a> Scope<'a> {
    /// The workload in an admission request, or why it is out of scope.
    ///
    /// # Errors
    /// [`Mismatch`] where a field on the way to the Pod (template) has another type than the API gives it.
    pub fn of(request: &AdmissionRequest<'a>) -> Result<Self, Mismatch> {
        let operation = match before_the_object(request) {
            Ok(operation) => operation,
            Err(reason) => return Ok(Self::Out(reason)),
        };
        let (Some(kind), Some(json)) = (request.kind, request.object) else {
            return Ok(Self::Out(Unchanged::NoObject));
        };
        let [metadata] = Field::root(json, "object").pick(["metadata"])?;
        let metadata = metadata.unwrap_or(Json::NULL);
        let [deletion_timestamp, owners, namespace] =
            metadata.pick(["deletionTimestamp", "ownerReferences", "namespace"]);
        if deletion_timestamp.is_some() {
            return Ok(Self::Out(Unchanged::BeingDeleted));
        }
        let mut images_are_placed = match ownership(kind, owners) {
            Ownership::OutOfScope(reason) => return Ok(Self::Out(reason)),
            Ownership::Controlled => true,
            Ownership::Free => false,
        };
        if let (Operation::Update, Some(old_object)) = (operation, request.old_object) {
            let (new, old) = (template_of(kind, json), template_of(kind, old_object));
            if let (Some(new), Some(old)) = (new, old) {
                if new.equals(old) {
                    return Ok(Self::Out(Unchanged::TemplateUnchanged));
                }
                images_are_placed = have_the_same_images(new, old);
            }
        }
        let template = match strict_template_of(kind, json)? {
            Ok(template) => template,
            Err(reason) => return Ok(Self::Out(reason)),
        };
        let of_object = || namespace.and_then(Json::as_str);
        let namespace = match &request.namespace {
            Some(namespace) => namespace.clone(),
            None => of_object().unwrap_or_default().into_owned(),
        };
        Ok(Self::In(Workload {
            kind,
            namespace,
            object: json,
            template,
            images_are_placed,
        }))
    }
}

/// What the request alone says: its operation, or why the object doesn't matter.
fn before_the_object(request: &AdmissionRequest<'_>) -> Result<Operation, Unchanged> {
    let operation = request.operation.ok_or(Unchanged::NotACreationOrUpdate)?;
    if request.is_for_subresource {
        return Err(Unchanged::Subresource);
    }
    let kind = request.kind.ok_or(Unchanged::NotAKindWithAPod)?;
    if operation == Operation::Update && matches!(kind, Kind::Pod | Kind::Job) {
        return Err(Unchanged::ImmutablePlacement);
    }
    Ok(operation)
}

/// What the owners of an object mean for it.
enum Ownership {
    /// It isn't the policy's business: a DaemonSet's Pod is bound to its node, and what another controller made would be
    /// changed back by it.
    OutOfScope(Unchanged),
    /// A Pod that a controller made from its template.
    Controlled,
    /// Nothing.
    Free,
}

fn ownership(kind: Kind, owners: Option<Json<'_>>) -> Ownership {
    let mut ownership = Ownership::Free;
    for owner in owners.into_iter().flat_map(Json::elements) {
        let [controller, owner_kind, version] = owner.pick(["controller", "kind", "apiVersion"]);
        let is_controller = controller.and_then(Json::as_bool) == Some(true);
        if kind != Kind::Pod && is_controller {
            return Ownership::OutOfScope(Unchanged::OwnedByAController);
        }
        let owner_kind = owner_kind.and_then(Json::as_str).unwrap_or_default();
        let version = version.and_then(Json::as_str).unwrap_or_default();
        let is_daemon_set = owner_kind == "DaemonSet" && version.starts_with("apps/");
        if kind == Kind::Pod && is_daemon_set {
            return Ownership::OutOfScope(Unchanged::DaemonSetPod);
        }
        if is_controller {
            ownership = Ownership::Controlled;
        }
    }
    ownership
}

/// The Pod template of an object, read leniently.
fn template_of<'a>(kind: Kind, object: Json<'a>) -> Option<Json<'a>> {
    let path = kind.template_path().iter();
    path.copied().try_fold(object, Json::get)
}

/// Whether two Pod templates have the same images.
fn have_the_same_images(new: Json<'_>, old: Json<'_>) -> bool {
    let images = |template: Json<'_>| {
        let spec = template.get("spec")?;
        images_of(&Field::root(spec, ""), true).ok()
    };
    let (new, old) = (images(new), images(old));
    new.is_some() && new == old
}

/// The Pod template of an object, or why there is none that can be placed.
fn strict_template_of<'a>(
    kind: Kind,
    object: Json<'a>,
) -> Result<Result<Json<'a>, Unchanged>, Mismatch> {
    fn walk<'a>(parent: &Field<'a, '_>, path: &[&str]) -> Result<Option<Json<'a>>, Mismatch> {
        match path {
            [] => Ok(Some(parent.json())),
            [key, rest @ ..] => match parent.field(key)? {
                Some(member) => walk(&member, rest),
                None => Ok(None),
            },
        }
    }
    let Some(template) = walk(&Field::root(object, ""), kind.template_path())? else {
        return Ok(Err(Unchanged::NoPodTemplate));
    };
    let pod = Field::root(template, kind.template_name());
    let Some(spec) = pod.field("spec")? else {
        return Ok(Err(Unchanged::NoPodSpec));
    };
    let [node_name, affinity] = spec.pick(["nodeName", "affinity"])?;
    let node_name = node_name.and_then(Json::as_str);
    if node_name.is_some_and(|name| !name.is_empty()) {
        return Ok(Err(Unchanged::NodeNameSet));
    }
    if affinity.is_some_and(names_its_nodes) {
        return Ok(Err(Unchanged::NamesItsNodes));
    }
    Ok(Ok(template))
}

/// Whether every term of a required node affinity that can match a node pins the Pod to named ones, as the DaemonSet
/// controller does.
fn names_its_nodes(affinity: Json<'_>) -> bool {
    let path = [
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    ];
    let terms = path.into_iter().try_fold(affinity, Json::get);
    let is_name = |field: Json<'_>| {
        let text = |key| field.get(key).and_then(Json::as_str).unwrap_or_default();
        text("key") == "metadata.name" && text("operator") == "In"
    };
    let mut names = false;
    for term in terms.into_iter().flat_map(Json::elements) {
        let [expressions, fields] = term.pick(["matchExpressions", "matchFields"]);
        let is_filled = |list: Option<Json<'_>>| list.is_some_and(|list| !list.is_empty());
        if !is_filled(expressions) && !is_filled(fields) {
            continue;
        }
        if !fields.into_iter().flat_map(Json::elements).any(is_name) {
            return false;
        }
        names = true;
    }
    names
}

#[cfg(test)]
mod tests;
