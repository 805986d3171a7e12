//! A text of JSON, and where its values end.

use serde::de::IgnoredAny;

use crate::{split::end_of_string, value::Json};

/// A text that is JSON. It knows where each of its objects and arrays ends, so that one that nobody reads is passed over
/// in one step, however deep it is in others.
#[derive(Debug)]
pub struct Document<'a> {
    /// The text, without white space around it.
    pub(crate) text: &'a str,
    /// Where each object and array starts and ends, in the order of their starts.
    containers: Vec<(usize, usize)>,
}

impl<'a> Document<'a> {
    /// Reads `text` as one JSON value.
    ///
    /// # Errors
    /// Where the text isn't JSON: serde_json's error, with its position.
    pub fn parse(text: &'a str) -> serde_json::Result<Self> {
        let IgnoredAny = serde_json::from_str(text)?;
        Ok(Self::checked(text.trim_ascii()))
    }

    /// The document of a `text` that is one JSON value without white space around it.
    pub(crate) fn checked(text: &'a str) -> Self {
        Self {
            text,
            containers: containers(text.as_bytes()),
        }
    }

    /// The document of a `text` that holds only scalars.
    pub(crate) const fn of_scalars(text: &'a str) -> Self {
        Self {
            text,
            containers: Vec::new(),
        }
    }

    /// The value that the text is.
    pub fn root(&self) -> Json<'_> {
        Json::at(self, 0, self.text.len())
    }

    /// Behind the closing bracket of the object or array that starts at `start`.
    pub(crate) fn end_of_container(&self, start: usize) -> Option<usize> {
        let find = |(other, _): &(usize, usize)| other.cmp(&start);
        let found = self.containers.binary_search_by(find).ok()?;
        let (_, end) = self.containers.get(found)?;
        Some(*end)
    }
}

/// Where each object and array of `text` starts and ends.
fn containers(text: &[u8]) -> Vec<(usize, usize)> {
    let mut containers = Vec::new();
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(text, at + 1);
                continue;
            }
            b'{' | b'[' => {
                open.push(containers.len());
                containers.push((at, text.len()));
            }
            b'}' | b']' => {
                let opened = open.pop().and_then(|opened| containers.get_mut(opened));
                if let Some((_, end)) = opened {
                    *end = at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    containers
}
