//! JSON that is opened only where it is read or changed.
//!
//! An admission request carries objects of up to a megabyte, of which the policy reads a few fields and changes fewer.
//! A [`Json`] starts as the text it came as; opening an object or an array splits it into its members, each of which
//! is text again. What is never opened is written back byte for byte, so unknown fields, the order of members and the
//! exact notation of numbers survive.
//!
//! serde_json checks the syntax of a whole text. One pass after that notes where its strings, objects and arrays end, so
//! that opening one of them reads nothing of what is within its members. Reading into types with serde_json instead would
//! bring its formatting of floats into the policy, an eighth of its size.

#![deny(clippy::indexing_slicing)] // Input must reach no panic.

use std::{borrow::Cow, fmt, rc::Rc};

use memchr::memchr2;
use serde::de::IgnoredAny;
use thiserror::Error;

/// The most members of an object that are compared whatever their order.
const MOST_SORTED: usize = 256;
/// About how many bytes of a text make a span.
const BYTES_OF_A_SPAN: usize = 10;
/// More members than most objects have.
const MANY_MEMBERS: usize = 16;
/// A bit more than most answers have, in bytes.
const USUAL_LENGTH: usize = 4096;
/// How deep values are compared; the host's parser, like most, goes no deeper.
const DEEPEST: usize = 128;

/// A JSON value: text that was not looked into, or a value that was opened or made.
#[derive(Debug)]
pub enum Json<'a> {
    /// The value as it came.
    Text(Text<'a>),
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

/// A value in a text whose syntax was checked.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// The value, without white space around it.
    value: &'a str,
    /// The spans of the whole text.
    spans: Rc<Vec<Span>>,
    /// Which span the value is, unless it is a number, a boolean or `null`.
    span: usize,
}

/// A string, an object or an array in a text. Spans are in the order in which they start.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// How long it is, in bytes.
    length: usize,
    /// How many spans it takes: itself and what is in it.
    spans: usize,
    /// Whether it is a string with escapes.
    is_escaped: bool,
}

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
    fn new(path: &str, expected: &'static str, found: &'static str) -> Self {
        Self {
            path: path.to_owned(),
            expected,
            found,
        }
    }
}

impl<'a> Json<'a> {
    /// Reads `text` as one JSON value, without looking into it.
    ///
    /// # Errors
    /// Where the text isn't JSON.
    pub fn parse(text: &'a str) -> serde_json::Result<Self> {
        let IgnoredAny = serde_json::from_str(text)?;
        Ok(Self::Text(Text {
            value: text.trim_ascii(),
            spans: Rc::new(spans_of(text.as_bytes())),
            span: 0,
        }))
    }

