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

#[rstest]
#[case::twice("a: b: c", Some(("a", "b: c")), Some(("a: b", "c")))]
#[case::once("ä: ö", Some(("ä", "ö")), Some(("ä", "ö")))]
#[case::nowhere("a:b", None, None)]
#[case::shorter_than_the_mark(":", None, None)]
fn text_is_split_at_a_mark(
    #[case] text: &str,
    #[case] first: Option<(&str, &str)>,
    #[case] last: Option<(&str, &str)>,
) {
    assert_eq!(split_at_first(text, ": "), first);
    assert_eq!(split_at_last(text, ": "), last);
}
