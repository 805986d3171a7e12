//! From settings, constraints and what is known of the images to a decision.
//!
//! Pure: no JSON, no registry. Design, sections 7 to 9.

use k8s_openapi::api::core::v1::{
    NodeSelectorRequirement, NodeSelectorTerm, PreferredSchedulingTerm, Toleration,
};

use crate::{
    constraints::{Constraints, Dimension},
    image::{Finding, LookupFailure},
    placement::{Placement, Requirement},
    platform::{
        ARCHITECTURE_LABEL, Architecture, Architectures, OS_LABEL, Os, Platform, Platforms,
    },
    set::SortedSet,
    settings::{
        OnLookupFailure, OnNoCommonArchitecture, OnUnsupportedSelection, PreferenceEnforcement,
        Settings, Strict,
    },
    text::{elide_middle, join},
    toleration::covers,
};

/// The longest image reference in a message; a reference may be kilobytes long.
const LONGEST_IMAGE: usize = 256;
/// The longest image reference in a warning, which is short itself.
const LONGEST_IMAGE_IN_WARNING: usize = 80;
/// The most platforms of an image in a message.
const MOST_PLATFORMS: usize = 12;
/// The weight of a preference that the settings give no weight.
const FULL_WEIGHT: i32 = 100;

/// Everything about the pod (template) that a decision rests on, but for its images.
#[derive(Debug)]
pub struct Situation<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// The strict rules, where they hold.
    pub strict: Option<&'a Strict>,
    /// What the pod says about its nodes, `matched_labels` included.
    pub constraints: Constraints,
    /// Node labels that the pod has to match by `matchNodeLabels`.
    pub matched_labels: Vec<(String, String)>,
    /// The value of the pod's label that overrides the preferred architecture.
    pub preferred_label: Option<String>,
    /// Whether the pod runs on every node that can run it, as those of a DaemonSet do.
    pub runs_everywhere: bool,
    /// The pod's tolerations.
    pub tolerations: Vec<Toleration>,
}

impl Situation<'_> {
    /// Whether the pod selects its architecture itself, so that placement is its own.
    pub fn is_selected(&self) -> bool {
        self.constraints.selects(Dimension::Architecture)
    }

    /// Whether what the images run on matters: always, unless the pod selects its architecture and nothing is done
    /// about that.
    pub fn needs_images(&self) -> bool {
        !self.is_selected()
            || self.strict.is_some()
            || self.settings.on_unsupported_selection != OnUnsupportedSelection::Ignore
            || !self.settings.tolerations.is_empty()
    }
}

/// What the images say, gathered one by one.
#[derive(Debug)]
pub struct Evidence<'a> {
    settings: &'a Settings,
    /// Whether only schedulable architectures count: a pod that selects its own is held to its images alone.
    within_schedulable: bool,
    /// Whether further images matter even when no node runs those so far: one that can't be read would still turn a
    /// warning into a rejection.
    failures_decide: bool,
    /// The operating systems in question, each with the architectures of nodes that run every image so far; `None`
    /// where no image had a say.
    systems: Vec<(Os, Option<Architectures>)>,
    /// The images that have a say, with their platforms.
    known: Vec<(String, Platforms)>,
    /// Those that couldn't be read, and count as the fallback.
    counted: Vec<(String, Platforms)>,
    /// The images whose platforms couldn't be read.
    failed: Vec<(String, LookupFailure)>,
}

