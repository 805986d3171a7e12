use rstest::rstest;
use serde_json::{Value, json};

use super::{placement::node_in, *};
use crate::{
    image::{ImageSupport, LookupFailure},
    platform::{Architecture, Platform},
    pod::PodObject,
    settings::Settings,
};
use node_architecture_json::{Document, Field};

/// A case: what the Pod is like, and the platforms of its images.
struct Case {
    settings: Value,
    spec: Value,
    label: Option<&'static str>,
    runs_everywhere: bool,
    namespace: &'static str,
    images: Vec<(String, ImageSupport)>,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            settings: json!({}),
            spec: json!({}),
            label: None,
            runs_everywhere: false,
            namespace: "default",
            images: Vec::new(),
        }
    }
}

/// Settings and a Pod's spec.
fn case(settings: Value, spec: Value) -> Case {
    Case {
        settings,
        spec,
        ..Case::default()
    }
}

impl Case {
    fn image(mut self, name: &str, platforms: &[&str]) -> Self {
        let platforms = platforms
            .iter()
            .map(|text| match text.strip_prefix("any/") {
                Some(architecture) => {
                    Platform::on_any_os(Architecture::parse(architecture).unwrap())
                }
                None => Platform::parse(text).unwrap(),
            })
            .collect();
        self.images
            .push((name.to_owned(), ImageSupport::Platforms(platforms)));
        self
    }

    fn failed(mut self, name: &str) -> Self {
        let failure = LookupFailure::Host("not authorized".to_owned());
        self.images
            .push((name.to_owned(), ImageSupport::Failed(failure)));
        self
    }

    fn no_say(mut self, name: &str) -> Self {
        self.images
            .push((name.to_owned(), ImageSupport::Unconstrained));
        self
    }

    fn decide(self) -> Decision {
        let settings = Settings::parse(&self.settings.to_string()).unwrap();
        let mut labels = json!({});
        if let Some(label) = self.label {
            labels[settings.preferred_architecture_label.as_str()] = json!(label);
        }
        let pod = json!({"metadata": {"labels": labels}, "spec": self.spec}).to_string();
        with_pod(
            &pod,
            &settings,
            self.namespace,
            self.runs_everywhere,
            |pod| {
                let mut candidates = Candidates::new(pod);
                for (image, support) in self.images {
                    if candidates.is_settled() {
                        break;
                    }
                    candidates.add(image, support);
                }
                decide(pod, &candidates, 0, None)
            },
        )
    }

    /// The outcome, with `rejected: ` before problems.
    fn verdict(self) -> String {
        verdict(&self.decide())
    }
}

