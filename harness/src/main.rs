//! `node-architecture`: tries the policy on a machine without a cluster.

use std::{
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use node_architecture_harness::{
    account,
    capabilities::{Allowed, Answers, Lookup},
    engine::{Deadline, Policy},
    fleet::Fleet,
    live::{Live, Manner, Options, Registries, Sources},
    manifests::Manifests,
    report::{self, Comparison, Format, Gate, Report, Status, View},
    request,
    session::{Exchange, Recording, Session},
};
use serde_json::Value;

/// node-architecture tries node-architecture-policy without a cluster: on one object, or on a whole fleet.
///
/// The exit code is 0, 1 for findings that the flags ask for, and 2 for errors.
#[derive(Parser)]
#[command(name = "node-architecture", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Evaluate one object and show what becomes of it.
    ///
    /// The flags are those of `kwctl run`. The exit code is 0 once the object was evaluated, allowed or not, unless
    /// `--fail-on-reject` is given.
    Run(Run),

    /// Tell which workloads can run on an architecture, and what keeps the others from it.
    ///
    /// Each workload is evaluated by the policy itself. Each distinct image is looked up once, several at a time; one
    /// that can't be read is reported, and the rest goes on.
    Report(ReportArguments),
}

/// How registries are reached.
#[derive(Args)]
struct RegistryArguments {
    /// The folder of the Docker `config.json` that has the credentials; Docker's own by default.
    #[arg(long, value_name = "PATH")]
    docker_config_json_path: Option<PathBuf>,

    /// Insecure registries and authorities of certificates, in the format of kwctl's sources file.
    #[arg(long, value_name = "PATH")]
    sources_path: Option<PathBuf>,

    /// How many seconds a lookup may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    lookup_timeout: u64,
}

impl RegistryArguments {
    fn registries(&self, manner: Manner) -> Result<Registries> {
        let sources = match &self.sources_path {
            Some(path) => Sources::read(path)?,
            None => Sources::default(),
        };
        Registries::new(Options {
            sources,
            docker_config: self.docker_config_json_path.clone(),
            timeout: Duration::from_secs(self.lookup_timeout),
            manner,
        })
    }
}

/// The settings of the policy.
#[derive(Args)]
struct SettingsArguments {
    /// The settings of the policy, a YAML or JSON file.
    #[arg(short, long, value_name = "PATH")]
    settings_path: Option<PathBuf>,

    /// The settings of the policy, as JSON.
    #[arg(long, value_name = "VALUE", conflicts_with = "settings_path")]
    settings_json: Option<String>,
}

#[derive(Args)]
struct Run {
    /// The policy, a wasm file.
    #[arg(default_value = "policy.wasm")]
    policy: PathBuf,

    /// What to evaluate: an AdmissionReview, an AdmissionRequest, or a Kubernetes manifest in YAML or JSON, which is
    /// evaluated as if it were about to be created. `-` reads standard input.
    #[arg(short, long, value_name = "PATH")]
    request_path: PathBuf,

    #[command(flatten)]
    settings: SettingsArguments,

    #[command(flatten)]
    registries: RegistryArguments,

    /// Answer the policy's lookups from this recorded session, in the format of kwctl, and not from registries.
    #[arg(long, value_name = "FILE")]
    replay_host_capabilities_interactions: Option<PathBuf>,

    /// Write the policy's lookups and their answers to this file, to replay them.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "replay_host_capabilities_interactions"
    )]
    record_host_capabilities_interactions: Option<PathBuf>,

    /// How many seconds the evaluation may take, lookups included: `timeoutEvalSeconds` of the policy.
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    timeout_eval_seconds: u64,

    /// Host capabilities the policy may use, such as `*`, `oci/*` or `oci/v1/oci_manifest`; none if the list is empty.
    #[arg(long, value_name = "PATTERN", num_args = 0.., default_values = ["*"])]
    allowed_host_capabilities: Vec<String>,

    /// How to print the result: as kwctl does, or readable. Readable is the default on a terminal.
    #[arg(short, long, value_enum)]
    output: Option<Output>,

    /// Exit with 1 where the object is rejected.
    #[arg(long)]
    fail_on_reject: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// The AdmissionResponse, on one line.
    Json,
    /// The images and their platforms, the decision and why, what changed.
    Text,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(run) => run.execute(),
        Command::Report(report) => report.execute(),
    };
    match result {
        Ok(code) => code,
        // Whoever reads the output has read enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let message = format!("{error:#}").replace('\n', " ");
            anstream::eprintln!("error: {message}");
            FAULT.into()
        }
    }
}

