//! What changed from one report to the next.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use super::model::{Report, Row, Status};

/// What changed since an earlier report, by the names of workloads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// How much was ready then, in percent; `null` where nothing was known.
    pub percent_ready_before: Option<u128>,
    /// They weren't ready, and are now.
    pub newly_ready: Vec<String>,
    /// They were ready, and aren't any more.
    pub regressed: Vec<String>,
    /// They are new.
    pub new: Vec<String>,
    /// They are gone.
    pub gone: Vec<String>,
}

impl Comparison {
    /// What changed from `old` to `new`.
    ///
    /// # Errors
    /// Where they are about different architectures.
    pub fn of(old: &Report, new: &Report) -> Result<Self> {
        let (before, now) = (&old.architecture, &new.architecture);
        ensure!(
            before == now,
            "the earlier report is about {before}, and this one about {now}"
        );
        let by_key = |report: &'_ Report| -> BTreeMap<String, Status> {
            let rows = report.workloads.iter();
            rows.map(|row| (name(row), row.status)).collect()
        };
        let (before, after) = (by_key(old), by_key(new));
        let mut comparison = Self {
            percent_ready_before: old.totals.workloads.percent_ready(),
            ..Self::default()
        };
        for (name, status) in &after {
            let list = match (before.get(name), status) {
                (None, _) => &mut comparison.new,
                (Some(Status::Ready), Status::Ready) => continue,
                (Some(Status::Ready), _) => &mut comparison.regressed,
                (Some(_), Status::Ready) => &mut comparison.newly_ready,
                _ => continue,
            };
            list.push(name.clone());
        }
        for name in before.into_keys() {
            if !after.contains_key(&name) {
                comparison.gone.push(name);
            }
        }
        Ok(comparison)
    }

    /// The lists, each with what it is.
    pub(super) fn lists(&self) -> [(&'static str, &[String]); 4] {
        [
            ("newly ready", &self.newly_ready),
            ("regressed", &self.regressed),
            ("new", &self.new),
            ("gone", &self.gone),
        ]
    }
}

/// A workload in a line.
pub(super) fn name(row: &Row) -> String {
    format!("{} {}/{}", row.kind, row.namespace, row.name)
}
