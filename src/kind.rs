//! The kinds of object that are or hold a Pod. Design, section 3.

/// A kind of object that is or holds a Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'s> {
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
    /// A kind that the settings add.
    Added {
        /// Its name.
        name: &'s str,
        /// Where its Pod template is: keys, separated by dots.
        template: &'s str,
    },
}

impl<'s> Kind<'s> {
    /// The kind of Kubernetes itself with this API group and name, whatever its version; `None` where it holds no Pod.
    pub fn built_in(group: &str, name: &str) -> Option<Self> {
        let (kind, its_group) = match name {
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
    pub fn name(self) -> &'s str {
        match self {
            Self::Pod => "Pod",
            Self::ReplicationController => "ReplicationController",
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
            Self::CronJob => "CronJob",
            Self::Added { name, .. } => name,
        }
    }

    /// Where the Pod template is in the object: keys, separated by dots. Empty for a Pod, which is its own.
    pub fn template(self) -> &'s str {
        match self {
            Self::Pod => "",
            Self::CronJob => "spec.jobTemplate.spec.template",
            Self::Added { template, .. } => template,
            _ => "spec.template",
        }
    }

    /// The keys of [`Self::template`], from the outermost.
    pub fn template_path(self) -> impl Iterator<Item = &'s str> {
        let keys = self.template().split('.');
        keys.filter(|key| !key.is_empty())
    }
}
