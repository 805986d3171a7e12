//! The images of a pod: which ones take part, and what each runs on.

use std::borrow::Cow;

use crate::{
    json::{Json, Mismatch, Object},
    set::SortedMap,
};

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

/// The images of the pod whose `spec` this is, each once, in the order of the design, section 6: init containers,
/// containers, ephemeral containers, and with `image_volumes` the images mounted as volumes. An image that is never
/// pulled is left out: the node has it, or the pod fails whatever its architecture.
///
/// # Errors
/// [`Mismatch`] where a list of containers or volumes isn't one.
pub fn images_of(spec: &mut Object<'_>, image_volumes: bool) -> Result<Vec<Image>, Mismatch> {
    let mut images = Images::default();
    for path in [
        "spec.initContainers",
        "spec.containers",
        "spec.ephemeralContainers",
    ] {
        let key = path.trim_start_matches("spec.");
        for container in spec.list(key, path)?.into_iter().flatten() {
            if container.is_null() {
                continue;
            }
            let (mut image, mut pull_policy) = (None, None);
            for (key, value) in container.members(path)? {
                match &*key {
                    "image" => image = Some(value),
                    "imagePullPolicy" => pull_policy = Some(value),
                    _ => {}
                }
            }
            if let Some(image) = image {
                let pull_policy = pull_policy.as_ref().and_then(Json::as_str);
                images.add(image.str_at(path)?, pull_policy.as_deref(), true);
            }
        }
    }
    if image_volumes {
        for volume in spec.list("volumes", "spec.volumes")?.into_iter().flatten() {
            let image = volume
                .as_object()
                .and_then(|volume| volume.get_object("image"));
            if let Some(image) = image {
                let pull_policy = image.text("pullPolicy");
                let reference = image.get_str("reference").unwrap_or_default();
                images.add(reference, pull_policy.as_deref(), false);
            }
        }
    }
    Ok(images.list)
}

/// Images in order, each once.
#[derive(Default)]
struct Images {
    list: Vec<Image>,
    positions: SortedMap<usize>,
}

impl Images {
    /// Adds an image unless it is there already.
    fn add(&mut self, reference: Cow<'_, str>, pull_policy: Option<&str>, is_run: bool) {
        if reference.is_empty() || pull_policy == Some("Never") {
            return;
        }
        let position = self.positions.get(&reference).copied();
        match position.and_then(|position| self.list.get_mut(position)) {
            Some(image) => image.is_run |= is_run,
            None => {
                let reference = reference.into_owned();
                self.positions.insert(reference.clone(), self.list.len());
                self.list.push(Image { reference, is_run });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            "spec.containers: expected a list, got a string"
        );
    }
}