/// The exit code for findings.
const FINDINGS: u8 = 1;
/// The exit code for errors.
const FAULT: u8 = 2;

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Prints `text` to standard output, without styles where it is no terminal.
fn print(text: &str) -> Result<()> {
    use io::Write as _;
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).context("cannot write")?;
    out.flush().context("cannot write")
}

impl Run {
    fn execute(self) -> Result<ExitCode> {
        let settings = self.settings.read()?;
        let allowed = Allowed::new(&self.allowed_host_capabilities)?;
        let answers: Box<dyn Answers> = match &self.replay_host_capabilities_interactions {
            Some(path) => Box::new(Session::read(path)?),
            None => Box::new(Live::new(
                self.registries.registries(Manner::AsPolicyServer)?,
            )),
        };
        let request = request::read(&self.request_path)?;
        let deadline = Deadline {
            ticks: self.timeout_eval_seconds,
            ..Deadline::default()
        };
        let policy = Policy::read(&self.policy, deadline)?;
        let evaluation = policy.evaluate(&request, &settings, answers, allowed)?;
        if let Some(path) = &self.record_host_capabilities_interactions {
            record(path, &evaluation.lookups)?;
        }

        let readable_by_default = io::stdout().is_terminal();
        let output = self.output.unwrap_or(if readable_by_default {
            Output::Text
        } else {
            Output::Json
        });
        match output {
            Output::Json => print(&format!(
                "{}\n",
                serde_json::to_string(&evaluation.response)?
            ))?,
            Output::Text => print(&account::of(&request, &evaluation)?)?,
        }
        Ok(if self.fail_on_reject && !evaluation.response.allowed {
            FINDINGS.into()
        } else {
            ExitCode::SUCCESS
        })
    }
}

