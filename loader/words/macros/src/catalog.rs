//! A catalog of texts: lines of the form `"English" = "other language"`, a subset of TOML.

use std::collections::BTreeMap;
use std::path::Path;

/// Texts of a catalog by their English text.
pub type Catalog = BTreeMap<String, String>;

/// Reads a catalog.
///
/// # Errors
/// An error message with the file and the line.
pub fn read(path: &Path) -> Result<Catalog, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    parse(&text).map_err(|(line, why)| format!("{}:{line}: {why}", path.display()))
}

/// Parses the lines of a catalog. An error contains its line number.
fn parse(text: &str) -> Result<Catalog, (usize, String)> {
    let mut found = Catalog::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fail = |why: &str| (at + 1, why.to_owned());
        let (key, rest) = string(line).map_err(|why| fail(&why))?;
        let rest = rest.trim_start().strip_prefix('=');
        let rest = rest.ok_or_else(|| fail("expected = after the English text"))?;
        let (value, rest) = string(rest.trim_start()).map_err(|why| fail(&why))?;
        if !rest.is_empty() {
            return Err(fail("expected nothing after the text"));
        }
        if found.insert(key, value).is_some() {
            return Err(fail("this English text stands here twice"));
        }
    }
    Ok(found)
}

/// Parses the quoted string at the start of `text`. Returns it and the rest.
fn string(text: &str) -> Result<(String, &str), String> {
    let body = text.strip_prefix('"').ok_or("expected a text in quotes")?;
    let (mut out, mut chars) = (String::new(), body.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((out, &body[at + 1..])),
            '\\' => {
                let (_, escaped) = chars.next().ok_or("the text does not end")?;
                out.push(match escaped {
                    'n' => '\n',
                    't' => '\t',
                    '"' | '\\' => escaped,
                    'u' => {
                        let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16)
                            .ok()
                            .and_then(char::from_u32);
                        code.ok_or("expected four hexadecimal digits of a character after \\u")?
                    }
                    other => return Err(format!("\\{other} has no meaning")),
                });
            }
            c => out.push(c),
        }
    }
    Err("the text does not end".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translations_are_read_by_line() {
        let catalog =
            parse("# of the window\n\n\"Run\" = \"运行\"\n\"a \\\"b\\\"\\n95\\u2009%\" = \"c\"\n")
                .expect("fine");
        assert_eq!(catalog.get("Run").map(String::as_str), Some("运行"));
        assert_eq!(
            catalog.get("a \"b\"\n95\u{2009}%").map(String::as_str),
            Some("c")
        );
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, line, part) in [
            ("\"a\" = \"b\"\nRun = \"运行\"", 2, "quotes"),
            ("\"a\" \"b\"", 1, "expected ="),
            ("\"a\" = \"b", 1, "does not end"),
            ("\"a\" = \"b\" c", 1, "nothing after"),
            ("\"a\" = \"\\q\"", 1, "no meaning"),
            ("\"a\" = \"\\u12\"", 1, "hexadecimal"),
            ("\"a\" = \"b\"\n\n\"a\" = \"c\"", 3, "twice"),
        ] {
            let (at, why) = parse(text).expect_err(text);
            assert_eq!(at, line, "{text}");
            assert!(why.contains(part), "{text}: {why}");
        }
    }
}
