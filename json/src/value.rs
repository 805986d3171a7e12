//! Values to read.

use std::{borrow::Cow, fmt};

use crate::{
    JsonType, canonical,
    document::Node,
    split::{Elements, Members},
    string::unquoted,
};

/// A JSON value to read: a piece of a document, its node and those inside it.
#[derive(Clone, Copy)]
pub struct Json<'a>(pub(crate) &'a [Node<'a>]);

impl<'a> Json<'a> {
    /// `null`.
    pub const NULL: Json<'static> = Json(&[Node {
        text: "null",
        size: 1,
    }]);
    /// The empty string.
    pub const EMPTY: Json<'static> = Json(&[Node {
        text: "\"\"",
        size: 1,
    }]);

    /// The value's text, without white space around it.
    pub fn text(self) -> &'a str {
        self.0.first().map_or("null", |node| node.text)
    }

    /// The type of the value.
    pub fn json_type(self) -> JsonType {
        match self.text().bytes().next() {
            Some(b'{') => JsonType::Object,
            Some(b'[') => JsonType::List,
            Some(b'"') => JsonType::String,
            Some(b't' | b'f') => JsonType::Boolean,
            Some(b'n') => JsonType::Null,
            _ => JsonType::Number,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.json_type() == JsonType::Null
    }

    /// Whether the value is an object or an array without members.
    pub fn is_empty(self) -> bool {
        matches!(self.json_type(), JsonType::Object | JsonType::List) && self.0.len() == 1
    }

    /// The value as a string; `None` for any other type, and for one with half a surrogate pair, which is no text.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        unquoted(self.text())
    }

    /// The value as a boolean; `None` for any other type.
    pub fn as_bool(self) -> Option<bool> {
        self.text().parse().ok()
    }

    /// The value as a whole number; `None` for any other type, and for numbers out of range or with a fraction.
    pub fn as_integer(self) -> Option<i64> {
        self.text().parse().ok()
    }

    /// The members of the value, `null` among them; none unless it is an object.
    pub fn members(self) -> Members<'a> {
        Members(self.inside_of(JsonType::Object))
    }

    /// The elements of the value, `null` among them; none unless it is an array.
    pub fn elements(self) -> Elements<'a> {
        self.inside_of(JsonType::List)
    }

    /// The member `key`; `None` where it is absent or `null`, or where the value is no object. Where a key occurs
    /// twice, the last one counts, as in every parser.
    pub fn get(self, key: &str) -> Option<Json<'a>> {
        let [found] = self.pick([key]);
        found
    }

    /// The members `keys`, each as [`Self::get`] has it, in one pass.
    pub fn pick<const N: usize>(self, keys: [&str; N]) -> [Option<Json<'a>>; N] {
        let mut found = [None; N];
        self.pick_into(&keys, &mut found);
        found
    }

    /// [`Self::pick`] without a copy of its code for every number of keys.
    pub(crate) fn pick_into(self, keys: &[&str], found: &mut [Option<Json<'a>>]) {
        for (key, value) in self.members() {
            let place = keys.iter().position(|wanted| *wanted == key);
            if let Some(place) = place.and_then(|place| found.get_mut(place)) {
                *place = (!value.is_null()).then_some(value);
            }
        }
    }

    /// The member `key` as a string; `None` where it is absent, empty or of another type.
    pub fn text_of(self, key: &str) -> Option<String> {
        let text = self.get(key)?.as_str()?;
        (!text.is_empty()).then(|| text.into_owned())
    }

    /// Whether the value equals `other` as JSON: whatever the white space and the order of members, numbers by their
    /// notation.
    pub fn equals(self, other: Json<'_>) -> bool {
        self.text() == other.text() || self.canonical() == other.canonical()
    }

    /// A text that is the same for values that are equal as JSON: members sorted by their keys, strings without needless
    /// escapes, no white space. What is nested deeper than a parser's limit is left as it is.
    pub fn canonical(self) -> String {
        canonical::of(self)
    }

    fn inside_of(self, json_type: JsonType) -> Elements<'a> {
        match self.0.split_first() {
            Some((_, inside)) if self.json_type() == json_type => Elements(inside),
            _ => Elements(&[]),
        }
    }
}

/// The value's text.
impl fmt::Display for Json<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}

/// The value's text.
impl fmt::Debug for Json<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
