//! What a report holds.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compare::Comparison;
use crate::{
    admission::AdmissionResponse,
    fleet::{Skipped, Workload},
};

/// A report. Its JSON is described in docs/report.schema.json.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The version of the command that made it.
    pub version: String,
    /// The architecture that workloads are to be ready for.
    pub architecture: String,
    /// The settings of the policy.
    pub settings: Value,
    /// All workloads together.
    pub totals: Totals,
    /// The workloads, those that are furthest from the architecture first.
    pub workloads: Vec<Row>,
    /// The images, those that block most first.
    pub images: Vec<Image>,
    /// What was left out of the input, a line for each kind of object.
    pub skipped: Vec<String>,
    /// What of the input couldn't be read, a line for each file.
    pub unreadable: Vec<String>,
    /// What changed since an earlier report, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
}

/// How a workload stands to an architecture.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ValueEnum,
)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// An image lacks it.
    Blocked,
    /// An image that matters can't be read.
    Unknown,
    /// Every image supports it, and the workload itself excludes it.
    Pinned,
    /// Nothing keeps the workload from it.
    Ready,
    /// It has nothing to do with the workload.
    NotApplicable,
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Blocked => "blocked",
            Self::Unknown => "unknown",
            Self::Pinned => "pinned",
            Self::Ready => "ready",
            Self::NotApplicable => "not applicable",
        })
    }
}

/// What is known of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Its namespace.
    pub namespace: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its labels, and those of its Pods.
    pub labels: BTreeMap<String, String>,
    /// How it stands to the architecture.
    pub status: Status,
    /// Why; `null` where it is ready.
    pub cause: Option<String>,
    /// The images that lack the architecture.
    pub blocking: Vec<String>,
    /// All of its images.
    pub images: Vec<String>,
    /// The architectures of nodes that run every image and that the workload admits; `null` where they aren't known.
    pub architectures: Option<Vec<String>>,
    /// What the policy would do with it: `nodeSelector=amd64`, `unchanged: …`, `rejected: …`.
    pub placement: String,
    /// How many Pods it has.
    pub replicas: u64,
    /// Thousandths of a CPU that they request.
    pub cpu_millicores: u128,
    /// Bytes of memory that they request.
    pub memory_bytes: u128,
}

/// What is known of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// The reference.
    pub name: String,
    /// Its platforms, such as `linux/arm64/v8`; empty where they aren't known, or don't matter.
    pub platforms: Vec<String>,
    /// Whether it runs on the architecture; `null` where that can't be told.
    pub supports: Option<bool>,
    /// Why it can't be told.
    pub failure: Option<String>,
    /// The namespaces that use it.
    pub namespaces: BTreeSet<String>,
    /// The workloads that use it.
    pub workloads: u64,
    /// Thousandths of a CPU that they request.
    pub cpu_millicores: u128,
}

/// Workloads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// How many workloads there are.
    pub workloads: Counts,
    /// Thousandths of a CPU that they request.
    pub cpu_millicores: Counts,
    /// Bytes of memory that they request.
    pub memory_bytes: Counts,
}

/// A sum for each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Of those that are ready.
    pub ready: u128,
    /// Of those that are pinned.
    pub pinned: u128,
    /// Of those that are blocked.
    pub blocked: u128,
    /// Of those that aren't known.
    pub unknown: u128,
    /// Of those that have nothing to do with the architecture.
    pub not_applicable: u128,
}

impl Counts {
    fn add(&mut self, status: Status, amount: u128) {
        *match status {
            Status::Ready => &mut self.ready,
            Status::Pinned => &mut self.pinned,
            Status::Blocked => &mut self.blocked,
            Status::Unknown => &mut self.unknown,
            Status::NotApplicable => &mut self.not_applicable,
        } += amount;
    }

    /// The statuses that bars show, in their order, each with its sum.
    pub(super) fn in_order(self) -> [(Status, u128); 4] {
        [
            (Status::Ready, self.ready),
            (Status::Pinned, self.pinned),
            (Status::Blocked, self.blocked),
            (Status::Unknown, self.unknown),
        ]
    }

    /// What is known of the architecture: ready, pinned and blocked.
    pub fn known(self) -> u128 {
        self.ready + self.pinned + self.blocked
    }

    /// How much of what is known is ready, in percent, rounded down so that 100 means all; `None` where nothing is known.
    pub fn percent_ready(self) -> Option<u128> {
        (self.ready * 100).checked_div(self.known())
    }

    /// All of it.
    pub fn all(self) -> u128 {
        self.known() + self.unknown + self.not_applicable
    }
}

impl Totals {
    /// Counts `row` in.
    pub fn count(&mut self, row: &Row) {
        self.workloads.add(row.status, 1);
        self.cpu_millicores.add(row.status, row.cpu_millicores);
        self.memory_bytes.add(row.status, row.memory_bytes);
    }

