//! Text for messages: one line, bounded, safe to show.

use std::fmt::{Display, Write as _};

const MARK: &str = "…";

/// `items`, separated by `, `, or `none`.
pub fn join<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    join_with(", ", items)
}

/// `items`, separated by `separator`, or `none`.
pub fn join_with<T: Display>(separator: &str, items: impl IntoIterator<Item = T>) -> String {
    let mut joined = String::new();
    for item in items {
        append(&mut joined, separator, &item);
    }
    if joined.is_empty() {
        joined.push_str("none");
    }
    joined
}

/// One code for every type.
fn append(joined: &mut String, separator: &str, item: &dyn Display) {
    if !joined.is_empty() {
        joined.push_str(separator);
    }
    // Writing to memory can't fail.
    let _ = write!(joined, "{item}");
}

/// `text` on one line: white space and control characters become single spaces.
pub fn one_line(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    if text.bytes().all(is_plain) && text.trim() == text && split_at_first(text, "  ").is_none() {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if !word.is_empty() && !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// `text` before and after the first `mark`. The standard library's search for texts is fast, and large.
pub fn split_at_first<'t>(text: &'t str, mark: &str) -> Option<(&'t str, &'t str)> {
    let mut places = text.as_bytes().windows(mark.len());
    let at = places.position(|place| place == mark.as_bytes())?;
    Some((text.get(..at)?, text.get(at + mark.len()..)?))
}

/// `text` before and after the last `mark`.
pub fn split_at_last<'t>(text: &'t str, mark: &str) -> Option<(&'t str, &'t str)> {
    let mut places = text.as_bytes().windows(mark.len());
    let at = places.rposition(|place| place == mark.as_bytes())?;
    Some((text.get(..at)?, text.get(at + mark.len()..)?))
}

/// `text`, cut at its end to at most `longest` bytes.
pub fn elide_end(text: String, longest: usize) -> String {
    if text.len() <= longest {
        return text;
    }
    let end = text.floor_char_boundary(longest.saturating_sub(MARK.len()));
    format!("{}{MARK}", text.get(..end).unwrap_or_default())
}

/// `text`, cut in its middle to at most `longest` bytes.
pub fn elide_middle(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let kept = longest.saturating_sub(MARK.len());
    let head = text.floor_char_boundary(kept / 2);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(kept - kept / 2));
    format!(
        "{}{MARK}{}",
        text.get(..head).unwrap_or_default(),
        text.get(tail..).unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
