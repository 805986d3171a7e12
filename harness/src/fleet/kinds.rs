//! The kinds of object that are or hold Pods, and how.

use std::borrow::Cow;

use serde_json::Value;

/// How the objects of a kind hold Pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// The API group, without a version.
    group: Cow<'static, str>,
    /// The name.
    kind: Cow<'static, str>,
    /// Where the Pod template is, as a JSON pointer; the object itself is the Pod where it is empty. A `*` stands for each
    /// element of a list.
    template: Cow<'static, str>,
    /// How many Pods there are of a template.
    count: Count,
    /// Whether the policy takes the kind: else it takes its Pods.
    pub(super) is_taken: bool,
}

/// How many Pods an object makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// One.
    One,
    /// `spec.replicas`.
    Replicas,
    /// One for each node: `status.desiredNumberScheduled`.
    Nodes,
    /// `parallelism` of the Job, none once it has ended or while it is suspended.
    Job,
    /// That of the Jobs it makes, none while it is suspended.
    CronJob,
    /// `replicas` of each Job times its `parallelism`.
    JobSet,
}

/// A Pod template of an object, and how many Pods there are of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// Where in the object it is, as a JSON pointer: something with `metadata` and `spec`.
    pub(super) path: String,
    /// How many Pods there are of it.
    pub(super) count: u64,
}

const fn kind(
    group: &'static str,
    kind: &'static str,
    template: &'static str,
    count: Count,
    is_taken: bool,
) -> Kind {
    Kind {
        group: Cow::Borrowed(group),
        kind: Cow::Borrowed(kind),
        template: Cow::Borrowed(template),
        count,
        is_taken,
    }
}

const TEMPLATE: &str = "/spec/template";
const JOB_TEMPLATE: &str = "/spec/jobTemplate/spec/template";

/// The kinds that hold Pods: those that are known, and those that the settings of the policy add.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    added: Vec<Kind>,
}

/// Every kind that is known to hold Pods. `extensions` is where Kubernetes before 1.16 had those of `apps`.
static KINDS: [Kind; 24] = [
    kind("", "Pod", "", Count::One, true),
    kind("", "ReplicationController", TEMPLATE, Count::Replicas, true),
    kind("apps", "Deployment", TEMPLATE, Count::Replicas, true),
    kind("apps", "ReplicaSet", TEMPLATE, Count::Replicas, true),
    kind("apps", "StatefulSet", TEMPLATE, Count::Replicas, true),
    kind("apps", "DaemonSet", TEMPLATE, Count::Nodes, true),
    kind("extensions", "Deployment", TEMPLATE, Count::Replicas, false),
    kind("extensions", "ReplicaSet", TEMPLATE, Count::Replicas, false),
    kind("extensions", "DaemonSet", TEMPLATE, Count::Nodes, false),
    kind("batch", "Job", TEMPLATE, Count::Job, true),
    kind("batch", "CronJob", JOB_TEMPLATE, Count::CronJob, true),
    kind("argoproj.io", "Rollout", TEMPLATE, Count::Replicas, false),
    kind(
        "apps.kruise.io",
        "CloneSet",
        TEMPLATE,
        Count::Replicas,
        false,
    ),
    kind(
        "apps.kruise.io",
        "StatefulSet",
        TEMPLATE,
        Count::Replicas,
        false,
    ),
    kind("apps.kruise.io", "DaemonSet", TEMPLATE, Count::Nodes, false),
    kind(
        "apps.kruise.io",
        "BroadcastJob",
        TEMPLATE,
        Count::Nodes,
        false,
    ),
    kind(
        "apps.kruise.io",
        "AdvancedCronJob",
        "/spec/template/jobTemplate/spec/template",
        Count::CronJob,
        false,
    ),
    kind(
        "apps.kruise.io",
        "AdvancedCronJob",
        "/spec/template/broadcastJobTemplate/spec/template",
        Count::CronJob,
        false,
    ),
    kind(
        "apps.openshift.io",
        "DeploymentConfig",
        TEMPLATE,
        Count::Replicas,
        false,
    ),
    kind("", "DeploymentConfig", TEMPLATE, Count::Replicas, false),
    kind(
        "serving.knative.dev",
        "Service",
        TEMPLATE,
        Count::One,
        false,
    ),
    kind(
        "serving.knative.dev",
        "Configuration",
        TEMPLATE,
        Count::One,
        false,
    ),
    kind("serving.knative.dev", "Revision", "", Count::One, false),
    kind(
        "jobset.x-k8s.io",
        "JobSet",
        "/spec/replicatedJobs/*/template/spec/template",
        Count::JobSet,
        false,
    ),
];

/// The group of an object, without the version.
pub(super) fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

