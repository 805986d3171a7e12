//! A report on many workloads: where the policy would place each, and what keeps it from another architecture.
//!
//! Nothing here knows how images are read or placed: the wasm that ships is asked, once as the settings are, and once with
//! the wanted architecture required. What it wants to know of the registry it says itself, so the lookups are gathered
//! first, each once, and made several at a time.

use std::{
    collections::HashMap,
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result};
use comfy_table::{ContentArrangement, Table, TableStyle, presets};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    capabilities::{Allowed, Answers, Lookup},
    engine::Policy,
    outcome::Outcome,
    request::creation_of,
    workload::Workload,
};

/// The answer to a lookup, or the text of an error.
type Answer = Result<String, String>;
/// What makes lookups: it gets them and hands each answer on as it comes.
pub type LookUpAll<'l> = dyn FnMut(Vec<Lookup>, &mut dyn FnMut(Lookup, Answer)) + 'l;

/// A report.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The architecture that workloads are to be ready for.
    pub architecture: String,
    /// A row a workload.
    pub workloads: Vec<Row>,
    /// Images that couldn't be read.
    pub failures: Vec<Failure>,
    /// All of them together.
    pub summary: Summary,
}

/// What is known of a workload.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Its namespace.
    pub namespace: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its images.
    pub images: Vec<String>,
    /// The architectures it can run on; `None` where no image could be read or none has a say.
    pub architectures: Option<Vec<String>>,
    /// What the policy would do: `nodeSelector=amd64`, `unchanged: …`, `rejected: …`.
    pub placement: String,
    /// Whether it can run on the wanted architecture; `None` where images couldn't be read.
    pub ready: Option<bool>,
    /// What keeps it from the wanted architecture.
    pub blocked_by: Option<String>,
    /// Thousandths of a CPU that all its replicas request.
    pub cpu_millicores: u64,
    /// Bytes of memory that all its replicas request.
    pub memory_bytes: u64,
}

/// An image that couldn't be read.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The image.
    pub image: String,
    /// Why.
    pub cause: String,
}

/// All workloads together.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// How many there are.
    pub workloads: u64,
    /// How many of them are ready for the wanted architecture.
    pub ready_workloads: u64,
    /// How many of them aren't known, for their images couldn't be read.
    pub unknown_workloads: u64,
    /// Thousandths of a CPU that they request.
    pub cpu_millicores: u64,
    /// Thousandths of a CPU that the ready ones request.
    pub ready_cpu_millicores: u64,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    Table,
    /// Everything, for programs.
    Json,
    /// The rows, for spreadsheets.
    Csv,
    /// For pages and tickets.
    Markdown,
}

/// The answers so far, and the lookups that wait for one.
#[derive(Clone, Default)]
struct Known(Arc<Mutex<Answered>>);

#[derive(Default)]
struct Answered {
    answers: HashMap<Lookup, Answer>,
    missing: Vec<Lookup>,
}

impl Answers for Known {
    fn answer(&mut self, lookup: &Lookup) -> Answer {
        let mut answered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answered.answers.get(lookup) {
            return answer.clone();
        }
        if !answered.missing.contains(lookup) {
            answered.missing.push(lookup.clone());
        }
        Err("not asked yet".to_owned())
    }
}

