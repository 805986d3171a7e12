//! Prints the JSON Schema of the settings.

use node_architecture_policy::schema::settings_schema;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", serde_json::to_string_pretty(&settings_schema())?);
    Ok(())
}
