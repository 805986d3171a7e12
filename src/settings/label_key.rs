//! Keys of Kubernetes labels.

use std::borrow::Cow;

/// A label key: a name, or a DNS subdomain, a slash and a name.
///
/// <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set>
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelKey(Cow<'static, str>);

/// The longest prefix of a label key.
const LONGEST_PREFIX: usize = 253;
/// The longest name of a label key.
const LONGEST_NAME: usize = 63;

impl LabelKey {
    /// Reads a label key; `None` where Kubernetes wouldn't accept it.
    pub fn parse(text: &str) -> Option<Self> {
        let (prefix, name) = match text.split_once('/') {
            Some((prefix, name)) => (Some(prefix), name),
            None => (None, text),
        };
        let valid = prefix.is_none_or(is_subdomain) && is_name(name);
        valid.then(|| Self(Cow::Owned(text.to_owned())))
    }

    /// A key that is known to be valid.
    pub(super) fn from_static(key: &'static str) -> Self {
        Self(Cow::Borrowed(key))
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether `name` is the name of a label, or a value of one that isn't empty: the rules are the same.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.ends_with(|last: char| last.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn is_subdomain(prefix: &str) -> bool {
    prefix.len() <= LONGEST_PREFIX
        && prefix.split('.').all(|label| {
            let edge = |end: char| end.is_ascii_lowercase() || end.is_ascii_digit();
            label.starts_with(edge)
                && label.ends_with(edge)
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        })
}

#[cfg(test)]
mod tests {
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
}
