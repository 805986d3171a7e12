//! From an admission request to the Pod (template) in it, or why the object is left alone without a lookup.
//!
//! Design, section 3.

use std::borrow::Cow;

use node_architecture_json::{Field, Json, Mismatch};

use crate::{
    kind::Kind,
    request::{AdmissionRequest, Operation},
    settings::Settings,
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
    pub kind: Kind<'a>,
    /// The namespace it is in; empty where neither the request nor the object says.
    pub namespace: String,
    /// The object.
    pub object: Json<'a>,
    /// The Pod (template): an object with `metadata` and `spec`.
    pub template: Json<'a>,
    /// The Pod template before an update.
    pub old_template: Option<Json<'a>>,
    /// The controller that owns the object.
    pub controller: Option<Controller<'a>>,
    /// Whether the object is suspended, so that a queue may place its Pods before they run.
    pub is_suspended: bool,
    /// Whether the Pod template may still change: that of a Job only while it never ran.
    pub is_open: bool,
}

/// The controller that owns an object, as its owner reference has it.
#[derive(Debug)]
pub struct Controller<'a> {
    group: Cow<'a, str>,
    kind: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
}

impl<'a> Scope<'a> {
    /// The workload in an admission request, or why it is out of scope; `settings` may add kinds.
    ///
    /// # Errors
    /// [`Mismatch`] where a field on the way to the Pod (template) has another type than the API gives it.
    pub fn of(request: &AdmissionRequest<'a>, settings: &'a Settings) -> Result<Self, Mismatch> {
        let (operation, kind) = match before_the_object(request, settings) {
            Ok(known) => known,
            Err(reason) => return Ok(Self::Out(reason)),
        };
        let Some(json) = request.object else {
            return Ok(Self::Out(Unchanged::NoObject));
        };
        let [metadata] = Field::root(json, "object").pick(["metadata"])?;
        let metadata = metadata.unwrap_or(Json::NULL);
        let [deletion_timestamp, owners, namespace] =
            metadata.pick(["deletionTimestamp", "ownerReferences", "namespace"]);
        if deletion_timestamp.is_some() {
            return Ok(Self::Out(Unchanged::BeingDeleted));
        }
        let controller = owners.and_then(Controller::among);
        if let Some(reason) = by_controller(kind, controller.as_ref()) {
            return Ok(Self::Out(reason));
        }
        let old_object = request
            .old_object
            .filter(|_| operation == Operation::Update);
        let old_template = old_object.and_then(|old| template_of(kind, old));
        if let (Some(new), Some(old)) = (template_of(kind, json), old_template)
            && new.equals(old)
        {
            return Ok(Self::Out(Unchanged::TemplateUnchanged));
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
            old_template,
            controller,
            is_suspended: is_suspended(kind, json),
            is_open: kind != Kind::Job
                || operation == Operation::Create
                || old_object.is_some_and(has_never_run),
        }))
    }
}

/// What the request alone says: its operation and kind, or why the object doesn't matter.
fn before_the_object<'s>(
    request: &AdmissionRequest<'_>,
    settings: &'s Settings,
) -> Result<(Operation, Kind<'s>), Unchanged> {
    let operation = request.operation.ok_or(Unchanged::NotACreationOrUpdate)?;
    if request.is_for_subresource {
        return Err(Unchanged::Subresource);
    }
    let kind = settings
        .kind(&request.group, &request.kind)
        .ok_or(Unchanged::NotAKindWithAPod)?;
    if operation == Operation::Update && kind == Kind::Pod {
        return Err(Unchanged::ImmutablePlacement);
    }
    Ok((operation, kind))
}

impl<'a> Controller<'a> {
    /// The one among `owners` that is a controller.
    fn among(owners: Json<'a>) -> Option<Self> {
        owners.elements().find_map(|owner| {
            let [controller, version, kind, name] =
                owner.pick(["controller", "apiVersion", "kind", "name"]);
            if controller.and_then(Json::as_bool) != Some(true) {
                return None;
            }
            let text = |json: Option<Json<'a>>| json.and_then(Json::as_str).unwrap_or_default();
            let version = text(version);
            let group = version.split_once('/').map_or("", |(group, _)| group);
            Some(Self {
                group: group.to_owned().into(),
                kind: text(kind),
                name: text(name),
            })
        })
    }

    /// Its kind, if it is one of Kubernetes itself that holds a Pod.
    pub fn kind(&self) -> Option<Kind<'static>> {
        Kind::built_in(&self.group, &self.kind)
    }
}

/// Why the controller of an object puts it out of scope: a DaemonSet's Pod is bound to its node, and what another controller
/// made would be changed back by it.
fn by_controller(kind: Kind<'_>, controller: Option<&Controller<'_>>) -> Option<Unchanged> {
    let controller = controller?;
    if kind != Kind::Pod {
        return Some(Unchanged::OwnedByAController);
    }
    (controller.kind() == Some(Kind::DaemonSet)).then_some(Unchanged::DaemonSetPod)
}

/// Whether the object is a suspended Job, or a CronJob that makes such.
fn is_suspended(kind: Kind<'_>, object: Json<'_>) -> bool {
    let path: &[&str] = match kind {
        Kind::Job => &["spec", "suspend"],
        Kind::CronJob => &["spec", "jobTemplate", "spec", "suspend"],
        _ => return false,
    };
    let suspend = path.iter().copied().try_fold(object, Json::get);
    suspend.and_then(Json::as_bool) == Some(true)
}

/// Whether a Job is suspended and never ran: only then Kubernetes lets its Pod template's placement change.
///
/// <https://kubernetes.io/docs/concepts/workloads/controllers/job/#mutable-scheduling-directives>
fn has_never_run(job: Json<'_>) -> bool {
    let status = job.get("status");
    is_suspended(Kind::Job, job) && status.and_then(|status| status.get("startTime")).is_none()
}

/// The Pod template of an object, read leniently.
fn template_of<'a>(kind: Kind<'_>, object: Json<'a>) -> Option<Json<'a>> {
    kind.template_path().try_fold(object, Json::get)
}

/// The Pod template of an object, or why there is none that can be placed.
fn strict_template_of<'a>(
    kind: Kind<'_>,
    object: Json<'a>,
) -> Result<Result<Json<'a>, Unchanged>, Mismatch> {
    fn walk<'a, 's>(
        parent: &Field<'a, '_>,
        mut path: impl Iterator<Item = &'s str>,
    ) -> Result<Option<Json<'a>>, Mismatch> {
        match path.next() {
            None => Ok(Some(parent.json())),
            Some(key) => match parent.field(key)? {
                Some(member) => walk(&member, path),
                None => Ok(None),
            },
        }
    }
    let Some(template) = walk(&Field::root(object, ""), kind.template_path())? else {
        return Ok(Err(Unchanged::NoPodTemplate));
    };
    let pod = Field::root(template, kind.template());
    let Some(spec) = pod.field("spec")? else {
        return Ok(Err(Unchanged::NoPodSpec));
    };
    let [node_name] = spec.pick(["nodeName"])?;
    let node_name = node_name.and_then(Json::as_str);
    if node_name.is_some_and(|name| !name.is_empty()) {
        return Ok(Err(Unchanged::NodeNameSet));
    }
    Ok(Ok(template))
}

#[cfg(test)]
mod tests;
