//! One text for all texts of a value.

use std::{borrow::Cow, collections::BinaryHeap};

use crate::{JsonType, document::Node, string::write_string, value::Json};

/// How deep values are looked into; the host's parser, like most, goes no deeper.
const DEEPEST: usize = 128;

/// The canonical text of `value`.
pub(crate) fn of(value: Json<'_>) -> String {
    let mut out = Vec::with_capacity(value.text().len());
    write(value, DEEPEST, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

fn write(value: Json<'_>, depth: usize, out: &mut Vec<u8>) {
    let Some(depth) = depth.checked_sub(1) else {
        out.extend_from_slice(value.text().as_bytes());
        return;
    };
    match value.json_type() {
        JsonType::Object => {
            // A heap sorts with the least code. Members with equal keys are ordered by their values' texts.
            let members: BinaryHeap<(Cow<'_, str>, &[Node<'_>])> = value
                .members()
                .map(|(key, member)| (key, member.0))
                .collect();
            out.push(b'{');
            for (index, (key, member)) in members.into_sorted_vec().into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(&key, out);
                out.push(b':');
                write(Json(member), depth, out);
            }
            out.push(b'}');
        }
        JsonType::List => {
            out.push(b'[');
            for (index, element) in value.elements().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(element, depth, out);
            }
            out.push(b']');
        }
        JsonType::String => match value.as_str() {
            Some(text) => write_string(&text, out),
            None => out.extend_from_slice(value.text().as_bytes()),
        },
        _ => out.extend_from_slice(value.text().as_bytes()),
    }
}
