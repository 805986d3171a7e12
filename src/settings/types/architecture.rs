//! Architectures and operating systems in the settings.

use node_architecture_json::{Field, JsonType};

#[cfg(feature = "schema")]
use crate::settings::value_type::ValueType;
use crate::{
    platform::{Architecture, Architectures, Os, Platform},
    settings::{
        reader::{Reader, nearest, shown_key},
        setting::Setting,
    },
};

const ARCHITECTURE_REMEDY: &str = "use a GOARCH name such as amd64 or arm64";
/// How many characters of a name an edit takes: short ones that differ by much have nothing to do with each other.
const CHARACTERS_PER_EDIT: usize = 3;
const OS_REMEDY: &str = "use a GOOS name such as linux or windows";

/// The remedy for `text`, which is none of `names`: the one that it may be a misspelling of.
fn remedy<'n>(text: &str, names: impl Iterator<Item = &'n str>, otherwise: &str) -> String {
    match nearest(text, names, text.len() / CHARACTERS_PER_EDIT) {
        Some(name) => format!("did you mean {name}?"),
        None => otherwise.to_owned(),
    }
}

/// The pattern of what [`Architecture::parse`] takes: GOARCH names and their aliases in any case, with a variant or without.
#[cfg(feature = "schema")]
fn architecture_pattern() -> String {
    format!("({})(/[vV][0-9]+)?", any_case(Architecture::spellings()))
}

/// The pattern of what [`Os::parse`] takes.
#[cfg(feature = "schema")]
fn os_pattern() -> String {
    format!("({})", any_case(Os::names()))
}

/// A pattern for one of `names` in any case; `*` stands for more letters.
#[cfg(feature = "schema")]
fn any_case<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let pattern = |name: &str| {
        name.chars()
            .map(|letter| match letter {
                '*' => "[A-Za-z]*".to_owned(),
                'a'..='z' => format!("[{}{letter}]", letter.to_ascii_uppercase()),
                other => other.to_string(),
            })
            .collect::<String>()
    };
    names.map(pattern).collect::<Vec<String>>().join("|")
}

impl Setting for Architecture {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let text = field.json().as_str().unwrap_or_default();
        let remedy = remedy(&text, Self::names(), ARCHITECTURE_REMEDY);
        reader.parsed(field, "an architecture", &remedy, Self::parse)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::text(&format!("^{}$", architecture_pattern()))
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.as_str().into()
    }
}

impl Setting for Architectures {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        Some(
            Vec::<Architecture>::read(reader, field)?
                .into_iter()
                .collect(),
        )
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        Vec::<Architecture>::describe()
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.iter()
            .map(|architecture| architecture.to_json())
            .collect()
    }
}

impl Setting for Os {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let text = field.json().as_str().unwrap_or_default();
        let remedy = remedy(&text, Self::names(), OS_REMEDY);
        reader.parsed(field, "an operating system", &remedy, Self::parse)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::text(&format!("^{}$", os_pattern()))
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.as_str().into()
    }
}

/// Operating systems in order of preference, each once and at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatingSystems(Vec<Os>);

impl OperatingSystems {
    /// Linux alone.
    pub fn linux() -> Self {
        Self(vec![Os::LINUX])
    }

    /// The systems, in order of preference.
    pub fn as_slice(&self) -> &[Os] {
        &self.0
    }
}

impl Setting for OperatingSystems {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        if field.json().is_empty() {
            reader.wrong(field, "empty", "name at least one, such as linux");
            return None;
        }
        let mut systems: Vec<Os> = Vec::new();
        for os in Vec::read(reader, field)? {
            if !systems.contains(&os) {
                systems.push(os);
            }
        }
        Some(Self(systems))
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::list(Os::describe()).with("minItems", 1)
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.0.to_json()
    }
}

impl Setting for Platform {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        reader.parsed(
            field,
            "a platform",
            super::image::PLATFORMS_REMEDY,
            Platform::parse,
        )
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::text(&format!("^{}/{}$", os_pattern(), architecture_pattern()))
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}

/// Values by architecture, sorted by it, so that nothing depends on the order of the settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ByArchitecture<T>(Vec<(Architecture, T)>);

impl<T> Default for ByArchitecture<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByArchitecture<T> {
    /// Whether there is no architecture.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The architectures with their values, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &(Architecture, T)> {
        self.0.iter()
    }

    /// The value of `architecture`.
    pub fn get(&self, architecture: Architecture) -> Option<&T> {
        let found = self.0.iter().find(|(known, _)| *known == architecture);
        found.map(|(_, value)| value)
    }
}

impl<T: Setting> Setting for ByArchitecture<T> {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let mut list: Vec<(Architecture, T)> = Vec::new();
        each_architecture(reader, field, &mut |reader, architecture, member| {
            let value = T::read(reader, member);
            if let (Some(architecture), Some(value)) = (architecture, value) {
                let at = list.partition_point(|(known, _)| *known < architecture);
                list.insert(at, (architecture, value));
            }
        })?;
        Some(Self(list))
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::by_architecture(&format!("^{}$", architecture_pattern()), T::describe())
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        let members = self.0.iter();
        members
            .map(|(architecture, value)| (architecture.to_string(), value.to_json()))
            .collect()
    }
}

/// Hands out the members of an object with architectures as keys; an invalid key is `None`.
fn each_architecture(
    reader: &mut Reader,
    field: &Field<'_, '_>,
    read: &mut dyn FnMut(&mut Reader, Option<Architecture>, &Field<'_, '_>),
) -> Option<()> {
    if field.json().json_type() != JsonType::Object {
        reader.wrong_type(field, "use an object with architectures as keys");
        return None;
    }
    let mut seen = Architectures::none();
    for (key, member) in field.json().members() {
        let architecture = Architecture::parse(&key);
        let key = shown_key(&key);
        let member = field.member(&key, member);
        let path = member.path();
        match architecture {
            None => {
                let remedy = remedy(&key, Architecture::names(), ARCHITECTURE_REMEDY);
                reader.errors.push(format!(
                    "{path}: \"{key}\" is not an architecture, {remedy}"
                ));
            }
            Some(known) if seen.contains(known) => reader.errors.push(format!(
                "{path}: \"{key}\" is {known} again, keep one of the two"
            )),
            Some(known) => seen.insert(known),
        }
        read(reader, architecture, &member);
    }
    Some(())
}
