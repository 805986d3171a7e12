use super::*;
use rstest::rstest;
use serde_json::{Value, json};

#[rstest]
#[case::itself(json!({"key": "arch", "operator": "Gt", "value": "1"}), json!({"key": "arch", "operator": "Gt", "value": "1"}), true)]
#[case::everything(json!({"operator": "Exists"}), json!({"key": "arch", "value": "arm64", "effect": "NoSchedule"}), true)]
#[case::key_of_any_effect(json!({"key": "arch", "operator": "Exists"}), json!({"key": "arch", "value": "arm64", "effect": "NoSchedule"}), true)]
#[case::another_key(json!({"key": "zone", "operator": "Exists"}), json!({"key": "arch", "operator": "Exists"}), false)]
#[case::empty_key_with_equal(json!({"key": "", "operator": "Equal"}), json!({"key": "arch"}), false)]
#[case::default_operator_is_equal(json!({"key": "arch", "value": "arm64", "effect": "NoSchedule"}), json!({"key": "arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}), true)]
#[case::another_value(json!({"key": "arch", "value": "arm64"}), json!({"key": "arch", "value": "amd64"}), false)]
#[case::equal_covers_no_exists(json!({"key": "arch"}), json!({"key": "arch", "operator": "Exists"}), false)]
#[case::another_effect(json!({"key": "arch", "operator": "Exists", "effect": "NoExecute"}), json!({"key": "arch", "operator": "Exists", "effect": "NoSchedule"}), false)]
#[case::one_effect_covers_not_all(json!({"key": "arch", "operator": "Exists", "effect": "NoSchedule"}), json!({"key": "arch", "operator": "Exists"}), false)]
#[case::shorter_time(json!({"key": "arch", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10}), json!({"key": "arch", "operator": "Exists", "effect": "NoExecute"}), false)]
#[case::longer_time(json!({"key": "arch", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10}), json!({"key": "arch", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}), true)]
#[case::no_time_limit(json!({"key": "arch", "operator": "Exists", "effect": "NoExecute"}), json!({"key": "arch", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}), true)]
#[case::unknown_operator(json!({"key": "arch", "operator": "Gt", "value": "1"}), json!({"key": "arch", "operator": "Gt", "value": "2"}), false)]
fn a_toleration_covers_another_by_the_rules_of_kubernetes(
    #[case] present: Value,
    #[case] toleration: Value,
    #[case] expected: bool,
) {
    let read = |value| serde_json::from_value::<Toleration>(value).unwrap();
    assert_eq!(covers(&read(present), &read(toleration)), expected);
}
