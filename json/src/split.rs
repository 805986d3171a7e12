//! Splits the text of an object or an array into the texts of its members.
//!
//! The syntax was checked before, so that only the ends of values are looked for.

use std::borrow::Cow;

use memchr::memchr2;

use crate::{string::unquoted, value::Json};

/// The members of an object, in order; those whose key has half a surrogate pair are left out.
#[derive(Debug)]
pub struct Members<'a>(pub(crate) Elements<'a>);

/// The elements of an array, in order.
#[derive(Debug)]
pub struct Elements<'a> {
    /// What comes after the opening bracket, or after the last value that was handed out.
    pub(crate) rest: &'a str,
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
        let bytes = self.rest.as_bytes();
        let start = bytes.iter().position(|byte| !is_between(*byte))?;
        let end = match bytes.get(start)? {
            b'"' => end_of_string(bytes, start + 1),
            b'{' | b'[' => end_of_container(bytes, start),
            b'}' | b']' => return None,
            _ => {
                let is_end = |byte: &u8| is_between(*byte) || matches!(byte, b'}' | b']');
                start + bytes.iter().skip(start).position(is_end)?
            }
        };
        let value = self.rest.get(start..end)?;
        self.rest = self.rest.get(end..)?;
        Some(Json::checked(value))
    }
}

/// Whether `byte` only separates values.
fn is_between(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':')
}

/// Behind the closing quote of the string whose characters start `at`.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
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

/// Behind the closing bracket of the object or array that starts `at`.
fn end_of_container(text: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => at = end_of_string(text, at),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}
