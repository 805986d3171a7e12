//! Text for messages: one line, bounded, safe to show.

use std::fmt::Display;

const MARK: &str = "…";

/// `items`, separated by `, `, or `none`.
pub fn join<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut joined = String::new();
    for item in items {
        if !joined.is_empty() {
            joined.push_str(", ");
        }
        joined.push_str(&item.to_string());
    }
    if joined.is_empty() {
        joined.push_str("none");
    }
    joined
}

/// `text` on one line: white space and control characters become single spaces.
pub fn one_line(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    if text.bytes().all(is_plain) && text.trim() == text && !text.contains("  ") {
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
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::short("abc", 5, "abc", "abc")]
    #[case::exact("abcde", 5, "abcde", "abcde")]
    #[case::long("abcdefgh", 7, "abcd…", "ab…gh")]
    #[case::between_characters("ääääää", 8, "ää…", "ä…ä")]
    #[case::no_room("abcdef", 2, "…", "…")]
    fn text_is_elided_between_characters(
        #[case] text: &str,
        #[case] longest: usize,
        #[case] at_end: &str,
        #[case] in_the_middle: &str,
    ) {
        assert_eq!(elide_end(text.to_owned(), longest), at_end);
        assert_eq!(elide_middle(text, longest), in_the_middle);
    }

    #[test]
    fn a_line_has_neither_breaks_nor_control_characters() {
        assert_eq!(one_line(" a\n\tb\u{1b}[31mc\r\n"), "a b [31mc");
    }

    #[test]
    fn nothing_joins_to_none() {
        assert_eq!(join(["a", "b"]), "a, b");
        assert_eq!(join::<&str>([]), "none");
    }
}
