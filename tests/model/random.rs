//! Random Pods, images, settings and clusters.

use std::collections::BTreeMap;

use proptest::{
    collection::vec,
    option,
    prelude::{Just, Strategy, any, prop_oneof},
    sample::{select, subsequence},
};
use serde_json::{Map, Value, json};

use super::scheduler::Node;

pub(crate) const ARCHITECTURES: [&str; 5] = ["386", "amd64", "arm", "arm64", "s390x"];
pub(crate) const SYSTEMS: [&str; 2] = ["linux", "windows"];
const IMAGES: [&str; 5] = ["a", "b:1", "quay.io/c", "quay.io/c/d:2", "e"];

/// What a registry says of an image.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// An index with these platforms, and an attestation.
    Index(Vec<(&'static str, &'static str)>),
    /// A single manifest for this platform.
    Single(&'static str, &'static str),
    /// An error.
    Error,
    /// A Helm chart.
    Chart,
}

impl Answer {
    /// The platforms, where the image has a say.
    pub(crate) fn platforms(&self) -> Option<Vec<(&'static str, &'static str)>> {
        match self {
            Self::Index(platforms) => Some(platforms.clone()),
            Self::Single(os, architecture) => Some(vec![(os, architecture)]),
            Self::Error | Self::Chart => None,
        }
    }

    /// The answer to `oci_manifest`.
    pub(crate) fn manifest(&self) -> Result<String, String> {
        let image =
            |config: &str| json!({"config": {"mediaType": config}, "layers": []}).to_string();
        match self {
            Self::Index(platforms) => {
                let mut entries: Vec<Value> = platforms
                    .iter()
                    .map(|(os, architecture)| json!({"platform": {"os": os, "architecture": architecture}}))
                    .collect();
                entries.push(json!({"platform": {"os": "unknown", "architecture": "unknown"}}));
                Ok(json!({"manifests": entries}).to_string())
            }
            Self::Single(..) => Ok(image("application/vnd.oci.image.config.v1+json")),
            Self::Error => Err("not authorized".to_owned()),
            Self::Chart => Ok(image("application/vnd.cncf.helm.config.v1+json")),
        }
    }

    /// The answer to `oci_manifest_config`.
    pub(crate) fn config(&self) -> Result<String, String> {
        match self {
            Self::Single(os, architecture) => {
                Ok(json!({"config": {"os": os, "architecture": architecture}}).to_string())
            }
            _ => Err("no config".to_owned()),
        }
    }
}

/// A whole situation.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// The Pod.
    pub(crate) pod: Value,
    /// The settings.
    pub(crate) settings: Value,
    /// The registry, by image.
    pub(crate) registry: BTreeMap<&'static str, Answer>,
}

impl World {
    /// The request to create the Pod.
    pub(crate) fn request(&self) -> Value {
        request(&self.pod)
    }

    /// The images of the Pod, each once.
    pub(crate) fn images(&self) -> Vec<&str> {
        let mut images: Vec<&str> = Vec::new();
        for key in ["initContainers", "containers"] {
            for container in self.pod["spec"][key].as_array().into_iter().flatten() {
                let image = container["image"].as_str().unwrap_or_default();
                if !images.contains(&image) {
                    images.push(image);
                }
            }
        }
        images
    }

    /// How many images have platforms that are known.
    pub(crate) fn known_images(&self) -> usize {
        let is_known = |image: &&str| {
            self.registry[*image].platforms().is_some()
                || self.settings["onLookupFailure"] == "fallback"
        };
        self.images().into_iter().filter(is_known).count()
    }

    /// Whether a node with this system and architecture runs every image that has a say.
    pub(crate) fn runs(&self, os: &str, architecture: &str) -> bool {
        let compatible = |image: &str| {
            image == architecture
                || self.settings["compatibleArchitectures"][architecture]
                    .as_array()
                    .is_some_and(|list| list.iter().any(|runs| runs == image))
        };
        self.images().into_iter().all(|image| {
            let platforms = match &self.registry[image] {
                answer if answer.platforms().is_some() => answer.platforms(),
                _ if self.settings["onLookupFailure"] == "fallback" => {
                    let fallback = ARCHITECTURES
                        .into_iter()
                        .find(|name| self.settings["fallbackArchitecture"] == *name);
                    fallback.map(|fallback| SYSTEMS.iter().map(|os| (*os, fallback)).collect())
                }
                _ => None,
            };
            platforms.is_none_or(|platforms: Vec<(&str, &str)>| {
                platforms
                    .iter()
                    .any(|(of, name)| *of == os && compatible(name))
            })
        })
    }

