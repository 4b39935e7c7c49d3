use super::*;
use crate::cell::{Cell, fields};

fn wrong(text: &str) -> JsonErrorKind {
    let error = parse(text.as_bytes()).unwrap_err();
    assert!(error.at <= text.len(), "{text}: {error:?}");
    assert!(!error.reason().is_empty() && !error.remedy().is_empty());
    error.kind
}

#[test]
fn json_numbers_parse_like_in_python() {
    let read = |text: &str| parse(text.as_bytes()).unwrap();
    for (text, expected) in [
        ("-0", Cell::Int(0)),
        ("1.0", Cell::Float(1.0)),
        ("1E2", Cell::Float(100.0)),
        ("1e999", Cell::Float(f64::INFINITY)),
        ("-Infinity", Cell::Float(f64::NEG_INFINITY)),
        ("9223372036854775808", Cell::BigInt(1 << 63)),
        ("-9223372036854775808", Cell::Int(i64::MIN)),
        (
            "170141183460469231731687303715884105727",
            Cell::BigInt(i128::MAX),
        ),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    assert!(matches!(read(" NaN "), Cell::Float(nan) if nan.is_nan()));
    assert!(matches!(read("-0.0"), Cell::Float(zero) if zero.is_sign_negative()));
    assert_eq!(
        wrong("170141183460469231731687303715884105728"),
        JsonErrorKind::Large
    );
    for (text, expected) in [
        ("01", JsonErrorKind::Extra),
        ("1.", JsonErrorKind::Extra),
        ("[1.]", JsonErrorKind::Comma),
        (".5", JsonErrorKind::Value),
        ("+1", JsonErrorKind::Value),
        ("nan", JsonErrorKind::Value),
        ("--1", JsonErrorKind::Value),
    ] {
        assert_eq!(wrong(text), expected, "{text}");
    }
}

#[test]
fn json_strings_parse_like_in_python() {
    let read = |text: &str| parse(text.as_bytes()).unwrap();
    assert_eq!(read(r#""\ud83d\ude00\u00e4\/\"\n""#), "😀ä/\"\n".into());
    assert_eq!(read("\"\u{2028}\u{7f}\""), "\u{2028}\u{7f}".into());
    for text in [
        r#""\ud800""#,
        r#""a\udc00b""#,
        r#""\ud83dx""#,
        r#""\ud83d\u0041""#,
    ] {
        assert_eq!(wrong(text), JsonErrorKind::Surrogate, "{text}");
    }
    assert_eq!(wrong("\"\t\""), JsonErrorKind::Control);
    assert_eq!(wrong(r#""\x41""#), JsonErrorKind::Escape);
    assert_eq!(wrong(r#""\u12g4""#), JsonErrorKind::Escape);
    assert_eq!(wrong("\"abc"), JsonErrorKind::Open);
    assert_eq!(
        parse(b"\"\xff\"").unwrap_err(),
        JsonErrorKind::Encoding.at(1)
    );
}

#[test]
fn json_errors_have_a_kind_and_a_position() {
    for (text, expected) in [
        ("", JsonErrorKind::Truncated),
        ("{\"a\": 1", JsonErrorKind::Truncated),
        ("[1,", JsonErrorKind::Truncated),
        ("tru", JsonErrorKind::Truncated),
        ("[1,]", JsonErrorKind::TrailingComma),
        ("{\"a\": 1,}", JsonErrorKind::Key),
        ("{'a': 1}", JsonErrorKind::Key),
        ("['a']", JsonErrorKind::Quote),
        ("[1 2]", JsonErrorKind::Comma),
        ("{\"a\" 1}", JsonErrorKind::Colon),
        ("1 2", JsonErrorKind::Extra),
        ("True", JsonErrorKind::Value),
    ] {
        assert_eq!(wrong(text), expected, "{text}");
    }
    assert_eq!(parse(b"[1, x]").unwrap_err(), JsonErrorKind::Value.at(4));
    assert_eq!(wrong(&"[".repeat(100_000)), JsonErrorKind::Deep);
    assert!(parse(format!("{}{}", "[".repeat(128), "]".repeat(128)).as_bytes()).is_ok());
}

#[test]
fn repeated_keys_have_their_last_value() {
    for count in [2, 15, 16, 17, 200] {
        let text: Vec<String> = (0..2 * count)
            .map(|n| format!("\"k{}\": {n}", n % count))
            .collect();
        let parsed = parse(format!("{{{}}}", text.join(",")).as_bytes()).unwrap();
        let expected = (0..count).map(|n| (format!("k{n}"), Cell::Int((n + count) as i64)));
        assert_eq!(parsed, fields(expected));
    }
}

#[test]
fn skipping_a_value_validates_it() {
    let skip = |text: &str| Json::new(text.as_bytes()).and_then(|mut json| json.skip());
    assert_eq!(skip(r#" {"a": [1, "\ud800", NaN]} "#), Ok(1..26));
    for text in ["{\"a\": [1,]}", "[\"\\x\"]", "{\"a\"}", "[1 2]"] {
        assert!(skip(text).is_err(), "{text}");
    }
}