    /// The totals of `rows`.
    pub fn of<'r>(rows: impl IntoIterator<Item = &'r Row>) -> Self {
        let mut totals = Self::default();
        for row in rows {
            totals.count(row);
        }
        totals
    }
}

impl Row {
    /// The row of `workload`, which stands like this to the architecture.
    pub(super) fn new(workload: &Workload, status: Status, cause: Option<String>) -> Self {
        Self {
            namespace: workload.namespace.clone(),
            kind: workload.kind.clone(),
            name: workload.name.clone(),
            labels: workload.labels.clone(),
            status,
            cause,
            blocking: Vec::new(),
            images: workload
                .images
                .iter()
                .map(|used| used.image.clone())
                .collect(),
            architectures: None,
            placement: String::new(),
            replicas: workload.replicas,
            cpu_millicores: workload.requests.cpu_millicores,
            memory_bytes: workload.requests.memory_bytes,
        }
    }

    /// Tells what the policy would do, by its responses to each template.
    pub(super) fn tell_placements(&mut self, responses: impl Iterator<Item = AdmissionResponse>) {
        let mut placements: Vec<String> = Vec::new();
        for response in responses {
            let placement = match response.annotation("placement") {
                Some(placement) => placement.to_owned(),
                None => format!("rejected: {}", response.message()),
            };
            if !placements.contains(&placement) {
                placements.push(placement);
            }
            if let Some(own) = response.architectures() {
                self.architectures = Some(match self.architectures.take() {
                    Some(mut all) => {
                        all.retain(|name| own.contains(name));
                        all
                    }
                    None => own,
                });
            }
        }
        self.placement = placements.join("; ");
    }

    /// Whether it runs on every node, so that it comes before the first node of an architecture.
    pub fn runs_everywhere(&self) -> bool {
        self.kind == "DaemonSet"
    }

    /// What stays the same from one report to the next.
    pub(super) fn key(&self) -> (&str, &str, &str) {
        (&self.namespace, &self.kind, &self.name)
    }
}

impl Image {
    /// An image of which nothing is known.
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            platforms: Vec::new(),
            supports: None,
            failure: None,
            namespaces: BTreeSet::new(),
            workloads: 0,
            cpu_millicores: 0,
        }
    }

    /// Takes what `other`, the same image in another workload, says worse of it.
    pub(super) fn merge(&mut self, other: &Self) {
        let rank = |image: &Self| match image.supports {
            Some(false) => 0,
            None => 1,
            Some(true) => 2,
        };
        if rank(other) < rank(self) {
            self.platforms.clone_from(&other.platforms);
            self.supports = other.supports;
            self.failure.clone_from(&other.failure);
        }
    }

    /// Counts a workload that uses it.
    pub(super) fn count(&mut self, row: &Row) {
        self.namespaces.insert(row.namespace.clone());
        self.workloads += 1;
        self.cpu_millicores += row.cpu_millicores;
    }
}

impl Report {
    /// Leaves the workloads of one namespace, and what they come to.
    pub fn narrow_to(&mut self, namespace: &str) {
        self.workloads.retain(|row| row.namespace == namespace);
        self.totals = Totals::of(&self.workloads);
        let mut images = std::mem::take(&mut self.images);
        images.retain_mut(|image| {
            image.namespaces.clear();
            image.workloads = 0;
            image.cpu_millicores = 0;
            for row in &self.workloads {
                if row.images.contains(&image.name) {
                    image.count(row);
                }
            }
            image.workloads > 0
        });
        self.images = images;
        self.sort();
    }

    /// Puts first what matters most: of workloads the status, then what they request; of images whether they block, then
    /// how many workloads use them.
    pub(super) fn sort(&mut self) {
        self.workloads.sort_by(|one, other| {
            let amount = |row: &Row| (row.status, std::cmp::Reverse(row.cpu_millicores));
            amount(one)
                .cmp(&amount(other))
                .then_with(|| one.key().cmp(&other.key()))
        });
        self.images.sort_by(|one, other| {
            let amount = |image: &Image| {
                let rank = match image.supports {
                    Some(false) => 0,
                    None => 1,
                    Some(true) => 2,
                };
                (
                    rank,
                    std::cmp::Reverse((image.workloads, image.cpu_millicores)),
                )
            };
            amount(one)
                .cmp(&amount(other))
                .then_with(|| one.name.cmp(&other.name))
        });
    }
}

impl Skipped {
    /// What was left out, and what helps.
    pub(super) fn in_words(&self, count: u64) -> String {
        match self {
            Self::EndedPods => format!("{count} × Pod: ended"),
            Self::WithoutPods(kind) => format!("{count} × {kind}: holds no Pods"),
            Self::UnknownKind(kind) => {
                format!("{count} × {kind}: holds Pods in a way that isn't known, give its Pods too")
            }
            Self::WithoutSpec(kind) => {
                format!("{count} × {kind}: without a Pod spec, give what it refers to, or its Pods")
            }
            Self::NoObjects => {
                format!("{count} × document without apiVersion and kind: no Kubernetes object")
            }
        }
    }
}