impl<'a> Evidence<'a> {
    /// No image yet.
    pub fn new(situation: &Situation<'a>) -> Self {
        let settings = situation.settings;
        let rejects_emptiness = if situation.is_selected() {
            settings.on_unsupported_selection == OnUnsupportedSelection::Reject
        } else {
            settings.on_no_common_architecture == OnNoCommonArchitecture::Reject
        };
        Self {
            settings,
            within_schedulable: !situation.is_selected(),
            failures_decide: settings.on_lookup_failure == OnLookupFailure::Reject
                && situation.strict.is_none()
                && !rejects_emptiness,
            systems: situation
                .constraints
                .operating_systems(&settings.operating_systems)
                .into_iter()
                .map(|os| (os, None))
                .collect(),
            known: Vec::new(),
            counted: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Adds what is known of an image.
    pub fn add(&mut self, image: String, finding: Finding) {
        match finding {
            Finding::Platforms(platforms) => {
                self.narrow(&platforms);
                self.known.push((image, platforms));
            }
            Finding::Failed(failure) => {
                if self.settings.on_lookup_failure == OnLookupFailure::Fallback
                    && let Some(fallback) = &self.settings.fallback_architecture
                {
                    let platform = Platform::on_any_os(fallback.clone());
                    let platforms: Platforms = [platform].into_iter().collect();
                    self.narrow(&platforms);
                    self.counted.push((image.clone(), platforms));
                }
                self.failed.push((image, failure));
            }
            Finding::NoSay => {}
        }
    }

    /// Leaves the nodes that also run one of `platforms`.
    fn narrow(&mut self, platforms: &Platforms) {
        let mut systems = std::mem::take(&mut self.systems);
        for (os, known) in &mut systems {
            let nodes = self.nodes(platforms, os);
            match known {
                Some(known) => known.retain(|node| nodes.contains(node)),
                None => *known = Some(nodes),
            }
        }
        self.systems = systems;
    }

    /// Whether no further image can change the outcome: no node runs those so far.
    pub fn is_settled(&self) -> bool {
        let is_empty =
            |known: &Option<Architectures>| known.as_ref().is_some_and(SortedSet::is_empty);
        !self.failures_decide && self.systems.iter().all(|(_, known)| is_empty(known))
    }

    /// The architectures of nodes with `os` that run one of `platforms`.
    fn nodes(&self, platforms: &Platforms, os: &Os) -> Architectures {
        let mut runs = Architectures::default();
        for platform in platforms {
            let is_of_os = platform.os.as_ref().is_none_or(|own| own == os);
            if is_of_os && !platform.architecture.is_wasm() {
                runs.insert(platform.architecture.clone());
            }
        }
        let mut nodes = runs.clone();
        for (node, images) in &self.settings.compatible_architectures {
            if images.iter().any(|image| runs.contains(image)) {
                nodes.insert(node.clone());
            }
        }
        nodes.retain(|node| !self.within_schedulable || self.settings.is_schedulable(node));
        nodes
    }

    /// Whether nodes of `os` run every image on each of `architectures`.
    fn all_run_on(&self, os: &Os, architectures: &Architectures) -> bool {
        let nodes = self.systems.iter().find(|(known, _)| known == os);
        let nodes = nodes.and_then(|(_, nodes)| nodes.as_ref());
        nodes.is_some_and(|nodes| architectures.iter().all(|name| nodes.contains(name)))
    }

    /// The images that have a say and fulfil `is_listed`, with their platforms.
    fn listing(&self, is_listed: impl Fn(&Platforms) -> bool) -> Vec<String> {
        let mut images = Vec::new();
        for (image, platforms) in &self.known {
            if is_listed(platforms) {
                images.push(listed(image, platforms));
            }
        }
        for (image, platforms) in &self.counted {
            if is_listed(platforms) {
                let architectures = join(platforms.iter().map(|platform| &platform.architecture));
                images.push(format!("{} (counted as {architectures})", shown(image)));
            }
        }
        images
    }

    /// What messages add about the schedulable architectures, if only they count.
    fn schedulable(&self) -> String {
        let schedulable = &self.settings.schedulable_architectures;
        if !self.within_schedulable || schedulable.is_empty() {
            return String::new();
        }
        format!("; schedulable architectures: {}", join(schedulable))
    }

    /// The operating system to place on, with the nodes that run every image there, and those of them that the pod
    /// admits: the first system that has such nodes. `None` where no image had a say.
    fn outcome(&self, constraints: &Constraints) -> Option<Outcome> {
        let mut best: Option<Outcome> = None;
        for (os, nodes) in &self.systems {
            let nodes = nodes.clone()?;
            let mut admitted = nodes.clone();
            admitted.retain(|node| constraints.admits_platform(os, node));
            let is_better = match &best {
                None => true,
                Some(best) if best.nodes.is_empty() => !nodes.is_empty(),
                Some(best) => best.admitted.is_empty() && !admitted.is_empty(),
            };
            if is_better {
                best = Some(Outcome {
                    os: os.clone(),
                    nodes,
                    admitted,
                });
            }
        }
        best
    }
}

/// What the images together allow on one operating system.
#[derive(Debug)]
struct Outcome {
    os: Os,
    /// Architectures of nodes that run every image.
    nodes: Architectures,
    /// Those of them that the pod's own constraints admit.
    admitted: Architectures,
}

/// What the policy decided, and what it has to say about it.
#[derive(Debug, PartialEq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// Warnings, most important first; not bounded yet.
    pub warnings: Vec<String>,
    /// The architectures of nodes that run every image and that the pod admits; `None` where no image had a say.
    pub architectures: Option<Architectures>,
    /// How many images couldn't be read.
    pub failed_lookups: usize,
}

/// Whether the object passes, and with what.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// It is rejected, with this message.
    Reject(String),
    /// It passes with this added, which may be nothing.
    Accept {
        /// What is added.
        placement: Placement,
        /// What came of it, for the audit log: `nodeSelector=amd64`, `unchanged: no image had a say`.
        summary: String,
    },
}

