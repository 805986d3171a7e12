//! Replays each folder of `tests/fixtures` through the wasm that ships: the whole response has to be the expected one,
//! the patch decoded, and the number of lookups and log events too.
//!
//! `BLESS=1` writes the expected files anew; read their diff before you commit it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, Result, ensure};
use libtest_mimic::{Arguments, Failed, Trial};
use node_architecture_harness::{
    capabilities::Allowed,
    engine::{Deadline, Policy},
    request,
    session::Session,
};
use serde_json::{Value, json};

mod common;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let policy = match common::policy(Deadline::default()) {
        Ok(policy) => Arc::new(policy),
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    let mut folders: Vec<PathBuf> = match fs::read_dir(common::workspace().join("tests/fixtures")) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => {
            eprintln!("error: cannot read the fixtures: {error}");
            return ExitCode::FAILURE;
        }
    };
    folders.sort();
    let trials = folders
        .into_iter()
        .map(|folder| {
            let name = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let policy = Arc::clone(&policy);
            Trial::test(name, move || {
                replay(&policy, &folder).map_err(|error| Failed::from(format!("{error:#}")))
            })
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn replay(policy: &Policy, folder: &Path) -> Result<()> {
    let request = request::read(&folder.join("request.json"))?;
    let settings = fs::read_to_string(folder.join("settings.yml")).context("settings.yml")?;
    let settings: Value = yaml_serde::from_str(&settings).context("settings.yml")?;
    let session = Session::read(&folder.join("session.yml"))?;
    let evaluation = policy.evaluate(&request, &settings, Box::new(session), Allowed::all())?;

    let mut response = serde_json::to_value(&evaluation.response)?;
    if let Some(patch) = evaluation.response.decoded_patch()? {
        response["patch"] = serde_json::to_value(patch)?;
    }
    let found = json!({
        "response": response,
        "lookups": evaluation.lookups.len(),
        "events": evaluation.events.len(),
    });

    let path = folder.join("expected.json");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, serde_json::to_string_pretty(&found)? + "\n")?;
        return Ok(());
    }
    let expected = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let expected: Value = serde_json::from_str(&expected).context("expected.json")?;
    ensure!(
        found == expected,
        "expected {}\n     got {}",
        serde_json::to_string_pretty(&expected)?,
        serde_json::to_string_pretty(&found)?
    );
    Ok(())
}
