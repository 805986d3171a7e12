//! The images of a pod: which ones take part, and what each runs on.

use serde::Deserialize;

use crate::json::{Mismatch, Object, Text};

mod failure;
mod lookup;
mod manifest;
mod reference;

pub use failure::LookupFailure;
pub use lookup::{Finding, Lookups};
pub use reference::Reference;

/// An image that takes part in placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The reference as the pod has it.
    pub reference: String,
    /// Whether a container runs it; an image volume merely mounts it.
    pub is_run: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container<'a> {
    #[serde(borrow)]
    image: Option<Text<'a>>,
    #[serde(borrow)]
    image_pull_policy: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Volume<'a> {
    #[serde(borrow)]
    image: Option<ImageVolume<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImageVolume<'a> {
    #[serde(borrow)]
    reference: Option<Text<'a>>,
    #[serde(borrow)]
    pull_policy: Option<Text<'a>>,
}

/// The images of the pod whose `spec` this is, each once, in the order of the design, section 6: init containers,
/// containers, ephemeral containers, and with `image_volumes` the images mounted as volumes. An image that is never
/// pulled is left out: the node has it, or the pod fails whatever its architecture.
///
/// # Errors
/// [`Mismatch`] where a list of containers or volumes isn't one.
pub fn images_of(spec: &mut Object<'_>, image_volumes: bool) -> Result<Vec<Image>, Mismatch> {
    let mut images = Vec::new();
    for key in ["initContainers", "containers", "ephemeralContainers"] {
        for container in read_list::<Container<'_>>(spec, key)? {
            add(
                &mut images,
                container.image,
                container.image_pull_policy,
                true,
            );
        }
    }
    if image_volumes {
        for volume in read_list::<Volume<'_>>(spec, "volumes")? {
            if let Some(image) = volume.image {
                add(&mut images, image.reference, image.pull_policy, false);
            }
        }
    }
    Ok(images)
}

/// Adds an image unless it is there already.
fn add(
    images: &mut Vec<Image>,
    reference: Option<Text<'_>>,
    pull_policy: Option<Text<'_>>,
    is_run: bool,
) {
    let reference = reference.map(|text| text.0).unwrap_or_default();
    let is_pulled = pull_policy.is_none_or(|policy| policy.0 != "Never");
    if reference.is_empty() || !is_pulled {
        return;
    }
    match images.iter_mut().find(|image| image.reference == reference) {
        Some(image) => image.is_run |= is_run,
        None => images.push(Image {
            reference: reference.into_owned(),
            is_run,
        }),
    }
}

fn read_list<'o, T: Deserialize<'o>>(
    spec: &'o mut Object<'_>,
    key: &str,
) -> Result<Vec<T>, Mismatch> {
    let Some(value) = spec.get_some(key) else {
        return Ok(Vec::new());
    };
    value.read().map_err(|_| {
        let path = format!("spec.{key}");
        Mismatch::new(&path, "a list as in the Kubernetes API", value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn images(spec: Value, image_volumes: bool) -> Vec<(String, bool)> {
        let spec = spec.to_string();
        let mut spec = Json::parse(&spec).unwrap();
        images_of(spec.as_object().unwrap(), image_volumes)
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

    #[test]
    fn containers_that_are_no_list_are_named() {
        let mut spec = Json::parse(r#"{"containers": "nginx"}"#).unwrap();
        let mismatch = images_of(spec.as_object().unwrap(), true).unwrap_err();
        assert_eq!(
            mismatch.to_string(),
            "spec.containers: expected a list as in the Kubernetes API, got a string"
        );
    }
}