/// Reports on `workloads`, with the policy's `settings`, for `architecture`.
///
/// # Errors
/// Where the settings are invalid. An image that can't be read is a row of the report.
pub fn report(
    policy: &Policy,
    workloads: &[Workload],
    settings: &Value,
    architecture: &str,
    look_up_all: &mut LookUpAll<'_>,
) -> Result<Report> {
    let as_is = with(settings, &[("lookupBudgetMilliseconds", json!(0))]);
    let required = with(
        settings,
        &[
            ("lookupBudgetMilliseconds", json!(0)),
            ("schedulableArchitectures", json!([])),
            (
                "strict",
                json!({"namespaces": ["*"], "requiredArchitectures": [architecture]}),
            ),
        ],
    );
    policy.check_settings(&as_is)?;
    policy
        .check_settings(&required)
        .with_context(|| format!("cannot require the architecture {architecture:?}"))?;
    let architecture = &canonical(policy, architecture)?;

    let known = Known::default();
    let rows = loop {
        let mut rows = Vec::new();
        for workload in workloads {
            let request = creation_of(workload.object.clone())?;
            let evaluate = |settings: &Value| {
                policy.evaluate(&request, settings, Box::new(known.clone()), Allowed::all())
            };
            rows.push(Row::new(
                workload,
                architecture,
                &evaluate(&as_is)?.response,
                &evaluate(&required)?.response,
            ));
        }
        let missing = {
            let mut answered = known.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut answered.missing)
        };
        if missing.is_empty() {
            break rows;
        }
        look_up_all(missing, &mut |lookup, answer| {
            let mut answered = known.0.lock().unwrap_or_else(PoisonError::into_inner);
            answered.answers.insert(lookup, answer);
        });
    };
    Ok(Report {
        architecture: architecture.to_owned(),
        summary: Summary::of(&rows),
        workloads: rows,
        failures: known.failures(),
    })
}

/// The name that the policy has for `architecture`, which may be written in any notation.
fn canonical(policy: &Policy, architecture: &str) -> Result<String> {
    let image = json!({"image": "*", "platforms": [format!("linux/{architecture}")]});
    let pod =
        json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"image": "any"}]}});
    let evaluation = policy.evaluate(
        &creation_of(pod)?,
        &json!({"platformOverrides": [image]}),
        Box::new(Known::default()),
        Allowed::all(),
    )?;
    let name = evaluation.response.annotation("architectures");
    Ok(name.unwrap_or(architecture).to_owned())
}

/// `settings` with members replaced.
fn with(settings: &Value, members: &[(&str, Value)]) -> Value {
    let mut settings = match settings {
        Value::Object(settings) => settings.clone(),
        _ => serde_json::Map::new(),
    };
    for (key, value) in members {
        settings.insert((*key).to_owned(), value.clone());
    }
    Value::Object(settings)
}

impl Known {
    fn failures(&self) -> Vec<Failure> {
        let answered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut failures: Vec<Failure> = answered
            .answers
            .iter()
            .filter_map(|(lookup, answer)| {
                let cause = answer.as_ref().err()?;
                Some(Failure {
                    image: lookup.image().to_owned(),
                    cause: cause.lines().next().unwrap_or_default().to_owned(),
                })
            })
            .collect();
        failures.sort_by(|one, other| one.image.cmp(&other.image));
        failures
    }
}

impl Row {
    fn new(
        workload: &Workload,
        architecture: &str,
        as_is: &crate::admission::AdmissionResponse,
        required: &crate::admission::AdmissionResponse,
    ) -> Self {
        let requests = workload.requests();
        let placement = match as_is.annotation("placement") {
            Some(placement) => placement.to_owned(),
            None => format!("rejected: {}", as_is.message()),
        };
        let supported = architectures(required);
        let (ready, blocked_by) = match Outcome::of(required) {
            Outcome::Unreadable(message) => (None, Some(message)),
            Outcome::Rejected(message) => (Some(false), Some(message)),
            _ if supported
                .as_ref()
                .is_some_and(|supported| !supported.iter().any(|name| name == architecture)) =>
            {
                let reason = "its own node selector or affinity".to_owned();
                (Some(false), Some(reason))
            }
            _ => (Some(true), None),
        };
        Self {
            namespace: workload.namespace(),
            kind: workload.kind(),
            name: workload.name(),
            images: workload.images(),
            architectures: architectures(as_is),
            placement,
            ready,
            blocked_by,
            cpu_millicores: requests.cpu_millicores,
            memory_bytes: requests.memory_bytes,
        }
    }

