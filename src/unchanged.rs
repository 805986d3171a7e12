//! Why an object is left as it is.

use std::fmt;

/// Why an object is left as it is. Design, sections 3, 5 and 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchanged {
    /// The operation is neither CREATE nor UPDATE.
    NotACreationOrUpdate,
    /// The request is for a subresource, such as `scale`.
    Subresource,
    /// The object is of a kind that holds no Pod, or of another API group.
    NotAKindWithAPod,
    /// The object is a Pod that exists, or a Job that ran.
    ImmutablePlacement,
    /// The request has no object.
    NoObject,
    /// The object is being deleted.
    BeingDeleted,
    /// A controller owns the object, and would change it back.
    OwnedByAController,
    /// The Pod belongs to a DaemonSet, which binds it to its node.
    DaemonSetPod,
    /// The update leaves the Pod template as it was.
    TemplateUnchanged,
    /// The update leaves the Pod template as it was, what the policy added aside.
    PlacedAsBefore,
    /// The update goes back to a Pod template that was placed before.
    RolledBack,
    /// Time ran out before every image was read.
    Unfinished,
    /// The object has no Pod template.
    NoPodTemplate,
    /// The Pod (template) has no spec.
    NoPodSpec,
    /// The Pod is on a node already.
    NodeNameSet,
    /// No platforms of any image are known.
    NoKnownPlatforms,
    /// No architecture runs every image.
    NoCommonArchitecture,
    /// The Pod excludes every architecture that its images support.
    UnsupportedSelection,
    /// The Pod selects its architecture itself.
    SelectsItsArchitecture,
    /// The Pod admits only nodes that run its images already.
    AdmitsCandidatesOnly,
}

impl Unchanged {
    /// The word for it in the audit annotation `cause`, which stays the same from release to release.
    pub fn cause(self) -> &'static str {
        self.in_words().0
    }

    /// The word for programs, and the words for people.
    fn in_words(self) -> (&'static str, &'static str) {
        match self {
            Self::NotACreationOrUpdate => ("NotACreationOrUpdate", "not a creation or an update"),
            Self::Subresource => ("SubresourceRequest", "a subresource"),
            Self::NotAKindWithAPod => ("NotAKindWithAPod", "not a kind with a Pod"),
            Self::ImmutablePlacement => ("ImmutablePlacement", "its placement is immutable"),
            Self::NoObject => ("NoObject", "no object"),
            Self::BeingDeleted => ("BeingDeleted", "being deleted"),
            Self::OwnedByAController => ("OwnedByAController", "owned by a controller"),
            Self::DaemonSetPod => ("DaemonSetPod", "a Pod of a DaemonSet"),
            Self::TemplateUnchanged => ("TemplateUnchanged", "its Pod template is unchanged"),
            Self::PlacedAsBefore => ("PlacedAsBefore", "its Pod template is placed as before"),
            Self::RolledBack => ("RolledBack", "it goes back to a placement it had"),
            Self::Unfinished => ("UnfinishedLookups", "not every image was read in time"),
            Self::NoPodTemplate => ("NoPodTemplate", "no Pod template"),
            Self::NoPodSpec => ("NoPodSpec", "no Pod spec"),
            Self::NodeNameSet => ("NodeNameSet", "spec.nodeName is set"),
            Self::NoKnownPlatforms => ("NoKnownPlatforms", "no image had a say"),
            Self::NoCommonArchitecture => {
                ("NoCommonArchitecture", "no architecture runs every image")
            }
            Self::UnsupportedSelection => (
                "UnsupportedSelection",
                "the Pod excludes every architecture that its images support",
            ),
            Self::SelectsItsArchitecture => {
                ("SelectsItsArchitecture", "the Pod selects its architecture")
            }
            Self::AdmitsCandidatesOnly => (
                "AdmitsCandidatesOnly",
                "the Pod admits only nodes that run its images",
            ),
        }
    }
}

impl fmt::Display for Unchanged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.in_words().1)
    }
}
