//! Architectures and operating systems in the settings.

use node_architecture_json::{Field, JsonType};

#[cfg(feature = "schema")]
use crate::settings::value_type::ValueType;
use crate::{
    platform::{Architecture, Architectures, Os, Platform},
    settings::{
        reader::{Reader, shown_key},
        setting::Setting,
    },
};

const ARCHITECTURE_REMEDY: &str = "use a GOARCH name such as amd64 or arm64";
const OS_REMEDY: &str = "use a GOOS name such as linux or windows";

/// The architectures that [`Architecture::parse`] takes: GOARCH names and the aliases with other characters in them.
#[cfg(feature = "schema")]
const ARCHITECTURE: &str = "([A-Za-z0-9]{1,63}|[xX]86[_-]64)(/[vV][0-9]+)?";
#[cfg(feature = "schema")]
const OS: &str = "[A-Za-z0-9]{1,63}";

impl Setting for Architecture {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        let parse = Architecture::parse;
        reader.parsed(field, "an architecture", ARCHITECTURE_REMEDY, parse)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::text(
            &format!("^{ARCHITECTURE}$"),
            Some("^[uU][nN][kK][nN][oO][wW][nN](/|$)"),
        )
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.as_str().into()
    }
}

impl Setting for Architectures {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        Some(Vec::read(reader, field)?.into_iter().collect())
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        Vec::<Architecture>::describe()
    }

    #[cfg(feature = "schema")]
    fn to_json(&self) -> serde_json::Value {
        self.iter().map(Architecture::to_json).collect()
    }
}

impl Setting for Os {
    fn read(reader: &mut Reader, field: &Field<'_, '_>) -> Option<Self> {
        reader.parsed(field, "an operating system", OS_REMEDY, Os::parse)
    }

    #[cfg(feature = "schema")]
    fn describe() -> ValueType {
        ValueType::text(
            &format!("^{OS}$"),
            Some("^([aA][nN][yY]|[uU][nN][kK][nN][oO][wW][nN])$"),
        )
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
        Self(vec![Os::linux()])
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
        ValueType::text(
            &format!("^{OS}/{ARCHITECTURE}$"),
            Some("^([aA][nN][yY]|[uU][nN][kK][nN][oO][wW][nN])/"),
        )
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
    pub fn get(&self, architecture: &Architecture) -> Option<&T> {
        let found = self.0.iter().find(|(known, _)| known == architecture);
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
        ValueType::by_architecture(&format!("^{ARCHITECTURE}$"), T::describe())
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
    let mut seen = Architectures::default();
    for (key, member) in field.json().members() {
        let architecture = Architecture::parse(&key);
        let key = shown_key(&key);
        let member = field.member(&key, member);
        let path = member.path();
        match &architecture {
            None => reader.errors.push(format!(
                "{path}: \"{key}\" is not an architecture, {ARCHITECTURE_REMEDY}"
            )),
            Some(known) if seen.contains(known) => reader.errors.push(format!(
                "{path}: \"{key}\" is {known} again, keep one of the two"
            )),
            Some(known) => seen.insert(known.clone()),
        }
        read(reader, architecture, &member);
    }
    Some(())
}