/// What `read` makes of the Pod.
fn with_pod<T>(
    pod: &str,
    settings: &Settings,
    namespace: &str,
    runs_everywhere: bool,
    read: impl FnOnce(&PodContext<'_>) -> T,
) -> T {
    let document = Document::parse(pod).unwrap();
    let root = Field::root(document.root(), "");
    let spec = root.field("spec").unwrap().unwrap();
    let strict = settings.strict_in(namespace);
    let object = PodObject {
        namespace,
        bucket: 0,
        is_template: runs_everywhere,
        runs_everywhere,
        is_suspended: false,
    };
    read(&PodContext::read(&root, &spec, settings, strict, object, "placement").unwrap())
}

fn verdict(decision: &Decision) -> String {
    match &decision.outcome {
        Outcome::Rejected(_) => format!("rejected: {}", decision.outcome),
        outcome => outcome.to_string(),
    }
}

fn warnings(decision: &Decision) -> Vec<String> {
    decision.warnings.iter().map(Warning::to_string).collect()
}

fn multi(settings: Value, spec: Value) -> Case {
    case(settings, spec).image("app", &["linux/amd64", "linux/arm64"])
}

fn terms(terms: Value) -> Value {
    json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
}

fn arch(operator: &str, values: &[&str]) -> Value {
    json!({"matchExpressions": [{"key": "kubernetes.io/arch", "operator": operator, "values": values}]})
}

fn zone() -> Value {
    json!({"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]})
}

fn windows_too() -> Value {
    json!({"operatingSystems": ["linux", "windows"]})
}

// --- the choice between architectures

#[rstest]
#[case::default_preference(json!({}), "nodeSelector=amd64")]
#[case::another_preference(json!({"preferredArchitecture": "arm64"}), "nodeSelector=arm64")]
#[case::no_preference(json!({"preferredArchitecture": null}), "nodeAffinity=amd64,arm64")]
#[case::preference_that_no_image_has(json!({"preferredArchitecture": "s390x"}), "nodeAffinity=amd64,arm64")]
#[case::only_one_is_schedulable(json!({"schedulableArchitectures": ["arm64"]}), "nodeAffinity=arm64")]
#[case::soft(json!({"preferenceEnforcement": "preferred"}), "nodeAffinity=amd64,arm64 preferred=amd64:100")]
#[case::soft_without_preference(json!({"preferenceEnforcement": "preferred", "preferredArchitecture": null}), "nodeAffinity=amd64,arm64")]
#[case::weights(json!({"preferenceEnforcement": "preferred", "architectureWeights": {"arm64": 80, "amd64": 20, "s390x": 50}}), "nodeAffinity=amd64,arm64 preferred=amd64:20 preferred=arm64:80")]
fn the_settings_choose_when_images_leave_a_choice(#[case] settings: Value, #[case] expected: &str) {
    assert_eq!(multi(settings, json!({})).verdict(), expected);
}

#[rstest]
#[case::supported(json!({}), "arm64", "nodeSelector=arm64", None)]
#[case::other_notation(json!({}), "aarch64", "nodeSelector=arm64", None)]
#[case::unsupported(json!({}), "s390x", "nodeAffinity=amd64,arm64", Some("label arch.noe.adevinta.com/preferred=s390x not followed: not every image supports it (placed on amd64, arm64)"))]
#[case::unschedulable(json!({"schedulableArchitectures": ["amd64"]}), "arm64", "nodeSelector=amd64", Some("label arch.noe.adevinta.com/preferred=arm64 ignored: not one of amd64"))]
#[case::no_architecture(json!({}), "a b", "nodeSelector=amd64", Some("label arch.noe.adevinta.com/preferred=a b ignored: not an architecture"))]
#[case::soft(json!({"preferenceEnforcement": "preferred", "architectureWeights": {"amd64": 1}}), "arm64", "nodeAffinity=amd64,arm64 preferred=arm64:100", None)]
#[case::soft_and_unsupported(json!({"preferenceEnforcement": "preferred"}), "s390x", "nodeAffinity=amd64,arm64", Some("label arch.noe.adevinta.com/preferred=s390x not followed: not every image supports it (placed on amd64, arm64)"))]
fn the_label_of_the_pod_overrides_the_preference(
    #[case] settings: Value,
    #[case] label: &'static str,
    #[case] expected: &str,
    #[case] warning: Option<&str>,
) {
    let mut case = multi(settings, json!({}));
    case.label = Some(label);
    let decision = case.decide();
    assert_eq!(verdict(&decision), expected);
    assert_eq!(warnings(&decision).first().map(String::as_str), warning);
}

#[rstest]
#[case::required(json!({}))]
#[case::preferred(json!({"preferenceEnforcement": "preferred", "architectureWeights": {"arm64": 1}}))]
fn a_daemon_set_is_never_given_a_preference(#[case] settings: Value) {
    let mut case = multi(settings, json!({}));
    case.runs_everywhere = true;
    case.label = Some("arm64");
    assert_eq!(case.verdict(), "nodeAffinity=amd64,arm64");
}

#[test]
fn a_soft_preference_is_a_weighted_term_for_one_architecture() {
    let case = multi(json!({"preferenceEnforcement": "preferred"}), json!({}));
    let placement = case.decide().placement;
    let [preference] = placement.preferences.as_slice() else {
        panic!("{:?}", placement.preferences);
    };
    assert_eq!(preference.weight, 100);
    let expressions = preference.preference.match_expressions.as_deref();
    let expected = node_in("kubernetes.io/arch", vec!["amd64".to_owned()]);
    assert_eq!(expressions, Some([expected].as_slice()));
}

#[test]
fn the_soft_preference_of_the_user_replaces_the_default_but_not_the_label() {
    let spec = json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "preference": arch("In", &["arm64"])}
    ]}}});
    assert_eq!(
        multi(json!({}), spec.clone()).verdict(),
        "nodeAffinity=amd64,arm64"
    );
    let weighted =
        json!({"preferenceEnforcement": "preferred", "architectureWeights": {"arm64": 1}});
    assert_eq!(
        multi(weighted, spec.clone()).verdict(),
        "nodeAffinity=amd64,arm64"
    );
    let mut labelled = multi(json!({}), spec);
    labelled.label = Some("arm64");
    assert_eq!(labelled.verdict(), "nodeSelector=arm64");
}

