//! A report as a gate: what of it is a failure.

use anyhow::{Result, bail};

use super::model::{Report, Status};

/// What of a report is a failure.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// Workloads of these statuses.
    pub fail_on: Vec<Status>,
    /// Less than this percentage of ready workloads.
    pub fail_under: Option<u8>,
}

impl Gate {
    /// What of `report` is a failure, a line for each kind.
    ///
    /// # Errors
    /// Where there is nothing to have a percentage of.
    pub fn judge(&self, report: &Report) -> Result<Vec<String>> {
        let asks = !self.fail_on.is_empty() || self.fail_under.is_some();
        if asks && report.workloads.is_empty() {
            bail!("there is no workload to judge");
        }
        let mut findings = Vec::new();
        for status in &self.fail_on {
            let count = report
                .workloads
                .iter()
                .filter(|row| row.status == *status)
                .count();
            if count > 0 {
                findings.push(format!("{count} workloads are {status}"));
            }
        }
        if let Some(least) = self.fail_under {
            let counts = report.totals.workloads;
            let Some(percent) = counts.percent_ready() else {
                bail!("--fail-under has nothing to count: no workload is ready, pinned or blocked");
            };
            // Exactly, and not by the percentage that is shown.
            if counts.ready * 100 < u128::from(least) * counts.known() {
                findings.push(format!(
                    "{percent} % of the workloads are ready, less than {least} %"
                ));
            }
        }
        Ok(findings)
    }
}
