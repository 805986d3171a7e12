//! A report on a fleet: which workloads can run on an architecture, and what keeps the others from it.
//!
//! The platforms of images and what a workload admits come from the policy itself, by what it tells programs: audit
//! annotations and records. Its messages are shown, and never read.

mod compare;
mod gate;
mod model;
mod oracle;
mod pins;
mod views;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde_json::Value;

use crate::{
    admission::AdmissionResponse,
    engine::Policy,
    fleet::{Fleet, ImageUse, Workload},
};
pub use compare::Comparison;
pub use gate::Gate;
pub use model::{Counts, Image, Report, Row, Status, Totals};
pub use oracle::LookUpAll;
use oracle::{Oracle, Support};
pub use views::{Format, View};

/// Reports on `fleet`, with the policy's `settings`, for `architecture`.
///
/// # Errors
/// Where the settings are invalid or the policy can't be asked. An image that can't be read is a finding.
pub fn report<'o>(
    policy: &'o Policy,
    fleet: &Fleet,
    settings: &Value,
    architecture: &str,
    look_up_all: &'o mut LookUpAll<'o>,
) -> Result<Report> {
    let mut oracle = Oracle::new(policy, settings, look_up_all)?;
    let architecture = oracle.name_of(architecture)?;
    let mut uses = BTreeSet::new();
    for workload in &fleet.workloads {
        uses.extend(workload.images.iter().cloned());
    }
    let supports = oracle.supports(&uses)?;
    let objects: Vec<&Value> = fleet
        .workloads
        .iter()
        .flat_map(|workload| &workload.objects)
        .collect();
    let mut placements = oracle.placements(&objects)?.into_iter();

    let mut report = Report {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        architecture: architecture.clone(),
        settings: settings.clone(),
        totals: Totals::default(),
        workloads: Vec::new(),
        images: Vec::new(),
        skipped: Vec::new(),
        unreadable: Vec::new(),
        comparison: None,
    };
    let mut images = BTreeMap::new();
    for workload in &fleet.workloads {
        let found = Findings::of(workload, &supports, &architecture);
        let pin = if found.is_open() {
            pins::of(workload, &architecture, &fleet.nodes, &oracle)?
        } else {
            None
        };
        let responses: Vec<AdmissionResponse> =
            placements.by_ref().take(workload.objects.len()).collect();
        let mut unreadable = responses.iter().filter(|response| {
            let cause = response.annotation("cause");
            cause == Some("UnreadableRequest")
        });
        let (status, cause) = match unreadable.next() {
            Some(response) => (Status::Unknown, Some(response.message().to_owned())),
            None => found.status(pin),
        };
        let mut row = Row::new(workload, status, cause);
        row.tell_placements(responses.into_iter());
        row.blocking.clone_from(&found.lacking);
        for image in found.all.iter().filter(|_| status != Status::NotApplicable) {
            let entry = images
                .entry(image.name.clone())
                .or_insert_with(|| image.clone());
            entry.merge(image);
            entry.count(&row);
        }
        report.totals.count(&row);
        report.workloads.push(row);
    }
    report.images = images.into_values().collect();
    report.skipped = fleet
        .skipped
        .iter()
        .map(|(what, count)| what.in_words(*count))
        .collect();
    report.sort();
    Ok(report)
}

/// What the images of a workload say about an architecture.
struct Findings {
    /// All images.
    all: Vec<Image>,
    /// Those that don't support it.
    lacking: Vec<String>,
    /// Why they don't, and why others can't be read.
    lacks: Vec<String>,
    unknown: Vec<String>,
    /// Why the workload has nothing to do with it.
    not_applicable: Option<String>,
}

impl Findings {
    fn of(workload: &Workload, supports: &BTreeMap<ImageUse, Support>, architecture: &str) -> Self {
        let mut findings = Self {
            all: Vec::new(),
            lacking: Vec::new(),
            lacks: Vec::new(),
            unknown: Vec::new(),
            not_applicable: None,
        };
        let mut systems = BTreeSet::new();
        let mut is_anything_known = false;
        let is_for_windows = workload.is_for_windows();
        for used in &workload.images {
            let Some(support) = supports.get(used) else {
                continue;
            };
            if used.is_for_windows && !is_for_windows {
                continue;
            }
            let mut image = Image::new(&used.image);
            match support {
                Support::Anywhere => image.supports = Some(true),
                Support::Unknown(reason) => {
                    is_anything_known = true;
                    image.failure = Some(reason.clone());
                    findings.unknown.push(format!("{}: {reason}", image.name));
                }
                Support::Partly(names) if names.iter().any(|name| name == architecture) => {
                    is_anything_known = true;
                    image.supports = Some(true);
                }
                Support::Partly(_) => {
                    let reason = "its index can be read in part only";
                    is_anything_known = true;
                    image.failure = Some(reason.to_owned());
                    findings.unknown.push(format!("{}: {reason}", image.name));
                }
                Support::Platforms(platforms) => {
                    is_anything_known = true;
                    image.platforms.clone_from(platforms);
                    systems.extend(platforms.iter().map(|platform| os_of(platform).to_owned()));
                    let runs = platforms
                        .iter()
                        .any(|platform| runs_on(platform, architecture));
                    image.supports = Some(runs);
                    if !runs {
                        findings.lacking.push(image.name.clone());
                        findings
                            .lacks
                            .push(format!("{} ({})", image.name, platforms.join(", ")));
                    }
                }
            }
            findings.all.push(image);
        }
        findings.not_applicable = if findings.all.is_empty() {
            Some("it has no images".to_owned())
        } else if is_for_windows
            || (!systems.is_empty() && systems.iter().all(|os| os == "windows"))
        {
            Some("it runs on Windows".to_owned())
        } else if workload.images.iter().any(|used| used.has_runtime_class) && !is_anything_known {
            Some("its runtime class runs something else than container images".to_owned())
        } else {
            None
        };
        findings
    }

    /// Whether only the workload itself can keep it from the architecture.
    fn is_open(&self) -> bool {
        self.not_applicable.is_none() && self.lacks.is_empty() && self.unknown.is_empty()
    }

    /// The status of the workload, and why; `pin` is what ties it to another architecture.
    fn status(&self, pin: Option<String>) -> (Status, Option<String>) {
        if let Some(reason) = &self.not_applicable {
            (Status::NotApplicable, Some(reason.clone()))
        } else if !self.lacks.is_empty() {
            (Status::Blocked, Some(self.lacks.join("; ")))
        } else if !self.unknown.is_empty() {
            (Status::Unknown, Some(self.unknown.join("; ")))
        } else if pin.is_some() {
            (Status::Pinned, pin)
        } else {
            (Status::Ready, None)
        }
    }
}

/// The operating system of a platform as the policy writes it, `linux/arm64/v8`.
fn os_of(platform: &str) -> &str {
    platform.split('/').next().unwrap_or_default()
}

/// Whether a platform is that of nodes with Linux, or any system, and `architecture`.
fn runs_on(platform: &str, architecture: &str) -> bool {
    let mut parts = platform.split('/');
    matches!(parts.next(), Some("linux" | "any")) && parts.next() == Some(architecture)
}
