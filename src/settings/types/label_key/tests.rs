use super::*;
use rstest::rstest;

#[rstest]
#[case::name("arch", true)]
#[case::prefixed("arch.noe.adevinta.com/preferred", true)]
#[case::every_character("a.b/C_d-e.9", true)]
#[case::longest_name(&"a".repeat(63), true)]
#[case::name_too_long(&"a".repeat(64), false)]
#[case::prefix_too_long(&format!("{}/a", "a".repeat(254)), false)]
#[case::empty("", false)]
#[case::no_name("a.b/", false)]
#[case::no_prefix("/a", false)]
#[case::two_slashes("a/b/c", false)]
#[case::space("a b", false)]
#[case::upper_case_prefix("A.b/c", false)]
#[case::dash_at_the_end("a-", false)]
#[case::empty_label_in_prefix("a..b/c", false)]
fn a_label_key_is_what_kubernetes_accepts(#[case] text: &str, #[case] valid: bool) {
    assert_eq!(LabelKey::parse(text).is_some(), valid);
}
