//! JSON that is opened only where it is read or changed.
//!
//! An admission request carries objects of up to a megabyte, of which the policy reads a few fields and changes fewer.
//! A [`Json`] starts as the text it came as; opening an object or an array splits it into its members, each of which
//! is text again. What is never opened is written back byte for byte, so unknown fields, the order of members and the
//! exact notation of numbers survive.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::value::RawValue;
use thiserror::Error;

/// The most members of an object that are compared whatever their order.
const MOST_SORTED: usize = 256;
/// How deep values are compared; the host's parser, like most, goes no deeper.
const DEEPEST: usize = 128;

/// A JSON value: text that was not looked into, or a value that was opened or made.
#[derive(Debug)]
pub enum Json<'a> {
    /// The value as it came.
    Text(&'a RawValue),
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A string.
    String(String),
    /// An object whose members can be read and changed.
    Object(Object<'a>),
    /// An array whose elements can be read and changed.
    Array(Vec<Json<'a>>),
}

/// The members of a JSON object, in order.
#[derive(Debug, Default)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

/// What a member was before it was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// It wasn't there.
    Absent,
    /// It was `null`.
    Null,
    /// It had a value, which it kept.
    Present,
}

/// A value has another type than the Kubernetes API gives it.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{path}: expected {expected}, got {found}")]
pub struct Mismatch {
    /// Where the value stands, such as `spec.nodeSelector`.
    pub path: String,
    /// What the API has there.
    pub expected: &'static str,
    /// What was found.
    pub found: &'static str,
}

impl Mismatch {
    /// The mismatch of `value` at `path`.
    pub fn new(path: &str, expected: &'static str, value: &Json<'_>) -> Self {
        Self {
            path: path.to_owned(),
            expected,
            found: value.type_name(),
        }
    }
}

/// A string that borrows from its source unless it has escapes; serde's own `Cow` never borrows.
#[derive(Deserialize)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'a> Json<'a> {
    /// Reads `text` as one JSON value, without looking into it.
    ///
    /// # Errors
    /// Where the text isn't JSON.
    pub fn parse(text: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(text).map(Self::Text)
    }

    /// The value's text, unless it was opened or made.
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(raw) => Some(raw.get()),
            _ => None,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null) || self.text() == Some("null")
    }

    /// Whether the value is an object or an array without members.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Object(object) => object.0.is_empty(),
            Self::Array(elements) => elements.is_empty(),
            Self::Text(raw) => {
                let text = raw.get();
                let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
                text.starts_with(['{', '[']) && inner.trim().is_empty()
            }
            _ => false,
        }
    }

    /// The members of the value, opened for reading and changing; `None` unless it is an object.
    pub fn as_object(&mut self) -> Option<&mut Object<'a>> {
        if let Self::Text(raw) = self {
            *self = Self::Object(Object::open(raw)?);
        }
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements of the value, opened for reading and changing; `None` unless it is an array.
    pub fn as_array(&mut self) -> Option<&mut Vec<Json<'a>>> {
        if let Self::Text(raw) = self {
            let raw: &'a RawValue = raw;
            if !raw.get().starts_with('[') {
                return None;
            }
            let elements: Vec<&'a RawValue> = serde_json::from_str(raw.get()).ok()?;
            *self = Self::Array(elements.into_iter().map(Self::Text).collect());
        }
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The value as a string; `None` for any other type.
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        if let Self::String(text) = self {
            return Some(Cow::Borrowed(text));
        }
        let text = self.text().filter(|text| text.starts_with('"'))?;
        serde_json::from_str::<Text<'_>>(text)
            .ok()
            .map(|text| text.0)
    }

    /// The value as a boolean; `None` for any other type.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Text(raw) => raw.get().parse().ok(),
            _ => None,
        }
    }

    /// The value as a whole number; `None` for any other type, and for numbers out of range or with a fraction.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Text(raw) => raw.get().parse().ok(),
            _ => None,
        }
    }

    /// Reads a value that is still text as a `T`, which may borrow from it.
    ///
    /// # Errors
    /// Where the value doesn't have the shape of a `T`.
    pub fn read<'s, T: Deserialize<'s>>(&'s self) -> serde_json::Result<T> {
        serde_json::from_str(self.text().unwrap_or_default())
    }

    /// Whether the value equals `other` as JSON: whatever the white space and the order of members, numbers by their
    /// notation.
    pub fn equals(&self, other: &Json<'_>) -> bool {
        if let (Some(one), Some(other)) = (self.text(), other.text())
            && one == other
        {
            return true;
        }
        self.canonical() == other.canonical()
    }

    /// A text that is the same for values that are equal as JSON: members sorted, strings without needless escapes. Of
    /// values that are huge or deeply nested it may differ, never the other way round.
    pub fn canonical(&self) -> String {
        canonical(self)
    }

    fn sort(&mut self, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        if let Some(object) = self.as_object() {
            // Insertion is quadratic, so large objects keep their order: in another one they count as another value.
            if object.0.len() <= MOST_SORTED {
                for member in std::mem::take(&mut object.0) {
                    let at = object.0.partition_point(|(key, _)| *key <= member.0);
                    object.0.insert(at, member);
                }
            }
            object.0.iter_mut().for_each(|(_, value)| value.sort(depth));
        } else if let Some(elements) = self.as_array() {
            elements.iter_mut().for_each(|element| element.sort(depth));
        } else if let Some(text) = self.as_str() {
            *self = Self::String(text.into_owned());
        }
    }

    /// What the value is, for messages: `a string`, `null`.
    pub fn type_name(&self) -> &'static str {
        let first = match self {
            Self::Text(raw) => raw.get().bytes().next(),
            Self::Null => Some(b'n'),
            Self::Bool(_) => Some(b't'),
            Self::Integer(_) => Some(b'0'),
            Self::String(_) => Some(b'"'),
            Self::Object(_) => Some(b'{'),
            Self::Array(_) => Some(b'['),
        };
        match first {
            Some(b'{') => "an object",
            Some(b'[') => "a list",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        }
    }
}

