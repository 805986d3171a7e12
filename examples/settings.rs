//! Writes what is published about the settings, made from their table: `docs/settings.schema.json`, `docs/settings.md` and
//! `questions-ui.yml` below the folder it is called in.

use std::fs;

use node_architecture_policy::settings::describe::{questions, settings_page, settings_schema};

/// What the form can't say itself.
const FORM: &str = "\
# The form for the settings, for catalogs of policies: Rancher's user interface shows it for policies that a catalog's chart
# brings; for others it takes settings as YAML. What a form can't hold is written as YAML too: `preferredArchitecture: null`,
# `platforms: any`, and architectures other than those listed.
# Made from src/settings/table.rs by `make settings`.
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = serde_json::to_string_pretty(&settings_schema())?;
    fs::write("docs/settings.schema.json", schema + "\n")?;
    fs::write("docs/settings.md", settings_page())?;
    let form = yaml_serde::to_string(&questions())?;
    fs::write("questions-ui.yml", FORM.to_owned() + &form)?;
    Ok(())
}
