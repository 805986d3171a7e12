//! Requests as clusters send them, for benchmarks and for tests of what crosses the boundary.

#![allow(dead_code)] // Benchmarks and tests use a part of it each.

use std::sync::Arc;

use node_architecture_harness::capabilities::{Answers, Lookup};
use serde_json::{Value, json};

/// What an evaluation starts from.
pub(crate) struct Case {
    /// What is special about it, in a few words.
    pub(crate) name: &'static str,
    /// The admission request.
    pub(crate) request: Value,
    /// The settings.
    pub(crate) settings: Value,
    /// What the registry has.
    pub(crate) registry: Registry,
}

/// A registry whose images are all alike, answering from memory.
#[derive(Clone)]
pub(crate) struct Registry {
    manifest: Arc<str>,
    config: Option<Arc<str>>,
}

impl Case {
    /// The body of the call of `validate`.
    pub(crate) fn payload(&self) -> Vec<u8> {
        json!({"request": self.request, "settings": self.settings})
            .to_string()
            .into_bytes()
    }
}

/// The admission of `request` with default settings, where every image is an index.
fn multi_arch(name: &'static str, request: Value) -> Case {
    Case {
        name,
        request,
        settings: json!({}),
        registry: Registry::multi_arch(),
    }
}

/// Every case.
pub(crate) fn cases() -> Vec<Case> {
    let three = || creation_of(pod(3));
    let mut skipped = three();
    skipped["object"]["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": "DaemonSet",
        "name": "web", "uid": "0e8b4d0c-6f0b-4c6e-9d0f-3a8a51f0a9d4"
    }]);
    let mut selected = three();
    selected["object"]["spec"]["nodeSelector"] = json!({"kubernetes.io/arch": "arm64"});
    vec![
        multi_arch("1 container", creation_of(pod(1))),
        multi_arch("3 containers", three()),
        multi_arch("20 containers", creation_of(pod(20))),
        multi_arch("100 containers", creation_of(pod(100))),
        Case {
            registry: Registry::with_attestations(),
            ..multi_arch("3 containers, indexes of 4 entries", three())
        },
        Case {
            registry: Registry::official(),
            ..multi_arch("3 containers, indexes of 18 entries", three())
        },
        Case {
            registry: Registry::single(),
            ..multi_arch("3 containers, single manifests", three())
        },
        Case {
            settings: json!({"preferenceRules": rules(20)}),
            ..multi_arch("3 containers, 20 preference rules", three())
        },
        multi_arch("skipped: a Pod of a DaemonSet", skipped),
        multi_arch("the user selected arm64", selected.clone()),
        Case {
            settings: json!({"onUnsupportedSelection": "ignore"}),
            ..multi_arch("the user selected arm64, ignored", selected)
        },
        multi_arch("1 MB in one annotation", large(1, 1_000_000)),
        multi_arch("1 MB in 10,000 annotations", large(10_000, 80)),
    ]
}

/// Preference rules that take nothing, by namespace, labels and share.
fn rules(count: usize) -> Value {
    let rule = |number: usize| {
        json!({
            "namespaces": [format!("team-{number}-*")],
            "matchLabels": {"tier": format!("tier-{number}")},
            "preferredArchitecture": "arm64",
            "share": 50
        })
    };
    (0..count).map(rule).collect()
}

/// Cases that nobody writes but to harm: what they cost is measured.
pub(crate) fn harmful_cases() -> Vec<Case> {
    vec![
        multi_arch("8,000 required terms", creation_of(with_terms(8_000, 1))),
        multi_arch(
            "8,000 values in a requirement",
            creation_of(with_values(8_000)),
        ),
        Case {
            settings: json!({"tolerations": {"amd64": [{"key": "arch", "operator": "Exists"}]}}),
            ..multi_arch("8,000 tolerations", creation_of(with_tolerations(8_000)))
        },
        multi_arch("a forged record on 3,000 requirements", forged()),
    ]
}

