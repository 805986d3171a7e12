//! Splits an object or an array into its members.
//!
//! The syntax was checked before, so that only the ends of values are looked for.

use std::borrow::Cow;

use memchr::memchr2;

use crate::{document::Document, string::unquoted, value::Json};

/// The members of an object, in order; those whose key has half a surrogate pair are left out.
#[derive(Debug)]
pub struct Members<'a>(pub(crate) Elements<'a>);

/// The elements of an array, in order.
#[derive(Debug)]
pub struct Elements<'a> {
    /// The document that they are in.
    pub(crate) document: &'a Document<'a>,
    /// Behind the opening bracket, or behind the last value that was handed out.
    pub(crate) at: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (key, value) = (self.0.next()?, self.0.next()?);
            if let Some(key) = unquoted(key.text()) {
                return Some((key, value));
            }
        }
    }
}

/// Keys and values of an object are elements like any.
impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        let bytes = self.document.text.as_bytes();
        let rest = bytes.get(self.at..)?;
        let start = self.at + rest.iter().position(|byte| !is_between(*byte))?;
        self.at = match bytes.get(start)? {
            b'"' => end_of_string(bytes, start + 1),
            b'{' | b'[' => self.document.end_of_container(start)?,
            b'}' | b']' => return None,
            _ => {
                let is_end = |byte: &u8| is_between(*byte) || matches!(byte, b'}' | b']');
                start + bytes.get(start..)?.iter().position(is_end)?
            }
        };
        Some(Json::at(self.document, start, self.at))
    }
}

/// Whether `byte` only separates values.
fn is_between(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':')
}

/// Behind the closing quote of the string whose characters start `at`.
pub(crate) fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(rest) = text.get(at..)
        && let Some(found) = memchr2(b'"', b'\\', rest)
    {
        if rest.get(found) == Some(&b'"') {
            return at + found + 1;
        }
        at += found + 2;
    }
    text.len()
}
