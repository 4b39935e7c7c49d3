//! Option text of a dataset: splitting, hiding passwords, detecting streams.

/// Replacement for a password.
const HIDDEN: &str = "***";

/// Splits a text at its commas. A part, or its value after the first `=`, can be in double quotes. Quoted text can contain commas, and `""`
/// is a quote. Spaces around parts and empty parts are dropped. Returns `None` for an unclosed quote.
pub fn parts(text: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some((part, left)) = next(rest)? {
        if !part.is_empty() {
            all.push(part);
        }
        rest = left;
    }
    Some(all)
}

/// Returns the first part and the text after its comma. Returns `Some(None)` at the end, and `None` for an unclosed quote.
fn next(text: &str) -> Option<Option<(String, &str)>> {
    let text = text.trim_start();
    if text.is_empty() {
        return Some(None);
    }
    let mut part = String::new();
    let mut rest = text;
    let (mut may_open, mut had_equals) = (true, false);
    loop {
        let mut chars = rest.chars();
        match chars.next() {
            None => break,
            Some('"') if may_open => {
                rest = quoted(chars.as_str(), &mut part)?;
                may_open = false;
                continue;
            }
            Some(',') => {
                rest = chars.as_str();
                break;
            }
            Some('=') if !had_equals => {
                (may_open, had_equals) = (true, true);
                part.push('=');
            }
            Some(c) => {
                may_open &= c.is_whitespace();
                part.push(c);
            }
        }
        rest = chars.as_str();
    }
    Some(Some((part.trim_end().to_owned(), rest)))
}

/// Appends quoted text to `part`. Returns the text after the closing quote.
fn quoted<'a>(text: &'a str, part: &mut String) -> Option<&'a str> {
    let mut rest = text;
    loop {
        let (before, behind) = rest.split_once('"')?;
        part.push_str(before);
        match behind.strip_prefix('"') {
            Some(more) => {
                part.push('"');
                rest = more;
            }
            None => return Some(behind),
        }
    }
}

/// Quotes a part for [`parts`] if necessary.
pub fn quote(text: &str) -> String {
    let needs = text.contains([',', '"']);
    if needs {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Returns the option text with the password in its URL hidden.
pub fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    // The URL ends at the next option. Hiding too much is harmless.
    let end = option_begin(rest).unwrap_or(rest.len());
    let (url, behind) = rest.split_at(end);
    let mut shown = match url.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((name, _)) => format!("{name}:{HIDDEN}@{host}"),
            None => url.to_owned(),
        },
        None => url.to_owned(),
    };
    // libpq also accepts the password as a parameter.
    if let Some((before, value)) = shown.clone().split_once("password=") {
        let behind = value.find('&').map_or("", |at| &value[at..]);
        shown = format!("{before}password={HIDDEN}{behind}");
    }
    format!("{scheme}://{shown}{behind}")
}

/// Returns the position of the next `,name=`.
fn option_begin(text: &str) -> Option<usize> {
    text.match_indices(',').map(|(at, _)| at).find(|at| {
        let name = text[at + 1..].split_once('=').map(|(name, _)| name.trim());
        name.is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        })
    })
}

/// Returns true if the option text describes an iterable-style dataset.
pub(super) fn is_stream(text: &str) -> bool {
    let Some((word, options)) = text.trim_start().split_once(':') else {
        return text.trim() == "stream";
    };
    match word {
        "stream" | "webdataset" | "tar" => true,
        // The rows of a query have an index only if an index column is named.
        "sql" => {
            let parts = parts(options).unwrap_or_default();
            !parts.iter().any(|part| part.starts_with("index="))
        }
        _ => false,
    }
}

/// Returns true if the option text begins with one of the kinds, after blanks.
pub(super) fn has_kind(text: &str, kinds: &[&str]) -> bool {
    let text = text.trim_start();
    kinds.iter().any(|kind| text.starts_with(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::RunOptions;

    #[test]
    fn quoted_parts_keep_their_commas() {
        let read = |text: &str| parts(text).unwrap();
        assert_eq!(read("a.csv, sep=tab,,"), ["a.csv", "sep=tab"]);
        assert_eq!(
            read(r#"sqlite:my.db,query="SELECT a, ""b"" FROM t",index=id"#),
            ["sqlite:my.db", r#"query=SELECT a, "b" FROM t"#, "index=id"]
        );
        assert_eq!(read(r#""a,b.csv",x=5" disk"#), ["a,b.csv", r#"x=5" disk"#]);
        assert_eq!(parts(r#"query="SELECT"#), None);
        for text in ["a", "a,b", "\"", "a\"b", "x, \"y\"\"", ""] {
            assert_eq!(
                read(&format!("k={},z", quote(text)))[0],
                format!("k={text}")
            );
        }
    }

    #[test]
    fn passwords_are_hidden() {
        let shown = |text: &str| without_password(text);
        assert_eq!(
            shown("sql:postgresql://me:se/cr@et@host:5432/db,query=SELECT 'a@b'"),
            "sql:postgresql://me:***@host:5432/db,query=SELECT 'a@b'"
        );
        assert_eq!(
            shown("sql:postgresql://host/db?user=me&password=secret&x=1,query=SELECT 1"),
            "sql:postgresql://host/db?user=me&password=***&x=1,query=SELECT 1"
        );
        for text in [
            "digits",
            "sql:postgresql://me@host/db,query=SELECT 1, 2",
            "folder:a:b@c",
        ] {
            assert_eq!(shown(text), text);
        }
        let odd = shown("sql:postgresql://me:se,cret@host/db,query=x");
        assert!(!odd.contains("cret"), "{odd}");
    }

    #[test]
    fn streams_are_recognized_by_their_option_text() {
        for text in [
            "stream",
            "stream:len=3",
            " stream:len=3",
            "webdataset:a.tar",
            "tar:a.tar",
            r#"sql:sqlite:a.db,query="SELECT a,index=b FROM t""#,
        ] {
            assert!(is_stream(text), "{text}");
        }
        for text in [
            "digits",
            "sql:sqlite:a.db,query=SELECT 1,index=id",
            "voc:a",
            "folder:stream",
        ] {
            assert!(!is_stream(text), "{text}");
        }
    }

    #[test]
    fn leading_blanks_do_not_change_the_kind_of_a_dataset() {
        let cases = [
            ("stream", true, false, true),
            ("stream:len=8", true, false, true),
            ("webdataset:a.tar", true, true, false),
            ("tar:a.tar", true, true, false),
            ("sql:sqlite:a.db,query=SELECT 1", true, true, false),
            ("synthetic:len=8", false, false, true),
            ("folder:stream", false, false, false),
            ("digits", false, false, false),
        ];
        for (text, is_stream, is_shared, is_synthetic) in cases {
            for dataset in [text.to_owned(), format!("  {text}")] {
                let options = RunOptions {
                    dataset,
                    ..RunOptions::default()
                };
                let kind = (
                    options.is_stream(),
                    options.is_shared_stream(),
                    options.is_synthetic(),
                );
                assert_eq!(kind, (is_stream, is_shared, is_synthetic), "{options:?}");
            }
        }
    }
}
