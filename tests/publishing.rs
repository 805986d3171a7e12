//! What is published beside the policy says the same everywhere: versions, names, settings and their defaults; and the
//! policies in `examples/` are ones that a cluster takes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // Tests may fail by panicking.

use std::{fs, path::Path};

use node_architecture_policy::settings::Settings;
use serde_json::{Map, Value, json};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
}

fn yaml(path: &str) -> Value {
    yaml_serde::from_str(&text(path)).expect(path)
}

/// The documents of a file with several.
fn documents(text: &str) -> Vec<Value> {
    yaml_serde::Deserializer::from_str(text)
        .map(|document| serde::Deserialize::deserialize(document).unwrap())
        .collect()
}

fn annotation<'v>(metadata: &'v Value, key: &str) -> &'v str {
    metadata["annotations"][key].as_str().expect(key)
}

// --- versions and names

#[test]
fn the_version_is_the_same_everywhere() {
    let metadata = yaml("metadata.yml");
    let oci_url = annotation(&metadata, "io.kubewarden.policy.ociUrl");
    let source = annotation(&metadata, "io.kubewarden.policy.source");
    assert_eq!(
        annotation(&metadata, "io.kubewarden.policy.version"),
        VERSION
    );
    let package = yaml("artifacthub-pkg.yml");
    assert_eq!(package["version"], VERSION);
    let image = format!("{oci_url}:v{VERSION}");
    assert_eq!(
        package["containersImages"],
        json!([{"name": "policy", "image": image}])
    );
    assert_eq!(
        package["links"],
        json!([
            {"name": "policy", "url": format!("{source}/releases/download/v{VERSION}/policy.wasm")},
            {"name": "source", "url": source}
        ])
    );
    let install = package["install"].as_str().unwrap();
    assert_eq!(
        install.matches(&image).count(),
        install.matches(oci_url).count()
    );
    let readme = text("README.md");
    assert!(readme.contains(&format!("registry://{image}")));
    assert_eq!(
        readme.matches(&format!("{oci_url}:")).count(),
        readme.matches(&image).count()
    );
}

#[test]
fn artifact_hub_gets_what_the_metadata_says() {
    let metadata = yaml("metadata.yml");
    let package = yaml("artifacthub-pkg.yml");
    for (key, annotation_key) in [
        ("name", "io.kubewarden.policy.title"),
        ("displayName", "io.artifacthub.displayName"),
        ("description", "io.kubewarden.policy.description"),
        ("license", "io.kubewarden.policy.license"),
        ("homeURL", "io.kubewarden.policy.url"),
    ] {
        assert_eq!(package[key], annotation(&metadata, annotation_key), "{key}");
    }
    let keywords: Vec<&str> = annotation(&metadata, "io.artifacthub.keywords")
        .split(", ")
        .collect();
    assert_eq!(package["keywords"], json!(keywords));
    let maintainer = &package["maintainers"][0];
    assert_eq!(
        annotation(&metadata, "io.kubewarden.policy.author"),
        format!(
            "{} <{}>",
            maintainer["name"].as_str().unwrap(),
            maintainer["email"].as_str().unwrap()
        )
    );
    let annotations = &package["annotations"];
    assert_eq!(
        annotations["kubewarden/mutation"],
        metadata["mutating"].to_string()
    );
    assert_eq!(
        annotations["kubewarden/resources"],
        metadata["annotations"]["io.artifacthub.resources"]
    );
    assert_eq!(
        annotations["kubewarden/questions-ui"],
        text("questions-ui.yml")
    );
    let rules: Value =
        yaml_serde::from_str(annotations["kubewarden/rules"].as_str().unwrap()).unwrap();
    assert_eq!(rules, metadata["rules"]);
}

#[test]
fn the_crate_and_the_metadata_describe_the_same_policy() {
    let metadata = yaml("metadata.yml");
    let of_metadata = |key| annotation(&metadata, key).to_owned();
    assert_eq!(
        of_metadata("io.kubewarden.policy.title"),
        env!("CARGO_PKG_NAME")
    );
    assert_eq!(
        of_metadata("io.kubewarden.policy.description"),
        env!("CARGO_PKG_DESCRIPTION").replace("Kubewarden policy that places", "Places")
    );
    assert_eq!(
        of_metadata("io.kubewarden.policy.license"),
        env!("CARGO_PKG_LICENSE")
    );
    assert_eq!(
        of_metadata("io.kubewarden.policy.source"),
        env!("CARGO_PKG_REPOSITORY")
    );
}

