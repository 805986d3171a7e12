//! Every setting: its documentation, field, type, key, default, group and example. The reader, the JSON Schema, the table
//! in docs/settings.md, the form for catalogs and the lists of the tests are made from this.

use super::types::*;
use crate::platform::{Architecture, Architectures};

/// The label that Noe reads.
const PREFERRED_LABEL: &str = "arch.noe.adevinta.com/preferred";
/// Within the one second that policy-server's default limit grants at least.
const BUDGET: Milliseconds = Milliseconds(900);

settings! {
    /// The settings, as a policy's user writes them: camelCase keys, each of them optional.
    Settings {
        /// The architectures of the cluster's nodes; others are ignored. Empty: any.
        schedulable_architectures: Architectures = "schedulableArchitectures" or Architectures::none(),
            in "Architectures", such as r#"["amd64", "arm64"]"#;
        /// The architecture to use when the images leave a choice. null: no preference.
        preferred_architecture: Option<Architecture> = "preferredArchitecture" or Architecture::parse("amd64"),
            in "Architectures", such as r#""arm64""#;
        /// The Pod's label that overrides preferredArchitecture, for that Pod.
        preferred_architecture_label: LabelKey = "preferredArchitectureLabel" or LabelKey::from_static(PREFERRED_LABEL),
            in "Architectures", such as r#""example.com/architecture""#;
        /// required: pin the Pod to the preferred architecture. preferred: ask the scheduler for it, and allow every
        /// supported architecture.
        preference_enforcement: PreferenceEnforcement = "preferenceEnforcement" or PreferenceEnforcement::Required,
            in "Architectures", such as r#""preferred""#;
        /// With preferenceEnforcement preferred: the weight, 1 to 100, of each architecture. Without weights the
        /// preferred one gets 100.
        architecture_weights: ByArchitecture<Weight> = "architectureWeights" or ByArchitecture::default(),
            in "Architectures", such as r#"{"arm64": 80, "amd64": 20}"#;
        /// Preferences for some of the workloads, by namespace, labels of the Pod and share of the workloads; the first
        /// rule that takes one counts, in place of preferredArchitecture, preferenceEnforcement and architectureWeights. It inherits nothing from them.
        preference_rules: Vec<PreferenceRule> = "preferenceRules" or Vec::new(),
            in "Architectures", such as r#"[{"namespaces": ["team-*"], "preferredArchitecture": "arm64", "share": 20}]"#;
        /// The operating systems of the cluster's nodes, in order of preference.
        operating_systems: OperatingSystems = "operatingSystems" or OperatingSystems::linux(),
            in "Architectures", such as r#"["linux", "windows"]"#;
        /// Keys of Pod labels whose value the node's label must equal.
        match_node_labels: Vec<LabelKey> = "matchNodeLabels" or Vec::new(),
            in "Placement", such as r#"["topology.kubernetes.io/zone"]"#;
        /// Further kinds with one Pod template that may change, such as Rollout, and where in them it is. The policy's rules
        /// have to name them, too.
        workloads: Vec<WorkloadKind> = "workloads" or Vec::new(),
            in "Placement", such as r#"[{"group": "argoproj.io", "kind": "Rollout", "template": "spec.template"}]"#;
        /// Where lookups for a registry go instead; the first match wins. Changes lookups only, never the image.
        registry_proxies: Vec<RegistryProxy> = "registryProxies" or Vec::new(),
            in "Images", such as r#"[{"registry": "docker.io", "proxy": "mirror.example.com/dockerhub"}]"#;
        /// Patterns of the registries that may be asked, judged after registryProxies; an image elsewhere is a failed
        /// lookup. Empty: any. A Pod's author can otherwise have the policy-server ask any host.
        registries: Vec<Glob> = "registries" or Vec::new(),
            in "Images", such as r#"["docker.io", "*.example.com"]"#;
        /// Images whose platforms are given here and not looked up; the first match wins. For private registries that
        /// the policy-server can't read, and for mislabelled images.
        platform_overrides: Vec<PlatformOverride> = "platformOverrides" or Vec::new(),
            in "Images", such as r#"[{"image": "registry.example.com/*", "platforms": ["linux/amd64"]}]"#;
        /// What an image counts as when its platforms can't be read. ignore: it doesn't narrow anything, and a warning
        /// says so. fallback: it counts as fallbackArchitecture. reject: the Pod is rejected.
        on_lookup_failure: OnLookupFailure = "onLookupFailure" or OnLookupFailure::Ignore,
            in "Verdicts", such as r#""reject""#;
        /// The architecture of images that can't be read. onLookupFailure fallback needs it.
        fallback_architecture: Option<Architecture> = "fallbackArchitecture" or None,
            in "Verdicts", such as r#""amd64""#;
        /// What happens to a Pod whose images share no architecture. warn: it passes unchanged, with a warning.
        on_no_common_architecture: OnNoCommonArchitecture = "onNoCommonArchitecture" or OnNoCommonArchitecture::Reject,
            in "Verdicts", such as r#""warn""#;
        /// What happens to a Pod that itself selects an architecture that its images don't support. ignore: its images
        /// aren't looked up.
        on_unsupported_selection: OnUnsupportedSelection = "onUnsupportedSelection" or OnUnsupportedSelection::Warn,
            in "Verdicts", such as r#""reject""#;
        /// Tolerations to add to Pods that may land on an architecture, such as for the taint of an arm64 pool.
        tolerations: ByArchitecture<Vec<Toleration>> = "tolerations" or ByArchitecture::default(),
            in "Placement", such as r#"{"arm64": [{"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"}]}"#;
        /// The image architectures that nodes of an architecture run besides their own, by hardware or emulation.
        compatible_architectures: ByArchitecture<Architectures> = "compatibleArchitectures" or ByArchitecture::default(),
            in "Architectures", such as r#"{"amd64": ["386"]}"#;
        /// Whether images that are mounted as volumes (volumes[].image) take part.
        image_volumes: bool = "imageVolumes" or true,
            in "Images", such as "false";
        /// Namespaces in which whatever is unclear or unsupported is rejected: a failed lookup, a missing operating
        /// system or architecture, no common architecture, an unsupported selection, an image that lacks a required
        /// architecture.
        strict: Option<Strict> = "strict" or None,
            in "Strict namespaces", such as r#"{"namespaces": ["prod-*"], "requiredArchitectures": ["amd64", "arm64"]}"#;
        /// What happens where time runs out with images unread. reject: the Pod is refused with code 429, and trying
        /// again goes on from there. ignore: the images that are left count as failed lookups.
        on_unfinished_lookups: OnUnfinishedLookups = "onUnfinishedLookups" or OnUnfinishedLookups::Reject,
            in "Verdicts", such as r#""ignore""#;
        /// No lookup starts that would end after this many milliseconds. 0: no limit. Raise it together with the policy's
        /// timeoutEvalSeconds.
        lookup_budget_milliseconds: Milliseconds = "lookupBudgetMilliseconds" or BUDGET,
            in "Images", such as "2500";
        /// Whether objects are changed. false: the policy decides, warns and refuses the same, and leaves every object as it
        /// is: for policies with mutating: false, and policy groups.
        mutate: bool = "mutate" or true,
            in "Verdicts", such as "false";
        /// With mutate false: what happens to an object that admits nodes which can't run its images. accept: the audit
        /// annotation placement says so. reject: it is refused.
        on_unplaced: OnUnplaced = "onUnplaced" or OnUnplaced::Accept,
            in "Verdicts", such as r#""reject""#;
        /// Whether an annotation says what was added: for people in a Pod, and in a template as the record by which a
        /// later change takes it back. false: nothing is taken back or restored.
        annotate: bool = "annotate" or true,
            in "Placement", such as "false";
    }
}
