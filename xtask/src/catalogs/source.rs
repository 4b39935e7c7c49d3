//! Collects the texts of a crate's sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::import_cycles::lex::{Token, tokens};

/// Texts of a crate's sources, for comparison with its catalog.
#[derive(Debug, Default)]
pub struct SourceTexts {
    /// Keys of `say!` and `text!`.
    pub keys: BTreeSet<String>,
    /// Texts of several words outside of these macros, with their file.
    pub uncatalogued: Vec<(PathBuf, String)>,
}

/// Reads the texts of the sources in `root/src`.
///
/// # Errors
/// If a source cannot be read.
pub fn read_texts(root: &Path) -> Result<SourceTexts> {
    let mut texts = SourceTexts::default();
    read_folder(&root.join("src"), &mut texts)?;
    Ok(texts)
}

fn read_folder(folder: &Path, texts: &mut SourceTexts) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths {
        let is_tests = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_tests {
            read_folder(&path, texts)?;
        } else if path.extension().is_some_and(|e| e == "rs") && !is_tests {
            let source = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            read_source(&path, &source, texts);
        }
    }
    Ok(())
}

fn read_source(path: &Path, source: &str, texts: &mut SourceTexts) {
    let all = tokens(source);
    // Tests are at the end of a file.
    let tests = [
        Token::Name("cfg"),
        Token::Sign('('),
        Token::Name("test"),
        Token::Sign(')'),
        Token::Sign(']'),
        Token::Name("mod"),
        Token::Name("tests"),
        Token::Sign('{'),
    ];
    let end = all.windows(tests.len()).position(|w| w == tests);
    let all = &all[..end.unwrap_or(all.len())];
    for (at, token) in all.iter().enumerate() {
        let Token::Text(text) = token else { continue };
        let before = &all[..at];
        let text = unescaped(text);
        match before {
            [
                ..,
                Token::Name("say" | "text"),
                Token::Sign('!'),
                Token::Sign('('),
            ] => {
                texts.keys.insert(text);
            }
            [
                ..,
                Token::Sign('!'),
                Token::Sign('('),
                Token::Name(context),
                Token::Sign(':'),
            ] => {
                texts.keys.insert(format!("{context}|{text}"));
            }
            // Messages of failed assertions and reasons in attributes are not for users.
            [.., Token::Name("expect"), Token::Sign('(')]
            | [.., Token::Name("panic"), Token::Sign('!'), Token::Sign('(')]
            | [.., Token::Name("reason"), Token::Sign('=')] => {}
            _ if is_sentence(&text) => texts.uncatalogued.push((path.to_owned(), text)),
            _ => {}
        }
    }
}

/// Returns true if the text contains two words in a row.
pub fn is_sentence(text: &str) -> bool {
    let is_word = |word: &&str| {
        word.len() > 1
            && word
                .chars()
                .all(|c| c.is_ascii_alphabetic() || ".,:;'".contains(c))
    };
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(2).any(|w| w.iter().all(is_word))
}

/// Returns the value of a string literal.
fn unescaped(literal: &str) -> String {
    let (mut out, mut chars) = (String::new(), literal.chars().peekable());
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => out.push(c),
            (_, true) => match chars.next() {
                Some('\n') => while chars.next_if(|c| c.is_whitespace()).is_some() {},
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('u') => {
                    let digits: String = chars
                        .by_ref()
                        .skip_while(|c| *c == '{')
                        .take_while(|c| *c != '}')
                        .collect();
                    let code = u32::from_str_radix(&digits, 16).ok();
                    out.extend(code.and_then(char::from_u32));
                }
                Some(other) => out.push(other),
                None => {}
            },
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_sources() {
        let mut texts = SourceTexts::default();
        let source = r#"
            fn a() { b(say!("Next wait"), text!(n: "batch"), "two words", "word"); c.expect("it is there"); }
            #[cfg(test)]
            mod tests { fn d() { e("in a test") } }
        "#;
        read_source(Path::new("a.rs"), source, &mut texts);
        assert_eq!(
            texts.keys.into_iter().collect::<Vec<_>>(),
            ["Next wait", "n|batch"]
        );
        assert_eq!(
            texts.uncatalogued,
            [(PathBuf::from("a.rs"), "two words".to_owned())]
        );
    }

    #[test]
    fn escapes_are_decoded() {
        assert_eq!(
            unescaped("two \\\n    lines \\u{2009}"),
            "two lines \u{2009}"
        );
    }
}