    /// The operating systems of the cluster.
    pub(crate) fn systems(&self) -> Vec<&str> {
        match self.settings["operatingSystems"].as_array() {
            Some(systems) => systems.iter().filter_map(Value::as_str).collect(),
            None => vec!["linux"],
        }
    }

    /// A node of every kind that the cluster has.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        let mut nodes = Vec::new();
        for os in self.systems() {
            for architecture in ARCHITECTURES {
                for zone in [None, Some("a"), Some("b")] {
                    let mut labels = BTreeMap::new();
                    for prefix in ["", "beta."] {
                        labels.insert(format!("{prefix}kubernetes.io/os"), os.to_owned());
                        labels.insert(
                            format!("{prefix}kubernetes.io/arch"),
                            architecture.to_owned(),
                        );
                    }
                    for key in ["zone", "topology.kubernetes.io/zone"] {
                        if let Some(zone) = zone {
                            labels.insert(key.to_owned(), zone.to_owned());
                        }
                    }
                    nodes.push(Node {
                        name: format!("n{}", nodes.len() % 3),
                        labels,
                        taints: Vec::new(),
                    });
                }
            }
        }
        nodes
    }
}

/// The request to create `pod`.
pub(crate) fn request(pod: &Value) -> Value {
    json!({
        "uid": "1",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "CREATE",
        "namespace": "default",
        "object": pod
    })
}

fn architecture() -> impl Strategy<Value = &'static str> {
    select(&ARCHITECTURES[..])
}

fn platform() -> impl Strategy<Value = (&'static str, &'static str)> {
    let os = prop_oneof![4 => Just("linux"), 1 => Just("windows")];
    (os, architecture())
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        6 => vec(platform(), 1..6).prop_map(Answer::Index),
        2 => platform().prop_map(|(os, architecture)| Answer::Single(os, architecture)),
        1 => Just(Answer::Error),
        1 => Just(Answer::Chart),
    ]
}

fn registry() -> impl Strategy<Value = BTreeMap<&'static str, Answer>> {
    vec(answer(), IMAGES.len()).prop_map(|answers| IMAGES.into_iter().zip(answers).collect())
}

/// `value`, or one of the ways to say nothing.
fn or_nothing(
    value: impl Strategy<Value = Value> + 'static,
    empty: Value,
) -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        3 => value.prop_map(Some),
        2 => Just(None),
        1 => Just(Some(Value::Null)),
        1 => Just(Some(empty)),
    ]
}