impl<'a> From<Object<'a>> for Json<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

impl From<&str> for Json<'_> {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

/// The values as an array.
impl<'a, T: Into<Json<'a>>> FromIterator<T> for Json<'a> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::Array(values.into_iter().map(Into::into).collect())
    }
}

/// The value's text.
impl fmt::Display for Json<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// Sorting opens values, so it is done on a copy.
fn canonical(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    match Json::parse(&text) {
        Ok(mut copy) => {
            copy.sort(DEEPEST);
            copy.to_string()
        }
        Err(_) => text,
    }
}

impl<'a> Object<'a> {
    fn open(raw: &'a RawValue) -> Option<Self> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    members.push((key.0, Json::Text(value)));
                }
                Ok(Object(members))
            }
        }
        if !raw.get().starts_with('{') {
            return None;
        }
        serde_json::Deserializer::from_str(raw.get())
            .deserialize_map(Members)
            .ok()
    }

    /// The members, in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Json<'a>)> {
        self.0.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// The canonical text of the object; see [`Json::canonical`].
    pub fn canonical(&self) -> String {
        canonical(self)
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The member `key`, `None` where it is absent; where a key stands twice, the last one counts, as in every parser.
    pub fn get(&mut self, key: &str) -> Option<&mut Json<'a>> {
        self.0
            .iter_mut()
            .rfind(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// The member `key`, `None` where it is absent or `null`.
    pub fn get_some(&mut self, key: &str) -> Option<&mut Json<'a>> {
        self.get(key).filter(|value| !value.is_null())
    }

    /// The member `key` as an object; `None` where it is absent or `null`.
    ///
    /// # Errors
    /// [`Mismatch`] at `path` where it is of another type.
    pub fn member(&mut self, key: &str, path: &str) -> Result<Option<&mut Self>, Mismatch> {
        let Some(value) = self.get_some(key) else {
            return Ok(None);
        };
        let mismatch = Mismatch::new(path, "an object", value);
        value.as_object().map(Some).ok_or(mismatch)
    }

    /// The member `key` as a list; `None` where it is absent or `null`.
    ///
    /// # Errors
    /// [`Mismatch`] at `path` where it is of another type.
    pub fn list(&mut self, key: &str, path: &str) -> Result<Option<&mut Vec<Json<'a>>>, Mismatch> {
        let Some(value) = self.get_some(key) else {
            return Ok(None);
        };
        let mismatch = Mismatch::new(path, "a list", value);
        value.as_array().map(Some).ok_or(mismatch)
    }

    /// The member `key` as a string; `None` where it is absent, empty or of another type.
    pub fn text(&mut self, key: &str) -> Option<String> {
        let text = self.get_str(key)?;
        (!text.is_empty()).then(|| text.into_owned())
    }

    /// The member `key` as a string; `None` where it is absent or of another type.
    pub fn get_str(&mut self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key).and_then(|value| value.as_str())
    }

    /// The member `key` as an object; `None` where it is absent or of another type.
    pub fn get_object(&mut self, key: &str) -> Option<&mut Object<'a>> {
        self.get(key).and_then(Json::as_object)
    }

    /// The member `key` as an array; `None` where it is absent or of another type.
    pub fn get_array(&mut self, key: &str) -> Option<&mut Vec<Json<'a>>> {
        self.get(key).and_then(Json::as_array)
    }

    /// Adds a member, which isn't there yet.
    pub fn with(mut self, key: &'static str, value: impl Into<Json<'a>>) -> Self {
        self.0.push((Cow::Borrowed(key), value.into()));
        self
    }

    /// Adds a member, which isn't there yet, if it has a value.
    pub fn with_some(self, key: &'static str, value: Option<impl Into<Json<'a>>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds a member, which isn't there yet, unless it is an empty object or array.
    pub fn with_filled(self, key: &'static str, value: Json<'a>) -> Self {
        if value.is_empty() {
            self
        } else {
            self.with(key, value)
        }
    }

    /// Sets the member `key`: in its place where it is present, at the end where it isn't.
    pub fn set(&mut self, key: &str, value: Json<'a>) {
        match self.get(key) {
            Some(present) => *present = value,
            None => self.0.push((Cow::Owned(key.to_owned()), value)),
        }
    }

    /// The member `key`, after setting it to `default` where it is absent or `null`, and what it was before.
    pub fn get_or_set(&mut self, key: &str, default: Json<'a>) -> (&mut Json<'a>, Prior) {
        let found = self.0.iter().rposition(|(name, _)| name == key);
        let index = found.unwrap_or_else(|| {
            self.0.push((Cow::Owned(key.to_owned()), Json::Null));
            self.0.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the index was found or made above")]
        let value = &mut self.0[index].1;
        let prior = match found {
            None => Prior::Absent,
            Some(_) if value.is_null() => Prior::Null,
            Some(_) => return (value, Prior::Present),
        };
        *value = default;
        (value, prior)
    }

    /// Takes the member `key` out; `None` where it is absent.
    pub fn take(&mut self, key: &str) -> Option<Json<'a>> {
        let index = self.0.iter().rposition(|(name, _)| name == key)?;
        Some(self.0.remove(index).1)
    }

    /// Removes the member `key`.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|(name, _)| name != key);
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(raw) => raw.serialize(serializer),
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::String(text) => serializer.serialize_str(text),
            Self::Object(object) => object.serialize(serializer),
            Self::Array(elements) => {
                let mut sequence = serializer.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    sequence.serialize_element(element)?;
                }
                sequence.end()
            }
        }
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn parse(text: &str) -> Json<'_> {
        Json::parse(text).unwrap()
    }

    #[rstest]
    #[case::numbers_beyond_the_range_of_floats(
        r#"{"a":123456789012345678901234567890,"b":1e999,"c":1.0}"#
    )]
    #[case::the_order_of_members(r#"{"z":1,"a":2,"m":{"y":1,"b":2}}"#)]
    #[case::unicode_and_escapes(r#"{"k\u00e9y":"\ud83d\ude00 \n","ü":"ß"}"#)]
    #[case::nesting_deeper_than_a_parser_recurses(&format!("{}{}", "[".repeat(5000), "]".repeat(5000)))]
    fn unopened_text_survives_byte_for_byte(#[case] text: &str) {
        assert_eq!(serde_json::to_string(&parse(text)).unwrap(), text);
    }

    #[test]
    fn an_opened_object_keeps_everything_but_the_member_that_was_set() {
        let mut json = parse(r#"{"z":1e999,"a":[1,2],"m":null}"#);
        let object = json.as_object().unwrap();
        object.set("a", "new".into());
        object.set("b", Json::Array(Vec::new()));
        assert_eq!(
            serde_json::to_string(&json).unwrap(),
            r#"{"z":1e999,"a":"new","m":null,"b":[]}"#
        );
    }

    #[rstest]
    #[case::absent("{}", Prior::Absent, r#"{"a":[]}"#)]
    #[case::null(r#"{"a":null,"b":1}"#, Prior::Null, r#"{"a":[],"b":1}"#)]
    #[case::present(r#"{"a":{}}"#, Prior::Present, r#"{"a":{}}"#)]
    fn a_member_is_made_where_it_is_absent_or_null(
        #[case] text: &str,
        #[case] prior: Prior,
        #[case] after: &str,
    ) {
        let mut json = parse(text);
        let object = json.as_object().unwrap();
        assert_eq!(object.get_or_set("a", Json::Array(Vec::new())).1, prior);
        assert_eq!(serde_json::to_string(&json).unwrap(), after);
    }

    #[test]
    fn the_last_of_two_equal_keys_counts() {
        let mut json = parse(r#"{"a":1,"a":2}"#);
        let object = json.as_object().unwrap();
        assert_eq!(object.get("a").unwrap().as_integer(), Some(2));
    }

    #[rstest]
    #[case::order_and_white_space(r#"{"a":[1, "x"],"b":null}"#, r#"{"b":null, "a":[1,"x"]}"#, true)]
    #[case::escapes(r#""\u0061""#, r#""a""#, true)]
    #[case::escaped_keys(r#"{"\u0061":1}"#, r#"{"a":1}"#, true)]
    #[case::order_of_elements("[1,2]", "[2,1]", false)]
    #[case::another_member(r#"{"a":1}"#, r#"{"a":1,"b":1}"#, false)]
    #[case::another_key(r#"{"a":1}"#, r#"{"b":1}"#, false)]
    #[case::another_type("1", r#""1""#, false)]
    #[case::numbers("1", "2", false)]
    #[case::empty("{}", "{ }", true)]
    #[case::nested(r#"{"a":[{"c":1,"b":"\u0062"}]}"#, r#"{"a":[{"b":"b","c":1}]}"#, true)]
    #[case::deeper_than_the_stack(&format!("{}{}", "[".repeat(50_000), "]".repeat(50_000)), "[]", false)]
    fn values_are_equal_as_json(#[case] one: &str, #[case] other: &str, #[case] expected: bool) {
        let (one, other) = (parse(one), parse(other));
        assert_eq!(one.equals(&other), expected);
        assert_eq!(other.equals(&one), expected);
        assert!(one.equals(&one));
    }

    #[rstest]
    #[case::null("null", "null")]
    #[case::string(r#""a""#, "a string")]
    #[case::number("-1", "a number")]
    #[case::boolean("true", "a boolean")]
    #[case::list("[]", "a list")]
    #[case::object("{}", "an object")]
    fn every_type_has_a_name(#[case] text: &str, #[case] name: &str) {
        let mut json = parse(text);
        assert_eq!(json.type_name(), name);
        assert_eq!(json.is_null(), name == "null");
        assert_eq!(json.as_str().is_some(), name == "a string");
        assert_eq!(json.as_bool().is_some(), name == "a boolean");
        assert_eq!(json.as_integer().is_some(), name == "a number");
        assert_eq!(json.as_object().is_some(), name == "an object");
        assert_eq!(json.as_array().is_some(), name == "a list");
        assert_eq!(json.type_name(), name);
    }

    #[rstest]
    #[case::object("{ }", true)]
    #[case::list("[\n]", true)]
    #[case::filled("[{}]", false)]
    #[case::string(r#""""#, false)]
    fn emptiness_is_of_objects_and_lists(#[case] text: &str, #[case] empty: bool) {
        assert_eq!(parse(text).is_empty(), empty);
    }
}
