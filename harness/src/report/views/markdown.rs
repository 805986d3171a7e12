//! A report for a page or a ticket: short enough to be read there.

use std::fmt::Write as _;

use anyhow::Result;

use super::{View, bytes, cpus};
use crate::report::model::{Counts, Report, Row, Status};

/// As many rows of a table as a ticket has room for.
const MOST_ROWS: usize = 20;

pub(super) fn of(view: &View, report: &Report) -> Result<String> {
    let mut text = String::new();
    if !view.only.is_empty() {
        rows(&view.rows(report), usize::MAX, &mut text)?;
        return Ok(text);
    }
    let totals = &report.totals;
    let architecture = &report.architecture;
    match totals.workloads.percent_ready() {
        Some(percent) => writeln!(
            text,
            "**{percent} % of the workloads are ready for {architecture}**"
        )?,
        None => writeln!(text, "**Nothing is known of {architecture}**")?,
    }
    writeln!(text, "\n| | ready | pinned | blocked | unknown | ready |")?;
    writeln!(text, "|---|--:|--:|--:|--:|--:|")?;
    line(
        "workloads",
        totals.workloads,
        |amount| amount.to_string(),
        &mut text,
    )?;
    line("CPU", totals.cpu_millicores, cpus, &mut text)?;
    line("memory", totals.memory_bytes, bytes, &mut text)?;

    if let Some(comparison) = &report.comparison {
        writeln!(text)?;
        for (what, names) in comparison.lists() {
            writeln!(text, "- {what}: {}", names.len())?;
        }
    }
    let blocking = view.blocking_images(report);
    if !blocking.is_empty() {
        writeln!(text, "\n| image | platforms | workloads | CPU |")?;
        writeln!(text, "|---|---|--:|--:|")?;
        for image in blocking.iter().take(MOST_ROWS) {
            let what = match &image.failure {
                Some(failure) => failure.clone(),
                None => image.platforms.join(", "),
            };
            writeln!(
                text,
                "| {} | {} | {} | {} |",
                cell(&image.name),
                cell(&what),
                image.workloads,
                cpus(image.cpu_millicores)
            )?;
        }
        more(blocking.len(), &mut text)?;
    }
    let shown: Vec<&Row> = report
        .workloads
        .iter()
        .filter(|row| view.all || !matches!(row.status, Status::Ready | Status::NotApplicable))
        .collect();
    if !shown.is_empty() {
        writeln!(text)?;
        rows(
            &shown,
            if view.all { usize::MAX } else { MOST_ROWS },
            &mut text,
        )?;
    }
    for line in report.skipped.iter().chain(&report.unreadable) {
        writeln!(text, "\n{}", cell(line))?;
    }
    Ok(text)
}

fn line(
    name: &str,
    counts: Counts,
    show: impl Fn(u128) -> String,
    text: &mut String,
) -> Result<()> {
    let percent = counts.percent_ready();
    writeln!(
        text,
        "| {name} | {} | {} | {} | {} | {} |",
        show(counts.ready),
        show(counts.pinned),
        show(counts.blocked),
        show(counts.unknown),
        percent.map_or("-".to_owned(), |percent| format!("{percent} %"))
    )?;
    Ok(())
}

fn rows(rows: &[&Row], most: usize, text: &mut String) -> Result<()> {
    writeln!(text, "| workload | status | cause |")?;
    writeln!(text, "|---|---|---|")?;
    for row in rows.iter().take(most) {
        let workload = format!("{} {}/{}", row.kind, row.namespace, row.name);
        let cause = row.cause.as_deref().unwrap_or_default();
        writeln!(
            text,
            "| {} | {} | {} |",
            cell(&workload),
            row.status,
            cell(cause)
        )?;
    }
    if rows.len() > most {
        writeln!(text, "\nand {} more", rows.len() - most)?;
    }
    Ok(())
}

fn more(all: usize, text: &mut String) -> Result<()> {
    if all > MOST_ROWS {
        writeln!(text, "\nand {} more", all - MOST_ROWS)?;
    }
    Ok(())
}

/// Text that no Markdown takes for markup of a table.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('\n', " ")
}
