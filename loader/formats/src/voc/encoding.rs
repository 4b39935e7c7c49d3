//! Conversion of an annotation from its declared encoding to UTF-8.

use std::path::Path;

use loadscope_words::say;

use crate::decompress;
use crate::error::{Fault, FormatError, Place};

/// Encodings with one byte per character: their names in lowercase without punctuation, a tab, and the characters of their last bytes.
/// ISO 8859 has 96, the others have 128. U+FFFD marks bytes without a character.
const PAGES: &str = include_str!("codepages.tsv");
/// Length of the start that contains the declaration, bytes.
const NEAR: usize = 200;

/// Converts the text of the file `path` to UTF-8.
///
/// # Errors
/// If a byte is invalid in the encoding, or the encoding is not supported.
pub(super) fn utf8(text: Vec<u8>, path: &Path) -> Result<Vec<u8>, FormatError> {
    let is_wide = text.starts_with(&[0xff, 0xfe])
        || text.starts_with(&[0xfe, 0xff])
        || text.starts_with(b"<\0")
        || text.starts_with(b"\0<");
    if is_wide {
        return decompress::utf8(text.into(), &Place::file(path)).map(|text| text.to_vec());
    }
    let Some(name) = declared(&text) else {
        return checked(text, path);
    };
    let plain: String = (name.to_ascii_lowercase().chars())
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let mut pages = PAGES.lines().filter_map(|line| line.split_once('\t'));
    let page = pages.find(|(names, _)| names.split(' ').any(|name| name == plain));
    match (plain.as_str(), page) {
        ("utf8", _) => checked(text, path),
        ("usascii" | "ascii", _) => mapped(&text, path, |_| None),
        ("iso88591" | "latin1", _) => mapped(&text, path, |byte| Some(char::from(byte))),
        (_, Some((_, page))) => {
            let page: Vec<char> = page.chars().collect();
            mapped(&text, path, |byte| {
                // The first 32 bytes of ISO 8859 are control characters.
                let at = (usize::from(byte) + page.len()).checked_sub(256);
                let character = at.map_or(Some(char::from(byte)), |at| page.get(at).copied());
                character.filter(|character| *character != '\u{fffd}')
            })
        }
        _ => Err(wrong(
            path,
            say!("its encoding {name} is not supported"),
            say!("Save it in UTF-8"),
        )),
    }
}

/// Returns the encoding in the XML declaration.
fn declared(text: &[u8]) -> Option<String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let near = text.get(..NEAR).unwrap_or(text);
    let near = String::from_utf8_lossy(near);
    let (declaration, _) = near.strip_prefix("<?xml")?.split_once("?>")?;
    let (_, value) = declaration.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value
        .chars()
        .next()
        .filter(|quote| matches!(quote, '"' | '\''))?;
    value
        .get(1..)?
        .split_once(quote)
        .map(|(name, _)| name.to_owned())
}

fn checked(mut text: Vec<u8>, path: &Path) -> Result<Vec<u8>, FormatError> {
    if let Err(e) = std::str::from_utf8(&text) {
        return Err(encoding_error(&text, path, e.valid_up_to()));
    }
    if text.starts_with(b"\xef\xbb\xbf") {
        text.drain(..3);
    }
    Ok(text)
}

/// Converts a text of one byte per character. `upper` maps the bytes beyond ASCII.
fn mapped(
    text: &[u8],
    path: &Path,
    upper: impl Fn(u8) -> Option<char>,
) -> Result<Vec<u8>, FormatError> {
    let mut out = String::with_capacity(text.len());
    for (at, byte) in text.iter().enumerate() {
        let character = if byte.is_ascii() {
            Some(char::from(*byte))
        } else {
            upper(*byte)
        };
        out.push(character.ok_or_else(|| encoding_error(text, path, at))?);
    }
    Ok(out.into_bytes())
}

fn encoding_error(text: &[u8], path: &Path, at: usize) -> FormatError {
    let (line, column) = crate::file::line_and_column(text, at);
    let mut error = wrong(
        path,
        say!("a character is not of the encoding of the file").to_owned(),
        say!("Save it in UTF-8, or declare its encoding in the first line"),
    );
    error.place = Box::new(error.place.line(line).column(column));
    error
}

fn wrong(path: &Path, reason: String, remedy: &str) -> FormatError {
    FormatError::new(Fault::Damaged, Place::file(path), reason, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<String, FormatError> {
        let read = utf8(text.to_vec(), Path::new("a.xml"))?;
        Ok(String::from_utf8(read).unwrap())
    }

    #[test]
    fn declared_encodings_are_read() {
        let end = |text: &[u8]| read(text).map(|text| text.rsplit('>').next().unwrap().to_owned());
        for (name, bytes, expected) in [
            ("ISO-8859-1", b"\xe4\x80".as_slice(), "ä\u{80}"),
            ("windows-1252", b"\x80\xe4", "€ä"),
            ("CP1251", b"\xea\xee\xf2", "кот"),
            ("koi8-r", b"\xcb\xcf\xd4", "кот"),
            ("iso-8859-15", b"\xa4", "€"),
            ("UTF-8", "猫".as_bytes(), "猫"),
        ] {
            for quote in ["\"", "'"] {
                let mut text =
                    format!("<?xml version=\"1.0\" encoding = {quote}{name}{quote}?>").into_bytes();
                text.extend(bytes);
                assert_eq!(end(&text).as_deref(), Ok(expected), "{name}");
            }
        }
        let wide: Vec<u8> = "<a>ä".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(read(&wide).unwrap(), "<a>ä");
        assert_eq!(read("\u{feff}<a>".as_bytes()).unwrap(), "<a>");
    }

    #[test]
    fn invalid_bytes_and_unknown_encodings_are_named() {
        let says = |text: &[u8], part: &str| {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        says(
            b"<a>\n\xe4",
            "a.xml, line 2, column 1: a character is not of the encoding",
        );
        says(
            b"<?xml encoding='windows-1252'?>\x81",
            "a character is not of the encoding",
        );
        says(
            b"<?xml encoding='us-ascii'?>\xe4",
            "a character is not of the encoding",
        );
        says(
            b"<?xml encoding='GBK'?>",
            "its encoding GBK is not supported. Save it in UTF-8",
        );
        says(
            b"<?xml encoding='utf-16'?>",
            "its encoding utf-16 is not supported",
        );
    }

    #[test]
    fn code_pages_end_at_byte_255() {
        for line in PAGES.lines() {
            let (names, page) = line.split_once('\t').unwrap();
            let first = names.split(' ').next().unwrap();
            let expected = if first.starts_with("iso8859") {
                96
            } else {
                128
            };
            assert_eq!(page.chars().count(), expected, "{names:?}");
        }
    }
}