/// rust-toolchain.toml alone names the toolchain; what is written about it elsewhere is the oldest one that works.
#[test]
fn the_readme_names_the_rust_version_and_no_other_file_a_toolchain() {
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert!(text("README.md").contains(&format!("Rust {version} or newer")));
    for file in [
        "Makefile",
        ".ci/run",
        ".github/workflows/test.yml",
        ".github/workflows/release.yml",
    ] {
        assert!(!text(file).contains("stable"), "{file}");
    }
}

// --- settings

fn schema() -> Value {
    serde_json::from_str(&text("docs/settings.schema.json")).unwrap()
}

fn questions() -> Vec<Value> {
    yaml("questions-ui.yml")["questions"]
        .as_array()
        .unwrap()
        .clone()
}

fn name(question: &Value) -> &str {
    question["variable"].as_str().unwrap()
}

/// README lists the settings that matter most, each with its default.
#[test]
fn the_settings_in_the_readme_have_their_defaults() {
    let readme = text("README.md");
    let (_, section) = readme.split_once("\n## Settings\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let schema = schema();
    let rows: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert!(rows.len() >= 10);
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        let default: Value = match cells[1] {
            "none" | "off" => Value::Null,
            default => yaml_serde::from_str(default.trim_matches('`')).unwrap(),
        };
        let name = cells[0].trim_matches(['|', ' ', '`']);
        assert!(schema["properties"][name].is_object(), "{name}");
        assert_eq!(default, schema["properties"][name]["default"], "{name}");
    }
}

#[test]
fn a_form_that_nobody_touched_means_the_defaults() {
    let form: Map<String, Value> = questions()
        .into_iter()
        .map(|question| (name(&question).to_owned(), question["default"].clone()))
        .collect();
    let mut settings = Settings::parse(&Value::Object(form).to_string()).unwrap();
    // Strict in no namespace at all.
    let strict = settings.strict.take();
    assert!(strict.is_some_and(|strict| strict.namespaces.is_empty()));
    assert_eq!(settings, Settings::default());
}

/// With what the form then demands.
#[test]
fn every_choice_in_a_form_that_is_untouched_otherwise_is_valid() {
    let questions = questions();
    for question in &questions {
        for word in question["options"].as_array().into_iter().flatten() {
            let shown = format!("{}={}", name(question), word.as_str().unwrap());
            let mut form = Map::new();
            for other in &questions {
                let is_demanded = other["required"] == true && other["show_if"] == shown;
                let answer = if is_demanded && other["default"].is_null() {
                    json!("amd64")
                } else {
                    other["default"].clone()
                };
                form.insert(name(other).to_owned(), answer);
            }
            form.insert(name(question).to_owned(), word.clone());
            // What has to be chosen first for the form to ask.
            if let Some((other, answer)) = condition_of(question) {
                form.insert(other.to_owned(), answer);
            }
            Settings::parse(&Value::Object(form).to_string())
                .unwrap_or_else(|error| panic!("{shown}: {error}"));
        }
    }
}

#[test]
fn every_question_fits_its_setting() {
    const TEXTS: [&str; 6] = [
        "variable",
        "group",
        "label",
        "description",
        "tooltip",
        "type",
    ];
    const OTHERS: [&str; 8] = [
        "default",
        "required",
        "options",
        "hide_input",
        "value_multiline",
        "show_if",
        "subquestions",
        "sequence_questions",
    ];
    for question in questions() {
        let name = name(&question);
        let setting = &schema()["properties"][name];
        for key in TEXTS {
            assert!(question[key].is_string(), "{name}: {key}");
        }
        for key in question.as_object().unwrap().keys().map(String::as_str) {
            assert!(
                TEXTS.contains(&key) || OTHERS.contains(&key),
                "{name}: {key}"
            );
        }
        let fits = match question["type"].as_str().unwrap() {
            "enum" => words(setting) == question["options"],
            "boolean" => setting["type"] == json!(["boolean", "null"]),
            "int" => setting["type"] == json!(["integer", "null"]),
            "string" => accepts_where_asked(&question, &json!("arm64")),
            "array[" => {
                let accepts_one_of = |values: [&str; 2]| {
                    let mut values = values.iter();
                    values.any(|value| accepts(name, &json!([value])))
                };
                accepts_one_of(["linux", "amd64"]) && !accepts(name, &json!("linux"))
            }
            "sequence[" => accepts(name, &json!([])) && !accepts(name, &json!({})),
            "map[" => accepts(name, &json!({})),
            _ => false,
        };
        assert!(fits, "{name}: {}", question["type"]);
        for sub in question["subquestions"].as_array().into_iter().flatten() {
            assert!(
                sub["variable"]
                    .as_str()
                    .unwrap()
                    .starts_with(&format!("{name}.")),
                "{sub}"
            );
        }
        if let Some((other, answer)) = condition_of(&question) {
            assert!(
                accepts_beside(&question, other, &answer),
                "{name}: {other}={answer}"
            );
        }
    }
}

