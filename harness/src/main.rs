//! `node-architecture`: tries the policy on a machine without a cluster.

use std::{fs, io::IsTerminal, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use node_architecture_harness::{
    account,
    capabilities::{Allowed, Answers, NoAnswers},
    engine::{Deadline, Policy},
    request,
    session::Session,
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

    /// The settings of the policy, a YAML or JSON file.
    #[arg(short, long, value_name = "PATH")]
    settings_path: Option<PathBuf>,

    /// The settings of the policy, as JSON.
    #[arg(long, value_name = "VALUE", conflicts_with = "settings_path")]
    settings_json: Option<String>,

    /// Answer the policy's lookups from this recorded session, in the format of kwctl.
    #[arg(long, value_name = "FILE")]
    replay_host_capabilities_interactions: Option<PathBuf>,

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
        let settings = self.settings()?;
        let allowed = Allowed::new(&self.allowed_host_capabilities)?;
        let answers: Box<dyn Answers> = match &self.replay_host_capabilities_interactions {
            Some(path) => Box::new(Session::read(path)?),
            None => Box::new(NoAnswers::default()),
        };
        let request = request::read(&self.request_path)?;
        let policy = Policy::read(&self.policy, Deadline::default())?;
        let evaluation = policy.evaluate(&request, &settings, answers, allowed)?;

        let readable_by_default = std::io::stdout().is_terminal();
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

    fn settings(&self) -> Result<Value> {
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