impl Kinds {
    /// The kinds with the ones that the policy's `settings` add in `workloads`. What isn't as the policy takes it is left
    /// out: the policy refuses it.
    pub(super) fn with(settings: &Value) -> Self {
        let added = settings["workloads"].as_array().into_iter().flatten();
        let kind = |added: &Value| {
            let text = |key: &str| added[key].as_str();
            let (group, name) = (text("group")?, text("kind")?);
            let known = Self::default();
            let count = known.of(group, name).first().map(|known| known.count);
            Some(Kind {
                group: Cow::Owned(group.to_owned()),
                kind: Cow::Owned(name.to_owned()),
                template: Cow::Owned(format!("/{}", text("template")?.replace('.', "/"))),
                count: count.unwrap_or(Count::Replicas),
                is_taken: true,
            })
        };
        Self {
            added: added.filter_map(kind).collect(),
        }
    }

    /// The kinds that an object of this group and name is of: none where it holds no Pods that are known, more than one
    /// where it may hold them in more than one place. What the settings say of a kind counts alone.
    pub(super) fn of(&self, group: &str, name: &str) -> Vec<&Kind> {
        let is_it = |kind: &&Kind| kind.group == group && kind.kind == name;
        let added: Vec<&Kind> = self.added.iter().filter(is_it).collect();
        if added.is_empty() {
            KINDS.iter().filter(is_it).collect()
        } else {
            added
        }
    }
}

/// Whether `object` looks as if it held Pods: it has a list of containers somewhere.
pub(super) fn seems_to_hold_pods(object: &Value) -> bool {
    match object {
        Value::Object(members) => {
            let is_list = |key: &str| members.get(key).is_some_and(Value::is_array);
            is_list("containers") || members.values().any(seems_to_hold_pods)
        }
        Value::Array(elements) => elements.iter().any(seems_to_hold_pods),
        _ => false,
    }
}

impl Kind {
    /// The Pod templates of `object`; none where it has none.
    pub(super) fn templates(&self, object: &Value) -> Vec<Template> {
        let mut templates = Vec::new();
        let mut add = |path: String, element: &Value| {
            let spec = object.pointer(&format!("{path}/spec"));
            if spec.is_some_and(Value::is_object) {
                let count = self.count.of(object, element, &path);
                templates.push(Template { path, count });
            }
        };
        match self.template.split_once("/*") {
            None => add(self.template.to_string(), object),
            Some((before, after)) => {
                let list = object.pointer(before).and_then(Value::as_array);
                for (index, element) in list.into_iter().flatten().enumerate() {
                    add(format!("{before}/{index}{after}"), element);
                }
            }
        }
        templates
    }
}

fn number(object: &Value, path: &str) -> Option<u64> {
    object.pointer(path).and_then(Value::as_u64)
}

fn is_true(object: &Value, path: &str) -> bool {
    object.pointer(path).and_then(Value::as_bool) == Some(true)
}

impl Count {
    /// How many Pods `object` makes of its template at `path`, or of the one in `element`; no more than the API counts.
    fn of(self, object: &Value, element: &Value, path: &str) -> u64 {
        let most = u64::from(i32::MAX.unsigned_abs());
        self.uncapped(object, element, path).min(most)
    }

    fn uncapped(self, object: &Value, element: &Value, path: &str) -> u64 {
        let is_suspended = is_true(object, "/spec/suspend");
        match self {
            Self::One => 1,
            Self::Replicas => number(object, "/spec/replicas").unwrap_or(1),
            Self::Nodes if has_ended(object) => 0,
            Self::Nodes => number(object, "/status/desiredNumberScheduled")
                .or_else(|| number(object, "/status/desired"))
                .unwrap_or(1),
            Self::Job if is_suspended || has_ended(object) => 0,
            Self::Job => at_once(object.pointer("/spec")),
            Self::CronJob if is_suspended || is_true(object, "/spec/paused") => 0,
            // The Job's own spec is around its template.
            Self::CronJob => at_once(object.pointer(path.trim_end_matches("/template"))),
            Self::JobSet if is_suspended || has_ended(object) => 0,
            Self::JobSet => {
                let jobs = number(element, "/replicas").unwrap_or(1);
                jobs.saturating_mul(at_once(element.pointer("/template/spec")))
            }
        }
    }
}

/// How many Pods of a Job with this spec run at once.
fn at_once(spec: Option<&Value>) -> u64 {
    let number = |key: &str| spec?.get(key)?.as_u64();
    let parallelism = number("parallelism").unwrap_or(1);
    number("completions").map_or(parallelism, |completions| parallelism.min(completions))
}

/// Whether a Pod, a Job or a JobSet has ended.
pub(super) fn has_ended(object: &Value) -> bool {
    let phase = object.pointer("/status/phase").and_then(Value::as_str);
    let conditions = object
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    let is_end = |condition: &Value| {
        let is_of_end = ["Complete", "Completed", "Failed"]
            .iter()
            .any(|name| condition["type"] == *name);
        is_of_end && condition["status"] == "True"
    };
    matches!(phase, Some("Succeeded" | "Failed")) || conditions.into_iter().flatten().any(is_end)
}
