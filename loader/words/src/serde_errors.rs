//! Plain messages for errors of the JSON and TOML parsers (serde).

use crate::say;

/// Converts a message of serde about a value to a clause: `"four" is not a whole number`. Returns `None` for other messages.
pub fn value_error(message: &str) -> Option<String> {
    let message = message.trim();
    if let Some(name) = message.strip_prefix("missing field ") {
        return Some(say!("the field {name} is missing"));
    }
    if let Some(name) = message.strip_prefix("duplicate field ") {
        return Some(say!("the field {name} appears twice"));
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        // The list of all valid fields would be too long.
        let name = rest.split("`, ").next().unwrap_or(rest);
        return Some(say!("the field `{}` is unknown", name.trim_matches('`')));
    }
    if let Some((name, valid)) = message
        .strip_prefix("unknown variant ")
        .and_then(|rest| rest.split_once(", expected "))
    {
        let valid = valid.strip_prefix("one of ").unwrap_or(valid);
        return Some(say!("{name} is unknown, valid are {valid}"));
    }
    let invalid = ["invalid type: ", "invalid value: ", "invalid length "];
    let rest = invalid
        .iter()
        .find_map(|begin| message.strip_prefix(begin))?;
    let (found, expected) = rest.rsplit_once(", expected ")?;
    Some(say!("{} is not {}", given(found), kind(expected)))
}

/// Converts a message of `serde_json` to a clause.
pub fn json_error(message: &str) -> String {
    /// Starts of messages about text that is not JSON.
    const SYNTAX: [&str; 9] = [
        "control character",
        "expected ",
        "float key",
        "invalid escape",
        "invalid number",
        "key must be",
        "lone leading",
        "trailing ",
        "unexpected end of hex",
    ];
    let (text, place) = message
        .rsplit_once(" at line ")
        .and_then(|(text, place)| Some((text, place.split_once(" column ")?)))
        .map_or((message, None), |(text, place)| (text, Some(place)));
    if let Some(said) = value_error(text) {
        return said;
    }
    if text.starts_with("EOF") {
        return say!("its JSON ends in the middle").to_owned();
    }
    let special = [
        ("recursion limit", say!("its JSON is nested too deeply")),
        ("invalid unicode", say!("a text of its JSON is not UTF-8")),
        (
            "number out of range",
            say!("a number of its JSON is too large"),
        ),
        (
            "trailing characters",
            say!("there is text after its JSON value"),
        ),
    ];
    let found = special
        .into_iter()
        .find(|(begin, _)| text.starts_with(*begin));
    if let Some((_, said)) = found {
        return said.to_owned();
    }
    if !SYNTAX.iter().any(|begin| text.starts_with(begin)) {
        return text.to_owned();
    }
    match place {
        Some(("1", column)) => say!("it is not valid JSON at column {column}"),
        Some((line, column)) => say!("it is not valid JSON at line {line}, column {column}"),
        None => say!("it is not valid JSON").to_owned(),
    }
}

/// Returns a value as in the file: `"four"`, `5`, an object.
fn given(found: &str) -> String {
    match found {
        "map" => say!("an object").to_owned(),
        "sequence" => say!("a list").to_owned(),
        "unit value" => "null".to_owned(),
        _ => {
            let kinds = [
                "string ",
                "integer ",
                "floating point ",
                "boolean ",
                "character ",
                "datetime ",
            ];
            let value = kinds.iter().find_map(|kind| found.strip_prefix(kind));
            value.unwrap_or(found).trim_matches('`').to_owned()
        }
    }
}

/// Returns the type of value that a Rust type expects.
fn kind(expected: &str) -> String {
    let is_whole = |name: &str| {
        let bits = name.strip_prefix(['u', 'i']).unwrap_or_default();
        matches!(bits, "8" | "16" | "32" | "64" | "128" | "size")
    };
    let said = match expected {
        name if is_whole(name) => say!("a whole number"),
        name if name.starts_with("a nonzero ") => say!("a whole number of at least 1"),
        "f32" | "f64" => say!("a number"),
        "a boolean" => say!("true or false"),
        "a string" | "string" | "a borrowed string" | "a char" => say!("a text"),
        "a sequence" | "sequence" => say!("a list"),
        "a map" | "map" => say!("an object"),
        "string or map" | "string or table" => say!("a text or an object"),
        name if name.starts_with("enum ") => say!("a text or an object"),
        name if name.starts_with("struct ") || name.starts_with("internally tagged enum ") => {
            say!("an object")
        }
        name if name.starts_with("a tuple of size ") || name.starts_with("tuple ") => {
            say!("a list of this length")
        }
        other => return other.to_owned(),
    };
    said.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_messages_name_no_rust_types() {
        for (message, said) in [
            (
                "invalid type: string \"four\", expected usize",
                "\"four\" is not a whole number",
            ),
            (
                "invalid type: floating point `1.5`, expected u32",
                "1.5 is not a whole number",
            ),
            (
                "invalid value: integer `-1`, expected u32",
                "-1 is not a whole number",
            ),
            (
                "invalid type: map, expected f64",
                "an object is not a number",
            ),
            (
                "invalid type: unit value, expected a string",
                "null is not a text",
            ),
            (
                "invalid type: integer `5`, expected string or map",
                "5 is not a text or an object",
            ),
            (
                "invalid value: integer `0`, expected a nonzero u16",
                "0 is not a whole number of at least 1",
            ),
            ("missing field `t`", "the field `t` is missing"),
            (
                "unknown variant `asleep`, expected one of `held`, `ready`",
                "`asleep` is unknown, valid are `held`, `ready`",
            ),
            (
                "unknown field `x`, expected `a` or `b`",
                "the field `x` is unknown",
            ),
            (
                "unknown field `x`, there are no fields",
                "the field `x` is unknown",
            ),
        ] {
            assert_eq!(value_error(message).as_deref(), Some(said), "{message}");
        }
        assert_eq!(value_error("batch_size should be at least 1"), None);
    }

    #[test]
    fn json_errors_name_the_place() {
        for (message, said) in [
            (
                "invalid type: string \"now\", expected i64 at line 1 column 11",
                "\"now\" is not a whole number",
            ),
            (
                "EOF while parsing a string at line 1 column 66",
                "its JSON ends in the middle",
            ),
            (
                "expected value at line 1 column 7",
                "it is not valid JSON at column 7",
            ),
            (
                "trailing comma at line 3 column 1",
                "it is not valid JSON at line 3, column 1",
            ),
            (
                "recursion limit exceeded at line 1 column 140",
                "its JSON is nested too deeply",
            ),
            (
                "a sentence of ours at line 1 column 2",
                "a sentence of ours",
            ),
        ] {
            assert_eq!(json_error(message), said, "{message}");
        }
    }
}
