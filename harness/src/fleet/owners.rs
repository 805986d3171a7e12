//! Who made an object: by evidence, and never by a name that merely looks like another.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    kinds::{Kinds, group_of},
    namespace, text,
};

/// The least digits that a CronJob puts behind the names of its Jobs: minutes since 1970.
const CRON_JOB_DIGITS: usize = 8;

/// A controller that wasn't given, as far as what it made tells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Controller {
    pub(super) namespace: String,
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) name: String,
}

impl Controller {
    /// What `reference`, in `object`, names by its API version, kind and name.
    pub(super) fn referred_to(reference: &Value, object: &Value) -> Self {
        Self {
            namespace: namespace(object),
            group: group_of(text(reference, "/apiVersion")).to_owned(),
            kind: text(reference, "/kind").to_owned(),
            name: text(reference, "/name").to_owned(),
        }
    }
}

/// What is at the top of the chain of an object's controllers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The object with this index.
    Given(usize),
    /// A controller that wasn't given.
    Missing(Controller),
}

/// The objects that were given, to find owners among.
pub(super) struct Owners {
    by_uid: HashMap<String, usize>,
    by_name: HashMap<Controller, usize>,
    /// The owner of each, one step up.
    steps: Vec<Option<Owner>>,
    uids: Vec<String>,
}

impl Owners {
    pub(super) fn new<'o>(objects: impl Iterator<Item = &'o Value> + Clone, kinds: &Kinds) -> Self {
        let mut owners = Self {
            by_uid: HashMap::new(),
            by_name: HashMap::new(),
            steps: Vec::new(),
            uids: Vec::new(),
        };
        for (index, object) in objects.clone().enumerate() {
            let uid = text(object, "/metadata/uid");
            if !uid.is_empty() {
                owners.by_uid.insert(uid.to_owned(), index);
            }
            owners.uids.push(uid.to_owned());
            let controller = Controller {
                namespace: namespace(object),
                group: group_of(text(object, "/apiVersion")).to_owned(),
                kind: text(object, "/kind").to_owned(),
                name: text(object, "/metadata/name").to_owned(),
            };
            owners.by_name.insert(controller, index);
        }
        owners.steps = objects.map(|object| owners.step(object, kinds)).collect();
        owners
    }

    /// The object of this name, if it was given.
    pub(super) fn named(&self, controller: &Controller) -> Option<usize> {
        self.by_name.get(controller).copied()
    }

    /// What is at the top of the chain of controllers of the object `index`; `None` where nothing made it.
    pub(super) fn of(&self, index: usize) -> Option<Owner> {
        let mut top = None;
        let mut at = index;
        // A chain is two long; one that goes round in circles has no top.
        for _ in 0..self.steps.len() {
            match self.steps.get(at)? {
                None => return top,
                Some(Owner::Missing(controller)) => {
                    return Some(Owner::Missing(controller.clone()));
                }
                Some(Owner::Given(above)) => {
                    top = Some(Owner::Given(*above));
                    at = *above;
                }
            }
        }
        None
    }

    /// The controller of `object`.
    fn step(&self, object: &Value, kinds: &Kinds) -> Option<Owner> {
        let references = object.pointer("/metadata/ownerReferences");
        let mut references = references.and_then(Value::as_array).into_iter().flatten();
        let reference = references.find(|reference| reference["controller"] == true)?;
        let controller = Controller::referred_to(reference, object);
        // The kubelet made static Pods, each of its own.
        if controller.group.is_empty() && controller.kind == "Node" {
            return None;
        }
        if let Some(given) = self.given(&controller, text(reference, "/uid")) {
            return Some(Owner::Given(given));
        }
        let missing = match self.above(&controller, object) {
            Some((above, is_certain)) => match self.given(&above, "") {
                Some(given) => return Some(Owner::Given(given)),
                // A hash proves what made it, a number doesn't.
                None if is_certain => above,
                None => controller,
            },
            None => controller,
        };
        // What an operator made by a resource of its own stands for itself; only Pods can't.
        let is_pod = text(object, "/kind") == "Pod" && text(object, "/apiVersion") == "v1";
        let is_known = !kinds.of(&missing.group, &missing.kind).is_empty();
        (is_pod || is_known).then_some(Owner::Missing(missing))
    }

    /// The object that `controller` is: the one with that UID, or where either has none, with that name.
    fn given(&self, controller: &Controller, uid: &str) -> Option<usize> {
        if let Some(index) = self.by_uid.get(uid) {
            return Some(*index);
        }
        let index = self.named(controller)?;
        let own = self.uids.get(index)?;
        (uid.is_empty() || own.is_empty()).then_some(index)
    }

    /// The controller of `controller`, which made `object`: told by the hash or the number at the end of its name. With it
    /// comes whether that is certain.
    fn above(&self, controller: &Controller, object: &Value) -> Option<(Controller, bool)> {
        let label = |key: &str| object.pointer("/metadata/labels")?.get(key)?.as_str();
        if controller.group == "serving.knative.dev"
            && let Some(service) = label("serving.knative.dev/service")
        {
            let above = Controller {
                kind: "Service".to_owned(),
                name: service.to_owned(),
                ..controller.clone()
            };
            return Some((above, true));
        }
        let (before, end) = controller.name.rsplit_once('-')?;
        let (group, kind, is_certain) = match controller.kind.as_str() {
            "ReplicaSet" if label("rollouts-pod-template-hash") == Some(end) => {
                ("argoproj.io", "Rollout", true)
            }
            "ReplicaSet" if label("pod-template-hash") == Some(end) => ("apps", "Deployment", true),
            "Job"
                if end.len() >= CRON_JOB_DIGITS
                    && end.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                ("batch", "CronJob", false)
            }
            _ => return None,
        };
        let above = Controller {
            namespace: controller.namespace.clone(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            name: before.to_owned(),
        };
        Some((above, is_certain))
    }
}
