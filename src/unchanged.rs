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

impl fmt::Display for Unchanged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotACreationOrUpdate => "not a creation or an update",
            Self::Subresource => "a subresource",
            Self::NotAKindWithAPod => "not a kind with a Pod",
            Self::ImmutablePlacement => "its placement is immutable",
            Self::NoObject => "no object",
            Self::BeingDeleted => "being deleted",
            Self::OwnedByAController => "owned by a controller",
            Self::DaemonSetPod => "a Pod of a DaemonSet",
            Self::TemplateUnchanged => "its Pod template is unchanged",
            Self::PlacedAsBefore => "its Pod template is placed as before",
            Self::RolledBack => "it goes back to a placement it had",
            Self::Unfinished => "not every image was read in time",
            Self::NoPodTemplate => "no Pod template",
            Self::NoPodSpec => "no Pod spec",
            Self::NodeNameSet => "spec.nodeName is set",
            Self::NoKnownPlatforms => "no image had a say",
            Self::NoCommonArchitecture => "no architecture runs every image",
            Self::UnsupportedSelection => {
                "the Pod excludes every architecture that its images support"
            }
            Self::SelectsItsArchitecture => "the Pod selects its architecture",
            Self::AdmitsCandidatesOnly => "the Pod admits only nodes that run its images",
        })
    }
}
