//! Settings that are valid and settings that aren't, shared by the tests of the reader and of the JSON Schema.

/// What a JSON Schema can tell of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    /// The same as the reader.
    Agrees,
    /// Nothing: the rule spans settings, or is one of syntax that JSON Schema doesn't know.
    CannotTell,
}

/// Settings that are valid.
pub(crate) const VALID: &[&str] = &[
    "null",
    "{}",
    r#"{"schedulableArchitectures": ["amd64", "arm64"]}"#,
    r#"{"schedulableArchitectures": []}"#,
    r#"{"schedulableArchitectures": ["x86_64", "x86-64", "aarch64", "arm64/v8"]}"#,
    r#"{"preferredArchitecture": "arm64"}"#,
    r#"{"preferredArchitecture": null}"#,
    r#"{"schedulableArchitectures": ["arm64"]}"#,
    r#"{"preferredArchitectureLabel": "example.com/architecture"}"#,
    r#"{"preferenceEnforcement": "preferred"}"#,
    r#"{"preferenceEnforcement": "preferred", "architectureWeights": {"arm64": 100, "amd64": 1}}"#,
    r#"{"architectureWeights": {}}"#,
    r#"{"operatingSystems": ["linux", "windows"]}"#,
    r#"{"matchNodeLabels": ["topology.kubernetes.io/zone", "team"]}"#,
    r#"{"registryProxies": [{"registry": "*.gcr.io", "proxy": "mirror.example.com:5000/gcr"}]}"#,
    r#"{"registryProxies": [{"registry": "docker.io", "proxy": "localhost"}]}"#,
    r#"{"registryProxies": [{"registry": "docker.io", "proxy": "[::1]:5000"}]}"#,
    r#"{"platformOverrides": [{"image": "registry.example.com/*", "platforms": ["linux/amd64", "linux/arm/v7"]}]}"#,
    r#"{"platformOverrides": [{"image": "*", "platforms": "any"}]}"#,
    r#"{"onLookupFailure": "reject"}"#,
    r#"{"onLookupFailure": "fallback", "fallbackArchitecture": "amd64"}"#,
    r#"{"onNoCommonArchitecture": "warn"}"#,
    r#"{"onUnsupportedSelection": "ignore"}"#,
    r#"{"tolerations": {"arm64": [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]}}"#,
    r#"{"tolerations": {"arm64": [{"operator": "Exists"}], "amd64": []}}"#,
    r#"{"tolerations": {"arm64": [{"key": "cores", "operator": "Gt", "value": "8"}, {"key": "cores", "operator": "Lt", "value": "16"}]}}"#,
    r#"{"schedulableArchitectures": ["arm32v7", "ARM64V8", "armv6l", "loongarch64", "mips64el", "wasm32"]}"#,
    r#"{"onUnfinishedLookups": "ignore"}"#,
    r#"{"registries": ["docker.io", "*.example.com"]}"#,
    r#"{"strict": {"namespaces": [], "requiredArchitectures": []}}"#,
    r#"{"tolerations": {"arm64": [{"key": "arch", "value": "arm64", "effect": "NoExecute", "tolerationSeconds": 60}]}}"#,
    r#"{"compatibleArchitectures": {"amd64": ["386"], "arm64": ["arm"]}}"#,
    r#"{"imageVolumes": false}"#,
    r#"{"strict": {"namespaces": ["prod-*"], "requiredArchitectures": ["arm64"]}}"#,
    r#"{"strict": {}}"#,
    r#"{"strict": {"namespaces": null, "requiredArchitectures": null}}"#,
    r#"{"lookupBudgetMilliseconds": 0}"#,
    r#"{"annotate": false}"#,
    r#"{"mutate": false}"#,
    r#"{"mutate": false, "onUnplaced": "accept"}"#,
    r#"{"mutate": false, "onUnplaced": "reject"}"#,
    r#"{"mutate": true, "onUnplaced": "accept"}"#,
    r#"{"preferenceRules": []}"#,
    r#"{"preferenceRules": [{"preferredArchitecture": "arm64"}]}"#,
    r#"{"preferenceRules": [{"namespaces": ["team-*"], "matchLabels": {"tier": "web", "example.com/empty": ""}, "preferredArchitecture": "arm64", "preferenceEnforcement": "preferred", "architectureWeights": {"arm64": 80, "amd64": 20}, "share": 20}, {"preferredArchitecture": null}]}"#,
    r#"{"preferenceRules": [{"preferredArchitecture": "arm64", "share": 0}, {"preferredArchitecture": "arm64", "share": 20}, {"preferredArchitecture": "s390x", "share": 50}, {"namespaces": ["a"], "preferredArchitecture": null}]}"#,
    r#"{"preferenceRules": [{"namespaces": ["a", "b"], "matchLabels": {"c": "d"}, "preferredArchitecture": "arm64"}, {"namespaces": ["a"], "preferredArchitecture": "arm64"}, {"matchLabels": {"c": "d"}, "preferredArchitecture": "arm64"}]}"#,
    r#"{"workloads": [{"group": "argoproj.io", "kind": "Rollout", "template": "spec.template"}, {"group": "apps.kruise.io", "kind": "StatefulSet", "template": "spec.template"}]}"#,
    r#"{"workloads": []}"#,
    r#"{"strict": null, "operatingSystems": null, "aKeyOfTheForm": null}"#,
];