/// Decides.
pub fn decide(situation: &Situation<'_>, evidence: &Evidence<'_>) -> Decision {
    Decider {
        situation,
        evidence,
        problems: Vec::new(),
        placement_warnings: Vec::new(),
        lookup_warnings: Vec::new(),
        preference_warnings: Vec::new(),
    }
    .decide()
}

struct Decider<'d, 'a> {
    situation: &'d Situation<'a>,
    evidence: &'d Evidence<'a>,
    /// Why the object is rejected, if it is.
    problems: Vec<String>,
    /// The pod may land where it can't run.
    placement_warnings: Vec<String>,
    /// An image isn't known.
    lookup_warnings: Vec<String>,
    /// A wish of the user's isn't met.
    preference_warnings: Vec<String>,
}

impl Decider<'_, '_> {
    fn decide(mut self) -> Decision {
        let outcome = self.evidence.outcome(&self.situation.constraints);
        self.judge_failures();
        if let (Some(strict), Some(outcome)) = (self.situation.strict, &outcome) {
            self.judge_strictly(strict, outcome);
        }
        let (mut placement, summary) = match &outcome {
            _ if self.situation.is_selected() => self.keep_selection(outcome.as_ref()),
            None => unchanged("no image had a say"),
            Some(outcome) if outcome.nodes.is_empty() => {
                self.judge_nothing_in_common();
                unchanged("no architecture runs every image")
            }
            Some(outcome) if outcome.admitted.is_empty() => {
                self.judge_selection(outcome);
                unchanged("the Pod excludes every architecture that its images support")
            }
            Some(outcome) => self.place(outcome),
        };
        placement
            .node_selector
            .extend(self.situation.matched_labels.iter().cloned());
        let summary = with_additions(summary, &placement);
        let verdict = if self.problems.is_empty() {
            Verdict::Accept { placement, summary }
        } else {
            Verdict::Reject(self.problems.join("; "))
        };
        let mut warnings = self.placement_warnings;
        warnings.append(&mut self.lookup_warnings);
        warnings.append(&mut self.preference_warnings);
        Decision {
            verdict,
            warnings,
            architectures: outcome.map(|outcome| outcome.admitted),
            failed_lookups: self.evidence.failed.len(),
        }
    }

