//! What the policy says of images and workloads: the wasm that ships is asked, and nothing else decides.
//!
//! What the policy wants to know of registries it says itself, so lookups are gathered, each once, and made several at a
//! time; then it is asked again.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    num::NonZero,
    panic::resume_unwind,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use crate::{
    admission::AdmissionResponse,
    capabilities::{Allowed, Answers, Lookup},
    engine::Policy,
    fleet::ImageUse,
    request::creation_of,
};

/// The annotation in which the policy records what it knew of a template's images.
const RECORD: &str = "node-architecture-policy/placement";
/// A label that the policy is made to match, so that it records something for every template.
const LABEL: &str = "report";
/// The operating systems of all nodes that there are.
const SYSTEMS: [&str; 3] = ["linux", "windows", "freebsd"];

/// The answer to a lookup, or the text of an error.
pub(super) type Answer = Result<String, String>;
/// What makes lookups: it gets them and hands each answer on as it comes.
pub type LookUpAll<'l> = dyn FnMut(Vec<Lookup>, &mut dyn FnMut(Lookup, Answer)) + 'l;

/// What the policy knows of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Support {
    /// It runs on these platforms.
    Platforms(Vec<String>),
    /// It runs on nodes of these architectures, and perhaps on more: its index can be read in part only.
    Partly(Vec<String>),
    /// It runs, or is mounted, wherever its Pod lands.
    Anywhere,
    /// Its platforms can't be told, for this reason.
    Unknown(String),
}

/// The policy, the settings, and the answers of registries so far.
pub(super) struct Oracle<'o> {
    asker: Asker<'o>,
    settings: Map<String, Value>,
    look_up_all: &'o mut LookUpAll<'o>,
}

/// What is asked, by several threads at a time.
struct Asker<'o> {
    policy: &'o Policy,
    known: Known,
}

/// The answers so far, and the lookups that wait for one.
#[derive(Clone, Default)]
struct Known(Arc<Mutex<Answered>>);

#[derive(Default)]
struct Answered {
    answers: HashMap<Lookup, Answer>,
    missing: BTreeSet<(String, bool)>,
}

impl Answers for Known {
    fn answer(&mut self, lookup: &Lookup) -> Answer {
        let mut answered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answered.answers.get(lookup) {
            return answer.clone();
        }
        let is_of_config = matches!(lookup, Lookup::ManifestAndConfig(_));
        let image = lookup.image().to_owned();
        answered.missing.insert((image, is_of_config));
        Err("not asked yet".to_owned())
    }
}

