//! Values to change.

use std::{borrow::Cow, fmt};

use crate::{
    Document, Json, JsonType,
    document::check,
    string::{quoted, unquoted},
};

/// A bit more than most answers have, in bytes.
const USUAL_LENGTH: usize = 4096;
/// More members than most objects have.
const USUAL_MEMBERS: usize = 16;

/// A JSON value to change, or to make.
#[derive(Clone, Debug)]
pub enum Draft<'a> {
    /// A value as it came.
    Kept(Json<'a>),
    /// The text of a made value, which nothing opens.
    Made(String),
    /// An object whose members can be changed.
    Object(DraftObject<'a>),
    /// An array whose elements can be changed.
    Array(Vec<Draft<'a>>),
}

/// The members of an object, in order. A key is its text with the quotes, so that it is written back as it came.
#[derive(Clone, Debug, Default)]
pub struct DraftObject<'a>(Vec<(Cow<'a, str>, Draft<'a>)>);

impl<'a> Draft<'a> {
    /// The value that `text` is, which nothing opens.
    ///
    /// # Errors
    /// Where the text isn't JSON: serde_json's error, with its position.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        check(text)?;
        Ok(Self::Made(text.trim_ascii().to_owned()))
    }

    /// An object without members.
    pub fn object() -> Self {
        Self::Object(DraftObject::default())
    }

    /// The members, opened for changing; `None` unless the value is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut DraftObject<'a>> {
        if let Self::Kept(json) = self {
            *self = Self::Object(DraftObject::open(*json)?);
        }
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements, opened for changing; `None` unless the value is an array.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Draft<'a>>> {
        if let Self::Kept(json) = self
            && json.json_type() == JsonType::List
        {
            *self = Self::Array(json.elements().map(Self::Kept).collect());
        }
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        match self {
            Self::Kept(json) => json.is_null(),
            Self::Made(text) => text == "null",
            Self::Object(_) | Self::Array(_) => false,
        }
    }

    /// Whether the value is an object or an array without members.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Kept(json) => json.is_empty(),
            Self::Made(text) => text == "{}" || text == "[]",
            Self::Object(object) => object.is_empty(),
            Self::Array(elements) => elements.is_empty(),
        }
    }

    /// The canonical text of the value, as [`Json::canonical`] has it.
    pub fn canonical(&self) -> String {
        match self {
            Self::Kept(json) => json.canonical(),
            other => Document::checked(&other.to_string()).root().canonical(),
        }
    }

    /// The value's text.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(USUAL_LENGTH);
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Kept(json) => out.extend_from_slice(json.text().as_bytes()),
            Self::Made(text) => out.extend_from_slice(text.as_bytes()),
            Self::Object(object) => object.write(out),
            Self::Array(elements) => {
                out.push(b'[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    element.write(out);
                }
                out.push(b']');
            }
        }
    }
}

impl<'a> From<Json<'a>> for Draft<'a> {
    fn from(json: Json<'a>) -> Self {
        Self::Kept(json)
    }
}

impl<'a> From<DraftObject<'a>> for Draft<'a> {
    fn from(object: DraftObject<'a>) -> Self {
        Self::Object(object)
    }
}

/// A string.
impl From<&str> for Draft<'_> {
    fn from(text: &str) -> Self {
        Self::Made(quoted(text))
    }
}

/// A number.
impl From<i64> for Draft<'_> {
    fn from(number: i64) -> Self {
        Self::Made(number.to_string())
    }
}

impl From<bool> for Draft<'_> {
    fn from(value: bool) -> Self {
        Self::Made(value.to_string())
    }
}

/// The values as an array.
impl<'a, T: Into<Draft<'a>>> FromIterator<T> for Draft<'a> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::Array(values.into_iter().map(Into::into).collect())
    }
}

/// The value's text.
impl fmt::Display for Draft<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write(&mut out);
        formatter.write_str(std::str::from_utf8(&out).map_err(|_| fmt::Error)?)
    }
}