    fn judge_failures(&mut self) {
        let settings = self.situation.settings;
        if self.situation.strict.is_some() || settings.on_lookup_failure == OnLookupFailure::Reject
        {
            let mut failed = Vec::new();
            for (image, failure) in &self.evidence.failed {
                failed.push(format!("{} ({failure})", shown(image)));
            }
            if !failed.is_empty() {
                self.problems.push(format!(
                    "cannot tell which platforms these images support: {}",
                    join(failed)
                ));
            }
            return;
        }
        let consequence = match (&settings.on_lookup_failure, &settings.fallback_architecture) {
            (OnLookupFailure::Fallback, Some(architecture)) => format!("counted as {architecture}"),
            _ => "ignored".to_owned(),
        };
        for (image, failure) in &self.evidence.failed {
            let image = elide_middle(image, LONGEST_IMAGE_IN_WARNING);
            self.lookup_warnings
                .push(format!("image {image} {consequence}: {failure}"));
        }
    }

    /// What only strict namespaces demand: that images say their operating system, and support what is required.
    fn judge_strictly(&mut self, strict: &Strict, outcome: &Outcome) {
        for (image, platforms) in &self.evidence.known {
            if platforms.iter().any(|platform| platform.os.is_none()) {
                self.problems.push(format!(
                    "{} doesn't say which operating system it needs",
                    shown(image)
                ));
            }
            let nodes = self.evidence.nodes(platforms, &outcome.os);
            let missing: Vec<&Architecture> = strict
                .required_architectures
                .iter()
                .filter(|required| !nodes.contains(required))
                .collect();
            if !missing.is_empty() {
                self.problems.push(format!(
                    "{} doesn't support {} on {}",
                    listed(image, platforms),
                    join(missing),
                    outcome.os
                ));
            }
        }
    }

    fn judge_nothing_in_common(&mut self) {
        let settings = self.situation.settings;
        let systems = join(self.evidence.systems.iter().map(|(os, _)| os)).replace(", ", " or ");
        let images = join(self.evidence.listing(|_| true));
        let schedulable = self.evidence.schedulable();
        let text = format!("no architecture runs every image on {systems}: {images}{schedulable}");
        if self.situation.strict.is_some()
            || settings.on_no_common_architecture == OnNoCommonArchitecture::Reject
        {
            self.problems.push(text);
        } else {
            self.placement_warnings.push(text);
        }
    }

    /// The pod admits no node that runs its images.
    fn judge_selection(&mut self, outcome: &Outcome) {
        let action = match self.situation.strict {
            Some(_) => OnUnsupportedSelection::Reject,
            None => self.situation.settings.on_unsupported_selection,
        };
        if action == OnUnsupportedSelection::Ignore {
            return;
        }
        let admits = |node: &Architecture| {
            self.situation
                .constraints
                .admits_platform(&outcome.os, node)
        };
        let evidence = self.evidence;
        let is_offending =
            |platforms: &Platforms| !evidence.nodes(platforms, &outcome.os).iter().any(admits);
        let mut offending = evidence.listing(is_offending);
        if offending.is_empty() {
            offending = evidence.listing(|_| true);
        }
        let selected = self
            .situation
            .constraints
            .selected_values(Dimension::Architecture);
        let selects = if selected.is_empty() {
            "the Pod's node affinity excludes".to_owned()
        } else {
            format!("the Pod selects {}, which excludes", join(&selected))
        };
        let schedulable = self.evidence.schedulable();
        let text = format!(
            "{selects} every architecture that its images support on {}: {}{schedulable}",
            outcome.os,
            join(offending)
        );
        if action == OnUnsupportedSelection::Reject {
            self.problems.push(text);
        } else {
            self.placement_warnings.push(text);
        }
    }

    /// The pod selects its architecture: nothing changes but the tolerations.
    fn keep_selection(&mut self, outcome: Option<&Outcome>) -> (Placement, String) {
        let (mut placement, summary) = unchanged("the Pod selects its architecture");
        if let Some(outcome) = outcome {
            if outcome.admitted.is_empty() {
                self.judge_selection(outcome);
            }
            placement.tolerations = self.tolerations(&outcome.admitted);
        }
        (placement, summary)
    }