impl Asker<'_> {
    /// What the policy makes of `object` with `settings`.
    fn ask(&self, object: Value, settings: &Map<String, Value>) -> Result<AdmissionResponse> {
        let request = creation_of(object)?;
        let settings = Value::Object(settings.clone());
        let answers = Box::new(self.known.clone());
        let evaluation = self
            .policy
            .evaluate(&request, &settings, answers, Allowed::all())?;
        Ok(evaluation.response)
    }

    /// What `ask` makes of each of `questions`, in their order, on all processors.
    fn ask_all<Q: Sync, A: Send>(
        questions: &[Q],
        ask: impl Fn(&Q) -> Result<A> + Sync,
    ) -> Result<Vec<A>> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let share = questions.len().div_ceil(threads).max(1);
        let answers: Vec<Result<Vec<A>>> = thread::scope(|scope| {
            let running: Vec<_> = questions
                .chunks(share)
                .map(|share| scope.spawn(|| share.iter().map(&ask).collect()))
                .collect();
            let joined = running.into_iter().map(|thread| thread.join());
            joined
                .map(|answers| answers.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        let answers: Vec<Vec<A>> = answers.into_iter().collect::<Result<_>>()?;
        Ok(answers.into_iter().flatten().collect())
    }
}

impl<'o> Oracle<'o> {
    /// The oracle that `policy` is with these settings.
    ///
    /// # Errors
    /// Where the policy refuses the settings.
    pub(super) fn new(
        policy: &'o Policy,
        settings: &Value,
        look_up_all: &'o mut LookUpAll<'o>,
    ) -> Result<Self> {
        policy.check_settings(settings)?;
        let mut settings = settings.as_object().cloned().unwrap_or_default();
        // Here nobody waits for an answer.
        settings.insert("lookupBudgetMilliseconds".to_owned(), json!(0));
        let known = Known::default();
        Ok(Self {
            asker: Asker { policy, known },
            settings,
            look_up_all,
        })
    }

    /// Calls `ask` until it wants to know nothing more.
    fn settle<T>(&mut self, ask: impl Fn(&Asker<'o>) -> Result<T>) -> Result<T> {
        loop {
            let answer = ask(&self.asker)?;
            let missing = {
                let known = &self.asker.known;
                let mut answered = known.0.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut answered.missing)
            };
            if missing.is_empty() {
                return Ok(answer);
            }
            let lookups = missing.into_iter().map(|(image, is_of_config)| {
                if is_of_config {
                    Lookup::ManifestAndConfig(image)
                } else {
                    Lookup::Manifest(image)
                }
            });
            let known = self.asker.known.clone();
            (self.look_up_all)(lookups.collect(), &mut |lookup, answer| {
                let mut answered = known.0.lock().unwrap_or_else(PoisonError::into_inner);
                answered.answers.insert(lookup, answer);
            });
        }
    }

    /// The name that the policy has for `architecture`, which may be written in any notation.
    ///
    /// # Errors
    /// Where it has none.
    pub(super) fn name_of(&self, architecture: &str) -> Result<String> {
        let settings = json!({ "schedulableArchitectures": [architecture] });
        self.asker
            .policy
            .check_settings(&settings)
            .with_context(|| format!("{architecture:?} is no architecture"))?;
        let on_any = json!([{"image": "*", "platforms": [format!("linux/{architecture}")]}]);
        let settings = self.permissive(&[("platformOverrides", on_any)]);
        let response = self.asker.ask(deployment_of(&use_of("any")), &settings)?;
        let name = response.annotation("architectures");
        Ok(name.unwrap_or(architecture).to_owned())
    }

    /// Settings that admit every platform, and refuse nothing.
    fn permissive(&self, members: &[(&str, Value)]) -> Map<String, Value> {
        let mut settings = Map::new();
        for key in ["platformOverrides", "registryProxies", "registries"] {
            if let Some(value) = self.settings.get(key) {
                settings.insert(key.to_owned(), value.clone());
            }
        }
        for (key, value) in [
            ("lookupBudgetMilliseconds", json!(0)),
            ("preferredArchitecture", json!(null)),
            ("operatingSystems", json!(SYSTEMS)),
            ("onNoCommonArchitecture", json!("warn")),
            ("imageVolumes", json!(true)),
        ] {
            settings.insert(key.to_owned(), value);
        }
        for (key, value) in members {
            settings.insert((*key).to_owned(), value.clone());
        }
        settings
    }

    /// What the policy knows of each of `images`.
    ///
    /// # Errors
    /// Where the policy can't be asked.
    pub(super) fn supports(
        &mut self,
        images: &BTreeSet<ImageUse>,
    ) -> Result<BTreeMap<ImageUse, Support>> {
        let settings = self.permissive(&[("matchNodeLabels", json!([LABEL]))]);
        // An image that is never pulled is what is on the node: only the settings tell of it.
        let without_lookups = {
            let mut settings = settings.clone();
            settings.insert("registries".to_owned(), json!(["never-pulled.invalid"]));
            settings
        };
        let images: Vec<&ImageUse> = images.iter().collect();
        let supports = self.settle(|asker| {
            Asker::ask_all(&images, |image| {
                let settings = if image.is_never_pulled {
                    &without_lookups
                } else {
                    &settings
                };
                let object = deployment_of(image);
                let response = asker.ask(object.clone(), settings)?;
                support_in(&response, &object, image)
            })
        })?;
        let images = images.into_iter().cloned();
        Ok(images.zip(supports).collect())
    }

    /// What the policy makes of each of `objects`, with the settings as they are.
    ///
    /// # Errors
    /// Where the policy can't be asked.
    pub(super) fn placements(&mut self, objects: &[&Value]) -> Result<Vec<AdmissionResponse>> {
        let settings = self.settings.clone();
        self.settle(|asker| {
            Asker::ask_all(objects, |object| asker.ask((*object).clone(), &settings))
        })
    }

    /// Whether `object` admits nodes of `architecture`, if its images run there.
    ///
    /// # Errors
    /// Where the policy can't be asked.
    pub(super) fn admits(&self, object: &Value, architecture: &str) -> Result<bool> {
        let on_it = json!([{"image": "*", "platforms": [format!("linux/{architecture}")]}]);
        let settings = self.permissive(&[
            ("platformOverrides", on_it),
            ("onUnsupportedSelection", json!("reject")),
        ]);
        Ok(self.asker.ask(object.clone(), &settings)?.allowed)
    }
}

/// The use of `image` by a container.
fn use_of(image: &str) -> ImageUse {
    ImageUse {
        image: image.to_owned(),
        is_never_pulled: false,
        is_mounted: false,
        has_runtime_class: false,
        is_for_windows: false,
    }
}

/// A Deployment of `image` alone.
fn deployment_of(image: &ImageUse) -> Value {
    let mut spec = if image.is_mounted {
        json!({"volumes": [{"name": "it", "image": {"reference": image.image}}]})
    } else {
        json!({"containers": [{"name": "it", "image": image.image}]})
    };
    if image.has_runtime_class {
        spec["runtimeClassName"] = json!("any");
    }
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": LABEL, "name": LABEL},
        "spec": {"template": {"metadata": {"labels": {LABEL: LABEL}}, "spec": spec}},
    })
}

/// What `response` says of the only image of the Deployment `object`.
fn support_in(response: &AdmissionResponse, object: &Value, image: &ImageUse) -> Result<Support> {
    if response.annotation("failed-lookups").is_some() {
        if image.is_never_pulled {
            let reason = "it is never pulled; platformOverrides can tell its platforms";
            return Ok(Support::Unknown(reason.to_owned()));
        }
        let warning = response.warnings.iter().flatten().next();
        let reason = warning.and_then(|warning| warning.split_once(" ignored: "));
        let reason = reason.map_or("its platforms can't be read", |(_, reason)| reason);
        return Ok(Support::Unknown(reason.to_owned()));
    }
    let placed = response.patched(object)?;
    let annotations = &placed["spec"]["template"]["metadata"]["annotations"];
    let record = annotations[RECORD].as_str().unwrap_or("{}");
    let record: Value = serde_json::from_str(record).context("the record of the policy")?;
    let platforms = record["images"][&image.image].as_array();
    Ok(match platforms {
        Some(platforms) => Support::Platforms(
            platforms
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        ),
        // What is read in part is in no record.
        None => match response.architectures() {
            Some(architectures) => Support::Partly(architectures),
            None => Support::Anywhere,
        },
    })
}
