//! Strict reading: a value that knows where it is, so that an error can say so.

use std::{borrow::Cow, fmt};

use thiserror::Error;

use crate::{Json, JsonType};

/// A value has another type than the Kubernetes API gives it.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{path}: expected {expected}, got {found}")]
pub struct Mismatch {
    /// Where the value is, such as `spec.containers[0].image`.
    pub path: String,
    /// What the API has there.
    pub expected: JsonType,
    /// What was found.
    pub found: JsonType,
}

/// A value, and where it is in its document.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a, 'p> {
    value: Json<'a>,
    path: Path<'p>,
}

/// The way to a value from the root of its document.
#[derive(Clone, Copy, Debug)]
enum Path<'p> {
    /// The root, which messages call by a name, or by none.
    Root(&'p str),
    /// A member of an object.
    Member(&'p Path<'p>, &'p str),
    /// An element of an array.
    Element(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name) => formatter.write_str(name),
            Self::Member(Self::Root(""), key) => formatter.write_str(key),
            Self::Member(parent, key) => write!(formatter, "{parent}.{key}"),
            Self::Element(parent, index) => write!(formatter, "{parent}[{index}]"),
        }
    }
}

impl<'a, 'p> Field<'a, 'p> {
    /// The root of a document. Messages put `name` before the paths of its members; nothing where it is empty.
    pub fn root(value: Json<'a>, name: &'p str) -> Self {
        Self {
            value,
            path: Path::Root(name),
        }
    }

    /// Where the value is, for messages.
    pub fn path(&self) -> impl fmt::Display {
        self.path
    }

    /// Whether this is the root of its document.
    pub fn is_root(&self) -> bool {
        matches!(self.path, Path::Root(_))
    }

    /// The value, for lenient reading.
    pub fn json(&self) -> Json<'a> {
        self.value
    }

    /// The member `key`; `None` where it is absent or `null`.
    ///
    /// # Errors
    /// [`Mismatch`] unless the value is an object.
    pub fn field<'f>(&'f self, key: &'f str) -> Result<Option<Field<'a, 'f>>, Mismatch> {
        let [found] = self.fields([key])?;
        Ok(found)
    }

    /// The members `keys`, in one pass; `None` for those that are absent or `null`.
    ///
    /// # Errors
    /// [`Mismatch`] unless the value is an object.
    pub fn fields<'f, const N: usize>(
        &'f self,
        keys: [&'f str; N],
    ) -> Result<[Option<Field<'a, 'f>>; N], Mismatch> {
        let mut fields = [None; N];
        self.fields_into(&keys, &mut fields)?;
        Ok(fields)
    }

    /// [`Self::fields`] without a copy of its code for every number of keys.
    fn fields_into<'f>(
        &'f self,
        keys: &[&'f str],
        fields: &mut [Option<Field<'a, 'f>>],
    ) -> Result<(), Mismatch> {
        self.expect(JsonType::Object)?;
        for (key, value) in self.value.members() {
            let place = keys.iter().position(|wanted| *wanted == key);
            let place = place.and_then(|place| Some((fields.get_mut(place)?, keys.get(place)?)));
            if let Some((field, key)) = place {
                *field = (!value.is_null()).then(|| self.member(key, value));
            }
        }
        Ok(())
    }

    /// The members `keys` for lenient reading, in one pass; `None` for those that are absent or `null`.
    ///
    /// # Errors
    /// [`Mismatch`] unless the value is an object.
    pub fn pick<const N: usize>(&self, keys: [&str; N]) -> Result<[Option<Json<'a>>; N], Mismatch> {
        self.expect(JsonType::Object)?;
        Ok(self.value.pick(keys))
    }

    /// `value` as the member `key` of this one.
    pub fn member<'f>(&'f self, key: &'f str, value: Json<'a>) -> Field<'a, 'f> {
        Field {
            value,
            path: Path::Member(&self.path, key),
        }
    }

    /// The elements, in order, `null` among them.
    ///
    /// # Errors
    /// [`Mismatch`] unless the value is an array.
    pub fn elements(&self) -> Result<impl Iterator<Item = Field<'a, '_>>, Mismatch> {
        self.expect(JsonType::List)?;
        let elements = self.value.elements().enumerate();
        Ok(elements.map(|(index, value)| Field {
            value,
            path: Path::Element(&self.path, index),
        }))
    }

    /// The string.
    ///
    /// # Errors
    /// [`Mismatch`] where the value is of another type.
    pub fn string(&self) -> Result<Cow<'a, str>, Mismatch> {
        let text = self.value.as_str();
        text.ok_or_else(|| self.mismatch(JsonType::String))
    }

    /// Checks that the value is of the `expected` type.
    ///
    /// # Errors
    /// [`Mismatch`] where it is of another one.
    pub fn expect(&self, expected: JsonType) -> Result<(), Mismatch> {
        if self.value.json_type() == expected {
            Ok(())
        } else {
            Err(self.mismatch(expected))
        }
    }

    /// That another type was `expected` here.
    fn mismatch(&self, expected: JsonType) -> Mismatch {
        Mismatch {
            path: self.path.to_string(),
            expected,
            found: self.value.json_type(),
        }
    }
}