    fn place(&mut self, outcome: &Outcome) -> (Placement, String) {
        let settings = self.situation.settings;
        let constraints = &self.situation.constraints;
        let preferred = self.preferred();
        let mut placement = Placement::default();
        let mut summary;

        let pin = match settings.preference_enforcement {
            PreferenceEnforcement::Required => self.pin(&preferred, outcome),
            PreferenceEnforcement::Preferred => None,
        };
        let remaining = if let Some(architecture) = pin {
            summary = format!("nodeSelector={architecture}");
            placement
                .node_selector
                .push((ARCHITECTURE_LABEL.to_owned(), architecture.to_string()));
            [architecture].into_iter().collect()
        } else {
            let names: Vec<String> = outcome
                .admitted
                .iter()
                .map(Architecture::to_string)
                .collect();
            summary = format!("nodeAffinity={}", names.join(","));
            placement.requirements.push(Requirement {
                requirement: node_in(ARCHITECTURE_LABEL, names),
                terms: constraints.terms_to_constrain(Dimension::Architecture),
            });
            outcome.admitted.clone()
        };
        if settings.preference_enforcement == PreferenceEnforcement::Preferred {
            let weights = self.weights(&preferred, outcome);
            for (architecture, weight) in &weights {
                summary.push_str(&format!(" preferred={architecture}:{weight}"));
            }
            placement.preferences = weights
                .into_iter()
                .map(|(architecture, weight)| prefer(&architecture, weight))
                .collect();
        }
        let is_safe = |other: &Os| self.evidence.all_run_on(other, &remaining);
        if let Some(gap) = constraints.os_gap(&outcome.os, &settings.operating_systems, is_safe) {
            summary.push_str(&format!(" os={}", outcome.os));
            let os = outcome.os.to_string();
            if placement.requirements.is_empty() && gap.is_everywhere {
                placement.node_selector.push((OS_LABEL.to_owned(), os));
            } else {
                placement.requirements.push(Requirement {
                    requirement: node_in(OS_LABEL, vec![os]),
                    terms: gap.terms,
                });
            }
        }
        placement.tolerations = self.tolerations(&remaining);
        (placement, summary)
    }

    /// Whose preference counts: the pod's label, else the user's own soft affinity, else the settings.
    fn preferred(&mut self) -> Preferred {
        let settings = self.situation.settings;
        if self.situation.runs_everywhere {
            return Preferred::Nothing;
        }
        if let Some(text) = &self.situation.preferred_label {
            match Architecture::parse(text).filter(|label| settings.is_schedulable(label)) {
                Some(architecture) => return Preferred::Label(architecture),
                None => {
                    let schedulable = if settings.schedulable_architectures.is_empty() {
                        "an architecture".to_owned()
                    } else {
                        format!("one of {}", join(&settings.schedulable_architectures))
                    };
                    self.preference_warnings.push(format!(
                        "label {}={text} ignored: not {schedulable}",
                        settings.preferred_architecture_label.as_str()
                    ));
                }
            }
        }
        if self.situation.constraints.prefers_architecture() {
            Preferred::Nothing
        } else {
            Preferred::Default
        }
    }

    /// The architecture to pin to, if the preferred one can be: it runs every image, and no term of the pod's own
    /// affinity would be cut off.
    fn pin(&mut self, preferred: &Preferred, outcome: &Outcome) -> Option<Architecture> {
        let architecture = match preferred {
            Preferred::Nothing => return None,
            Preferred::Label(architecture) => architecture,
            Preferred::Default => self.situation.settings.preferred_architecture.as_ref()?,
        };
        let constraints = &self.situation.constraints;
        let own_terms_allow = !constraints.selects_in_a_term(Dimension::Architecture)
            && constraints.every_live_term_admits(&outcome.os, &outcome.admitted, architecture);
        if outcome.admitted.contains(architecture) && own_terms_allow {
            return Some(architecture.clone());
        }
        if let Preferred::Label(architecture) = preferred {
            self.warn_of_label(architecture, outcome);
        }
        None
    }