#[test]
fn an_image_of_one_architecture_decides_for_all() {
    let images = multi(json!({}), json!({})).image("legacy", &["linux/arm64"]);
    assert_eq!(images.verdict(), "nodeAffinity=arm64");
}

#[test]
fn variants_do_not_matter_but_in_messages() {
    let armv6 = case(json!({}), json!({})).image("a", &["linux/arm/v6", "linux/arm/v7"]);
    assert_eq!(
        armv6.image("b", &["linux/arm/v7"]).verdict(),
        "nodeAffinity=arm"
    );
}

#[test]
fn rare_architectures_are_kept() {
    let image = case(json!({}), json!({}))
        .image("a", &["linux/riscv64", "linux/loong64", "linux/mips64le"]);
    assert_eq!(image.verdict(), "nodeAffinity=loong64,mips64le,riscv64");
}

// --- images without a say, and nothing in common

#[test]
fn images_without_a_say_do_not_narrow() {
    assert_eq!(
        multi(json!({}), json!({}))
            .no_say("data")
            .failed("x")
            .verdict(),
        "nodeSelector=amd64"
    );
    let none = case(json!({}), json!({})).no_say("data").failed("x");
    assert_eq!(none.verdict(), "unchanged: no image had a say");
}

#[test]
fn images_with_nothing_in_common_are_rejected_by_name_and_platform() {
    let images = || {
        case(json!({}), json!({}))
            .image("a", &["linux/amd64", "linux/arm/v7"])
            .image("b", &["linux/arm64"])
    };
    assert_eq!(
        images().verdict(),
        "rejected: NoCommonArchitecture: no architecture runs every image on linux: a (linux/amd64, linux/arm/v7), b (linux/arm64)"
    );
    let mut warned = images();
    warned.settings =
        json!({"onNoCommonArchitecture": "warn", "schedulableArchitectures": ["amd64", "arm64"]});
    let decision = warned.decide();
    assert_eq!(
        warnings(&decision),
        [
            "no architecture runs every image on linux: a (linux/amd64, linux/arm/v7), b (linux/arm64); schedulable architectures: amd64, arm64"
        ]
    );
    assert_eq!(
        verdict(&decision),
        "unchanged: no architecture runs every image"
    );
    assert!(decision.placement.is_empty());
}

#[test]
fn a_wasm_image_without_a_runtime_class_runs_on_no_node() {
    let image = case(json!({}), json!({})).image("a", &["wasi/wasm"]);
    assert_eq!(
        image.verdict(),
        "rejected: NoCommonArchitecture: no architecture runs every image on linux: a (wasi/wasm)"
    );
    let image = case(json!({}), json!({})).image("a", &["linux/wasm"]);
    assert!(image.verdict().starts_with("rejected"));
}

#[test]
fn nothing_is_looked_up_once_nothing_is_in_common() {
    let settings = Settings::parse("{}").unwrap();
    let platforms = |text: &str| {
        ImageSupport::Platforms([Platform::parse(text).unwrap()].into_iter().collect())
    };
    with_pod(r#"{"spec": {}}"#, &settings, "", false, |pod| {
        let mut candidates = Candidates::new(pod);
        assert!(!candidates.is_settled());
        candidates.add("a".to_owned(), platforms("linux/amd64"));
        assert!(!candidates.is_settled());
        candidates.add("b".to_owned(), platforms("linux/arm64"));
        assert!(candidates.is_settled());
    });
}