    /// The value's text, unless it was opened or made.
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.value),
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
            Self::Text(text) => text
                .opened("{")
                .or(text.opened("["))
                .is_some_and(|mut inner| inner.next().is_none()),
            _ => false,
        }
    }

    /// The members of the value, opened for reading and changing; `None` unless it is an object.
    pub fn as_object(&mut self) -> Option<&mut Object<'a>> {
        if let Self::Text(text) = self {
            *self = Self::Object(Object::open(text)?);
        }
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The members of the value, which stands at `path`.
    ///
    /// # Errors
    /// [`Mismatch`] unless it is an object.
    pub fn object_at(&mut self, path: &str) -> Result<&mut Object<'a>, Mismatch> {
        let found = self.type_name();
        self.as_object()
            .ok_or_else(|| Mismatch::new(path, "an object", found))
    }

    /// The elements of the value, which stands at `path`.
    ///
    /// # Errors
    /// [`Mismatch`] unless it is an array.
    pub fn list_at(&mut self, path: &str) -> Result<&mut Vec<Json<'a>>, Mismatch> {
        let found = self.type_name();
        self.as_array()
            .ok_or_else(|| Mismatch::new(path, "a list", found))
    }

    /// The value, which stands at `path`, as a string; empty where it is `null`, as in the Kubernetes API.
    ///
    /// # Errors
    /// [`Mismatch`] where it is of another type.
    pub fn str_at(&self, path: &str) -> Result<Cow<'_, str>, Mismatch> {
        match self.as_str() {
            Some(text) => Ok(text),
            None if self.is_null() => Ok(Cow::Borrowed("")),
            None => Err(Mismatch::new(path, "a string", self.type_name())),
        }
    }

    /// The elements of the value, opened for reading and changing; `None` unless it is an array.
    pub fn as_array(&mut self) -> Option<&mut Vec<Json<'a>>> {
        if let Self::Text(text) = self {
            *self = Self::Array(text.opened("[")?.map(Self::Text).collect());
        }
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members of a value that is still text and stands at `path`, in order and without opening it: where one or two of
    /// many are read, and nothing is changed.
    ///
    /// # Errors
    /// [`Mismatch`] unless it is an object that is still text.
    pub fn members(&self, path: &str) -> Result<Members<'a>, Mismatch> {
        match self {
            Self::Text(text) => text.opened("{").map(Members),
            _ => None,
        }
        .ok_or_else(|| Mismatch::new(path, "an object", self.type_name()))
    }

    /// The value as a string; `None` for any other type, and for one with half a surrogate pair, which is no text.
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::String(text) => Some(Cow::Borrowed(text)),
            Self::Text(text) => text.unquoted(),
            _ => None,
        }
    }

    /// The value as a boolean; `None` for any other type.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Text(text) => text.value.parse().ok(),
            _ => None,
        }
    }

    /// The value as a whole number; `None` for any other type, and for numbers out of range or with a fraction.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Text(text) => text.value.parse().ok(),
            _ => None,
        }
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
        canonical(self.to_string())
    }

    /// The value's text.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut text = Vec::with_capacity(USUAL_LENGTH);
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut Vec<u8>) {
        match self {
            Self::Text(value) => text.extend_from_slice(value.value.as_bytes()),
            Self::Null => text.extend_from_slice(b"null"),
            Self::Bool(true) => text.extend_from_slice(b"true"),
            Self::Bool(false) => text.extend_from_slice(b"false"),
            Self::Integer(value) => text.extend_from_slice(value.to_string().as_bytes()),
            Self::String(value) => write_string(value, text),
            Self::Object(object) => object.write(text),
            Self::Array(elements) => {
                text.push(b'[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        text.push(b',');
                    }
                    element.write(text);
                }
                text.push(b']');
            }
        }
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
            Self::Text(text) => text.value.bytes().next(),
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
        show(formatter, |text| self.write(text))
    }
}

/// The object's text.
impl fmt::Display for Object<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(formatter, |text| self.write(text))
    }
}

fn show(formatter: &mut fmt::Formatter<'_>, write: impl FnOnce(&mut Vec<u8>)) -> fmt::Result {
    let mut text = Vec::new();
    write(&mut text);
    formatter.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
}

/// Sorting opens values, so it is done on a copy.
fn canonical(text: String) -> String {
    match Json::parse(&text) {
        Ok(mut copy) => {
            copy.sort(DEEPEST);
            copy.to_string()
        }
        Err(_) => text,
    }
}

/// The spans of a text whose syntax was checked.
fn spans_of(text: &[u8]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::with_capacity(text.len() / BYTES_OF_A_SPAN + 1);
    // Where objects and arrays start that have no end yet, with their indices.
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let mut end = at + 1;
        match byte {
            b'"' => {
                let is_escaped;
                (end, is_escaped) = end_of_string(text, end);
                spans.push(Span {
                    length: end - at,
                    spans: 1,
                    is_escaped,
                });
            }
            b'{' | b'[' => {
                open.push((at, spans.len()));
                spans.push(Span {
                    length: 0,
                    spans: 0,
                    is_escaped: false,
                });
            }
            b'}' | b']' => {
                if let Some((start, index)) = open.pop() {
                    let all = spans.len();
                    if let Some(span) = spans.get_mut(index) {
                        span.length = end - start;
                        span.spans = all - index;
                    }
                }
            }
            _ => {}
        }
        at = end;
    }
    spans
}