    /// The weights of the soft preferences.
    fn weights(&mut self, preferred: &Preferred, outcome: &Outcome) -> Vec<(Architecture, i32)> {
        let settings = self.situation.settings;
        let mut weights = match preferred {
            Preferred::Nothing => Vec::new(),
            Preferred::Label(architecture) => {
                if !outcome.admitted.contains(architecture) {
                    self.warn_of_label(architecture, outcome);
                }
                vec![(architecture.clone(), FULL_WEIGHT)]
            }
            Preferred::Default if settings.architecture_weights.is_empty() => settings
                .preferred_architecture
                .iter()
                .map(|architecture| (architecture.clone(), FULL_WEIGHT))
                .collect(),
            Preferred::Default => settings.architecture_weights.clone(),
        };
        weights.retain(|(architecture, _)| outcome.admitted.contains(architecture));
        weights
    }

    fn warn_of_label(&mut self, architecture: &Architecture, outcome: &Outcome) {
        let reason = if outcome.nodes.contains(architecture) {
            "the Pod's own affinity decides otherwise"
        } else {
            "not every image supports it"
        };
        let text = format!(
            "label {}={architecture} not followed: {reason} (placed on {})",
            self.situation
                .settings
                .preferred_architecture_label
                .as_str(),
            join(&outcome.admitted)
        );
        self.preference_warnings.push(text);
    }

    /// The tolerations of `architectures` that the pod lacks.
    fn tolerations(&self, architectures: &Architectures) -> Vec<Toleration> {
        let mut added: Vec<Toleration> = Vec::new();
        for architecture in architectures {
            let wanted = self.situation.settings.tolerations.iter();
            for toleration in wanted
                .filter(|(of, _)| of == architecture)
                .flat_map(|(_, tolerations)| tolerations)
            {
                let mut present = self.situation.tolerations.iter().chain(&added);
                if !present.any(|present| covers(present, toleration)) {
                    added.push(toleration.clone());
                }
            }
        }
        added
    }
}

/// Whose preference counts.
#[derive(Debug)]
enum Preferred {
    /// Nobody's.
    Nothing,
    /// That of the pod's label.
    Label(Architecture),
    /// That of the settings.
    Default,
}

/// `summary`, saying what was added beside the placement; an object that something was added to isn't unchanged.
fn with_additions(summary: String, placement: &Placement) -> String {
    let Some(reason) = summary.strip_prefix("unchanged: ") else {
        return summary;
    };
    let mut added = Vec::new();
    if !placement.node_selector.is_empty() {
        added.push("matchNodeLabels");
    }
    if !placement.tolerations.is_empty() {
        added.push("tolerations");
    }
    if added.is_empty() {
        summary
    } else {
        format!("only {}: {reason}", added.join(","))
    }
}

fn unchanged(reason: &str) -> (Placement, String) {
    (Placement::default(), format!("unchanged: {reason}"))
}

fn node_in(key: &str, values: Vec<String>) -> NodeSelectorRequirement {
    NodeSelectorRequirement {
        key: key.to_owned(),
        operator: "In".to_owned(),
        values: Some(values),
    }
}

fn prefer(architecture: &Architecture, weight: i32) -> PreferredSchedulingTerm {
    PreferredSchedulingTerm {
        preference: NodeSelectorTerm {
            match_expressions: Some(vec![node_in(
                ARCHITECTURE_LABEL,
                vec![architecture.to_string()],
            )]),
            match_fields: None,
        },
        weight,
    }
}

fn shown(image: &str) -> String {
    elide_middle(image, LONGEST_IMAGE)
}

fn listed(image: &str, platforms: &Platforms) -> String {
    let shown_platforms = join(platforms.iter().take(MOST_PLATFORMS));
    let others = match platforms.iter().count().saturating_sub(MOST_PLATFORMS) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    format!("{} ({shown_platforms}{others})", shown(image))
}

#[cfg(test)]
mod tests;