/// Settings that aren't valid, with the errors, and whether the schema can tell.
pub(crate) const INVALID: &[(&str, &[&str], Schema)] = &[
    (
        "[]",
        &["settings: [] is a list, use an object"],
        Schema::Agrees,
    ),
    (
        r#"{"preferedArchitecture": "arm64"}"#,
        &[
            r#"preferedArchitecture: unknown setting with value "arm64", did you mean preferredArchitecture?"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"replicas": 3}"#,
        &["replicas: unknown setting with value 3, remove it"],
        Schema::Agrees,
    ),
    (
        r#"{"schedulableArchitectures": ["linux/amd64"]}"#,
        &[
            r#"schedulableArchitectures[0]: "linux/amd64" is not an architecture, use a GOARCH name such as amd64 or arm64"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"preferenceEnforcement": "prefered", "architectureWeights": {"arm64": 1}, "onLookupFailure": "fallback", "fallbackArchitecture": "am d"}"#,
        &[
            r#"preferenceEnforcement: "prefered" is unknown, use required or preferred"#,
            r#"fallbackArchitecture: "am d" is not an architecture, use a GOARCH name such as amd64 or arm64"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"platformOverrides": [{"image": "a", "platforms": ["any/amd64", "linux/foo_bar", "linux/arm/seven"]}]}"#,
        &[
            r#"platformOverrides[0].platforms[0]: "any/amd64" is not a platform, use any or a list of os/architecture[/variant], such as [linux/amd64]"#,
            r#"platformOverrides[0].platforms[1]: "linux/foo_bar" is not a platform, use any or a list of os/architecture[/variant], such as [linux/amd64]"#,
            r#"platformOverrides[0].platforms[2]: "linux/arm/seven" is not a platform, use any or a list of os/architecture[/variant], such as [linux/amd64]"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"tolerations": {"arm64": [{"key": "arch", "value": "a b"}]}}"#,
        &[
            r#"tolerations.arm64[0].value: "a b" is not the value of a taint, use at most 63 letters, digits, '-', '_' and '.'"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"lookupBudgetMilliseconds": 4294967296}"#,
        &[
            "lookupBudgetMilliseconds: 4294967296 is out of range, use a whole number of milliseconds, 0 for no limit",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"schedulableArchitectures": "amd64"}"#,
        &[r#"schedulableArchitectures: "amd64" is a string, use a list"#],
        Schema::Agrees,
    ),
    (
        r#"{"schedulableArchitectures": ["amd 64", 64]}"#,
        &[
            r#"schedulableArchitectures[0]: "amd 64" is not an architecture, did you mean amd64?"#,
            "schedulableArchitectures[1]: 64 is a number, use a GOARCH name such as amd64 or arm64",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"preferredArchitecture": "unknown"}"#,
        &[
            r#"preferredArchitecture: "unknown" is not an architecture, use a GOARCH name such as amd64 or arm64"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"preferredArchitecture": "arm64", "schedulableArchitectures": ["amd64"]}"#,
        &[
            r#"preferredArchitecture: "arm64" is not in schedulableArchitectures (amd64), add it there or use one of them"#,
        ],
        Schema::CannotTell,
    ),
    (
        r#"{"preferredArchitectureLabel": ""}"#,
        &[
            r#"preferredArchitectureLabel: "" is not a label key, use name or prefix/name of letters, digits, '-', '_' and '.'"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"preferenceEnforcement": "soft"}"#,
        &[r#"preferenceEnforcement: "soft" is unknown, use required or preferred"#],
        Schema::Agrees,
    ),
    (
        r#"{"architectureWeights": {"arm64": 50}}"#,
        &[
            "architectureWeights: weights need preferenceEnforcement: preferred, set it or remove them",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"preferenceEnforcement": "preferred", "architectureWeights": {"arm64": 0, "amd64": 101, "386": "1", "arm": 1.5}}"#,
        &[
            "architectureWeights.arm64: 0 is out of range, use a whole number from 1 to 100",
            "architectureWeights.amd64: 101 is out of range, use a whole number from 1 to 100",
            r#"architectureWeights.386: "1" is a string, use a whole number from 1 to 100"#,
            "architectureWeights.arm: 1.5 is out of range, use a whole number from 1 to 100",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"preferenceEnforcement": "preferred", "architectureWeights": {"x86_64": 1, "amd64": 2, "a b": 3}}"#,
        &[
            r#"architectureWeights.amd64: "amd64" is amd64 again, keep one of the two"#,
            r#"architectureWeights.a b: "a b" is not an architecture, use a GOARCH name such as amd64 or arm64"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"compatibleArchitectures": {"x86_64": ["386"], "amd64": ["386"]}}"#,
        &[r#"compatibleArchitectures.amd64: "amd64" is amd64 again, keep one of the two"#],
        Schema::CannotTell,
    ),
    (
        r#"{"operatingSystems": []}"#,
        &["operatingSystems: [] is empty, name at least one, such as linux"],
        Schema::Agrees,
    ),
    (
        r#"{"operatingSystems": ["linux/amd64"]}"#,
        &[
            r#"operatingSystems[0]: "linux/amd64" is not an operating system, use a GOOS name such as linux or windows"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"matchNodeLabels": ["", "a b"]}"#,
        &[
            r#"matchNodeLabels[0]: "" is not a label key, use name or prefix/name of letters, digits, '-', '_' and '.'"#,
            r#"matchNodeLabels[1]: "a b" is not a label key, use name or prefix/name of letters, digits, '-', '_' and '.'"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"registryProxies": [{"registry": "docker.io", "proxy": "https://mirror.example.com"}, {"proxy": "mirror"}, {"registry": "a", "proxy": "b.c", "port": 1}]}"#,
        &[
            r#"registryProxies[0].proxy: "https://mirror.example.com" is not a registry host, use host[:port][/prefix] without a scheme, such as mirror.example.com/dockerhub"#,
            "registryProxies[1].registry: missing, give it a value",
            r#"registryProxies[1].proxy: "mirror" is not a registry host, use host[:port][/prefix] without a scheme, such as mirror.example.com/dockerhub"#,
            "registryProxies[2].port: unknown setting with value 1, did you mean proxy?",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"registryProxies": [{"registry": "[a", "proxy": "b.c"}]}"#,
        &[
            r#"registryProxies[0].registry: "[a" is not a glob (invalid range pattern at character 0), use a pattern such as ghcr.io/acme/*"#,
        ],
        Schema::CannotTell,
    ),
    (
        r#"{"platformOverrides": [{"image": "", "platforms": "all"}, {"image": "a", "platforms": []}, {"image": "a", "platforms": ["amd64"]}, {"image": 1, "platforms": true}, 7]}"#,
        &[
            r#"platformOverrides[0].image: "" is empty, use a pattern such as ghcr.io/acme/*"#,
            r#"platformOverrides[0].platforms: "all" is unknown, use any or a list of os/architecture[/variant], such as [linux/amd64]"#,
            "platformOverrides[1].platforms: [] is empty, use any or a list of os/architecture[/variant], such as [linux/amd64]",
            r#"platformOverrides[2].platforms[0]: "amd64" is not a platform, use any or a list of os/architecture[/variant], such as [linux/amd64]"#,
            "platformOverrides[3].image: 1 is a number, use a pattern such as ghcr.io/acme/*",
            "platformOverrides[3].platforms: true is a boolean, use any or a list of os/architecture[/variant], such as [linux/amd64]",
            "platformOverrides[4]: 7 is a number, use an object with image, platforms",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"onLookupFailure": "allow"}"#,
        &[r#"onLookupFailure: "allow" is unknown, use ignore or fallback or reject"#],
        Schema::Agrees,
    ),
    (
        r#"{"onLookupFailure": "fallback"}"#,
        &[
            "fallbackArchitecture: missing, onLookupFailure: fallback needs an architecture to fall back to",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"onLookupFailure": "fallback", "fallbackArchitecture": "arm64", "schedulableArchitectures": ["amd64"]}"#,
        &[
            r#"fallbackArchitecture: "arm64" is not in schedulableArchitectures (amd64), add it there or use one of them"#,
        ],
        Schema::CannotTell,
    ),
    (
        r#"{"fallbackArchitecture": "amd64"}"#,
        &[
            r#"fallbackArchitecture: "amd64" is given without onLookupFailure: fallback, set it or remove this"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"strict": {"requiredArchitectures": ["arm64"]}}"#,
        &["strict.namespaces: missing, requiredArchitectures hold in the namespaces that it lists"],
        Schema::Agrees,
    ),
    (
        r#"{"preferredArchitecture": "amr64", "operatingSystems": ["linus"], "compatibleArchitectures": {"aarch46": []}}"#,
        &[
            r#"preferredArchitecture: "amr64" is not an architecture, did you mean amd64?"#,
            r#"operatingSystems[0]: "linus" is not an operating system, did you mean linux?"#,
            r#"compatibleArchitectures.aarch46: "aarch46" is not an architecture, use a GOARCH name such as amd64 or arm64"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"onUnfinishedLookups": "wait", "registries": ["[a"]}"#,
        &[
            r#"registries[0]: "[a" is not a glob (invalid range pattern at character 0), use a pattern such as ghcr.io/acme/*"#,
            r#"onUnfinishedLookups: "wait" is unknown, use reject or ignore"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"tolerations": {"arm64": [{"operator": "Lt", "value": "1"}, {"key": "a", "operator": "Gt", "value": "b"}, {"key": "a", "operator": "Gt"}]}}"#,
        &[
            r#"tolerations.arm64[0].key: "" is empty with operator Lt or Gt, give a key"#,
            r#"tolerations.arm64[1].value: "b" is no number, use a whole number with operator Lt or Gt"#,
            r#"tolerations.arm64[2].value: "" is no number, use a whole number with operator Lt or Gt"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"onNoCommonArchitecture": "ignore"}"#,
        &[r#"onNoCommonArchitecture: "ignore" is unknown, use reject or warn"#],
        Schema::Agrees,
    ),
    (
        r#"{"onUnsupportedSelection": false}"#,
        &["onUnsupportedSelection: false is a boolean, use ignore or warn or reject"],
        Schema::Agrees,
    ),
    (
        r#"{"tolerations": {"arm64": [{"operator": "Equals", "key": "a"}, {"key": "a", "effect": "NoRun"}, {"operator": "Exists", "value": "v"}, {"operator": "Equal", "value": "v"}, {"key": "a b"}, {"key": "a", "tolerationSeconds": 5}, {"key": 1}, {"key": "a", "seconds": 3}]}}"#,
        &[
            r#"tolerations.arm64[0].operator: "Equals" is unknown, use Equal, Exists, Lt or Gt"#,
            r#"tolerations.arm64[1].effect: "NoRun" is unknown, use NoSchedule, PreferNoSchedule or NoExecute"#,
            r#"tolerations.arm64[2].value: "v" is given with operator Exists, remove it or use operator Equal"#,
            r#"tolerations.arm64[3].key: "" is empty with operator Equal, give a key or use operator Exists to tolerate every taint"#,
            r#"tolerations.arm64[4].key: "a b" is not a taint key, use name or prefix/name of letters, digits, '-', '_' and '.'"#,
            "tolerations.arm64[5].tolerationSeconds: 5 is given without effect NoExecute, remove it or use effect NoExecute",
            "tolerations.arm64[6].key: 1 is a number, use a string",
            "tolerations.arm64[7].seconds: unknown setting with value 3, use key, operator, value, effect, tolerationSeconds",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"tolerations": [{"operator": "Exists"}]}"#,
        &[
            r#"tolerations: [{"operator": "Exists"}] is a list, use an object with architectures as keys"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"compatibleArchitectures": {"amd64": "386"}}"#,
        &[r#"compatibleArchitectures.amd64: "386" is a string, use a list"#],
        Schema::Agrees,
    ),
    (
        r#"{"imageVolumes": "yes"}"#,
        &[r#"imageVolumes: "yes" is a string, use true or false"#],
        Schema::Agrees,
    ),
    (
        r#"{"strict": {"namespaces": "prod", "requiredArchitectures": ["?"], "mode": "on"}}"#,
        &[
            r#"strict.mode: unknown setting with value "on", use namespaces, requiredArchitectures"#,
            r#"strict.namespaces: "prod" is a string, use a list"#,
            r#"strict.requiredArchitectures[0]: "?" is not an architecture, use a GOARCH name such as amd64 or arm64"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"strict": {"namespaces": ["a"], "requiredArchitectures": ["arm64"]}, "schedulableArchitectures": ["amd64"]}"#,
        &[
            r#"strict.requiredArchitectures: "arm64" is not in schedulableArchitectures (amd64), add it there or use one of them"#,
        ],
        Schema::CannotTell,
    ),
    (
        r#"{"strict": true}"#,
        &["strict: true is a boolean, use an object with namespaces, requiredArchitectures"],
        Schema::Agrees,
    ),
    (
        r#"{"lookupBudgetMilliseconds": -1}"#,
        &[
            "lookupBudgetMilliseconds: -1 is out of range, use a whole number of milliseconds, 0 for no limit",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"lookupBudgetMilliseconds": "700ms"}"#,
        &[
            r#"lookupBudgetMilliseconds: "700ms" is a string, use a whole number of milliseconds, 0 for no limit"#,
        ],
        Schema::Agrees,
    ),
    (
        r#"{"annotate": 1, "imageVolumes": 0, "onLookupFailure": 2}"#,
        &[
            "onLookupFailure: 2 is a number, use ignore or fallback or reject",
            "imageVolumes: 0 is a number, use true or false",
            "annotate: 1 is a number, use true or false",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"preferenceRules": [{"namespaces": ["[a"], "share": 101, "matchLabels": {"a b": "c", "d": "e f", "g": 1}}, {"preferredArchitecture": "amr64", "share": -1, "matchLabels": []}, 3, {"preferredArchitecture": "arm64", "inherit": true}]}"#,
        &[
            r#"preferenceRules[0].namespaces[0]: "[a" is not a glob (invalid range pattern at character 0), use a pattern such as ghcr.io/acme/*"#,
            r#"preferenceRules[0].matchLabels.a b: "a b" is not a label key, use name or prefix/name of letters, digits, '-', '_' and '.'"#,
            r#"preferenceRules[0].matchLabels.d: "e f" is not the value of a label, use at most 63 letters, digits, '-', '_' and '.'"#,
            "preferenceRules[0].matchLabels.g: 1 is a number, use at most 63 letters, digits, '-', '_' and '.'",
            "preferenceRules[0].preferredArchitecture: missing, give it a value",
            "preferenceRules[0].share: 101 is out of range, use a whole number from 0 to 100",
            "preferenceRules[1].matchLabels: [] is a list, use an object with label keys as keys",
            r#"preferenceRules[1].preferredArchitecture: "amr64" is not an architecture, did you mean amd64?"#,
            "preferenceRules[1].share: -1 is out of range, use a whole number from 0 to 100",
            "preferenceRules[2]: 3 is a number, use an object with namespaces, matchLabels, preferredArchitecture, preferenceEnforcement, architectureWeights, share",
            "preferenceRules[3].inherit: unknown setting with value true, remove it",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"preferenceRules": [{"preferredArchitecture": "arm64", "architectureWeights": {"arm64": 1}}]}"#,
        &[
            "preferenceRules[0].architectureWeights: weights need preferenceEnforcement: preferred, set it or remove them",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"schedulableArchitectures": ["amd64"], "preferenceRules": [{"preferredArchitecture": "arm64"}]}"#,
        &[
            r#"preferenceRules[0].preferredArchitecture: "arm64" is not in schedulableArchitectures (amd64), add it there or use one of them"#,
        ],
        Schema::CannotTell,
    ),
    (
        r#"{"preferenceRules": [{"preferredArchitecture": "arm64", "share": 100}, {"namespaces": ["a"], "preferredArchitecture": "amd64", "share": 5}]}"#,
        &[
            "preferenceRules[1]: takes no workload, as preferenceRules[0] takes all that it matches: move it before that one, give it a larger share or remove it",
        ],
        Schema::CannotTell,
    ),
    (
        r#"{"preferenceRules": [{"namespaces": ["b", "a"], "preferredArchitecture": "arm64", "share": 20}, {"namespaces": ["a", "b"], "preferredArchitecture": "amd64", "share": 20}]}"#,
        &[
            "preferenceRules[1]: takes no workload, as preferenceRules[0] takes all that it matches: move it before that one, give it a larger share or remove it",
        ],
        Schema::CannotTell,
    ),
    (
        r#"{"mutate": "no"}"#,
        &[r#"mutate: "no" is a string, use true or false"#],
        Schema::Agrees,
    ),
    (
        r#"{"mutate": false, "onUnplaced": "warn"}"#,
        &[r#"onUnplaced: "warn" is unknown, use accept or reject"#],
        Schema::Agrees,
    ),
    (
        r#"{"onUnplaced": "reject"}"#,
        &[r#"onUnplaced: "reject" is given without mutate: false, set it or remove this"#],
        Schema::Agrees,
    ),
    (
        r#"{"workloads": [{"group": "argoproj.io", "kind": "Roll-out", "template": "spec..template"}, {"group": "", "kind": "A", "template": "/spec/template"}, {"kind": 1}]}"#,
        &[
            r#"workloads[0].kind: "Roll-out" is not a kind, use its name, such as Rollout"#,
            r#"workloads[0].template: "spec..template" is not a path to a Pod template, use keys with dots between them, such as spec.template"#,
            r#"workloads[1].group: "" is not an API group, use the group of its apiVersion, such as argoproj.io"#,
            r#"workloads[1].template: "/spec/template" is not a path to a Pod template, use keys with dots between them, such as spec.template"#,
            "workloads[2].group: missing, give it a value",
            "workloads[2].kind: 1 is a number, use its name, such as Rollout",
            "workloads[2].template: missing, give it a value",
        ],
        Schema::Agrees,
    ),
    (
        r#"{"workloads": [{"group": "apps", "kind": "Deployment", "template": "spec.template"}, {"group": "a.io", "kind": "A", "template": "spec.template"}, {"group": "a.io", "kind": "A", "template": "template"}]}"#,
        &[
            "workloads[0]: Deployment of apps is known without it, remove it",
            "workloads[2]: A of a.io is given twice, remove one",
        ],
        Schema::CannotTell,
    ),
];