/// Behind the closing quote of the string whose characters start `at`, and whether there are escapes before it.
fn end_of_string(text: &[u8], mut at: usize) -> (usize, bool) {
    let mut is_escaped = false;
    while let Some(rest) = text.get(at..)
        && let Some(found) = memchr2(b'"', b'\\', rest)
    {
        if rest.get(found) == Some(&b'"') {
            return (at + found + 1, is_escaped);
        }
        is_escaped = true;
        at += found + 2;
    }
    (text.len(), is_escaped)
}

impl<'a> Text<'a> {
    /// The values in it; `None` unless it starts with `bracket`.
    fn opened(&self, bracket: &str) -> Option<Values<'a>> {
        Some(Values {
            rest: self.value.strip_prefix(bracket)?,
            spans: Rc::clone(&self.spans),
            span: self.span + 1,
        })
    }

    /// What it says; `None` where it is no string, or has half a surrogate pair.
    fn unquoted(&self) -> Option<Cow<'a, str>> {
        let inner = self.value.strip_prefix('"')?.strip_suffix('"')?;
        let span = self.spans.get(self.span)?;
        if span.is_escaped {
            unescaped(inner).map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(inner))
        }
    }
}

/// The values in an object or an array, one after the other; keys are values like any.
struct Values<'a> {
    rest: &'a str,
    spans: Rc<Vec<Span>>,
    /// The next span.
    span: usize,
}

/// The members of an object, one after the other; those whose key has half a surrogate pair are left out.
pub struct Members<'a>(Values<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (key, value) = (self.0.next()?, self.0.next()?);
            if let Some(key) = key.unquoted() {
                return Some((key, Json::Text(value)));
            }
        }
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Text<'a>;

    fn next(&mut self) -> Option<Text<'a>> {
        let is_between = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':');
        let is_end = |byte: &u8| is_between(byte) || matches!(byte, b'}' | b']');
        let bytes = self.rest.as_bytes();
        let start = bytes.iter().position(|byte| !is_between(byte))?;
        let span = self.span;
        let length = match bytes.get(start)? {
            b'"' | b'{' | b'[' => {
                let Span { length, spans, .. } = *self.spans.get(span)?;
                self.span += spans;
                length
            }
            b'}' | b']' => return None,
            _ => bytes.iter().skip(start).position(is_end)?,
        };
        let (value, rest) = self.rest.get(start..)?.split_at_checked(length)?;
        self.rest = rest;
        Some(Text {
            value,
            spans: Rc::clone(&self.spans),
            span,
        })
    }
}

/// What the characters of a JSON string mean; `None` where half a surrogate pair is among them.
fn unescaped(inner: &str) -> Option<String> {
    // In UTF-16, as the escapes are.
    let mut units = Vec::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            '\\' => match letters.next()? {
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let (digits, rest) = letters.as_str().split_at_checked(4)?;
                    units.push(u16::from_str_radix(digits, 16).ok()?);
                    letters = rest.chars();
                    continue;
                }
                itself => itself,
            },
            itself => itself,
        };
        units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16(&units).ok()
}

/// Writes `value` as a JSON string.
fn write_string(value: &str, text: &mut Vec<u8>) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if value.bytes().all(is_plain) {
        text.push(b'"');
        text.extend_from_slice(value.as_bytes());
        text.push(b'"');
    } else {
        // Writing to memory can't fail.
        let _ = serde_json::to_writer(text, value);
    }
}

impl<'a> Object<'a> {
    fn open(text: &Text<'a>) -> Option<Self> {
        let mut values = text.opened("{")?;
        // Each key is a span.
        let most = text.spans.get(text.span)?.spans.saturating_sub(1);
        let mut members = Vec::with_capacity(most.min(MANY_MEMBERS));
        while let Some(key) = values.next() {
            members.push((key.unquoted()?, Json::Text(values.next()?)));
        }
        Some(Self(members))
    }

