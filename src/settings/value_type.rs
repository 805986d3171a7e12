//! The types of settings as schema, form and documentation have them. Never part of the wasm.

use serde_json::{Map, Value, json};

/// A member of the settings, or of an object within them.
pub(crate) struct Member {
    /// Its key.
    pub key: &'static str,
    /// What it means.
    pub documentation: &'static str,
    /// The group of the form that it is in; empty within objects.
    pub group: &'static str,
    /// A value that it can have, as JSON; empty within objects.
    pub example: &'static str,
    /// The type of its value.
    pub value_type: ValueType,
    /// Its default; `None` where it has to be there.
    pub default: Option<Value>,
}

/// The type of a setting.
#[derive(Clone)]
pub(crate) struct ValueType {
    /// Its JSON Schema.
    pub schema: Value,
    /// How a form asks for it: the members of a question that depend on the type.
    pub question: Value,
}

impl ValueType {
    /// A type of JSON that a form asks for as `asked`.
    pub(super) fn scalar(json_type: &str, asked: &str) -> Self {
        Self {
            schema: json!({"type": json_type}),
            question: json!({"type": asked}),
        }
    }

    /// A string that matches `pattern`.
    pub(super) fn text(pattern: &str) -> Self {
        Self::scalar("string", "string").with("pattern", pattern)
    }

    /// One of a few words.
    pub(super) fn words(words: &[&str]) -> Self {
        Self {
            schema: json!({"enum": words}),
            question: json!({"type": "enum", "options": words}),
        }
    }

    /// A list; a form asks for the members of its elements, if they are objects.
    pub(super) fn list(element: Self) -> Self {
        let question = match element.question.get("sequence_questions") {
            Some(questions) => json!({"type": "sequence[", "sequence_questions": questions}),
            None => json!({"type": "array[", "value_multiline": false}),
        };
        Self {
            schema: json!({"type": "array", "items": element.schema}),
            question,
        }
    }

    /// An object with architectures, which match `pattern`, as keys; a form asks for those that clusters mostly have.
    pub(super) fn by_architecture(pattern: &str, value: Self) -> Self {
        let questions: Vec<Value> = ["amd64", "arm64"]
            .iter()
            .map(|architecture| {
                let text = format!("For {architecture} nodes.");
                let mut question = json!({
                    "variable": architecture,
                    "label": architecture,
                    "description": text,
                    "tooltip": text,
                });
                extend(&mut question, &value.question);
                question
            })
            .collect();
        Self {
            schema: json!({
                "type": "object",
                "patternProperties": {pattern: value.schema},
                "additionalProperties": false
            }),
            question: json!({"type": "map[", "hide_input": true, "subquestions": questions}),
        }
    }

    /// An object with these members.
    pub(super) fn object(members: Vec<Member>) -> Self {
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut questions = Vec::new();
        for member in &members {
            properties.insert(member.key.to_owned(), member.schema());
            let mut question = json!({
                "variable": member.key,
                "label": label(member.key),
                "description": member.documentation.trim(),
                "tooltip": member.documentation.trim(),
            });
            extend(&mut question, &member.value_type.question);
            if member.default.is_none() {
                required.push(member.key);
                extend(&mut question, &json!({"required": true}));
            }
            questions.push(question);
        }
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false
        });
        if !required.is_empty() {
            extend(&mut schema, &json!({ "required": required }));
        }
        Self {
            schema,
            question: json!({
                "type": "map[",
                "hide_input": true,
                "subquestions": questions,
                "sequence_questions": questions
            }),
        }
    }

    /// Whether a form shows it as a group of questions.
    pub(super) fn is_group(&self) -> bool {
        self.question.get("hide_input").is_some()
    }

    /// The type, or `null`.
    pub(super) fn or_null(mut self) -> Self {
        if let Some(schema) = self.schema.as_object_mut() {
            allow_null(schema);
        }
        self
    }

    /// The type with a further keyword in its schema.
    pub(super) fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        if let Some(schema) = self.schema.as_object_mut() {
            schema.insert(keyword.to_owned(), value.into());
        }
        self
    }
}

impl Member {
    /// The schema of the member: that of its type, with its documentation, and `null` for its default.
    pub(super) fn schema(&self) -> Value {
        let mut schema = self.value_type.schema.clone();
        let is_optional = self.default.is_some();
        if let Some(members) = schema.as_object_mut() {
            members.insert("description".to_owned(), self.documentation.trim().into());
            if let Some(default) = self.default.as_ref().filter(|default| !default.is_null()) {
                members.insert("default".to_owned(), default.clone());
            }
            if is_optional {
                allow_null(members);
            }
        }
        schema
    }
}

/// Lets `null` pass.
fn allow_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.push(json!({"type": "null"}));
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    if let Some(json_type) = schema.get_mut("type").filter(|it| it.is_string()) {
        *json_type = json!([json_type, "null"]);
    }
}

/// The words of a key, as a form shows them: `lookupBudgetMilliseconds` as `Lookup budget milliseconds`.
pub(super) fn label(key: &str) -> String {
    let mut label = String::new();
    for letter in key.chars() {
        if label.is_empty() {
            label.extend(letter.to_uppercase());
        } else if letter.is_uppercase() {
            label.push(' ');
            label.extend(letter.to_lowercase());
        } else {
            label.push(letter);
        }
    }
    label
}

pub(super) fn extend(value: &mut Value, members: &Value) {
    if let (Value::Object(value), Value::Object(members)) = (value, members) {
        for (key, member) in members {
            value.insert(key.clone(), member.clone());
        }
    }
}