    /// The cells of the row, as text.
    fn cells(&self) -> Vec<String> {
        let ready = match (self.ready, &self.blocked_by) {
            (Some(true), _) => "ready".to_owned(),
            (None, reason) => format!("unknown: {}", reason.as_deref().unwrap_or_default()),
            (Some(false), reason) => reason.clone().unwrap_or_default(),
        };
        vec![
            self.namespace.clone(),
            self.kind.clone(),
            self.name.clone(),
            self.images.join("\n"),
            match &self.architectures {
                Some(architectures) if architectures.is_empty() => "none".to_owned(),
                Some(architectures) => architectures.join(", "),
                None => "unknown".to_owned(),
            },
            self.placement.clone(),
            ready,
            cores(self.cpu_millicores),
            mebibytes(self.memory_bytes),
        ]
    }
}

fn architectures(response: &crate::admission::AdmissionResponse) -> Option<Vec<String>> {
    response.annotation("architectures").map(|names| {
        names
            .split(',')
            .filter(|name| *name != "none")
            .map(str::to_owned)
            .collect()
    })
}

fn cores(millicores: u64) -> String {
    format!("{}.{:03}", millicores / 1000, millicores % 1000)
}

fn mebibytes(bytes: u64) -> String {
    format!("{}Mi", bytes / (1024 * 1024))
}

impl Summary {
    fn of(rows: &[Row]) -> Self {
        let mut summary = Self::default();
        for row in rows {
            summary.workloads += 1;
            summary.cpu_millicores += row.cpu_millicores;
            match row.ready {
                Some(true) => {
                    summary.ready_workloads += 1;
                    summary.ready_cpu_millicores += row.cpu_millicores;
                }
                Some(false) => {}
                None => summary.unknown_workloads += 1,
            }
        }
        summary
    }
}

fn percent(part: u64, whole: u64) -> u64 {
    (part * 100).checked_div(whole).unwrap_or(0)
}

impl Report {
    /// Prints the report.
    ///
    /// # Errors
    /// Where `out` takes no more.
    pub fn print(&self, format: Format, out: &mut dyn Write) -> Result<()> {
        match format {
            Format::Json => {
                serde_json::to_writer_pretty(&mut *out, self)?;
                writeln!(out)?;
            }
            Format::Csv => self.print_csv(out)?,
            Format::Table => {
                writeln!(out, "{}", self.table(presets::NOTHING, "\n"))?;
                self.print_end(out)?;
            }
            Format::Markdown => {
                writeln!(out, "{}", self.table(presets::ASCII_MARKDOWN, "<br>"))?;
                self.print_end(out)?;
            }
        }
        Ok(())
    }

    fn header(&self) -> Vec<String> {
        let wanted = self.architecture.as_str();
        [
            "namespace",
            "kind",
            "name",
            "images",
            "architectures",
            "placement",
            wanted,
            "cpu",
            "memory",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn table(&self, style: TableStyle, line_break: &str) -> Table {
        let mut table = Table::new();
        table
            .load_style(style)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(self.header());
        for row in &self.workloads {
            let cells = row.cells().into_iter();
            table.add_row(cells.map(|cell| cell.replace('\n', line_break).replace('|', "\\|")));
        }
        table
    }

    fn print_csv(&self, out: &mut dyn Write) -> Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.header())?;
        for row in &self.workloads {
            let mut cells = row.cells();
            for cell in &mut cells {
                *cell = cell.replace('\n', " ");
            }
            writer.write_record(cells)?;
        }
        writer.flush()?;
        Ok(())
    }

    fn print_end(&self, out: &mut dyn Write) -> Result<()> {
        if !self.failures.is_empty() {
            writeln!(out, "\nImages that could not be read:\n")?;
            for failure in &self.failures {
                writeln!(out, "- {}: {}", failure.image, failure.cause)?;
            }
        }
        let summary = &self.summary;
        writeln!(
            out,
            "\n{} of {} workloads ({} %) are ready for {}, with {} of {} requested CPUs ({} %); {} unknown.",
            summary.ready_workloads,
            summary.workloads,
            percent(summary.ready_workloads, summary.workloads),
            self.architecture,
            cores(summary.ready_cpu_millicores),
            cores(summary.cpu_millicores),
            percent(summary.ready_cpu_millicores, summary.cpu_millicores),
            summary.unknown_workloads,
        )?;
        Ok(())
    }
}
