//! The record of a template's placement, in its annotation. Design, section 10.

use node_architecture_json::{Document, Draft, DraftObject, Json, JsonType};

use super::{
    apply::Additions,
    json::{ANNOTATION, EXPRESSIONS, hash},
};
use crate::{
    platform::{ARCHITECTURE_LABEL, OS_LABEL, Platform, Platforms},
    settings::{LabelKey, Settings},
};

/// The longest record that is read or written.
const LONGEST_RECORD: usize = 16 * 1024;
/// More tolerations, or preferences, than settings have.
const MOST_ADDED: usize = 64;
/// The version of the format. Records of another one aren't read.
const VERSION: i64 = 2;

/// What a template's annotation says: for which base it was made, what was added, and what was known of the images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementRecord {
    /// The hash of the base that it was made for.
    pub base: String,
    /// What was added.
    pub added: Additions,
    /// The platforms of the images that were known.
    pub images: Vec<(String, Platforms)>,
}

impl PlacementRecord {
    /// The record of what was `added` to the template whose base has the canonical text `base`.
    pub fn new(base: &str, added: Additions, images: Vec<(String, Platforms)>) -> Self {
        Self {
            base: hash(base),
            added,
            images,
        }
    }

    /// Whether it was made for the base with the canonical text `base`.
    pub fn is_for(&self, base: &str) -> bool {
        self.base == hash(base)
    }

    /// The platforms that were known of `image`.
    pub fn platforms_of(&self, image: &str) -> Option<&Platforms> {
        let found = self.images.iter().find(|(known, _)| known == image);
        found.map(|(_, platforms)| platforms)
    }

    /// The text of the annotation; without the images where it would be too long with them, `None` where it is without
    /// them, too.
    pub fn to_annotation(&self) -> Option<String> {
        let fits = |text: &String| text.len() <= LONGEST_RECORD;
        let text = self.text(true);
        if fits(&text) {
            return Some(text);
        }
        Some(self.text(false)).filter(fits)
    }

    fn text(&self, with_images: bool) -> String {
        fn values(texts: &[String]) -> Draft<'_> {
            let values = texts.iter().filter_map(|text| Draft::parse(text).ok());
            values.collect()
        }
        let mut node_selector = DraftObject::default();
        for (key, value) in &self.added.node_selector {
            node_selector.set(key, value.as_str());
        }
        let terms = self.added.terms.iter().map(|(rest, ours)| {
            DraftObject::default()
                .with("rest", rest.as_str())
                .with_some("added", Draft::parse(ours).ok())
        });
        let mut images = DraftObject::default();
        for (image, platforms) in self.images.iter().filter(|_| with_images) {
            let platforms = platforms.iter().map(|platform| platform.to_string());
            let platforms: Draft<'_> = platforms.map(|text| Draft::from(text.as_str())).collect();
            images.set(image, platforms);
        }
        let record = DraftObject::default()
            .with("version", VERSION)
            .with("base", self.base.as_str())
            .with_filled("nodeSelector", node_selector)
            .with_filled("terms", terms.collect::<Draft<'_>>())
            .with_filled("preferences", values(&self.added.preferences))
            .with_filled("tolerations", values(&self.added.tolerations))
            .with_filled("images", images);
        Draft::from(record).to_string()
    }

    /// The record in the annotation of a template; `None` where there is none that can be read.
    ///
    /// Anybody can write an annotation, so it counts only for what a policy with `settings` writes: labels of the node's
    /// architecture and operating system, those that `matchNodeLabels` names, soft terms on the architecture, and
    /// tolerations.
    pub fn of(template: Json<'_>, settings: &Settings) -> Option<Self> {
        let annotations = template.get("metadata")?.get("annotations")?;
        let text = annotations.get(ANNOTATION)?.as_str()?;
        if text.len() > LONGEST_RECORD {
            return None;
        }
        let document = Document::parse(&text).ok()?;
        let [
            version,
            base,
            selector,
            terms,
            preferences,
            tolerations,
            images,
        ] = document.root().pick([
            "version",
            "base",
            "nodeSelector",
            "terms",
            "preferences",
            "tolerations",
            "images",
        ]);
        if version.and_then(Json::as_integer) != Some(VERSION) {
            return None;
        }
        let is_ours = |key: &str| {
            let is_matched = |matched: &LabelKey| matched.as_str() == key;
            key == ARCHITECTURE_LABEL
                || key == OS_LABEL
                || settings.match_node_labels.iter().any(is_matched)
        };
        let key_is_ours = |requirement: Json<'_>| {
            let key = requirement.get("key").and_then(Json::as_str);
            key.is_some_and(|key| is_ours(&key))
        };
        let mut record = Self {
            base: base?.as_str()?.into_owned(),
            ..Self::default()
        };
        for (key, value) in selector.into_iter().flat_map(Json::members) {
            if let Some(value) = value.as_str().filter(|_| is_ours(&key)) {
                let label = (key.into_owned(), value.into_owned());
                record.added.node_selector.push(label);
            }
        }
        for term in terms.into_iter().flat_map(Json::elements) {
            let [rest, added] = term.pick(["rest", "added"]);
            let rest = rest.and_then(Json::as_str);
            if let (Some(rest), Some(added)) = (rest, added)
                && !added.is_empty()
                && added.elements().all(key_is_ours)
            {
                let term = (rest.into_owned(), added.canonical());
                record.added.terms.push(term);
            }
        }
        for preference in few(preferences) {
            let term = preference.get("preference").unwrap_or(Json::NULL);
            let expressions = term.get(EXPRESSIONS).unwrap_or(Json::NULL);
            let is_on_architecture = |requirement: Json<'_>| {
                let key = requirement.get("key").and_then(Json::as_str);
                key.is_some_and(|key| key == ARCHITECTURE_LABEL)
            };
            if !expressions.is_null()
                && !expressions.is_empty()
                && expressions.elements().all(is_on_architecture)
            {
                record.added.preferences.push(preference.canonical());
            }
        }
        for toleration in few(tolerations) {
            record.added.tolerations.push(toleration.canonical());
        }
        for (image, platforms) in images.into_iter().flat_map(Json::members) {
            if platforms.json_type() == JsonType::List {
                let platforms = platforms.elements().filter_map(|text| remembered(text));
                let platforms: Platforms = platforms.collect();
                if !platforms.is_empty() {
                    record.images.push((image.into_owned(), platforms));
                }
            }
        }
        Some(record)
    }
}

/// The elements of a list, as many as there can be.
fn few<'a>(list: Option<Json<'a>>) -> impl Iterator<Item = Json<'a>> {
    list.into_iter().flat_map(Json::elements).take(MOST_ADDED)
}

/// A platform as a record has it: one on any operating system, too.
fn remembered(text: Json<'_>) -> Option<Platform> {
    let text = text.as_str()?;
    match text.strip_prefix("any/") {
        Some(rest) => {
            let platform = Platform::parse(&format!("linux/{rest}"))?;
            Some(Platform {
                os: None,
                ..platform
            })
        }
        None => Platform::parse(&text),
    }
}
