//! Which images of a Pod take part.

use std::borrow::Cow;

use node_architecture_json::{Field, Json, Mismatch};

use crate::set::SortedMap;

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
pub fn images_of(spec: &Field<'_, '_>, image_volumes: bool) -> Result<Vec<Image>, Mismatch> {
    let mut images = Images::default();
    let [init_containers, containers, ephemeral_containers, volumes] = spec.fields([
        "initContainers",
        "containers",
        "ephemeralContainers",
        "volumes",
    ])?;
    for list in [init_containers, containers, ephemeral_containers]
        .iter()
        .flatten()
    {
        for container in list.elements()? {
            if container.json().is_null() {
                continue;
            }
            let [image, pull_policy] = container.fields(["image", "imagePullPolicy"])?;
            if let Some(image) = image {
                images.add(
                    image.string()?,
                    pull_policy.map(|policy| policy.json()),
                    true,
                );
            }
        }
    }
    if image_volumes && let Some(volumes) = volumes {
        for volume in volumes.elements()? {
            let Some(image) = volume.json().get("image") else {
                continue;
            };
            let [reference, pull_policy] = image.pick(["reference", "pullPolicy"]);
            let reference = reference.and_then(Json::as_str).unwrap_or_default();
            images.add(reference, pull_policy, false);
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
    fn add(&mut self, reference: Cow<'_, str>, pull_policy: Option<Json<'_>>, is_run: bool) {
        let pull_policy = pull_policy.and_then(Json::as_str);
        if reference.is_empty() || pull_policy.is_some_and(|policy| policy == "Never") {
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
mod tests;