/// The words that a setting takes.
fn words(setting: &Value) -> Value {
    match &setting["oneOf"] {
        Value::Array(words) => words
            .iter()
            .filter_map(|word| word.get("const").cloned())
            .collect(),
        _ => {
            let words = setting["enum"].as_array().unwrap();
            words
                .iter()
                .filter(|word| !word.is_null())
                .cloned()
                .collect()
        }
    }
}

fn accepts(name: &str, value: &Value) -> bool {
    Settings::parse(&json!({ name: value }).to_string()).is_ok()
}

/// Whether the setting that a question is about takes the value where the form asks for it.
fn accepts_where_asked(question: &Value, value: &Value) -> bool {
    let mut settings = json!({ name(question): value });
    if let Some((other, answer)) = condition_of(question) {
        settings[other] = answer;
    }
    Settings::parse(&settings.to_string()).is_ok()
}

/// The other question, and its answer, without which a form doesn't ask.
fn condition_of(question: &Value) -> Option<(&str, Value)> {
    let (other, answer) = question["show_if"].as_str()?.split_once('=')?;
    let answer = answer.parse::<bool>().map_or(json!(answer), Value::Bool);
    Some((other, answer))
}

/// Whether a setting takes the value beside an answer to the question that is asked for it.
fn accepts_beside(question: &Value, other: &str, value: &Value) -> bool {
    let answer = match &question["default"] {
        Value::Null => json!("amd64"),
        default => default.clone(),
    };
    Settings::parse(&json!({ other: value, name(question): answer }).to_string()).is_ok()
}

#[test]
fn what_a_filled_in_form_sends_is_valid() {
    let settings = json!({
        "preferenceEnforcement": "preferred",
        "architectureWeights": {"amd64": 20, "arm64": 80},
        "compatibleArchitectures": {"amd64": ["386"], "arm64": []},
        "tolerations": {"amd64": [], "arm64": [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]},
        "platformOverrides": [{"image": "registry.example.com/*", "platforms": ["linux/amd64"]}],
        "registryProxies": [{"registry": "docker.io", "proxy": "mirror.example.com"}],
        "strict": {"namespaces": ["prod-*"], "requiredArchitectures": ["arm64"]}
    });
    let mut left = settings.clone();
    for question in questions() {
        for sub in question["subquestions"].as_array().into_iter().flatten() {
            let (setting, key) = sub["variable"].as_str().unwrap().split_once('.').unwrap();
            let value = left[setting].as_object_mut().unwrap().remove(key).unwrap();
            let element = value
                .as_array()
                .and_then(|list| list.first())
                .unwrap_or(&Value::Null);
            assert_sequence(sub, element);
        }
        let element = &settings[name(&question)][0];
        assert_sequence(&question, element);
    }
    Settings::parse(&settings.to_string()).unwrap();
}

/// The questions of a sequence ask for the members of its elements, and for no others.
fn assert_sequence(question: &Value, element: &Value) {
    if let (Some(asked), Some(members)) = (
        question["sequence_questions"].as_array(),
        element.as_object(),
    ) {
        let mut asked: Vec<&str> = asked.iter().map(name).collect();
        asked.sort_unstable();
        let mut members: Vec<&String> = members.keys().collect();
        members.sort_unstable();
        assert_eq!(members, asked, "{}", question["variable"]);
    }
}

// --- README, which Artifact Hub shows without the repository around it

#[test]
fn the_readme_links_absolutely_and_has_no_html() {
    let readme = text("README.md");
    for link in readme.split("](").skip(1) {
        assert!(
            link.starts_with("https://") || link.starts_with('#'),
            "{}",
            link.lines().next().unwrap()
        );
    }
    let prose: String = readme.split("```").step_by(2).collect();
    let prose: String = prose.split('`').step_by(2).collect();
    assert!(!prose.contains('<'), "HTML in README.md");
}

