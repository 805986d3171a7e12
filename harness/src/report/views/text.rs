//! A report for a terminal: what it comes to and what to do first, on one screen.

use std::fmt::{self, Write as _};

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{View, bytes, cpus};
use crate::report::model::{Counts, Report, Row, Status};

/// As many images and groups as one screen has room for.
const MOST_ROWS: usize = 5;
/// The widest bar.
const WIDEST_BAR: u16 = 50;
/// What stands beside a bar, and the narrowest bar.
const BESIDE_BAR: u16 = 40;
const NARROWEST_BAR: u16 = 10;

const BOLD: Style = Style::new().bold();
const DIMMED: Style = Style::new().dimmed();

pub(super) fn of(view: &View, report: &Report) -> Result<String> {
    let mut text = String::new();
    if !view.only.is_empty() {
        writeln!(text, "{}", lines(&rows(view, &view.rows(report))))?;
        return Ok(text);
    }
    if report.workloads.is_empty() {
        writeln!(text, "There is no workload in what was given.")?;
    } else {
        summary(view, report, &mut text)?;
        comparison(report, &mut text)?;
        daemon_sets(view, report, &mut text)?;
        images(view, report, &mut text)?;
        groups(view, report, &mut text)?;
    }
    if view.all {
        heading("Workloads", &mut text)?;
        writeln!(text, "{}", lines(&rows(view, &view.rows(report))))?;
    }
    notes("Not in the report", &report.skipped, &mut text)?;
    notes("Not readable", &report.unreadable, &mut text)?;
    Ok(text)
}

fn heading(title: &str, text: &mut String) -> fmt::Result {
    writeln!(text, "\n{BOLD}{title}{BOLD:#}")
}

fn style(status: Status) -> Style {
    match status {
        Status::Ready => AnsiColor::Green.on_default(),
        Status::Pinned => AnsiColor::Yellow.on_default(),
        Status::Blocked => AnsiColor::Red.on_default(),
        Status::Unknown | Status::NotApplicable => DIMMED,
    }
}

/// How the amounts of a measure are shown.
type Show = fn(u128) -> String;

/// The line that matters most, and a bar for workloads, CPU and memory.
fn summary(view: &View, report: &Report, text: &mut String) -> fmt::Result {
    let totals = &report.totals;
    let workloads = totals.workloads;
    let architecture = &report.architecture;
    match workloads.percent_ready() {
        Some(percent) => writeln!(
            text,
            "{BOLD}{percent} % of the workloads are ready for {architecture}{BOLD:#}"
        )?,
        None => writeln!(text, "{BOLD}Nothing is known of {architecture}{BOLD:#}")?,
    }
    writeln!(text)?;
    let measures: [(&str, Counts, Show); 3] = [
        ("workloads", workloads, |amount| amount.to_string()),
        ("CPU", totals.cpu_millicores, cpus),
        ("memory", totals.memory_bytes, bytes),
    ];
    for (name, counts, show) in measures {
        let bar = bar(counts, view.width);
        let (ready, known) = (show(counts.ready), show(counts.known()));
        writeln!(text, "{name:9} {bar}  {ready} of {known}")?;
    }
    writeln!(text)?;
    let mut parts = Vec::new();
    for (status, amount) in workloads.in_order() {
        let style = style(status);
        parts.push(format!("{style}{amount} {status}{style:#}"));
    }
    let others = workloads.not_applicable;
    if others > 0 {
        parts.push(format!("{others} {}", Status::NotApplicable));
    }
    writeln!(text, "{}", parts.join(", "))
}

/// A bar with a part for each status, and how much is ready in percent.
fn bar(counts: Counts, width: u16) -> String {
    let columns = width.saturating_sub(BESIDE_BAR);
    let columns = u128::from(columns.clamp(NARROWEST_BAR, WIDEST_BAR));
    let whole = counts.known() + counts.unknown;
    let mut bar = String::new();
    let (mut amount_so_far, mut drawn) = (0, 0);
    for ((status, amount), sign) in counts.in_order().into_iter().zip(["█", "▓", "░", "·"]) {
        amount_so_far += amount;
        let end = (amount_so_far * columns + whole / 2)
            .checked_div(whole)
            .unwrap_or(0);
        let part = sign.repeat(usize::try_from(end - drawn).unwrap_or(0));
        let style = style(status);
        let _ = write!(bar, "{style}{part}{style:#}");
        drawn = end;
    }
    let rest = " ".repeat(usize::try_from(columns - drawn).unwrap_or(0));
    match counts.percent_ready() {
        Some(percent) => format!("{bar}{rest} {percent:3} %"),
        None => format!("{bar}{rest}     -"),
    }
}