#[test]
fn a_failed_lookup_that_rejects_is_found_in_any_order() {
    let settings = json!({"onNoCommonArchitecture": "warn", "onLookupFailure": "reject"});
    let images = |settings: Value| {
        case(settings, json!({}))
            .image("a", &["linux/amd64"])
            .image("b", &["linux/arm64"])
            .failed("x")
    };
    assert_eq!(
        images(settings).verdict(),
        "rejected: UnreadableImages: cannot tell which platforms these images support: x (not authorized)"
    );
    let rejected_anyway = images(json!({"onLookupFailure": "reject"})).decide();
    assert_eq!(rejected_anyway.failed_lookups, 0);
}

// --- failed lookups

#[rstest]
#[case::ignore(json!({}), "nodeSelector=amd64", "image x ignored: not authorized")]
#[case::fallback(json!({"onLookupFailure": "fallback", "fallbackArchitecture": "arm64"}), "nodeAffinity=arm64", "image x counted as arm64: not authorized")]
fn a_failed_lookup_counts_as_the_settings_say(
    #[case] settings: Value,
    #[case] expected: &str,
    #[case] warning: &str,
) {
    let decision = multi(settings, json!({})).failed("x").decide();
    assert_eq!(warnings(&decision), [warning]);
    assert_eq!(decision.failed_lookups, 1);
    assert_eq!(verdict(&decision), expected);
}

#[test]
fn failed_lookups_can_be_rejected_all_by_name() {
    let settings = json!({"onLookupFailure": "reject"});
    let decision = multi(settings, json!({})).failed("x").failed("y").decide();
    assert_eq!(
        verdict(&decision),
        "rejected: UnreadableImages: cannot tell which platforms these images support: x (not authorized), y (not authorized)"
    );
    assert_eq!(decision.failed_lookups, 2);
    assert_eq!(warnings(&decision), [""; 0]);
}

#[test]
fn a_fallback_is_good_for_every_operating_system() {
    let settings = json!({"operatingSystems": ["windows"], "onLookupFailure": "fallback", "fallbackArchitecture": "amd64"});
    let case = case(settings, json!({})).failed("x");
    assert_eq!(case.verdict(), "nodeSelector=amd64");
}

#[test]
fn images_that_count_as_the_fallback_are_named() {
    let settings = json!({"onLookupFailure": "fallback", "fallbackArchitecture": "amd64", "onUnsupportedSelection": "reject"});
    let conflict = case(settings.clone(), json!({})).image("side", &["linux/arm64"]);
    assert_eq!(
        conflict.failed("app").verdict(),
        "rejected: NoCommonArchitecture: no architecture runs every image on linux: side (linux/arm64), app (counted as amd64)"
    );
    let selected = json!({"nodeSelector": {"kubernetes.io/arch": "arm64"}});
    assert_eq!(
        case(settings, selected).failed("app").verdict(),
        "rejected: UnsupportedSelection: the Pod selects arm64, which excludes every architecture that its images support on linux: app (counted as amd64)"
    );
}

#[test]
fn a_message_about_exclusion_names_the_schedulable_architectures() {
    let settings =
        json!({"schedulableArchitectures": ["amd64"], "onUnsupportedSelection": "reject"});
    let spec = terms(json!([arch("NotIn", &["amd64"])]));
    assert_eq!(
        multi(settings, spec).verdict(),
        "rejected: UnsupportedSelection: the Pod's node affinity excludes every architecture that its images support on linux: app (linux/amd64, linux/arm64); schedulable architectures: amd64"
    );
}

#[test]
fn a_long_list_of_platforms_is_cut() {
    let platforms: Vec<String> = (0..20)
        .map(|number| format!("linux/arm/v{number}"))
        .collect();
    let platforms: Vec<&str> = platforms.iter().map(String::as_str).collect();
    let verdict = case(json!({"schedulableArchitectures": ["amd64"]}), json!({}))
        .image("app", &platforms)
        .verdict();
    assert!(
        verdict.contains(" and 8 more); schedulable architectures: amd64"),
        "{verdict}"
    );
}

