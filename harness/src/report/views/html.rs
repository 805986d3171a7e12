//! A report as a page: one file that asks for nothing else.

use anyhow::Result;
use minijinja::{AutoEscape, Environment, Value, value::Serde};
use serde::Serialize;

use super::{View, bytes, cpus};
use crate::report::{
    compare::Comparison,
    model::{Counts, Image, Report, Row, Status, Totals},
};

const TEMPLATE: &str = include_str!("report.html");

/// What the page is made of.
#[derive(Serialize)]
struct Page<'r> {
    report: &'r Report,
    percent: String,
    bars: [Bar; 3],
    groups: Vec<Group>,
    group_name: &'r str,
    daemon_sets: Vec<&'r Row>,
    blocking: Vec<&'r Image>,
    rows: Vec<&'r Row>,
    lists: Option<[(&'static str, &'r [String]); 4]>,
}

/// A bar of the page.
#[derive(Serialize)]
struct Bar {
    name: &'static str,
    percent: String,
    parts: Vec<Part>,
}

/// A part of a bar.
#[derive(Serialize)]
struct Part {
    status: Status,
    amount: String,
    /// Where it begins and how wide it is, in thousandths of the bar.
    start: u128,
    width: u128,
}

/// A group of workloads.
#[derive(Serialize)]
struct Group {
    name: String,
    totals: Totals,
    percent: String,
    cpus: String,
}

pub(super) fn of(view: &View, report: &Report) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("cpus", |amount: u128| cpus(amount));
    environment.add_filter("bytes", |amount: u128| bytes(amount));
    environment.add_template("report", TEMPLATE)?;
    let totals = report.totals;
    let groups: Vec<Group> = view
        .groups(report)
        .into_iter()
        .map(|(name, totals)| Group {
            name,
            percent: percent(totals.workloads),
            cpus: cpus(totals.cpu_millicores.all()),
            totals,
        })
        .collect();
    let page = environment
        .get_template("report")?
        .render(Value::from(Serde(Page {
            report,
            percent: percent(totals.workloads),
            bars: [
                bar("Workloads", totals.workloads, |amount| amount.to_string()),
                bar("CPU", totals.cpu_millicores, cpus),
                bar("Memory", totals.memory_bytes, bytes),
            ],
            groups,
            group_name: view.group_name(),
            daemon_sets: view.daemon_sets(report),
            blocking: view.blocking_images(report),
            rows: view.rows(report),
            lists: report.comparison.as_ref().map(Comparison::lists),
        })))?;
    Ok(page)
}

fn percent(counts: Counts) -> String {
    counts
        .percent_ready()
        .map_or("–".to_owned(), |percent| format!("{percent} %"))
}

fn bar(name: &'static str, counts: Counts, show: impl Fn(u128) -> String) -> Bar {
    let whole = (counts.known() + counts.unknown).max(1);
    let mut so_far = 0;
    let parts = counts.in_order().into_iter().map(|(status, amount)| {
        let start = so_far * 1000 / whole;
        so_far += amount;
        Part {
            status,
            amount: show(amount),
            start,
            width: so_far * 1000 / whole - start,
        }
    });
    Bar {
        name,
        percent: percent(counts),
        parts: parts.collect(),
    }
}
