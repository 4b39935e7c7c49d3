//! Texts with placeholders, as `format!` parses them.

use std::collections::BTreeSet;

/// Returns the placeholders of a text: argument and format. Unnamed ones are numbered, so other languages can have another order.
///
/// # Errors
/// If a brace has no counterpart.
pub fn placeholders(text: &str) -> Result<BTreeSet<(String, String)>, String> {
    let (mut found, mut unnamed, mut rest) = (BTreeSet::new(), 0, text);
    while let Some(at) = rest.find(['{', '}']) {
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            rest = after;
            continue;
        }
        let end = after.find('}').filter(|_| brace == "{");
        let end =
            end.ok_or_else(|| format!("a brace stands alone in {text:?}: write {{{{ or }}}}"))?;
        let (name, spec) = after[..end].split_once(':').unwrap_or((&after[..end], ""));
        let name = match name.trim() {
            "" => {
                unnamed += 1;
                (unnamed - 1).to_string()
            }
            name => name.to_owned(),
        };
        found.insert((name, spec.to_owned()));
        rest = &after[end + 1..];
    }
    Ok(found)
}

/// Returns the text with a [`JOINT`] at both ends of each placeholder.
pub fn with_joints(text: &str) -> String {
    let (mut out, mut chars) = (
        String::with_capacity(text.len() + 8),
        text.chars().peekable(),
    );
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.next_if_eq(&c).is_some() => out.extend([c, c]),
            '{' => out.extend([JOINT, c]),
            '}' => out.extend([c, JOINT]),
            c => out.push(c),
        }
    }
    out
}

/// Border between a text and an inserted value. `loadscope_words::spaced` replaces it with a space or nothing.
const JOINT: char = '\u{1}';

/// Returns a text without placeholders as it is shown: `{{` is one brace.
pub fn plain(text: &str) -> String {
    text.replace("{{", "{").replace("}}", "}")
}

/// Returns the value of a string literal in source code. Returns `None` for other tokens.
pub fn unquoted(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let body = raw.get(hashes + 1..raw.len().checked_sub(hashes + 1)?)?;
        return Some(body.to_owned());
    }
    let body = literal.strip_prefix('"')?.strip_suffix('"')?;
    let (mut out, mut chars) = (String::with_capacity(body.len()), body.chars().peekable());
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next()? {
            '\n' => while chars.next_if(|c| c.is_whitespace()).is_some() {},
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            '0' => out.push('\0'),
            'u' => {
                let digits: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
            }
            'x' => {
                let digits: String = chars.by_ref().take(2).collect();
                out.push(char::from(u8::from_str_radix(&digits, 16).ok()?));
            }
            other => out.push(other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(all: &[(&str, &str)]) -> BTreeSet<(String, String)> {
        all.iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    }

    #[test]
    fn placeholders_are_found_in_any_order() {
        let expected = set(&[("0", ""), ("1", ".1"), ("name", "")]);
        assert_eq!(
            placeholders("{} of {:.1}, {name} {{x}}"),
            Ok(expected.clone())
        );
        assert_eq!(placeholders("{name}：{1:.1} 中的 {0}"), Ok(expected));
        assert_eq!(placeholders("no braces"), Ok(set(&[])));
        assert_eq!(with_joints("a{0:.1}b {{x}}"), "a\u{1}{0:.1}\u{1}b {{x}}");
        assert!(placeholders("a { b").is_err() && placeholders("a } b").is_err());
    }

    #[test]
    fn literals_are_unquoted_to_their_value() {
        assert_eq!(
            unquoted(r#""a \"b\" \u{2009}\x41\n""#).as_deref(),
            Some("a \"b\" \u{2009}A\n")
        );
        assert_eq!(
            unquoted("\"two \\\n    lines\"").as_deref(),
            Some("two lines")
        );
        assert_eq!(
            unquoted(r##"r#"a "b" \n"#"##).as_deref(),
            Some(r#"a "b" \n"#)
        );
        assert_eq!(unquoted("12"), None);
        assert_eq!(plain("{{x}}"), "{x}");
    }
}
