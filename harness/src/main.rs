//! `node-architecture`: tries the policy on a machine without a cluster.

use std::{
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use node_architecture_harness::{
    account,
    capabilities::{Allowed, Answers, Lookup},
    engine::{Deadline, Policy},
    live::{Live, Options, Registries, Sources},
    report, request,
    session::{Exchange, Session},
    workload::workloads,
};
use serde_json::Value;

/// Try node-architecture-policy without a cluster.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Evaluate one object and show what becomes of it.
    ///
    /// The flags are those of `kwctl run`. The exit code is 0 once the object was evaluated, allowed or not.
    Run(Run),

    /// Tell for many workloads where they would be placed, and what keeps them from another architecture.
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
    fn registries(&self) -> Result<Registries> {
        let sources = match &self.sources_path {
            Some(path) => Sources::read(path)?,
            None => Sources::default(),
        };
        Registries::new(Options {
            sources,
            docker_config: self.docker_config_json_path.clone(),
            timeout: Duration::from_secs(self.lookup_timeout),
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
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let message = format!("{error:#}").replace('\n', " ");
            anstream::eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

impl Run {
    fn execute(self) -> Result<()> {
        let settings = self.settings.read()?;
        let allowed = Allowed::new(&self.allowed_host_capabilities)?;
        let answers: Box<dyn Answers> = match &self.replay_host_capabilities_interactions {
            Some(path) => Box::new(Session::read(path)?),
            None => Box::new(Live::new(self.registries.registries()?)),
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
            Output::Json => println!("{}", serde_json::to_string(&evaluation.response)?),
            Output::Text => anstream::print!("{}", account::of(&request, &evaluation)?),
        }
        Ok(())
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
    /// Kubernetes manifests, YAML or JSON: files, folders (their .yaml, .yml and .json files), or `-` for standard input.
    /// A List as `kubectl get pods,deploy,sts,ds,cronjobs -A -o json` prints it is opened.
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

    /// How to print the report.
    #[arg(short, long, value_enum, default_value_t = ReportFormat::Table)]
    output: ReportFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// For a terminal.
    Table,
    /// Everything, for programs.
    Json,
    /// A line a workload, for spreadsheets.
    Csv,
    /// For pages and tickets.
    Markdown,
}

impl From<ReportFormat> for report::Format {
    fn from(format: ReportFormat) -> Self {
        match format {
            ReportFormat::Table => Self::Table,
            ReportFormat::Json => Self::Json,
            ReportFormat::Csv => Self::Csv,
            ReportFormat::Markdown => Self::Markdown,
        }
    }
}

impl ReportArguments {
    fn execute(self) -> Result<()> {
        let settings = self.settings.read()?;
        let registries = self.registries.registries()?;
        let workloads = workloads(read_manifests(&self.manifests)?);
        if workloads.is_empty() {
            bail!("there is no workload in what was given");
        }
        let policy = Policy::read(&self.policy, Deadline::default())?;
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} lookups")?;
        let progress = ProgressBar::new(0).with_style(style);
        let at_once = self.lookups_at_once;
        let report = report::report(
            &policy,
            &workloads,
            &settings,
            &self.architecture,
            &mut |lookups, done| {
                progress.inc_length(lookups.len() as u64);
                registries.look_up_all(lookups, at_once, |lookup, answer| {
                    progress.inc(1);
                    done(lookup, answer);
                });
            },
        );
        progress.finish_and_clear();
        report?.print(self.output.into(), &mut io::stdout().lock())
    }
}

/// The documents in `paths`.
fn read_manifests(paths: &[PathBuf]) -> Result<Vec<Value>> {
    let mut documents = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries =
                fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
            let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            files.sort();
            for file in files {
                let extension = file.extension().and_then(|extension| extension.to_str());
                if matches!(extension, Some("yaml" | "yml" | "json")) {
                    documents.extend(request::read_documents(&file)?);
                }
            }
        } else {
            documents.extend(request::read_documents(path)?);
        }
    }
    Ok(documents)
}
