//! Strings of JSON: what their characters mean, and how they are written.

use std::borrow::Cow;

use memchr::memchr;

/// What the string with its quotes, `text`, says; `None` where it is no string, or has half a surrogate pair.
pub(crate) fn unquoted(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if memchr(b'\\', inner.as_bytes()).is_some() {
        unescaped(inner).map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// What the characters of a JSON string mean; `None` where half a surrogate pair is among them.
fn unescaped(inner: &str) -> Option<String> {
    // In UTF-16, as the escapes are.
    let mut units = Vec::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            '\\' => match letters.next()? {
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let (digits, rest) = letters.as_str().split_at_checked(4)?;
                    units.push(u16::from_str_radix(digits, 16).ok()?);
                    letters = rest.chars();
                    continue;
                }
                itself => itself,
            },
            itself => itself,
        };
        units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16(&units).ok()
}

/// `value` as a JSON string.
pub(crate) fn quoted(value: &str) -> String {
    let mut out = Vec::with_capacity(value.len() + 2);
    write_string(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Writes `value` as a JSON string.
pub(crate) fn write_string(value: &str, out: &mut Vec<u8>) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if value.bytes().all(is_plain) {
        out.push(b'"');
        out.extend_from_slice(value.as_bytes());
        out.push(b'"');
    } else {
        // Writing to memory can't fail.
        let _ = serde_json::to_writer(out, value);
    }
}