// --- what the user already said

#[rstest]
#[case::selector(json!({"nodeSelector": {"kubernetes.io/arch": "arm64"}}))]
#[case::alias(json!({"nodeSelector": {"beta.kubernetes.io/arch": "arm64"}}))]
#[case::every_term(terms(json!([arch("In", &["arm64"]), {}])))]
fn a_pod_that_selects_its_architecture_is_left_alone(#[case] spec: Value) {
    let decision = multi(json!({}), spec).decide();
    assert_eq!(warnings(&decision), [""; 0]);
    assert_eq!(
        verdict(&decision),
        "unchanged: the Pod selects its architecture"
    );
    assert!(decision.placement.is_empty());
}

#[rstest]
#[case::selector(json!({"nodeSelector": {"kubernetes.io/arch": "s390x"}}), "the Pod selects s390x, which excludes every architecture that its images support on linux: app (linux/amd64, linux/arm64)")]
#[case::terms(terms(json!([arch("In", &["s390x", "riscv64"])])), "the Pod selects riscv64, s390x, which excludes every architecture that its images support on linux: app (linux/amd64, linux/arm64)")]
#[case::keys_that_disagree(json!({"nodeSelector": {"kubernetes.io/arch": "amd64", "beta.kubernetes.io/arch": "arm64"}}), "the Pod selects amd64, arm64, which excludes every architecture that its images support on linux: app (linux/amd64, linux/arm64)")]
#[case::excluded(terms(json!([arch("NotIn", &["amd64", "arm64"])])), "the Pod's node affinity excludes every architecture that its images support on linux: app (linux/amd64, linux/arm64)")]
#[case::only_an_empty_term(terms(json!([{}])), "the Pod's node affinity excludes every architecture that its images support on linux: app (linux/amd64, linux/arm64)")]
fn an_unsupported_selection_is_ignored_warned_of_or_rejected(
    #[case] spec: Value,
    #[case] text: &str,
) {
    let with = |action: &str| multi(json!({"onUnsupportedSelection": action}), spec.clone());
    let ignored = with("ignore").decide();
    assert_eq!(warnings(&ignored), [""; 0]);
    assert!(ignored.placement.is_empty());
    let warned = with("warn").decide();
    assert_eq!(warnings(&warned), [text]);
    assert!(warned.placement.is_empty());
    assert_eq!(
        with("reject").verdict(),
        format!("rejected: UnsupportedSelection: {text}")
    );
}

#[test]
fn only_the_images_that_a_selection_excludes_are_named() {
    let spec = json!({"nodeSelector": {"kubernetes.io/arch": "arm64"}});
    let case = multi(json!({}), spec).image("side", &["linux/amd64"]);
    assert_eq!(
        warnings(&case.decide()),
        [
            "the Pod selects arm64, which excludes every architecture that its images support on linux: side (linux/amd64)"
        ]
    );
}

#[test]
fn a_selection_is_supported_if_one_of_its_architectures_is() {
    let case = case(json!({}), terms(json!([arch("In", &["amd64", "arm64"])])))
        .image("a", &["linux/arm64"]);
    assert_eq!(warnings(&case.decide()), [""; 0]);
}

#[test]
fn a_selection_is_held_to_the_images_and_not_to_the_schedulable_architectures() {
    let settings = json!({"schedulableArchitectures": ["amd64"]});
    let spec = json!({"nodeSelector": {"kubernetes.io/arch": "arm64"}});
    assert_eq!(warnings(&multi(settings, spec).decide()), [""; 0]);
}

#[rstest]
#[case::not_in(terms(json!([arch("NotIn", &["amd64"])])), "nodeAffinity=arm64")]
#[case::exists(terms(json!([arch("Exists", &[])])), "nodeSelector=amd64")]
#[case::not_in_one_of_two_terms(terms(json!([arch("NotIn", &["amd64"]), zone()])), "nodeAffinity=amd64,arm64 preferred=amd64:100")]
#[case::one_term_selects(terms(json!([arch("In", &["arm64"]), zone()])), "nodeAffinity=amd64,arm64 preferred=amd64:100")]
#[case::other_labels(terms(json!([zone()])), "nodeSelector=amd64")]
#[case::a_dead_term_beside(terms(json!([arch("DoesNotExist", &[]), zone()])), "nodeSelector=amd64")]
#[case::os_selected(json!({"nodeSelector": {"kubernetes.io/os": "linux"}}), "nodeSelector=amd64")]
fn a_preference_never_contradicts_the_users_terms(#[case] spec: Value, #[case] expected: &str) {
    assert_eq!(multi(json!({}), spec).verdict(), expected);
}

