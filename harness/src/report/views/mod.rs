//! How a report is shown.

mod csv;
mod html;
mod junit;
mod markdown;
mod text;

use std::{collections::BTreeMap, io::Write};

use anyhow::Result;
use clap::ValueEnum;

use super::model::{Image, Report, Row, Status, Totals};

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal: what it comes to and what to do first.
    #[value(alias = "table")]
    Text,
    /// Everything, for programs: docs/report.schema.json describes it.
    Json,
    /// A row for each workload, for spreadsheets.
    Csv,
    /// For pages and tickets.
    Markdown,
    /// A page for a browser, in one file.
    Html,
    /// A test case for each workload, for CI.
    Junit,
}

/// What of a report is shown.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Whether every workload is shown, and not only what they come to.
    pub all: bool,
    /// Show only workloads of these statuses, and nothing else.
    pub only: Vec<Status>,
    /// Group by this label in place of the namespace.
    pub group_by: Option<String>,
    /// How many columns a terminal has.
    pub width: u16,
}

impl View {
    /// Prints `report`.
    ///
    /// # Errors
    /// Where `out` takes no more.
    pub fn print(&self, report: &Report, format: Format, out: &mut dyn Write) -> Result<()> {
        match format {
            Format::Json => {
                let mut shown = report.clone();
                shown.workloads = self.rows(report).into_iter().cloned().collect();
                serde_json::to_writer_pretty(&mut *out, &shown)?;
                writeln!(out)?;
            }
            Format::Csv => csv::print(self, report, out)?,
            Format::Text => out.write_all(text::of(self, report)?.as_bytes())?,
            Format::Markdown => out.write_all(markdown::of(self, report)?.as_bytes())?,
            Format::Html => out.write_all(html::of(self, report)?.as_bytes())?,
            Format::Junit => out.write_all(junit::of(self, report)?.as_bytes())?,
        }
        out.flush()?;
        Ok(())
    }

    /// The workloads that are shown as rows.
    fn rows<'r>(&self, report: &'r Report) -> Vec<&'r Row> {
        let is_shown = |row: &&Row| self.only.is_empty() || self.only.contains(&row.status);
        report.workloads.iter().filter(is_shown).collect()
    }

    /// DaemonSets that can't run on the architecture's nodes: they come before the first of these.
    fn daemon_sets<'r>(&self, report: &'r Report) -> Vec<&'r Row> {
        let is_in_the_way = |row: &&Row| {
            row.runs_everywhere() && !matches!(row.status, Status::Ready | Status::NotApplicable)
        };
        report.workloads.iter().filter(is_in_the_way).collect()
    }

    /// The images that keep workloads back, those that keep most of them first.
    fn blocking_images<'r>(&self, report: &'r Report) -> Vec<&'r Image> {
        let is_blocking = |image: &&Image| image.supports != Some(true);
        report.images.iter().filter(is_blocking).collect()
    }

    /// The totals of each group, the one with the most that isn't ready first.
    fn groups(&self, report: &Report) -> Vec<(String, Totals)> {
        let mut groups: BTreeMap<String, Totals> = BTreeMap::new();
        for row in &report.workloads {
            let group = match &self.group_by {
                Some(label) => row.labels.get(label).map_or("(without)", String::as_str),
                None => &row.namespace,
            };
            groups.entry(group.to_owned()).or_default().count(row);
        }
        let mut groups: Vec<(String, Totals)> = groups.into_iter().collect();
        groups.sort_by_key(|(_, totals)| {
            let workloads = totals.workloads;
            std::cmp::Reverse(workloads.blocked + workloads.pinned + workloads.unknown)
        });
        groups
    }

    /// What groups are called.
    fn group_name(&self) -> &str {
        self.group_by.as_deref().unwrap_or("namespace")
    }
}

/// Thousandths of a CPU as CPUs, with one digit behind the point.
fn cpus(millicores: u128) -> String {
    let tenths = (millicores + 50) / 100;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Bytes in the largest binary unit that they fill, with one digit behind the point.
fn bytes(bytes: u128) -> String {
    let units = ["B", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let (mut tenths, mut unit) = (bytes * 10, 0);
    while tenths >= 10_240 && unit + 1 < units.len() {
        tenths /= 1024;
        unit += 1;
    }
    let unit = units.get(unit).unwrap_or(&"B");
    if tenths % 10 == 0 {
        format!("{}{unit}", tenths / 10)
    } else {
        format!("{}.{}{unit}", tenths / 10, tenths % 10)
    }
}
