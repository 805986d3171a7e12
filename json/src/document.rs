//! A text of JSON, split into its values.

use memchr::memchr2;
use serde::de::IgnoredAny;

use crate::value::Json;

/// A text that is JSON, and where its values are.
#[derive(Debug)]
pub struct Document<'a>(Vec<Node<'a>>);

/// A value of a document, or a key of an object. Behind a value stand those inside it, in the order of the text, so that
/// one that nobody reads is passed over in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node<'a> {
    /// Its text, without white space around it.
    pub(crate) text: &'a str,
    /// How many nodes it is: one, and those inside it.
    pub(crate) size: usize,
}

impl<'a> Document<'a> {
    /// Reads `text` as one JSON value.
    ///
    /// # Errors
    /// Where the text isn't JSON: serde_json's error, with its position.
    pub fn parse(text: &'a str) -> serde_json::Result<Self> {
        check(text)?;
        Ok(Self::checked(text))
    }

    /// The document of a `text` that is one JSON value.
    pub(crate) fn checked(text: &'a str) -> Self {
        Self(nodes(text))
    }

    /// The value that the text is.
    pub fn root(&self) -> Json<'_> {
        Json(&self.0)
    }
}

/// Checks that `text` is one JSON value.
pub(crate) fn check(text: &str) -> serde_json::Result<()> {
    let IgnoredAny = serde_json::from_str(text)?;
    Ok(())
}

/// The values and keys of `text`, whose syntax was checked, so that only their ends are looked for.
fn nodes(text: &str) -> Vec<Node<'_>> {
    let bytes = text.as_bytes();
    let mut nodes = Vec::new();
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => continue,
            b'}' | b']' => {
                let Some((start, index)) = open.pop() else {
                    continue;
                };
                let size = nodes.len() - index;
                if let Some(node) = nodes.get_mut(index) {
                    *node = Node {
                        text: text.get(start..at).unwrap_or_default(),
                        size,
                    };
                }
                continue;
            }
            b'{' | b'[' => open.push((start, nodes.len())),
            b'"' => at = end_of_string(bytes, at),
            _ => at = end_of_word(bytes, at),
        }
        nodes.push(Node {
            text: text.get(start..at).unwrap_or_default(),
            size: 1,
        });
    }
    nodes
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

/// Behind the number or the literal that goes on `at`.
fn end_of_word(text: &[u8], at: usize) -> usize {
    let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'}' | b']');
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(is_end).unwrap_or(rest.len())
}
