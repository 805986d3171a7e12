//! The templates of a random author: edits, manifests applied again, rollbacks, restarts and deletions, while lookups fail
//! at random. Design, section 10.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{collections::BTreeMap, time::Duration};

use node_architecture_policy::{host::Host, policy::validate};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

mod index;

const ANNOTATION: &str = "node-architecture-policy/placement";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// The images, with the architectures that they run on.
const IMAGES: [(&str, &[&str]); 4] = [
    ("multi:1", &["amd64", "arm64", "s390x"]),
    ("both:1", &["amd64", "arm64"]),
    ("arm:1", &["arm64"]),
    ("amd:1", &["amd64"]),
];

/// What an author does.
#[derive(Clone, Debug)]
enum Step {
    /// Edits the manifest and puts it whole, so that what the policy added is missing.
    Put(Edit),
    /// Edits the manifest and applies it, so that what the policy added stays.
    Apply(Edit),
    /// Puts the manifest as it is.
    PutAgain,
    /// Goes back to an earlier template, as it was stored.
    RollBack(usize),
    /// Deletes what the policy added, and leaves the annotation.
    DeleteAdditions,
    /// Restarts the workload.
    Restart(u32),
}

/// A change of the manifest.
#[derive(Clone, Debug)]
enum Edit {
    Image(&'static str),
    Sidecar(Option<&'static str>),
    NodeSelector(Option<&'static str>),
    Terms(Value),
    Toleration(bool),
}

fn edit() -> impl Strategy<Value = Edit> {
    let images: Vec<&str> = IMAGES.iter().map(|(image, _)| *image).collect();
    let term = |key: &str, operator: &str, values: Value| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
    let terms = vec![
        json!(null),
        json!([term("zone", "In", json!(["a"]))]),
        json!([
            term("zone", "In", json!(["a"])),
            term("kubernetes.io/arch", "NotIn", json!(["amd64"]))
        ]),
        json!([
            term("kubernetes.io/arch", "In", json!(["amd64", "arm64"])),
            {}
        ]),
        json!([{"matchExpressions": null, "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["x"]}]}]),
    ];
    prop_oneof![
        3 => select(images.clone()).prop_map(Edit::Image),
        1 => proptest::option::of(select(images)).prop_map(Edit::Sidecar),
        1 => proptest::option::of(Just("ssd")).prop_map(Edit::NodeSelector),
        2 => select(terms).prop_map(Edit::Terms),
        1 => any::<bool>().prop_map(Edit::Toleration),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => edit().prop_map(Step::Put),
        3 => edit().prop_map(Step::Apply),
        1 => Just(Step::PutAgain),
        2 => (0..8_usize).prop_map(Step::RollBack),
        1 => Just(Step::DeleteAdditions),
        1 => any::<u32>().prop_map(Step::Restart),
    ]
}

impl Edit {
    fn of(&self, template: &mut Value) {
        let spec = &mut template["spec"];
        match self {
            Self::Image(image) => spec["containers"][0]["image"] = json!(image),
            Self::Sidecar(image) => {
                let sidecar =
                    image.map(|image| json!([{"image": image, "restartPolicy": "Always"}]));
                let spec = spec.as_object_mut().unwrap();
                spec.remove("initContainers");
                spec.extend(sidecar.map(|sidecar| ("initContainers".to_owned(), sidecar)));
            }
            Self::NodeSelector(disk) => {
                let selector = spec["nodeSelector"].as_object().cloned();
                let mut selector = selector.unwrap_or_default();
                selector.remove("disk");
                selector.extend(disk.map(|disk| ("disk".to_owned(), json!(disk))));
                spec["nodeSelector"] = json!(selector);
            }
            Self::Terms(terms) => {
                let required = match terms {
                    Value::Null => json!(null),
                    terms => json!({ "nodeSelectorTerms": terms }),
                };
                spec["affinity"] = json!({"nodeAffinity": {REQUIRED: required}});
            }
            Self::Toleration(is_there) => {
                spec["tolerations"] = match is_there {
                    true => json!([{"key": "own", "operator": "Exists"}]),
                    false => json!(null),
                };
            }
        }
    }

    /// Whether applying it leaves alone what the policy added: it replaces lists whole.
    fn is_of_maps(&self) -> bool {
        matches!(
            self,
            Self::Image(_) | Self::Sidecar(_) | Self::NodeSelector(_)
        )
    }
}

/// A host that answers from these architectures.
struct Known(BTreeMap<String, Vec<String>>);

impl Host for Known {
    fn manifest(&mut self, reference: &str) -> Result<Vec<u8>, String> {
        let architectures = self.0.get(reference).ok_or("connection refused")?;
        Ok(index::linux_index(architectures))
    }

    fn manifest_and_config(&mut self, _: &str) -> Result<Vec<u8>, String> {
        Err("no image here has a config".to_owned())
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn log(&mut self, _: &[u8]) {}
}

fn settings() -> Value {
    json!({
        "onNoCommonArchitecture": "warn",
        "tolerations": {"arm64": [{"key": "arch", "value": "arm64", "effect": "NoSchedule"}]}
    })
}

/// The template that comes of an update from `old`, or of a creation, with what the registry says.
fn admitted(new: &Value, old: Option<&Value>, registry: &Known) -> Value {
    let deployment = |template: &Value| json!({"spec": {"template": template}});
    let mut request = json!({
        "kind": {"group": "apps", "kind": "Deployment"},
        "operation": "CREATE",
        "object": deployment(new)
    });
    if let Some(old) = old {
        request["operation"] = json!("UPDATE");
        request["oldObject"] = deployment(old);
    }
    let payload = json!({"request": request, "settings": settings()}).to_string();
    let mut host = Known(registry.0.clone());
    let response: Value = serde_json::from_slice(&validate(payload.as_bytes(), &mut host)).unwrap();
    assert_eq!(response["accepted"], true, "{response}");
    match response.get("mutated_object") {
        Some(object) => object["spec"]["template"].clone(),
        None => new.clone(),
    }
}

/// The architectures that the record of a template remembers.
fn remembered(template: &Value) -> BTreeMap<String, Vec<String>> {
    let record = template["metadata"]["annotations"][ANNOTATION].as_str();
    let record: Value = serde_json::from_str(record.unwrap_or("{}")).unwrap();
    let images = record["images"].as_object().cloned().unwrap_or_default();
    let names = |platforms: &Value| {
        let texts = platforms.as_array().unwrap().iter();
        texts
            .map(|text| text.as_str().unwrap().replace("linux/", ""))
            .collect()
    };
    images
        .iter()
        .map(|(image, platforms)| (image.clone(), names(platforms)))
        .collect()
}

/// Without what is equal to nothing on the paths that the policy writes.
fn normal(template: &Value) -> Value {
    fn prune(value: &mut Value, keys: &[&str]) {
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::Object(members) => members.is_empty(),
            Value::Array(elements) => elements.is_empty(),
            _ => false,
        };
        if let Some(members) = value.as_object_mut() {
            members.retain(|key, value| !keys.contains(&key.as_str()) || !is_empty(value));
        }
    }
    let mut template = template.clone();
    let at = |path: &str| format!("/spec/affinity/nodeAffinity/{REQUIRED}{path}");
    let terms = template.pointer_mut(&at("/nodeSelectorTerms"));
    for term in terms.and_then(Value::as_array_mut).into_iter().flatten() {
        prune(term, &["matchExpressions"]);
    }
    for (path, keys) in [
        (
            "/spec/affinity/nodeAffinity",
            &[REQUIRED, "preferredDuringSchedulingIgnoredDuringExecution"][..],
        ),
        ("/spec/affinity", &["nodeAffinity"]),
        ("/spec", &["nodeSelector", "affinity", "tolerations"]),
        ("/metadata", &["annotations"]),
    ] {
        if let Some(value) = template.pointer_mut(path) {
            prune(value, keys);
        }
    }
    template
}

/// Whether the template admits only architectures that every one of its known images runs on.
fn admits_only(template: &Value, registry: &Known) -> bool {
    let spec = &template["spec"];
    let images: Vec<&str> = ["initContainers", "containers"]
        .iter()
        .flat_map(|key| spec[*key].as_array().into_iter().flatten())
        .map(|container| container["image"].as_str().unwrap())
        .collect();
    let runs = |name: &str| {
        let mut known = images.iter().filter_map(|image| registry.0.get(*image));
        known.all(|names| names.iter().any(|it| it == name))
    };
    let mut all = ["386", "amd64", "arm64", "s390x"].iter();
    all.all(|name| !admits(spec, name) || runs(name))
}

/// Whether some node of the architecture could match.
fn admits(spec: &Value, name: &str) -> bool {
    let selected = &spec["nodeSelector"]["kubernetes.io/arch"];
    let by_selector = selected.is_null() || selected == name;
    let required = &spec["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"];
    let by_terms = required.as_array().is_none_or(|terms| {
        terms.iter().any(|term| {
            let list = |key: &str| term[key].as_array().cloned().unwrap_or_default();
            let (expressions, fields) = (list("matchExpressions"), list("matchFields"));
            let holds = |requirement: &Value| {
                let listed = requirement["values"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|it| it == name);
                requirement["key"] != "kubernetes.io/arch"
                    || listed == (requirement["operator"] == "In")
            };
            (!expressions.is_empty() || !fields.is_empty()) && expressions.iter().all(holds)
        })
    });
    by_selector && by_terms
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_template_is_what_a_fresh_decision_makes_of_its_base_or_what_it_goes_back_to(
        steps in vec((step(), vec(prop_oneof![3 => Just(true), 1 => Just(false)], IMAGES.len())), 1..12),
    ) {
        let mut manifest = json!({
            "metadata": {"labels": {"app": "x"}},
            "spec": {"containers": [{"image": "multi:1"}]}
        });
        let all = |_: usize| true;
        let mut stored = admitted(&manifest, None, &registry(all, BTreeMap::new()));
        // Each stored template, with the manifest that it was made of.
        let mut history = vec![(manifest.clone(), stored.clone())];
        for (step, up) in steps {
            let before = manifest.clone();
            let new = match &step {
                Step::Put(edit) => {
                    edit.of(&mut manifest);
                    manifest.clone()
                }
                Step::Apply(edit) if edit.is_of_maps() => {
                    edit.of(&mut manifest);
                    let mut new = stored.clone();
                    edit.of(&mut new);
                    new
                }
                Step::Apply(_) | Step::PutAgain => manifest.clone(),
                Step::Restart(number) => {
                    manifest["metadata"]["labels"]["restarted"] = json!(number.to_string());
                    let mut new = stored.clone();
                    new["metadata"]["labels"]["restarted"] = json!(number.to_string());
                    new
                }
                Step::DeleteAdditions => {
                    let mut new = manifest.clone();
                    new["metadata"]["annotations"] = stored["metadata"]["annotations"].clone();
                    new
                }
                Step::RollBack(number) => {
                    let (of, earlier) = &history[number % history.len()];
                    manifest = of.clone();
                    earlier.clone()
                }
            };
            let mut memory = remembered(&stored);
            memory.extend(remembered(&new));
            let known = registry(|index| up[index], memory);
            let result = admitted(&new, Some(&stored), &registry(|index| up[index], BTreeMap::new()));
            let expected = if normal(&manifest) == normal(&before) {
                stored.clone()
            } else if matches!(step, Step::RollBack(_))
                && new["metadata"]["annotations"][ANNOTATION].is_string()
                && admits_only(&new, &known)
            {
                new.clone()
            } else {
                admitted(&manifest, None, &known)
            };
            prop_assert_eq!(normal(&result), normal(&expected), "{:?}", step);
            stored = result;
            history.push((manifest.clone(), stored.clone()));
        }
    }
}

/// What is known: of the images that are up what they are, of the others what is remembered.
fn registry(is_up: impl Fn(usize) -> bool, memory: BTreeMap<String, Vec<String>>) -> Known {
    let mut known = memory;
    for (index, (image, architectures)) in IMAGES.iter().enumerate() {
        if is_up(index) {
            let architectures = architectures
                .iter()
                .map(|name| (*name).to_owned())
                .collect();
            known.insert((*image).to_owned(), architectures);
        }
    }
    Known(known)
}

/// How many authors are tried.
fn cases() -> u32 {
    std::env::var("WORLDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000)
}