#[test]
fn a_label_that_the_users_terms_exclude_is_not_followed() {
    let mut case = multi(json!({}), terms(json!([arch("NotIn", &["arm64"])])));
    case.label = Some("arm64");
    let decision = case.decide();
    assert_eq!(
        warnings(&decision),
        [
            "label arch.noe.adevinta.com/preferred=arm64 not followed: the Pod's own affinity decides otherwise (placed on amd64)"
        ]
    );
}

#[test]
fn a_requirement_goes_into_every_term_that_selects_nothing() {
    let spec = terms(json!([zone(), {}, arch("In", &["arm64"]), zone()]));
    let placement = multi(json!({}), spec).decide().placement;
    assert_eq!(placement.requirements.len(), 1);
    assert_eq!(placement.requirements[0].terms, Some(vec![0, 3]));
    assert!(placement.node_selector.is_empty());
}

// --- tolerations

fn tolerations() -> Value {
    let of = |value: &str| json!([{"key": "arch", "value": value, "effect": "NoSchedule"}]);
    json!({"preferredArchitecture": null, "tolerations": {"arm64": of("arm64"), "s390x": of("s390x"), "amd64": of("arm64")}})
}

fn added_tolerations(case: Case) -> Vec<String> {
    let placement = case.decide().placement;
    placement
        .tolerations
        .into_iter()
        .filter_map(|toleration| toleration.value)
        .collect()
}

#[test]
fn tolerations_are_those_of_the_architectures_that_remain_each_once() {
    assert_eq!(
        added_tolerations(multi(tolerations(), json!({}))),
        ["arm64"]
    );
    let mut pinned = tolerations();
    pinned["preferredArchitecture"] = json!("amd64");
    pinned["tolerations"]["amd64"] = json!([]);
    assert_eq!(added_tolerations(multi(pinned, json!({}))), [""; 0]);
}

#[test]
fn a_toleration_that_is_covered_is_not_added() {
    let spec = json!({"tolerations": [{"operator": "Exists"}]});
    assert_eq!(added_tolerations(multi(tolerations(), spec)), [""; 0]);
}

#[test]
fn a_selected_architecture_gets_its_tolerations_if_every_image_supports_it() {
    let select = |name: &str| json!({"nodeSelector": {"kubernetes.io/arch": name}});
    assert_eq!(
        added_tolerations(multi(tolerations(), select("arm64"))),
        ["arm64"]
    );
    assert_eq!(
        added_tolerations(multi(tolerations(), select("s390x"))),
        [""; 0]
    );
}

// --- compatible architectures

#[test]
fn nodes_run_the_images_of_compatible_architectures() {
    let settings = json!({"compatibleArchitectures": {"amd64": ["386"], "arm64": ["amd64"]}, "preferredArchitecture": null});
    let case = case(settings, json!({}))
        .image("a", &["linux/386"])
        .image("b", &["linux/386", "linux/amd64"]);
    assert_eq!(case.verdict(), "nodeAffinity=386,amd64");
}

// --- operating systems

#[test]
fn the_first_operating_system_that_every_image_has_is_chosen_and_written_down() {
    let both = || case(windows_too(), json!({})).image("a", &["linux/amd64", "windows/amd64"]);
    assert_eq!(both().verdict(), "nodeSelector=amd64 os=linux");
    let windows = both().image("b", &["windows/amd64"]);
    assert_eq!(windows.verdict(), "nodeSelector=amd64 os=windows");
    let none = both().image("b", &["freebsd/amd64"]);
    assert_eq!(
        none.verdict(),
        "rejected: NoCommonArchitecture: no architecture runs every image on linux or windows: a (linux/amd64, windows/amd64), b (freebsd/amd64)"
    );
}