/// Settings that use whatever there is.
pub(crate) fn full_settings() -> Value {
    json!({
        "schedulableArchitectures": ["amd64", "arm64"],
        "preferredArchitecture": "arm64",
        "preferredArchitectureLabel": "example.com/architecture",
        "preferenceEnforcement": "preferred",
        "architectureWeights": {"arm64": 80, "amd64": 20},
        "operatingSystems": ["linux", "windows"],
        "matchNodeLabels": ["example.com/pool"],
        "registryProxies": [{"registry": "docker.io", "proxy": "mirror.example.com/dockerhub"}],
        "platformOverrides": [{"image": "registry.example.com/*", "platforms": ["linux/amd64"]}],
        "onLookupFailure": "fallback",
        "fallbackArchitecture": "amd64",
        "onNoCommonArchitecture": "warn",
        "onUnsupportedSelection": "reject",
        "tolerations": {"arm64": [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]},
        "compatibleArchitectures": {"amd64": ["386"]},
        "imageVolumes": false,
        "strict": {"namespaces": ["prod-*"], "requiredArchitectures": ["arm64"]},
        "lookupBudgetMilliseconds": 500,
        "registries": ["docker.io", "*.example.com"],
        "onUnfinishedLookups": "ignore",
        "annotate": false,
        "preferenceRules": rules(2),
        "workloads": [{"group": "argoproj.io", "kind": "Rollout", "template": "spec.template"}],
        "mutate": false,
        "onUnplaced": "reject"
    })
}

/// A Pod as the API server hands it over: with defaults filled in, and the service account's token mounted.
fn pod(containers: usize) -> Value {
    let container = |number: usize| {
        json!({
            "name": format!("container-{number}"),
            "image": format!("ghcr.io/acme/service-{number}:1.{number}"),
            "imagePullPolicy": "IfNotPresent",
            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
            "env": [{"name": "LOG_LEVEL", "value": "info"}],
            "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "256Mi"}},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "volumeMounts": [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access-x7k2p", "readOnly": true}]
        })
    };
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": "web-6d4cf56db6-",
            "namespace": "shop",
            "creationTimestamp": null,
            "labels": {"app.kubernetes.io/name": "web", "pod-template-hash": "6d4cf56db6"},
            "ownerReferences": [{
                "apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": "ReplicaSet",
                "name": "web-6d4cf56db6", "uid": "0e8b4d0c-6f0b-4c6e-9d0f-3a8a51f0a9d4"
            }]
        },
        "spec": {
            "containers": (0..containers).map(container).collect::<Vec<_>>(),
            "dnsPolicy": "ClusterFirst",
            "enableServiceLinks": true,
            "preemptionPolicy": "PreemptLowerPriority",
            "priority": 0,
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "securityContext": {},
            "serviceAccountName": "web",
            "terminationGracePeriodSeconds": 30,
            "tolerations": [
                {"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300},
                {"effect": "NoExecute", "key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300}
            ],
            "volumes": [{"name": "kube-api-access-x7k2p", "projected": {"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
            ]}}]
        },
        "status": {}
    })
}

/// A Pod of one container with so many required terms of so many requirements.
fn with_terms(terms: usize, requirements: usize) -> Value {
    let requirement =
        |number: usize| json!({"key": format!("pool-{number}"), "operator": "Exists"});
    let requirements: Vec<Value> = (0..requirements).map(requirement).collect();
    let terms = vec![json!({ "matchExpressions": requirements }); terms];
    let mut pod = pod(1);
    pod["spec"]["affinity"] = required(&json!(terms));
    pod
}

/// A Pod of one container that selects among so many values.
fn with_values(values: usize) -> Value {
    let mut values: Vec<String> = (0..values).map(|number| format!("arch{number}")).collect();
    values.push("amd64".to_owned());
    let mut pod = pod(1);
    pod["spec"]["affinity"] = required(&json!([
        {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": values}]}
    ]));
    pod
}

/// A Pod of one container with so many tolerations.
fn with_tolerations(tolerations: usize) -> Value {
    let toleration =
        |number: usize| json!({"key": format!("taint-{number}"), "operator": "Exists"});
    let mut pod = pod(1);
    pod["spec"]["tolerations"] = (0..tolerations).map(toleration).collect();
    pod
}

/// An update of a Deployment with a forged record of nearly 16 KiB on a term of many requirements.
fn forged() -> Value {
    let mut template = with_terms(1, 3_000);
    let old = template.clone();
    let ours = json!([{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]);
    let terms: Vec<Value> = (0..130)
        .map(|number| json!({"rest": format!("{number:016x}"), "added": ours}))
        .collect();
    let record = json!({"version": 2, "base": "0", "terms": terms}).to_string();
    template["metadata"]["annotations"] = json!({"node-architecture-policy/placement": record});
    template["metadata"]["labels"]["version"] = json!("2");
    let deployment = |template: Value| {
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"template": template}
        })
    };
    let mut request = creation_of(deployment(template));
    request["kind"] = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    request["operation"] = json!("UPDATE");
    request["oldObject"] = deployment(old);
    request
}