/// What changed since an earlier report.
fn comparison(report: &Report, text: &mut String) -> fmt::Result {
    let Some(comparison) = &report.comparison else {
        return Ok(());
    };
    heading("Since the earlier report", text)?;
    if let Some(before) = comparison.percent_ready_before {
        writeln!(text, "ready then: {before} %")?;
    }
    for (what, names) in comparison.lists() {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match names.len() {
            0 => writeln!(text, "{what}: none")?,
            count => writeln!(text, "{what}: {count} ({})", few(&names))?,
        }
    }
    Ok(())
}

/// DaemonSets that can't run on the architecture's nodes: they come before the first of these.
fn daemon_sets(view: &View, report: &Report, text: &mut String) -> fmt::Result {
    let first = view.daemon_sets(report);
    if first.is_empty() {
        return Ok(());
    }
    let architecture = &report.architecture;
    heading(
        &format!("DaemonSets to see to before the first {architecture} node"),
        text,
    )?;
    let mut table = table(view, &["namespace/name", "status", "cause"]);
    for row in first.iter().take(MOST_ROWS) {
        table.add_row([
            format!("{}/{}", row.namespace, row.name),
            row.status.to_string(),
            row.cause.clone().unwrap_or_default(),
        ]);
    }
    writeln!(text, "{}", lines(&table))?;
    more(first.len(), "DaemonSets", text)
}

/// The images that keep most workloads back.
fn images(view: &View, report: &Report, text: &mut String) -> fmt::Result {
    let blocking = view.blocking_images(report);
    if blocking.is_empty() {
        return Ok(());
    }
    heading("Images that block most", text)?;
    let header = ["image", "platforms", "workloads", "CPU", "namespaces"];
    let mut table = table(view, &header);
    align_right(&mut table, [2, 3]);
    for image in blocking.iter().take(MOST_ROWS) {
        let what = match &image.failure {
            Some(failure) => failure.clone(),
            None => image.platforms.join(", "),
        };
        table.add_row([
            image.name.clone(),
            what,
            image.workloads.to_string(),
            cpus(image.cpu_millicores),
            few(&image
                .namespaces
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()),
        ]);
    }
    writeln!(text, "{}", lines(&table))?;
    more(blocking.len(), "images", text)
}

/// The first of some names, and how many more there are.
fn few(names: &[&str]) -> String {
    const SHOWN: usize = 2;
    let shown = names.get(..SHOWN).unwrap_or(names).join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        others => format!("{shown} and {others} more"),
    }
}

fn groups(view: &View, report: &Report, text: &mut String) -> fmt::Result {
    let groups = view.groups(report);
    heading(&format!("By {}", view.group_name()), text)?;
    let header = [
        view.group_name(),
        "ready",
        "pinned",
        "blocked",
        "unknown",
        "CPU",
        "ready CPU",
    ];
    let mut table = table(view, &header);
    align_right(&mut table, 1..header.len());
    let shown = if view.all { groups.len() } else { MOST_ROWS };
    for (group, totals) in groups.iter().take(shown) {
        let mut cells = vec![group.clone()];
        cells.extend(
            totals
                .workloads
                .in_order()
                .map(|(_, amount)| amount.to_string()),
        );
        cells.push(cpus(totals.cpu_millicores.all()));
        let percent = totals.cpu_millicores.percent_ready();
        cells.push(percent.map_or("-".to_owned(), |percent| format!("{percent} %")));
        table.add_row(cells);
    }
    writeln!(text, "{}", lines(&table))?;
    if groups.len() > shown {
        writeln!(
            text,
            "{DIMMED}and {} more: --all shows them{DIMMED:#}",
            groups.len() - shown
        )?;
    }
    Ok(())
}

fn more(all: usize, what: &str, text: &mut String) -> fmt::Result {
    match all.saturating_sub(MOST_ROWS) {
        0 => Ok(()),
        others => writeln!(
            text,
            "{DIMMED}and {others} more {what}: --output json has them{DIMMED:#}"
        ),
    }
}

/// A row for each workload.
fn rows(view: &View, rows: &[&Row]) -> Table {
    let header = [
        "namespace",
        "kind",
        "name",
        "status",
        "cause",
        "placement",
        "CPU",
        "memory",
    ];
    let mut table = table(view, &header);
    align_right(&mut table, [6, 7]);
    for row in rows {
        table.add_row([
            row.namespace.clone(),
            row.kind.clone(),
            row.name.clone(),
            row.status.to_string(),
            row.cause.clone().unwrap_or_default(),
            row.placement.clone(),
            cpus(row.cpu_millicores),
            bytes(row.memory_bytes),
        ]);
    }
    table
}

fn notes(title: &str, lines: &[String], text: &mut String) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    heading(title, text)?;
    for line in lines {
        writeln!(text, "{line}")?;
    }
    Ok(())
}

/// The lines of a table, without the space at their ends.
fn lines(table: &Table) -> String {
    let text = table.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

fn table(view: &View, header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(view.width)
        .set_header(header);
    table
}

fn align_right(table: &mut Table, columns: impl IntoIterator<Item = usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