fn object(members: Vec<(&'static str, Option<Value>)>) -> Value {
    let members = members
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn requirement() -> impl Strategy<Value = Value> {
    let key = select(vec![
        "kubernetes.io/arch",
        "kubernetes.io/arch",
        "beta.kubernetes.io/arch",
        "kubernetes.io/os",
        "beta.kubernetes.io/os",
        "zone",
        "topology.kubernetes.io/zone",
    ]);
    let operator = select(vec![
        "In",
        "In",
        "NotIn",
        "Exists",
        "DoesNotExist",
        "Gt",
        "Lt",
    ]);
    (
        key,
        operator,
        subsequence(ARCHITECTURES.to_vec(), 1..4),
        any::<bool>(),
    )
        .prop_map(|(key, operator, architectures, odd)| {
            let values = match (key, operator) {
                (_, "Exists" | "DoesNotExist") => None,
                (_, "Gt" | "Lt") => Some(json!(["400"])),
                ("zone" | "topology.kubernetes.io/zone", _) => Some(json!(["a"])),
                ("kubernetes.io/os" | "beta.kubernetes.io/os", "In")
                    if odd && architectures.len() > 1 =>
                {
                    Some(json!(["linux", "windows"]))
                }
                ("kubernetes.io/os" | "beta.kubernetes.io/os", _) if odd => {
                    Some(json!(["windows"]))
                }
                ("kubernetes.io/os" | "beta.kubernetes.io/os", _) => Some(json!(["linux"])),
                _ => Some(json!(architectures)),
            };
            object(vec![
                ("key", Some(json!(key))),
                ("operator", Some(json!(operator))),
                ("values", values),
            ])
        })
}

fn term() -> impl Strategy<Value = Value> {
    let expressions = or_nothing(
        vec(requirement(), 1..3).prop_map(|list| json!(list)),
        json!([]),
    );
    let field = json!({"key": "metadata.name", "operator": "In", "values": ["n0"]});
    let fields = prop_oneof![
        6 => Just(None),
        1 => Just(Some(json!([field]))),
        1 => Just(Some(json!([]))),
    ];
    (expressions, fields).prop_map(|(expressions, fields)| {
        object(vec![
            ("matchExpressions", expressions),
            ("matchFields", fields),
        ])
    })
}

fn affinity() -> impl Strategy<Value = Value> {
    let required =
        vec(term(), 1..4).prop_map(|terms| json!({"nodeSelectorTerms": terms, "new": 1}));
    let required =
        prop_oneof![3 => required.prop_map(Some), 2 => Just(None), 1 => Just(Some(Value::Null))];
    let soft =
        (1..100, term()).prop_map(|(weight, term)| json!([{"weight": weight, "preference": term}]));
    let node = (required, or_nothing(soft, json!([]))).prop_map(|(required, soft)| {
        object(vec![
            ("requiredDuringSchedulingIgnoredDuringExecution", required),
            ("preferredDuringSchedulingIgnoredDuringExecution", soft),
        ])
    });
    (or_nothing(node, json!({})), any::<bool>()).prop_map(|(node, pods)| {
        object(vec![
            ("podAffinity", pods.then(|| json!({"future": [1e300]}))),
            ("nodeAffinity", node),
        ])
    })
}

fn node_selector() -> impl Strategy<Value = Value> {
    vec(
        prop_oneof![
            2 => Just(("zone", "a")),
            2 => Just(("topology.kubernetes.io/zone", "a")),
            2 => Just(("kubernetes.io/os", "linux")),
            1 => Just(("beta.kubernetes.io/os", "windows")),
            1 => architecture().prop_map(|name| ("kubernetes.io/arch", name)),
            1 => architecture().prop_map(|name| ("beta.kubernetes.io/arch", name)),
        ],
        1..3,
    )
    .prop_map(|labels| {
        let labels = labels
            .into_iter()
            .map(|(key, value)| (key.to_owned(), json!(value)));
        Value::Object(labels.collect())
    })
}

fn toleration() -> impl Strategy<Value = Value> {
    select(vec![
        json!({"operator": "Exists"}),
        json!({"key": "arch", "operator": "Exists", "effect": "NoSchedule"}),
        json!({"key": "arch", "value": "arm64", "effect": "NoSchedule"}),
        json!({"key": "other", "value": "x", "tolerationSeconds": 5, "effect": "NoExecute"}),
    ])
}

fn containers(count: std::ops::Range<usize>) -> impl Strategy<Value = Value> {
    vec(select(&IMAGES[..]), count).prop_map(|images| {
        let containers = images.into_iter().enumerate().map(
            |(index, image)| json!({"name": format!("c{index}"), "image": image, "x": {"y": null}}),
        );
        Value::Array(containers.collect())
    })
}

fn metadata() -> impl Strategy<Value = Value> {
    let label = prop_oneof![architecture(), Just("mips"), Just("not an architecture")];
    let labels = (label, select(vec!["zone", "topology.kubernetes.io/zone"]))
        .prop_map(|(value, key)| json!({"arch.noe.adevinta.com/preferred": value, key: "a"}));
    let annotations = Just(json!({"a": "b"}));
    (
        or_nothing(labels, json!({})),
        or_nothing(annotations, json!({})),
    )
        .prop_map(|(labels, annotations)| {
            object(vec![
                ("name", Some(json!("app"))),
                ("labels", labels),
                ("annotations", annotations),
            ])
        })
}

/// A Pod.
pub(crate) fn pod() -> impl Strategy<Value = Value> {
    let spec = (
        or_nothing(node_selector(), json!({})),
        or_nothing(affinity(), json!({})),
        or_nothing(
            vec(toleration(), 1..3).prop_map(|list| json!(list)),
            json!([]),
        ),
        option::of(containers(0..3)),
        containers(1..4),
        prop_oneof![9 => Just(None), 1 => Just(Some(json!({"name": "windows"})))],
    )
        .prop_map(|(selector, affinity, tolerations, init, containers, os)| {
            object(vec![
                ("future", Some(json!([1, {"n": -1}]))),
                ("nodeSelector", selector),
                ("affinity", affinity),
                ("initContainers", init),
                ("containers", Some(containers)),
                ("tolerations", tolerations),
                ("os", os),
            ])
        });
    (metadata(), spec).prop_map(|(metadata, spec)| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    })
}

/// Valid settings.
pub(crate) fn settings() -> impl Strategy<Value = Value> {
    let schedulable = option::of(subsequence(ARCHITECTURES.to_vec(), 1..5));
    let preferred = option::of(option::of(architecture()));
    let soft = option::of(vec((architecture(), 1..100), 0..3));
    let systems = option::of(select(vec![
        json!(["linux"]),
        json!(["linux", "windows"]),
        json!(["windows", "linux"]),
    ]));
    let failure = select(vec!["ignore", "fallback", "reject"]);
    let common = select(vec!["reject", "warn"]);
    let unsupported = select(vec!["ignore", "warn", "reject"]);
    let tolerations = option::of(Just(json!({
        "arm64": [{"key": "arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}],
        "amd64": [{"key": "other", "operator": "Exists"}]
    })));
    let compatible = option::of(Just(json!({"amd64": ["386"], "arm64": ["arm", "amd64"]})));
    let flags = (
        any::<bool>(),
        prop_oneof![9 => Just(false), 1 => Just(true)],
        any::<bool>(),
    );
    (
        (schedulable, preferred, soft, systems),
        (failure, architecture(), common, unsupported),
        (tolerations, compatible, flags),
    )
        .prop_map(
            |(
                (schedulable, preferred, soft, systems),
                (failure, fallback, common, unsupported),
                (tolerations, compatible, (match_labels, strict, annotate)),
            )| {
                let is_schedulable = |name: &str| {
                    schedulable
                        .as_ref()
                        .is_none_or(|list: &Vec<&str>| list.contains(&name))
                };
                let preferred = preferred
                    .filter(|name| name.is_none_or(is_schedulable))
                    .map(|name| json!(name));
                let fallback =
                    (failure == "fallback" && is_schedulable(fallback)).then_some(fallback);
                let failure = if fallback.is_none() && failure == "fallback" {
                    "ignore"
                } else {
                    failure
                };
                let weights = soft.as_ref().map(|weights| {
                    let weights = weights
                        .iter()
                        .map(|(name, weight)| ((*name).to_owned(), json!(weight)));
                    Value::Object(weights.collect())
                });
                object(vec![
                    (
                        "preferenceEnforcement",
                        weights.as_ref().map(|_| json!("preferred")),
                    ),
                    ("architectureWeights", weights),
                    (
                        "schedulableArchitectures",
                        schedulable.map(|list| json!(list)),
                    ),
                    ("preferredArchitecture", preferred),
                    ("operatingSystems", systems),
                    ("onLookupFailure", Some(json!(failure))),
                    ("fallbackArchitecture", fallback.map(|name| json!(name))),
                    ("onNoCommonArchitecture", Some(json!(common))),
                    ("onUnsupportedSelection", Some(json!(unsupported))),
                    ("tolerations", tolerations),
                    ("compatibleArchitectures", compatible),
                    (
                        "matchNodeLabels",
                        match_labels.then(|| json!(["zone", "topology.kubernetes.io/zone"])),
                    ),
                    ("strict", strict.then(|| json!({"namespaces": ["def*"]}))),
                    ("annotate", annotate.then(|| json!(true))),
                ])
            },
        )
}

/// A whole situation.
pub(crate) fn world() -> impl Strategy<Value = World> {
    (pod(), settings(), registry()).prop_map(|(pod, settings, registry)| World {
        pod,
        settings,
        registry,
    })
}