fn required(terms: &Value) -> Value {
    json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}})
}

/// A Pod of one container with so many annotations of so many bytes.
fn large(annotations: usize, bytes: usize) -> Value {
    let mut pod = pod(1);
    pod["metadata"]["annotations"] = (0..annotations)
        .map(|number| {
            (
                format!("example.com/a{number:05}"),
                json!("x".repeat(bytes)),
            )
        })
        .collect();
    creation_of(pod)
}

fn creation_of(object: Value) -> Value {
    json!({
        "uid": "6f1e5a1c-0f4e-4b7e-8d8e-5f6a2b1c3d4e",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
        "requestResource": {"group": "", "version": "v1", "resource": "pods"},
        "name": "",
        "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {
            "username": "system:serviceaccount:kube-system:replicaset-controller",
            "uid": "8a9f6d7e-5c4b-4a3f-9e2d-1c0b9a8f7e6d",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"]
        },
        "object": object,
        "dryRun": false,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"}
    })
}

impl Registry {
    /// Every image has an index of two platforms.
    pub(crate) fn multi_arch() -> Self {
        Self {
            manifest: index(&["amd64", "arm64"], false).to_string().into(),
            config: None,
        }
    }

    /// Every image has an index of two platforms with an attestation each, as BuildKit pushes it.
    fn with_attestations() -> Self {
        Self {
            manifest: index(&["amd64", "arm64"], true).to_string().into(),
            config: None,
        }
    }

    /// Every image has an index of nine platforms with an attestation each, as Docker's official images have it.
    fn official() -> Self {
        let architectures = [
            "386", "amd64", "arm", "arm", "arm64", "mips64le", "ppc64le", "riscv64", "s390x",
        ];
        Self {
            manifest: index(&architectures, true).to_string().into(),
            config: None,
        }
    }

    /// Every image has a single manifest, whose config names the platform.
    fn single() -> Self {
        let manifest = manifest();
        let config = json!({
            "manifest": manifest,
            "digest": digest(0),
            "config": {
                "architecture": "amd64", "os": "linux", "created": "2026-01-01T00:00:00Z",
                "config": {"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"], "Cmd": ["/app"]},
                "rootfs": {"type": "layers", "diff_ids": [digest(1), digest(2)]},
                "history": [{"created": "2026-01-01T00:00:00Z", "created_by": "COPY /app /app # buildkit"}]
            }
        });
        Self {
            manifest: manifest.to_string().into(),
            config: Some(config.to_string().into()),
        }
    }
}

impl Answers for Registry {
    fn answer(&mut self, lookup: &Lookup) -> Result<String, String> {
        let answer = match lookup {
            Lookup::Manifest(_) => Some(&self.manifest),
            Lookup::ManifestAndConfig(_) => self.config.as_ref(),
        };
        answer
            .map(|answer| answer.as_ref().to_owned())
            .ok_or_else(|| "no config".to_owned())
    }
}

fn digest(number: usize) -> String {
    format!("sha256:{number:064x}")
}

fn index(architectures: &[&str], has_attestations: bool) -> Value {
    const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
    let image = |(number, architecture): (usize, &&str)| {
        json!({
            "mediaType": MANIFEST, "digest": digest(number), "size": 2290,
            "platform": {"architecture": architecture, "os": "linux"}
        })
    };
    let attestation = |(number, _): (usize, &&str)| {
        json!({
            "mediaType": MANIFEST, "digest": digest(100 + number), "size": 841,
            "annotations": {
                "vnd.docker.reference.digest": digest(number),
                "vnd.docker.reference.type": "attestation-manifest"
            },
            "platform": {"architecture": "unknown", "os": "unknown"}
        })
    };
    let entries = architectures.iter().enumerate();
    let attested = entries.clone().filter(|_| has_attestations);
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": entries.map(image).chain(attested.map(attestation)).collect::<Vec<_>>()
    })
}

fn manifest() -> Value {
    let blob = |kind: &str, number| json!({"mediaType": format!("application/vnd.oci.image.{kind}"), "digest": digest(number), "size": 1234});
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob("config.v1+json", 1),
        "layers": [blob("layer.v1.tar+gzip", 2), blob("layer.v1.tar+gzip", 3)]
    })
}