#[rstest]
#[case::of_two_with_nodes_one_the_pod_admits(&["linux/amd64", "windows/arm64"], "nodeAffinity=arm64 os=windows")]
#[case::of_two_with_nodes_none_the_pod_admits(&["linux/amd64", "windows/amd64"], "unchanged: the Pod excludes every architecture that its images support")]
fn an_operating_system_on_which_the_pod_admits_nodes_comes_before_one_where_it_admits_none(
    #[case] platforms: &[&str],
    #[case] expected: &str,
) {
    let case = case(windows_too(), terms(json!([arch("NotIn", &["amd64"])])));
    assert_eq!(case.image("a", platforms).verdict(), expected);
}

#[test]
fn an_operating_system_with_nodes_that_the_pod_excludes_comes_before_one_without_nodes() {
    let case = case(windows_too(), terms(json!([arch("NotIn", &["amd64"])])));
    assert_eq!(
        warnings(&case.image("a", &["windows/amd64"]).decide()),
        [
            "the Pod's node affinity excludes every architecture that its images support on windows: a (windows/amd64)"
        ]
    );
}

#[test]
fn windows_does_not_prove_linux() {
    let image = case(json!({}), json!({})).image("a", &["windows/amd64", "linux/arm64"]);
    assert_eq!(image.verdict(), "nodeAffinity=arm64");
}

#[test]
fn an_image_that_does_not_say_its_os_counts_for_any() {
    let image = case(json!({}), json!({})).image("a", &["any/arm64"]);
    assert_eq!(image.verdict(), "nodeAffinity=arm64");
}

#[rstest]
#[case::node_selector(json!({"nodeSelector": {"kubernetes.io/os": "windows"}}), "nodeSelector=amd64")]
#[case::affinity(terms(json!([{"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["windows"]}]}])), "nodeSelector=amd64")]
#[case::excluded(terms(json!([{"matchExpressions": [{"key": "kubernetes.io/os", "operator": "NotIn", "values": ["linux"]}]}])), "nodeSelector=amd64")]
#[case::os_of_the_pod(json!({"os": {"name": "windows"}}), "nodeSelector=amd64 os=windows")]
fn the_os_of_the_pod_is_respected(#[case] spec: Value, #[case] expected: &str) {
    let image = case(windows_too(), spec).image("a", &["linux/arm64", "windows/amd64"]);
    assert_eq!(image.verdict(), expected);
}

#[test]
fn the_system_is_written_into_each_term_that_admits_another_one_of_the_cluster() {
    let both = json!({"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux", "windows"]}]});
    for platforms in [&["linux/amd64"][..], &["linux/amd64", "windows/amd64"]] {
        let case = case(windows_too(), terms(json!([both]))).image("a", platforms);
        assert_eq!(case.verdict(), "nodeSelector=amd64 os=linux");
    }
}