fn record(path: &Path, lookups: &[(Lookup, Result<String, String>)]) -> Result<()> {
    let exchanges: Vec<Exchange> = lookups
        .iter()
        .map(|(lookup, answer)| Exchange::new(lookup, answer))
        .collect::<Result<_>>()?;
    fs::write(path, yaml_serde::to_string(&exchanges)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

impl SettingsArguments {
    fn read(&self) -> Result<Value> {
        let (text, name) = match (&self.settings_path, &self.settings_json) {
            (Some(path), _) => {
                let name = format!("the settings {}", path.display());
                let text =
                    fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
                (text, name)
            }
            (None, Some(text)) => (text.clone(), "--settings-json".to_owned()),
            (None, None) => return Ok(Value::Null),
        };
        yaml_serde::from_str(&text).with_context(|| format!("{name}: not YAML or JSON"))
    }
}

#[derive(Args)]
struct ReportArguments {
    /// Kubernetes manifests, YAML or JSON: files, folders with those below, or `-` for standard input.
    /// A List as `kubectl get deploy,sts,ds,cronjobs,jobs,rs,pods,nodes -A -o json` prints it is opened.
    #[arg(default_value = "-", value_name = "PATH")]
    manifests: Vec<PathBuf>,

    /// The policy, a wasm file.
    #[arg(long, value_name = "PATH", default_value = "policy.wasm")]
    policy: PathBuf,

    /// The architecture that workloads are to be ready for.
    #[arg(short, long, value_name = "NAME", default_value = "arm64")]
    architecture: String,

    #[command(flatten)]
    settings: SettingsArguments,

    #[command(flatten)]
    registries: RegistryArguments,

    /// How many lookups are made at a time.
    #[arg(long, value_name = "NUMBER", default_value_t = 8)]
    lookups_at_once: usize,

    /// Write all lookups and their answers to this file, in the format of kwctl's sessions.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Answer lookups from this recording, and not from registries.
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    replay: Option<PathBuf>,

    /// How to print the report.
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    output: Format,

    /// Show every workload too, the furthest from the architecture first.
    #[arg(long)]
    all: bool,

    /// Show the workloads of these statuses, and nothing else.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "STATUS")]
    only: Vec<Status>,

    /// Report on this namespace alone.
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Group by this label of workloads, and not by namespace.
    #[arg(long, value_name = "LABEL")]
    group_by: Option<String>,

    /// Tell what changed since this report, which `--output json` printed.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,

    /// Exit with 1 where a workload has one of these statuses.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "STATUS")]
    fail_on: Vec<Status>,

    /// Exit with 1 where less than this percentage of the workloads is ready.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    fail_under: Option<u8>,
}

/// How many columns there are where nothing tells.
const USUAL_WIDTH: u16 = 100;

/// How many columns there are: those of the terminal, else what `COLUMNS` says.
fn width() -> u16 {
    let of_terminal = terminal_size::terminal_size().map(|(width, _)| width.0);
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    of_terminal.or_else(told).unwrap_or(USUAL_WIDTH)
}

impl ReportArguments {
    fn execute(self) -> Result<ExitCode> {
        let settings = self.settings.read()?;
        let mut old = self.compare.as_deref().map(read_report).transpose()?;
        let manifests = Manifests::read(&self.manifests);
        let fleet = Fleet::of(manifests.documents, &settings);
        let policy = Policy::read(&self.policy, Deadline::default())?;
        let mut lookups = Vec::new();
        let mut report = self.look_up(&policy, &fleet, &settings, &mut lookups)?;
        report.unreadable = manifests.unreadable;
        if let Some(path) = &self.record {
            record(path, &lookups)?;
        }
        if let Some(namespace) = &self.namespace {
            report.narrow_to(namespace);
            if let Some(old) = &mut old {
                old.narrow_to(namespace);
            }
        }
        if let Some(old) = old {
            report.comparison = Some(Comparison::of(&old, &report)?);
        }
        let view = View {
            all: self.all,
            only: self.only.clone(),
            group_by: self.group_by.clone(),
            width: width(),
        };
        let mut text = Vec::new();
        view.print(&report, self.output, &mut text)?;
        print(&String::from_utf8_lossy(&text))?;

        let is_unanswered =
            !lookups.is_empty() && lookups.iter().all(|(_, answer)| answer.is_err());
        if is_unanswered {
            anstream::eprintln!("error: no lookup was answered");
        }
        for line in &report.unreadable {
            anstream::eprintln!("error: {line}");
        }
        let gate = Gate {
            fail_on: self.fail_on.clone(),
            fail_under: self.fail_under,
        };
        let found = gate.judge(&report)?;
        for finding in &found {
            anstream::eprintln!("{finding}");
        }
        Ok(if is_unanswered || !report.unreadable.is_empty() {
            FAULT.into()
        } else if found.is_empty() {
            ExitCode::SUCCESS
        } else {
            FINDINGS.into()
        })
    }

    /// The report on `fleet`; the lookups that it took are added to `lookups`.
    fn look_up(
        &self,
        policy: &Policy,
        fleet: &Fleet,
        settings: &Value,
        lookups: &mut Vec<(Lookup, Result<String, String>)>,
    ) -> Result<Report> {
        if let Some(path) = &self.replay {
            let recording = Recording::read(path)?;
            return report::report(
                policy,
                fleet,
                settings,
                &self.architecture,
                &mut |asked, done| {
                    for lookup in asked {
                        let answer = recording.answer(&lookup);
                        lookups.push((lookup.clone(), answer.clone()));
                        done(lookup, answer);
                    }
                },
            );
        }
        let registries = self.registries.registries(Manner::Patient)?;
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} lookups")?;
        let progress = ProgressBar::new(0).with_style(style);
        let at_once = self.lookups_at_once;
        let report = report::report(
            policy,
            fleet,
            settings,
            &self.architecture,
            &mut |asked, done| {
                progress.inc_length(asked.len() as u64);
                registries.look_up_all(asked, at_once, |lookup, answer| {
                    progress.inc(1);
                    lookups.push((lookup.clone(), answer.clone()));
                    done(lookup, answer);
                });
            },
        );
        progress.finish_and_clear();
        report
    }
}

fn read_report(path: &Path) -> Result<Report> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no report", path.display()))
}
