use std::borrow::Cow;

use proptest::{collection::vec, prelude::*};
use rstest::rstest;
use serde_json::Value;

use crate::*;

/// The value that `text` is, in a document for as long as the tests run.
fn parse(text: &str) -> Json<'_> {
    Box::leak(Box::new(Document::parse(text).unwrap())).root()
}

#[rstest]
#[case::numbers_beyond_the_range_of_floats(
    r#"{"a":123456789012345678901234567890,"b":1e999,"c":1.0}"#
)]
#[case::the_order_of_members(r#"{"z":1,"a":2,"m":{"y":1,"b":2}}"#)]
#[case::unicode_and_escapes(r#"{"k\u00e9y":"\ud83d\ude00 \n","ü":"ß"}"#)]
#[case::nesting_deeper_than_a_parser_recurses(&format!("{}{}", "[".repeat(5000), "]".repeat(5000)))]
fn a_draft_that_was_not_opened_is_written_byte_for_byte(#[case] text: &str) {
    assert_eq!(Draft::from(parse(text)).to_string(), text);
}

#[test]
fn an_opened_object_keeps_everything_but_the_member_that_was_set() {
    let mut draft = Draft::from(parse(r#"{"z":1e999,"a":[1,2],"m":null}"#));
    let object = draft.as_object_mut().unwrap();
    object.set("a", "new");
    object.set("b", Draft::Array(Vec::new()));
    assert_eq!(
        draft.to_string(),
        r#"{"z":1e999,"a":"new","m":null,"b":[]}"#
    );
}

#[test]
fn keys_are_written_back_as_they_came_even_those_that_are_no_text() {
    let mut draft = Draft::from(parse(r#"{"\ud83d":1,"\u0061":2}"#));
    draft.as_object_mut().unwrap().set("a", 3);
    assert_eq!(draft.to_string(), r#"{"\ud83d":1,"\u0061":3}"#);
}

#[rstest]
#[case::absent("{}", r#"{"a":{"b":[1]}}"#)]
#[case::null(r#"{"a":null,"b":1}"#, r#"{"a":{"b":[1]},"b":1}"#)]
#[case::null_below(r#"{"a":{"b":null}}"#, r#"{"a":{"b":[1]}}"#)]
#[case::present(r#"{"a":{"b":[0]}}"#, r#"{"a":{"b":[0,1]}}"#)]
fn a_member_is_made_where_it_is_absent_or_null(#[case] text: &str, #[case] after: &str) {
    let mut draft = Draft::from(parse(text));
    let object = draft.as_object_mut().unwrap();
    let list = object.object("a").unwrap().array("b").unwrap();
    list.push(Draft::from(1));
    assert_eq!(draft.to_string(), after);
}

#[test]
fn a_member_of_another_type_is_not_made_anew() {
    let mut draft = Draft::from(parse(r#"{"a":1}"#));
    let object = draft.as_object_mut().unwrap();
    assert!(object.object("a").is_none() && object.array("a").is_none());
}

#[rstest]
#[case::null("null", true)]
#[case::object("{}", true)]
#[case::list("[ ]", true)]
#[case::filled("[0]", false)]
#[case::string(r#""""#, false)]
fn what_is_empty_is_removed(#[case] value: &str, #[case] removed: bool) {
    let text = format!(r#"{{"a":{value}}}"#);
    let mut draft = Draft::from(parse(&text));
    draft.as_object_mut().unwrap().remove_empty("a");
    assert_eq!(draft.is_empty(), removed);
}

#[test]
fn members_are_read_past_a_key_that_is_no_text() {
    let members: Vec<(Cow<'_, str>, &str)> = parse(r#"{"\ud83d":{"a":1},"image":"b"}"#)
        .members()
        .map(|(key, value)| (key, value.text()))
        .collect();
    assert_eq!(members, [(Cow::Borrowed("image"), "\"b\"")]);
}

#[test]
fn the_last_of_two_equal_keys_counts() {
    let json = parse(r#"{"a":1,"a":2}"#);
    assert_eq!(json.get("a").unwrap().as_integer(), Some(2));
    assert_eq!(json.pick(["b", "a"])[1].unwrap().as_integer(), Some(2));
    let mut draft = Draft::from(json);
    draft.as_object_mut().unwrap().set("a", 3);
    assert_eq!(draft.to_string(), r#"{"a":1,"a":3}"#);
}

#[rstest]
#[case::absent("{}")]
#[case::null(r#"{"a":null}"#)]
#[case::null_after_a_value(r#"{"a":1,"a":null}"#)]
#[case::no_object("[1]")]
fn null_is_the_same_as_absent(#[case] text: &str) {
    assert!(parse(text).get("a").is_none());
}

#[rstest]
#[case::order_and_white_space(r#"{"a":[1, "x"],"b":null}"#, r#"{"b":null, "a":[1,"x"]}"#, true)]
#[case::escapes(r#""\u0061""#, r#""a""#, true)]
#[case::escaped_keys(r#"{"\u0061":1}"#, r#"{"a":1}"#, true)]
#[case::order_of_elements("[1,2]", "[2,1]", false)]
#[case::another_member(r#"{"a":1}"#, r#"{"a":1,"b":1}"#, false)]
#[case::another_key(r#"{"a":1}"#, r#"{"b":1}"#, false)]
#[case::another_type("1", r#""1""#, false)]
#[case::numbers("1", "2", false)]
#[case::empty("{}", "{ }", true)]
#[case::nested(r#"{"a":[{"c":1,"b":"\u0062"}]}"#, r#"{"a":[{"b":"b","c":1}]}"#, true)]
#[case::deeper_than_the_stack(&format!("{}{}", "[".repeat(50_000), "]".repeat(50_000)), "[]", false)]
fn values_are_equal_as_json(#[case] one: &str, #[case] other: &str, #[case] expected: bool) {
    let (one, other) = (parse(one), parse(other));
    assert_eq!(one.equals(other), expected);
    assert_eq!(other.equals(one), expected);
    assert!(one.equals(one));
}

#[test]
fn objects_of_thousands_of_members_are_equal_whatever_their_order() {
    let members: Vec<String> = (0..10_000)
        .map(|number| format!("\"k{number}\":{number}"))
        .collect();
    let forwards = format!("{{{}}}", members.join(","));
    let backwards: Vec<&str> = members.iter().rev().map(String::as_str).collect();
    let backwards = format!("{{{}}}", backwards.join(","));
    assert!(parse(&forwards).equals(parse(&backwards)));
}

#[rstest]
#[case::null("null", JsonType::Null, "null")]
#[case::string(r#""a""#, JsonType::String, "a string")]
#[case::number("-1", JsonType::Number, "a number")]
#[case::boolean("true", JsonType::Boolean, "a boolean")]
#[case::list("[1]", JsonType::List, "a list")]
#[case::object(r#"{"a":1}"#, JsonType::Object, "an object")]
fn every_type_has_a_name_and_its_readers(
    #[case] text: &str,
    #[case] json_type: JsonType,
    #[case] name: &str,
) {
    let json = parse(text);
    assert_eq!(json.json_type(), json_type);
    assert_eq!(json_type.to_string(), name);
    let is = |of: JsonType| json_type == of;
    assert_eq!(json.is_null(), is(JsonType::Null));
    assert_eq!(json.as_str().is_some(), is(JsonType::String));
    assert_eq!(json.as_bool().is_some(), is(JsonType::Boolean));
    assert_eq!(json.as_integer().is_some(), is(JsonType::Number));
    assert_eq!(json.members().count(), usize::from(is(JsonType::Object)));
    assert_eq!(json.elements().count(), usize::from(is(JsonType::List)));
    let mut draft = Draft::from(json);
    assert_eq!(draft.as_object_mut().is_some(), is(JsonType::Object));
    assert_eq!(draft.as_array_mut().is_some(), is(JsonType::List));
    assert_eq!(draft.to_string(), text);
}

#[rstest]
#[case::object("{ }", true)]
#[case::list("[\n]", true)]
#[case::filled("[{}]", false)]
#[case::string(r#""""#, false)]
fn emptiness_is_of_objects_and_lists(#[case] text: &str, #[case] empty: bool) {
    assert_eq!(parse(text).is_empty(), empty);
    assert_eq!(Draft::from(parse(text)).is_empty(), empty);
}

#[test]
fn a_mismatch_says_where_it_is() {
    let json = parse(r#"{"spec":{"containers":[{},{"image":1}]},"metadata":[]}"#);
    let image = |name| {
        let root = Field::root(json, name);
        let spec = root.field("spec")?.unwrap();
        let containers = spec.field("containers")?.unwrap();
        let second = containers.elements()?.nth(1).unwrap();
        let image = second.field("image")?.unwrap();
        image.string().map(|image| image.into_owned())
    };
    let path = "spec.containers[1].image: expected a string, got a number";
    assert_eq!(image("").unwrap_err().to_string(), path);
    assert_eq!(
        image("object").unwrap_err().to_string(),
        format!("object.{path}")
    );
    let root = Field::root(json, "");
    let metadata = root.field("metadata").unwrap().unwrap();
    let mismatch = metadata.field("labels").unwrap_err();
    assert_eq!(
        mismatch.to_string(),
        "metadata: expected an object, got a list"
    );
}

#[rstest]
#[case::every_escape(
    r#""\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00""#,
    Some("\"\\/\u{8}\u{c}\n\r\té😀")
)]
#[case::half_a_pair(r#""\ud83d""#, None)]
#[case::halves_in_the_wrong_order(r#""\ude00\ud83d""#, None)]
#[case::no_string("1", None)]
fn a_string_says_what_its_escapes_mean(#[case] text: &str, #[case] expected: Option<&str>) {
    assert_eq!(parse(text).as_str().as_deref(), expected);
}

fn values() -> impl Strategy<Value = Value> {
    let text = r#"[a-zé😀{}\[\],:"\\\n ]{0,6}"#;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text, inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// The value's text with every character escaped, and white space wherever it may be.
fn verbose(value: &Value) -> String {
    let string = |text: &str| {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
        format!("\n \"{}\"\t\r", units.collect::<String>())
    };
    let list = |open, parts: Vec<String>, close| format!(" {open} {} {close} ", parts.join(","));
    match value {
        Value::String(text) => string(text),
        Value::Array(elements) => list('[', elements.iter().map(verbose).collect(), ']'),
        Value::Object(members) => {
            let member = |(key, value): (&String, _)| format!("{}:{}", string(key), verbose(value));
            list('{', members.iter().map(member).collect(), '}')
        }
        other => format!(" {other} "),
    }
}

/// The value as the readers have it.
fn read(json: Json<'_>) -> Value {
    match json.json_type() {
        JsonType::Object => json
            .members()
            .map(|(key, value)| (key.into_owned(), read(value)))
            .collect(),
        JsonType::List => json.elements().map(read).collect(),
        JsonType::String => json.as_str().unwrap().into(),
        JsonType::Boolean => json.as_bool().unwrap().into(),
        JsonType::Number => json.as_integer().unwrap().into(),
        JsonType::Null => Value::Null,
    }
}

/// Opens everything that can be opened.
fn open(draft: &mut Draft<'_>) {
    if draft.as_object_mut().is_some() {
        let Draft::Object(object) = draft else { return };
        let mut keys: Vec<String> = Vec::new();
        if let Ok(Value::Object(members)) =
            serde_json::from_str(&Draft::Object(object.clone()).to_string())
        {
            keys.extend(members.keys().cloned());
        }
        for key in keys {
            open(object.get_mut(&key).unwrap());
        }
    } else if let Some(elements) = draft.as_array_mut() {
        elements.iter_mut().for_each(open);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_text_is_read_and_written_back_as_serde_json_does(value in values()) {
        for text in [value.to_string(), verbose(&value)] {
            let json = parse(&text);
            prop_assert_eq!(read(json), value.clone(), "{}", text);
            let mut draft = Draft::from(json);
            open(&mut draft);
            let again: Value = serde_json::from_str(&draft.to_string()).unwrap();
            prop_assert_eq!(&again, &value, "{}", text);
            let canonical: Value = serde_json::from_str(&json.canonical()).unwrap();
            prop_assert_eq!(&canonical, &value, "{}", text);
        }
    }
}