impl<'a> DraftObject<'a> {
    /// The members of `json`; `None` unless it is an object.
    fn open(json: Json<'a>) -> Option<Self> {
        if json.json_type() != JsonType::Object {
            return None;
        }
        let mut values = json.members().0;
        let mut members = Vec::with_capacity(USUAL_MEMBERS);
        while let (Some(key), Some(value)) = (values.next(), values.next()) {
            members.push((Cow::Borrowed(key.text()), Draft::Kept(value)));
        }
        Some(Self(members))
    }

    /// Where the member `key` is; the last one where it occurs twice, as in every parser.
    fn position(&self, key: &str) -> Option<usize> {
        let is_key = |text: &str| unquoted(text).is_some_and(|name| name == key);
        self.0.iter().rposition(|(text, _)| is_key(text))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (index, (key, value)) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(key.as_bytes());
            out.push(b':');
            value.write(out);
        }
        out.push(b'}');
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The member `key`; `None` where it is absent.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Draft<'a>> {
        let index = self.position(key)?;
        self.0.get_mut(index).map(|(_, value)| value)
    }

    /// The member `key` as an object; `None` where it is absent or of another type.
    pub fn get_object_mut(&mut self, key: &str) -> Option<&mut DraftObject<'a>> {
        self.get_mut(key).and_then(Draft::as_object_mut)
    }

    /// The member `key` as an array; `None` where it is absent or of another type.
    pub fn get_array_mut(&mut self, key: &str) -> Option<&mut Vec<Draft<'a>>> {
        self.get_mut(key).and_then(Draft::as_array_mut)
    }

    /// Adds a member, which isn't there yet.
    pub fn with(mut self, key: &str, value: impl Into<Draft<'a>>) -> Self {
        self.push(key, value.into());
        self
    }

    fn push(&mut self, key: &str, value: Draft<'a>) {
        self.0.push((Cow::Owned(quoted(key)), value));
    }

    /// Adds a member, which isn't there yet, if it has a value.
    pub fn with_some(self, key: &str, value: Option<impl Into<Draft<'a>>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds a member, which isn't there yet, unless it is an empty object or array.
    pub fn with_filled(self, key: &str, value: impl Into<Draft<'a>>) -> Self {
        let value = value.into();
        if value.is_empty() {
            self
        } else {
            self.with(key, value)
        }
    }

    /// Sets the member `key`: in its place where it is present, at the end where it isn't.
    pub fn set(&mut self, key: &str, value: impl Into<Draft<'a>>) {
        let value = value.into();
        *self.get_or_set(key, Draft::Kept(Json::NULL)) = value;
    }

    /// The member `key`, after setting it to `default` where it is absent or `null`.
    fn get_or_set(&mut self, key: &str, default: Draft<'a>) -> &mut Draft<'a> {
        let found = self.position(key);
        let index = found.unwrap_or_else(|| {
            self.0
                .push((Cow::Owned(quoted(key)), Draft::Kept(Json::NULL)));
            self.0.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the index was found or made above")]
        let value = &mut self.0[index].1;
        if value.is_null() {
            *value = default;
        }
        value
    }

    /// The member `key` as an object, made where it is absent or `null`; `None` where it is of another type.
    pub fn object(&mut self, key: &str) -> Option<&mut DraftObject<'a>> {
        self.get_or_set(key, Draft::object()).as_object_mut()
    }

    /// The member `key` as an array, made where it is absent or `null`; `None` where it is of another type.
    pub fn array(&mut self, key: &str) -> Option<&mut Vec<Draft<'a>>> {
        self.get_or_set(key, Draft::Array(Vec::new()))
            .as_array_mut()
    }

    /// Removes the member `key` if it is `null`, or an object or an array without members.
    pub fn remove_empty(&mut self, key: &str) {
        let is_empty = |value: &mut Draft<'a>| value.is_null() || value.is_empty();
        if self.get_mut(key).is_some_and(is_empty) {
            self.remove(key);
        }
    }

    /// Removes the member `key`.
    pub fn remove(&mut self, key: &str) {
        while let Some(index) = self.position(key) {
            self.0.remove(index);
        }
    }
}