/// Links into this repository lead to files that are there.
#[test]
fn links_into_the_repository_lead_somewhere() {
    let blob = format!("{}/blob/main/", env!("CARGO_PKG_REPOSITORY"));
    let tree = format!("{}/tree/main/", env!("CARGO_PKG_REPOSITORY"));
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        "docs/architecture.md",
        "docs/design.md",
        "docs/from-noe.md",
        "docs/operations.md",
        "docs/performance.md",
        "docs/settings.md",
        "docs/troubleshooting.md",
    ] {
        let page_text = text(page);
        for link in page_text.split("](").skip(1) {
            let (target, _) = link.split_once(')').unwrap();
            let (target, _) = target.split_once('#').unwrap_or((target, ""));
            let path = target
                .strip_prefix(&blob)
                .or_else(|| target.strip_prefix(&tree));
            let path = match path {
                Some(path) => path.to_owned(),
                None if target.starts_with("https://") || target.is_empty() => continue,
                None => {
                    let folder = Path::new(page).parent().unwrap();
                    folder.join(target).display().to_string()
                }
            };
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(&path);
            assert!(file.exists(), "{page}: {target}");
        }
    }
}

// --- examples

/// The policies in `examples/policies` and `examples/migration`, by file.
fn policies() -> Vec<(String, Value)> {
    let mut policies = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = ["policies", "migration"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    for entry in files.into_iter().flatten() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        for document in documents(&fs::read_to_string(&path).unwrap()) {
            if document["kind"] == "ClusterAdmissionPolicy" {
                policies.push((file.clone(), document));
            }
        }
    }
    assert!(policies.len() >= 16);
    policies
}

#[test]
fn every_example_is_a_cluster_admission_policy() {
    let fields = yaml("tests/publishing/cluster-admission-policy.yml");
    let fields = jsonschema::validator_for(&fields).unwrap();
    for (file, policy) in policies() {
        let errors: Vec<String> = fields
            .iter_errors(&policy)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{file}: {errors:?}");
        let spec = &policy["spec"];
        // A policy that changes objects without being allowed to denies them, and the audit scanner learns nothing of it.
        let mutates = spec["settings"]["mutate"] != false;
        assert_eq!(spec["mutating"], mutates, "{file}");
        assert!(!mutates || spec["backgroundAudit"] == false, "{file}");
        let image = annotation(&yaml("metadata.yml"), "io.kubewarden.policy.ociUrl").to_owned();
        assert_eq!(
            spec["module"],
            format!("registry://{image}:v{VERSION}"),
            "{file}"
        );
    }
}

#[test]
fn the_settings_of_every_example_are_valid() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    for (file, policy) in policies() {
        let settings = &policy["spec"]["settings"];
        assert!(schema.is_valid(settings), "{file}");
        Settings::parse(&settings.to_string()).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}

/// A timeout of n seconds grants n - 1 at least. The last lookup starts within the budget, and takes its time too.
#[test]
fn the_budget_of_every_example_fits_its_timeout() {
    const LAST_LOOKUP: i64 = 300;
    const TIMEOUT_OF_A_WEBHOOK: i64 = 10;
    for (file, policy) in policies() {
        let spec = &policy["spec"];
        let timeout = spec["timeoutEvalSeconds"].as_i64().expect(&file);
        let budget = spec["settings"]["lookupBudgetMilliseconds"]
            .as_i64()
            .expect(&file);
        assert!(budget + LAST_LOOKUP <= (timeout - 1) * 1_000, "{file}");
        let webhook = spec["timeoutSeconds"]
            .as_i64()
            .unwrap_or(TIMEOUT_OF_A_WEBHOOK);
        assert!(timeout <= webhook, "{file}");
    }
}

// --- words for programs

#[test]
fn every_cause_is_documented_and_no_other() {
    let page = text("docs/troubleshooting.md");
    let (_, section) = page.split_once("## The audit annotation `cause`").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let mut documented: Vec<&str> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap().split(','))
        .map(|word| word.trim().trim_matches('`'))
        .collect();
    documented.sort_unstable();
    let sources = [
        "src/unchanged.rs",
        "src/decision/problem.rs",
        "src/response.rs",
    ]
    .map(text);
    let mut given: Vec<&str> = sources
        .iter()
        .flat_map(|source| source.split('"').skip(1).step_by(2))
        .filter(|literal| is_a_cause(literal))
        .collect();
    given.sort_unstable();
    assert_eq!(documented, given);
}

/// Whether a literal is a word such as `NoPodSpec`.
fn is_a_cause(literal: &str) -> bool {
    let is_capital = |letter: char| letter.is_ascii_uppercase();
    literal.starts_with(is_capital)
        && literal.matches(is_capital).count() > 1
        && literal.bytes().all(|byte| byte.is_ascii_alphabetic())
}
