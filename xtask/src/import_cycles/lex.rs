//! A lexer for Rust files that skips comments and numbers.

/// Token of a Rust file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Identifier or keyword.
    Name(&'a str),
    /// Content of a string literal, with its escapes.
    Text(&'a str),
    /// The path separator `::`.
    Colons,
    /// Any other character.
    Sign(char),
}

/// Returns the tokens of `source`, in order.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut left = source;
    let mut tokens = Vec::new();
    while let Some(first) = left.chars().next() {
        let (token, length) = next(left, first);
        tokens.extend(token);
        left = left.get(length..).unwrap_or_default();
    }
    tokens
}

/// Returns the first token of `left`, and its length in bytes. The token is `None` for skipped text.
fn next(left: &str, first: char) -> (Option<Token<'_>>, usize) {
    match first {
        _ if left.starts_with("//") => (None, left.find('\n').unwrap_or(left.len())),
        _ if left.starts_with("/*") => (None, comment(left)),
        _ if left.starts_with("::") => (Some(Token::Colons), 2),
        '"' => quoted(left, 0),
        '\'' => (None, quote(left)),
        '0'..='9' => (None, word(left)),
        _ if is_of_name(first) => named(left),
        _ if first.is_whitespace() => (None, first.len_utf8()),
        _ => (Some(Token::Sign(first)), first.len_utf8()),
    }
}

/// Reads a name, or a literal with a prefix: `r"…"`, `br#"…"#`, `b"…"`, `b'…'`. Skips the `r#` of `r#name`.
fn named(left: &str) -> (Option<Token<'_>>, usize) {
    let length = word(left);
    let (name, behind) = left.split_at(length);
    let marks = behind.len() - behind.trim_start_matches('#').len();
    let opens = behind[marks..].starts_with('"');
    match name {
        "r" | "br" | "cr" if opens => raw(left, length + marks, marks),
        "b" | "c" if behind.starts_with('"') => quoted(left, length),
        "b" if behind.starts_with('\'') => (None, length + quote(behind)),
        "r" if marks == 1 => (None, length + marks),
        _ => (Some(Token::Name(name)), length),
    }
}

/// Reads a string whose opening quote is at `start`.
fn quoted(left: &str, start: usize) -> (Option<Token<'_>>, usize) {
    let inside = left.get(start + 1..).unwrap_or_default();
    let mut is_escaped = false;
    for (at, sign) in inside.char_indices() {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return (Some(Token::Text(&inside[..at])), start + at + 2),
            _ => {}
        }
    }
    (Some(Token::Text(inside)), left.len())
}

/// Reads a raw string whose opening quote is at `start`. It ends with as many `#` as precede the quote.
fn raw(left: &str, start: usize, marks: usize) -> (Option<Token<'_>>, usize) {
    let inside = left.get(start + 1..).unwrap_or_default();
    let end = format!("\"{}", "#".repeat(marks));
    let length = inside.find(&end).unwrap_or(inside.len());
    let token = Token::Text(&inside[..length]);
    (Some(token), start + 1 + length + end.len())
}

/// Returns the length of a character literal or a lifetime.
fn quote(left: &str) -> usize {
    let inside = left.get(1..).unwrap_or_default();
    let mut signs = inside.chars();
    match signs.next() {
        // The escaped character may be a quote.
        Some('\\') => {
            let behind = inside.get(2..).unwrap_or_default();
            behind.find('\'').map_or(left.len(), |at| at + 4)
        }
        Some(sign) if signs.next() == Some('\'') => sign.len_utf8() + 2,
        _ => 1 + word(inside),
    }
}

/// Returns the length of a comment, which may contain nested comments.
fn comment(left: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(rest) = left.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            return at;
        }
    }
    left.len()
}

fn word(left: &str) -> usize {
    left.find(|sign| !is_of_name(sign)).unwrap_or(left.len())
}

fn is_of_name(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<&str> {
        let tokens = tokens(source).into_iter();
        tokens
            .filter_map(|token| match token {
                Token::Name(name) => Some(name),
                Token::Text(_) | Token::Colons | Token::Sign(_) => None,
            })
            .collect()
    }

    #[test]
    fn comments_and_literals_hold_no_names() {
        assert_eq!(names("a // b\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
        assert_eq!(names(r#"a "b \" c" d b"e" f"#), ["a", "d", "f"]);
        assert_eq!(
            names(r###"a r"b\" c r#"d " e"# f br##"g "# h"## i"###),
            ["a", "c", "f", "i"]
        );
        assert_eq!(
            names(r"a 'b' '\'' '\u{41}' b'c' d 0x1f 1.5_f32 e"),
            ["a", "d", "e"]
        );
        assert_eq!(names("a<'b> 'static: c"), ["a", "c"]);
        assert_eq!(names("r#type é"), ["type", "é"]);
    }

    #[test]
    fn unterminated_literals_extend_to_the_end_of_the_file() {
        for source in ["\"a", "r#\"a", "/* a", "'", "'\\", "b\"", "// a", "r#"] {
            assert_eq!(names(source), Vec::<&str>::new(), "{source}");
        }
    }

    #[test]
    fn signs_are_tokens() {
        use Token::{Colons, Name, Sign, Text};
        assert_eq!(
            tokens("a::b(\"c\");"),
            [
                Name("a"),
                Colons,
                Name("b"),
                Sign('('),
                Text("c"),
                Sign(')'),
                Sign(';')
            ]
        );
    }
}