    fn write(&self, text: &mut Vec<u8>) {
        text.push(b'{');
        for (index, (key, value)) in self.0.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            write_string(key, text);
            text.push(b':');
            value.write(text);
        }
        text.push(b'}');
    }

    /// The members, in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Json<'a>)> {
        self.0.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// The canonical text of the object; see [`Json::canonical`].
    pub fn canonical(&self) -> String {
        canonical(self.to_string())
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
        match self.get_some(key) {
            Some(value) => value.object_at(path).map(Some),
            None => Ok(None),
        }
    }

    /// The member `key` as a list; `None` where it is absent or `null`.
    ///
    /// # Errors
    /// [`Mismatch`] at `path` where it is of another type.
    pub fn list(&mut self, key: &str, path: &str) -> Result<Option<&mut Vec<Json<'a>>>, Mismatch> {
        match self.get_some(key) {
            Some(value) => value.list_at(path).map(Some),
            None => Ok(None),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};
    use rstest::rstest;
    use serde_json::Value;

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
        assert_eq!(parse(text).to_string(), text);
    }

    #[test]
    fn an_opened_object_keeps_everything_but_the_member_that_was_set() {
        let mut json = parse(r#"{"z":1e999,"a":[1,2],"m":null}"#);
        let object = json.as_object().unwrap();
        object.set("a", "new".into());
        object.set("b", Json::Array(Vec::new()));
        assert_eq!(json.to_string(), r#"{"z":1e999,"a":"new","m":null,"b":[]}"#);
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
        assert_eq!(json.to_string(), after);
    }

    #[test]
    fn members_are_read_past_a_key_that_is_no_text() {
        let json = parse(r#"{"\ud83d":{"a":1},"image":"b"}"#);
        let members: Vec<(Cow<'_, str>, String)> = json
            .members("")
            .unwrap()
            .map(|(key, value)| (key, value.to_string()))
            .collect();
        assert_eq!(members, [(Cow::Borrowed("image"), "\"b\"".to_owned())]);
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

    /// Opens everything that can be opened.
    fn open(json: &mut Json<'_>) {
        if let Some(object) = json.as_object() {
            object.0.iter_mut().for_each(|(_, value)| open(value));
        } else if let Some(elements) = json.as_array() {
            elements.iter_mut().for_each(open);
        } else if let Some(text) = json.as_str() {
            *json = Json::String(text.into_owned());
        }
    }

    #[rstest]
    #[case::every_escape(
        r#""\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00""#,
        Some("\"\\/\u{8}\u{c}\n\r\té😀")
    )]
    #[case::half_a_pair(r#""\ud83d""#, None)]
    #[case::halves_in_the_wrong_order(r#""\ude00\ud83d""#, None)]
    #[case::no_string("1", None)]
    fn a_string_says_what_its_escapes_mean(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(parse(text).as_str().as_deref(), expected);
    }

    fn values() -> impl Strategy<Value = Value> {
        let text = r#"[a-zé😀{}\[\],:"\\\n ]{0,6}"#;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(Value::from),
                vec((text, inner), 0..4).prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    /// The value's text with every character escaped, and white space wherever it may be.
    fn verbose(value: &Value) -> String {
        let string = |text: &str| {
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
            format!("\n \"{}\"\t\r", units.collect::<String>())
        };
        let list =
            |open, parts: Vec<String>, close| format!(" {open} {} {close} ", parts.join(","));
        match value {
            Value::String(text) => string(text),
            Value::Array(elements) => list('[', elements.iter().map(verbose).collect(), ']'),
            Value::Object(members) => {
                let member =
                    |(key, value): (&String, _)| format!("{}:{}", string(key), verbose(value));
                list('{', members.iter().map(member).collect(), '}')
            }
            other => format!(" {other} "),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn a_text_is_split_as_serde_json_splits_it(value in values()) {
            for text in [value.to_string(), verbose(&value)] {
                let mut json = parse(&text);
                open(&mut json);
                let again: Value = serde_json::from_str(&json.to_string()).unwrap();
                prop_assert_eq!(&again, &value, "{}", text);
            }
        }
    }
}
