//! Reads values of the settings, and collects what is wrong with them.

use std::borrow::Cow;

use node_architecture_json::{Field, Json, JsonType};

use crate::text::{elide_end, join, one_line};

/// The longest value that a message shows.
const LONGEST_VALUE: usize = 60;
/// Two keys that differ by more edits have nothing to do with each other.
const MOST_EDITS: usize = 4;
/// As many names as a message can list.
const FEW: usize = 5;

/// A member that isn't known, with its key.
pub(super) type Unknown<'a> = (Cow<'a, str>, Json<'a>);

/// Collects errors. Whatever reads a value returns `None` after it has reported why.
#[derive(Default)]
pub(super) struct Reader {
    /// What was wrong so far.
    pub(super) errors: Vec<String>,
    /// The paths of members whose values couldn't be read, those around them included: they are one error, and no rule
    /// judges them again.
    pub(super) unread: Vec<String>,
}

impl Reader {
    /// Whether the member at `path` is as its author wrote it.
    pub(super) fn is_read(&self, path: &str) -> bool {
        !self.unread.iter().any(|unread| unread == path)
    }

    /// Finds the members `keys` of an object, `null` included, and returns the others.
    pub(super) fn find<'a>(
        &mut self,
        object: &Field<'a, '_>,
        keys: &[&str],
        found: &mut [Option<Json<'a>>],
    ) -> Option<Vec<Unknown<'a>>> {
        if object.json().json_type() != JsonType::Object {
            let remedy = if object.is_root() {
                "use an object".to_owned()
            } else {
                format!("use an object with {}", join(keys))
            };
            self.wrong_type(object, &remedy);
            return None;
        }
        let mut unknown = Vec::new();
        for (key, value) in object.json().members() {
            let place = keys.iter().position(|known| *known == key);
            match place.and_then(|place| found.get_mut(place)) {
                Some(place) => *place = Some(value),
                None => unknown.push((key, value)),
            }
        }
        Some(unknown)
    }

    /// Reports that the value `is` something it mustn't be, with the remedy.
    pub(super) fn wrong(&mut self, field: &Field<'_, '_>, is: &str, remedy: &str) {
        let value = shown(field.json());
        self.errors
            .push(format!("{}: {value} is {is}, {remedy}", name(field)));
    }

    /// Reports that the value is of the wrong type.
    pub(super) fn wrong_type(&mut self, field: &Field<'_, '_>, remedy: &str) {
        let json_type = field.json().json_type().to_string();
        self.wrong(field, &json_type, remedy);
    }

    /// Reports that `object` lacks the member `key`.
    pub(super) fn report_missing(&mut self, object: &Field<'_, '_>, key: &str) {
        let path = object.member(key, Json::NULL);
        self.errors
            .push(format!("{}: missing, give it a value", path.path()));
    }

    /// Remembers that a member couldn't be read, if there are more errors than `before` it.
    pub(super) fn close(&mut self, member: &Field<'_, '_>, before: usize) {
        if self.errors.len() > before {
            self.unread.push(member.path().to_string());
        }
    }

    /// Reports members of `object` that aren't among the `known` ones.
    pub(super) fn report_unknown<'a>(
        &mut self,
        object: &Field<'_, '_>,
        known: &[&str],
        unknown: impl IntoIterator<Item = Unknown<'a>>,
    ) {
        for (key, value) in unknown {
            let nearest = nearest(&key, known.iter().copied(), MOST_EDITS);
            let remedy = match nearest {
                Some(candidate) => format!("did you mean {candidate}?"),
                None if known.len() <= FEW => format!("use {}", join(known)),
                None => "remove it".to_owned(),
            };
            let key = elide_end(one_line(&key), LONGEST_VALUE);
            let path = object.member(&key, value);
            self.errors.push(format!(
                "{}: unknown setting with value {}, {remedy}",
                path.path(),
                shown(value)
            ));
        }
    }

    /// Reads a string with `parse`, or reports that it isn't `what`.
    pub(super) fn parsed<T>(
        &mut self,
        field: &Field<'_, '_>,
        what: &str,
        remedy: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let Some(text) = field.json().as_str() else {
            self.wrong_type(field, remedy);
            return None;
        };
        let parsed = parse(&text);
        if parsed.is_none() {
            self.wrong(field, &format!("not {what}"), remedy);
        }
        parsed
    }

    /// Reads a string for which `is_valid` holds, or reports that it isn't `what`.
    pub(super) fn text(
        &mut self,
        field: &Field<'_, '_>,
        what: &str,
        remedy: &str,
        is_valid: fn(&str) -> bool,
    ) -> Option<String> {
        let parse = |text: &str| is_valid(text).then(|| text.to_owned());
        self.parsed(field, what, remedy, parse)
    }

    /// Reads a whole number from `least` to `most`.
    pub(super) fn number(
        &mut self,
        field: &Field<'_, '_>,
        (least, most): (i64, i64),
        remedy: &str,
    ) -> Option<i64> {
        let number = field.json().as_integer();
        let read = number.filter(|number| (least..=most).contains(number));
        if read.is_none() {
            match field.json().json_type() {
                JsonType::Number => self.wrong(field, "out of range", remedy),
                _ => self.wrong_type(field, remedy),
            }
        }
        read
    }

    /// Hands out the elements of a list.
    pub(super) fn each(
        &mut self,
        field: &Field<'_, '_>,
        read: &mut dyn FnMut(&mut Self, &Field<'_, '_>),
    ) -> Option<()> {
        let Ok(elements) = field.elements() else {
            self.wrong_type(field, "use a list");
            return None;
        };
        for element in elements {
            read(self, &element);
        }
        Some(())
    }
}

/// A key of the settings for a path: on one line, and bounded.
pub(super) fn shown_key(key: &str) -> String {
    elide_end(one_line(key), LONGEST_VALUE)
}

/// The candidate that `text` may be a misspelling of.
pub(super) fn nearest<'c>(
    text: &str,
    candidates: impl Iterator<Item = &'c str>,
    most_edits: usize,
) -> Option<&'c str> {
    candidates
        .map(|candidate| (strsim::levenshtein(text, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= most_edits)
        .map(|(_, candidate)| candidate)
}

/// The path of a value; the document itself is called `settings`.
fn name(field: &Field<'_, '_>) -> String {
    if field.is_root() {
        "settings".to_owned()
    } else {
        field.path().to_string()
    }
}

/// A value for a message: its JSON, bounded.
fn shown(value: Json<'_>) -> String {
    elide_end(one_line(value.text()), LONGEST_VALUE)
}
