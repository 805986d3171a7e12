use super::*;
use node_architecture_json::Document;
use rstest::rstest;
use serde_json::{Value, json};

fn images(spec: Value, image_volumes: bool) -> Vec<(String, bool)> {
    let spec = spec.to_string();
    let spec = Document::parse(&spec).unwrap();
    images_of(&Field::root(spec.root(), "spec"), image_volumes)
        .unwrap()
        .into_iter()
        .map(|image| (image.reference, image.is_run))
        .collect()
}

fn run(references: &[&str]) -> Vec<(String, bool)> {
    references
        .iter()
        .map(|reference| ((*reference).to_owned(), true))
        .collect()
}

#[test]
fn images_come_in_order_and_each_once() {
    let spec = json!({
        "containers": [{"image": "b"}, {"image": "a"}, {"image": "b"}],
        "initContainers": [{"image": "init"}, {"image": "sidecar", "restartPolicy": "Always"}],
        "ephemeralContainers": [{"image": "debug"}]
    });
    assert_eq!(
        images(spec, true),
        run(&["init", "sidecar", "b", "a", "debug"])
    );
}

#[rstest]
#[case::absent(json!({"name": "a"}))]
#[case::null(json!({"image": null}))]
#[case::empty(json!({"image": ""}))]
fn a_container_without_an_image_is_skipped(#[case] container: Value) {
    assert_eq!(images(json!({"containers": [container]}), true), run(&[]));
}

#[test]
fn an_image_that_is_never_pulled_has_no_say_unless_it_is_pulled_elsewhere() {
    let never = |image: &str| json!({"image": image, "imagePullPolicy": "Never"});
    let spec = json!({"containers": [never("a"), never("b"), {"image": "b"}]});
    assert_eq!(images(spec, true), run(&["b"]));
}

#[test]
fn image_volumes_take_part_unless_switched_off() {
    let spec = json!({
        "containers": [{"image": "a"}],
        "volumes": [
            {"name": "v", "image": {"reference": "data"}},
            {"name": "w", "image": {"reference": "a"}},
            {"name": "x", "image": {"reference": "local", "pullPolicy": "Never"}},
            {"name": "y", "emptyDir": {}}
        ]
    });
    let with_volume = [run(&["a"]), vec![("data".to_owned(), false)]].concat();
    assert_eq!(images(spec.clone(), true), with_volume);
    assert_eq!(images(spec, false), run(&["a"]));
}

#[test]
fn lists_that_are_null_count_as_absent() {
    let spec = json!({"containers": null, "initContainers": null, "volumes": null});
    assert_eq!(images(spec, true), run(&[]));
}

#[rstest]
#[case::no_list(
    r#"{"containers": "nginx"}"#,
    "spec.containers: expected a list, got a string"
)]
#[case::no_object(
    r#"{"containers": [{}, 1]}"#,
    "spec.containers[1]: expected an object, got a number"
)]
#[case::no_string(
    r#"{"initContainers": [{"image": ["a"]}]}"#,
    "spec.initContainers[0].image: expected a string, got a list"
)]
fn what_is_of_another_type_is_named_by_its_path(#[case] spec: &str, #[case] expected: &str) {
    let spec = Document::parse(spec).unwrap();
    let mismatch = images_of(&Field::root(spec.root(), "spec"), true).unwrap_err();
    assert_eq!(mismatch.to_string(), expected);
}