#[test]
fn each_term_has_a_system_of_its_own() {
    let windows = json!({"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["windows"]}]});
    let spec = terms(json!([zone(), windows]));
    let case = case(windows_too(), spec).image("a", &["linux/amd64", "windows/amd64"]);
    let decision = case.decide();
    assert_eq!(verdict(&decision), "nodeSelector=amd64 os=linux");
    let [requirement] = decision.placement.requirements.as_slice() else {
        panic!("{:?}", decision.placement);
    };
    assert_eq!(requirement.requirement.key, "kubernetes.io/os");
    assert_eq!(requirement.terms, Some(vec![0]));
}

#[test]
fn the_os_requirement_stands_beside_that_of_the_architecture() {
    let mut settings = windows_too();
    settings["preferredArchitecture"] = json!(null);
    let case = multi(settings, json!({}));
    let placement = case.decide().placement;
    let keys: Vec<&str> = placement
        .requirements
        .iter()
        .map(|requirement| requirement.requirement.key.as_str())
        .collect();
    assert_eq!(keys, ["kubernetes.io/arch", "kubernetes.io/os"]);
}

// --- strict namespaces

fn strict(mut case: Case) -> Case {
    case.settings["strict"] = json!({"namespaces": ["prod"], "requiredArchitectures": ["arm64"]});
    case.namespace = "prod";
    case
}

#[rstest]
#[case::failed_lookup(multi(json!({}), json!({})).failed("x"), "rejected: UnreadableImages: cannot tell which platforms these images support: x (not authorized)")]
#[case::missing_os(case(json!({}), json!({})).image("a", &["any/arm64"]), "rejected: NoOperatingSystem: a doesn't say which operating system it needs")]
#[case::nothing_in_common(case(json!({"onNoCommonArchitecture": "warn"}), json!({})).image("a", &["linux/arm64"]).image("b", &["linux/s390x", "linux/arm64/v8"]).image("c", &["linux/amd64"]), "rejected: MissingArchitectures: c (linux/amd64) doesn't support arm64 on linux; NoCommonArchitecture: no architecture runs every image on linux: a (linux/arm64), b (linux/arm64/v8, linux/s390x), c (linux/amd64)")]
#[case::unsupported_selection(multi(json!({"onUnsupportedSelection": "ignore"}), json!({"nodeSelector": {"kubernetes.io/arch": "s390x"}})), "rejected: UnsupportedSelection: the Pod selects s390x, which excludes every architecture that its images support on linux: app (linux/amd64, linux/arm64)")]
#[case::required_architecture(multi(json!({}), json!({})).image("b", &["linux/amd64"]).image("c", &["linux/amd64"]), "rejected: MissingArchitectures: b (linux/amd64) doesn't support arm64 on linux; c (linux/amd64) doesn't support arm64 on linux")]
#[case::everything_in_order(multi(json!({}), json!({})), "nodeSelector=amd64")]
fn a_strict_namespace_rejects_whatever_is_unclear(#[case] case: Case, #[case] expected: &str) {
    assert_eq!(strict(case).verdict(), expected);
}

#[test]
fn other_namespaces_are_not_strict() {
    let mut case = strict(multi(json!({}), json!({})).failed("x"));
    case.namespace = "dev";
    assert_eq!(case.verdict(), "nodeSelector=amd64");
}

// --- order

#[test]
fn the_order_of_images_does_not_matter() {
    let names = ["a", "b", "c"];
    let platforms = [
        &["linux/amd64", "linux/arm64"][..],
        &["linux/arm64", "linux/s390x"],
        &["linux/arm64"],
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let mut images = case(json!({}), json!({}));
        for index in order {
            images = images.image(names[index], platforms[index]);
        }
        assert_eq!(images.verdict(), "nodeAffinity=arm64");
    }
}

#[test]
fn warnings_come_in_order_of_importance() {
    let mut case = multi(json!({"onNoCommonArchitecture": "warn"}), json!({}))
        .failed("x")
        .image("b", &["linux/s390x"]);
    case.label = Some("!");
    let warnings = warnings(&case.decide());
    assert!(warnings[0].starts_with("no architecture"), "{warnings:?}");
    assert!(warnings[1].starts_with("image x"), "{warnings:?}");
}

#[test]
fn images_are_not_needed_where_a_selection_is_ignored() {
    let needs = |settings: &str, node_selector: Value| {
        let settings = Settings::parse(settings).unwrap();
        let pod = json!({"spec": {"nodeSelector": node_selector}}).to_string();
        with_pod(&pod, &settings, "prod", false, |pod| pod.needs_images())
    };
    let selected = || json!({"kubernetes.io/arch": "arm64"});
    assert!(!needs(
        r#"{"onUnsupportedSelection": "ignore"}"#,
        selected()
    ));
    assert!(needs(r#"{"onUnsupportedSelection": "ignore"}"#, json!({})));
    assert!(needs(r#"{"onUnsupportedSelection": "warn"}"#, selected()));
    assert!(needs(
        r#"{"onUnsupportedSelection": "ignore", "strict": {"namespaces": ["prod"]}}"#,
        selected()
    ));
    assert!(needs(
        r#"{"onUnsupportedSelection": "ignore", "tolerations": {"arm64": []}}"#,
        selected()
    ));
}
