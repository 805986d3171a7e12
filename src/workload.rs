//! From an admission request to the pod (template) in it, or why the object is out of scope.
//!
//! Design, section 3.

use crate::{
    image::images_of,
    json::{Json, Mismatch, Object},
};

/// The kinds of object that are or hold a pod.
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

impl Kind {
    /// The kind that a GroupVersionKind names, whatever its version.
    fn of(gvk: &mut Object<'_>) -> Option<Self> {
        let (kind, group) = match &*gvk.get_str("kind")? {
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
        (gvk.get_str("group").unwrap_or_default() == group).then_some(kind)
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

    /// Where the pod template stands in the object; empty for a Pod, which is its own.
    fn template_path(self) -> &'static [&'static str] {
        match self {
            Self::Pod => &[],
            Self::CronJob => &["spec", "jobTemplate", "spec", "template"],
            _ => &["spec", "template"],
        }
    }
}

/// Whether the object is the policy's business.
#[derive(Debug)]
pub enum Scope<'a> {
    /// It isn't, for this reason.
    Out(&'static str),
    /// It is.
    In(Workload<'a>),
}

/// An object with a pod (template) that may be placed.
#[derive(Debug)]
pub struct Workload<'a> {
    /// The object's kind.
    pub kind: Kind,
    /// The namespace it is in; empty where neither the request nor the object says.
    pub namespace: String,
    /// Whether an earlier placement is that of the same images: of a Pod that was made from a template, or of an update
    /// that leaves the images as they are.
    pub images_are_placed: bool,
    /// The object.
    pub object: Json<'a>,
}

impl<'a> Scope<'a> {
    /// The workload in an admission request, or why it is out of scope.
    ///
    /// The fields of the request are those of
    /// <https://kubernetes.io/docs/reference/config-api/apiserver-admission.v1/#admission-k8s-io-v1-AdmissionRequest>.
    ///
    /// # Errors
    /// [`Mismatch`] where a field on the way to the pod (template) has another type than the API gives it.
    pub fn of(request: &mut Object<'a>) -> Result<Self, Mismatch> {
        let is_update = match request.get_str("operation").as_deref() {
            Some("CREATE") => false,
            Some("UPDATE") => true,
            _ => return Ok(Scope::Out("not a creation or an update")),
        };
        if request.text("subResource").is_some() {
            return Ok(Scope::Out("a subresource"));
        }
        let Some(kind) = request.get_object("kind").and_then(Kind::of) else {
            return Ok(Scope::Out("not a kind with a Pod"));
        };
        if is_update && matches!(kind, Kind::Pod | Kind::Job) {
            return Ok(Scope::Out("its placement is immutable"));
        }
        let Some(mut object) = request.take("object").filter(|object| !object.is_null()) else {
            return Ok(Scope::Out("no object"));
        };

        let members = object.object_at("object")?;
        let mut namespace = request.text("namespace");
        let mut images_are_placed = false;
        if let Some(metadata) = members.get_object("metadata") {
            if metadata.get_some("deletionTimestamp").is_some() {
                return Ok(Scope::Out("being deleted"));
            }
            match owned(kind, metadata) {
                Ownership::OutOfScope(reason) => return Ok(Scope::Out(reason)),
                Ownership::Controlled => images_are_placed = true,
                Ownership::Free => {}
            }
            namespace = namespace.or_else(|| metadata.text("namespace"));
        }

        if is_update && let Some(old_object) = request.get("oldObject") {
            if has_template_of(kind, &mut object, old_object) {
                return Ok(Scope::Out("its Pod template is unchanged"));
            }
            images_are_placed = has_images_of(kind, &mut object, old_object);
        }
        let mut workload = Workload {
            kind,
            namespace: namespace.unwrap_or_default(),
            images_are_placed,
            object,
        };
        let Some(template) = workload.template()? else {
            return Ok(Scope::Out("no Pod template"));
        };
        let Some(spec) = template.member("spec", "spec")? else {
            return Ok(Scope::Out("no Pod spec"));
        };
        if spec.text("nodeName").is_some() {
            return Ok(Scope::Out("spec.nodeName is set"));
        }
        Ok(Scope::In(workload))
    }
}

impl<'a> Workload<'a> {
    /// The pod (template): an object with `metadata` and `spec`; `None` where the workload has none.
    ///
    /// # Errors
    /// [`Mismatch`] where a field on the way has another type than the API gives it.
    pub fn template(&mut self) -> Result<Option<&mut Object<'a>>, Mismatch> {
        let mut found = self.object.as_object();
        for key in self.kind.template_path() {
            found = match found {
                Some(parent) => parent.member(key, key)?,
                None => None,
            };
        }
        Ok(found)
    }
}

/// What the owners of an object mean for it.
enum Ownership {
    /// It isn't the policy's business: a DaemonSet's Pod is bound to its node, and what another controller made would be
    /// changed back by it.
    OutOfScope(&'static str),
    /// A Pod that a controller made from its template.
    Controlled,
    /// Nothing.
    Free,
}

fn owned(kind: Kind, metadata: &mut Object<'_>) -> Ownership {
    let mut ownership = Ownership::Free;
    let owners = metadata.get_array("ownerReferences");
    for owner in owners.into_iter().flatten() {
        let Some(owner) = owner.as_object() else {
            continue;
        };
        let is_controller = owner
            .get("controller")
            .is_some_and(|controller| controller.as_bool() == Some(true));
        if kind != Kind::Pod && is_controller {
            return Ownership::OutOfScope("owned by a controller");
        }
        let is_daemon_set = owner
            .get_str("kind")
            .is_some_and(|kind| kind == "DaemonSet")
            && owner
                .get_str("apiVersion")
                .is_some_and(|version| version.starts_with("apps/"));
        if kind == Kind::Pod && is_daemon_set {
            return Ownership::OutOfScope("a Pod of a DaemonSet");
        }
        if is_controller {
            ownership = Ownership::Controlled;
        }
    }
    ownership
}

/// Whether the old object has the same pod template as the new one.
fn has_template_of(kind: Kind, object: &mut Json<'_>, old_object: &mut Json<'_>) -> bool {
    let path = kind.template_path();
    match (find(object, path), find(old_object, path)) {
        (Some(new), Some(old)) => new.equals(old),
        _ => false,
    }
}

/// Whether the old object has the same images as the new one.
fn has_images_of(kind: Kind, object: &mut Json<'_>, old_object: &mut Json<'_>) -> bool {
    let images = |json: &mut Json<'_>| {
        let template = find(json, kind.template_path())?.as_object()?;
        images_of(template.get_object("spec")?, true).ok()
    };
    let (new, old) = (images(object), images(old_object));
    new.is_some() && new == old
}

fn find<'p, 'a>(json: &'p mut Json<'a>, path: &[&str]) -> Option<&'p mut Json<'a>> {
    path.iter()
        .try_fold(json, |found, key| found.as_object()?.get(key))
}

#[cfg(test)]
mod tests;
