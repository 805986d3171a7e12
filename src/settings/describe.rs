//! What is published about the settings, made from their table: the JSON Schema, the table in docs/settings.md and the
//! form for catalogs of policies. Never part of the wasm.

use serde_json::{Map, Value, json};

use super::{
    rules,
    table::Settings,
    value_type::{Member, extend, label},
};

/// The schema of the settings, JSON Schema 2020-12.
///
/// What JSON Schema can't say is left to `validate_settings`: that an architecture is among the schedulable ones, that
/// a glob is well-formed, that two spellings of one architecture aren't both used as keys.
pub fn settings_schema() -> Value {
    let mut properties = Map::new();
    for member in Settings::members() {
        properties.insert(member.key.to_owned(), member.schema());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings",
        "description": "The settings, as a policy's user writes them: camelCase keys, each of them optional.",
        "type": ["object", "null"],
        "properties": properties,
        // Unknown keys are errors, but `null` is what the Rancher UI sends for what a form leaves empty.
        "additionalProperties": {"type": "null"},
        "allOf": rules::schema()
    })
}

/// The settings as a Markdown page.
pub fn settings_page() -> String {
    let mut page = "# Settings\n\n\
        <!-- Made from src/settings/table.rs by `make settings`. -->\n\n\
        All settings are optional. The policy refuses anything invalid when it is loaded, and reports every error at once.\n\
        [settings.schema.json](settings.schema.json) is the JSON Schema, for editors. Architectures may be written in any\n\
        usual notation: `x86_64` means `amd64`. `null` means the default, but for `preferredArchitecture`.\n\n\
        | Setting | Default | Meaning | Example |\n|---|---|---|---|\n"
        .to_owned();
    for member in Settings::members() {
        let default = match &member.default {
            Some(Value::Null) | None => "none".to_owned(),
            Some(default) => format!("`{default}`"),
        };
        let example = member.example.replace('|', "\\|");
        page += &format!(
            "| `{}` | {default} | {} | `{example}` |\n",
            member.key,
            member.documentation.trim().replace('|', "\\|")
        );
    }
    page
}

/// The form for catalogs of policies: Rancher's `questions.yaml`, as JSON.
pub fn questions() -> Value {
    let questions: Vec<Value> = Settings::members().iter().map(question).collect();
    json!({ "questions": questions })
}

fn question(member: &Member) -> Value {
    let documentation = member.documentation.trim();
    let first_sentence = match documentation.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => documentation.to_owned(),
    };
    let mut question = json!({
        "variable": member.key,
        "group": member.group,
        "label": label(member.key),
        "description": documentation,
        "tooltip": first_sentence,
        "required": false,
    });
    extend(&mut question, &member.value_type.question);
    let asked_if = rules::ASKED_IF.iter().find(|(key, _)| *key == member.key);
    if let Some((_, condition)) = asked_if {
        extend(
            &mut question,
            &json!({"required": true, "show_if": condition}),
        );
    }
    let is_group = member.value_type.is_group();
    let default = match &member.default {
        // A form has an empty group where the setting is off.
        Some(Value::Null) if is_group => json!({}),
        Some(default) => default.clone(),
        None => Value::Null,
    };
    if !default.is_null() {
        extend(&mut question, &json!({ "default": default }));
    }
    if let Some(question) = question.as_object_mut() {
        if is_group {
            question.remove("sequence_questions");
        }
        let subquestions = question.get_mut("subquestions");
        for sub in subquestions
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let variable = format!(
                "{}.{}",
                member.key,
                sub.get("variable")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            );
            let empty = match sub.get("type").and_then(Value::as_str) {
                Some("array[" | "sequence[") => json!({"default": []}),
                _ => json!({}),
            };
            extend(sub, &empty);
            extend(sub, &json!({"variable": variable, "required": false}));
        }
    }
    question
}
