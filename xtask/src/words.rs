//! How many of the texts stand in catalogs, and which entries no code uses.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::circles::lex::{Token, tokens};

mod exempt;

use exempt::exemption;

/// Which texts are listed.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// List the texts of this crate that stand in no catalog, as in app/session
    #[arg(long, value_name = "CRATE")]
    list: Option<PathBuf>,
}

/// The crates whose texts people read.
const CRATES: [&str; 14] = [
    "app/ui",
    "app/model",
    "app/insight",
    "app/window",
    "app/web",
    "app/session",
    "app/program",
    "loader/trace",
    "loader/plan",
    "loader/exchange",
    "loader/live",
    "loader/files",
    "loader/formats",
    "loader/engine",
];

/// What the sources of a crate say.
#[derive(Debug, Default)]
struct Said {
    /// Keys of texts that are looked up in a catalog.
    keys: BTreeSet<String>,
    /// Sentences that stand in the code alone, with their file.
    left: Vec<(PathBuf, String)>,
}

/// Prints how many texts of each crate stand in its catalogs.
///
/// # Errors
/// If a source or a catalog cannot be read.
pub fn run(workspace: &Path, options: &Options) -> Result<()> {
    if let Some(one) = &options.list {
        for (file, text) in left(workspace, &said(&workspace.join(one))?) {
            println!("{file}: {text:?}");
        }
        return Ok(());
    }
    let (mut all, mut all_left) = (0, 0);
    println!(
        "{:<18}{:>10}{:>10}{:>8}",
        "crate", "catalog", "code", "share"
    );
    for name in CRATES {
        let root = workspace.join(name);
        let said = said(&root)?;
        let left = left(workspace, &said).len();
        let keys = said.keys.len() + helps(&root)?.len();
        println!("{name:<18}{keys:>10}{left:>10}{:>7.0}%", share(keys, left));
        (all, all_left) = (all + keys, all_left + left);
    }
    println!(
        "{:<18}{all:>10}{all_left:>10}{:>7.0}%",
        "all",
        share(all, all_left)
    );
    println!(
        "code: literals of several words outside of the catalogs, without those that xtask/src/words/exempt.rs lists"
    );
    Ok(())
}

/// The sentences that stand in the code alone and are not exempt, with their files as seen from the workspace.
fn left(workspace: &Path, said: &Said) -> Vec<(String, String)> {
    let all = said.left.iter().map(|(path, text)| {
        let file = path.strip_prefix(workspace).unwrap_or(path);
        (file.display().to_string(), text.clone())
    });
    all.filter(|(file, text)| exemption(file, text).is_none())
        .collect()
}

fn share(keys: usize, left: usize) -> f64 {
    keys as f64 * 100.0 / (keys + left).max(1) as f64
}

/// The keys of the texts of the command line's help.
fn helps(root: &Path) -> Result<BTreeSet<String>> {
    let path = root.join("words/help.zh.toml");
    match path.is_file() {
        true => Ok(entries(&path)?.into_iter().map(|(key, _)| key).collect()),
        false => Ok(BTreeSet::new()),
    }
}

/// What the sources below `root/src` say.
fn said(root: &Path) -> Result<Said> {
    let mut said = Said::default();
    read_folder(&root.join("src"), &mut said)?;
    Ok(said)
}

fn read_folder(folder: &Path, said: &mut Said) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths {
        let is_tests = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_tests {
            read_folder(&path, said)?;
        } else if path.extension().is_some_and(|e| e == "rs") && !is_tests {
            let source = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            read_source(&path, &source, said);
        }
    }
    Ok(())
}

fn read_source(path: &Path, source: &str, said: &mut Said) {
    let all = tokens(source);
    // Tests stand at the end of a file.
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
                said.keys.insert(text);
            }
            [
                ..,
                Token::Sign('!'),
                Token::Sign('('),
                Token::Name(context),
                Token::Sign(':'),
            ] => {
                said.keys.insert(format!("{context}|{text}"));
            }
            // What a failure of the program itself would say, and reasons in attributes.
            [.., Token::Name("expect"), Token::Sign('(')]
            | [.., Token::Name("panic"), Token::Sign('!'), Token::Sign('(')]
            | [.., Token::Name("reason"), Token::Sign('=')] => {}
            _ if is_sentence(&text) => said.left.push((path.to_owned(), text)),
            _ => {}
        }
    }
}

/// True if two words stand beside each other.
fn is_sentence(text: &str) -> bool {
    let is_word = |word: &&str| {
        word.len() > 1
            && word
                .chars()
                .all(|c| c.is_ascii_alphabetic() || ".,:;'".contains(c))
    };
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(2).any(|w| w.iter().all(is_word))
}

/// The value of a literal as it stands in a source.
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

/// The entries of a catalog in its order.
fn entries(path: &Path) -> Result<Vec<(String, String)>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let line = |line: &str| {
        let inside = line.strip_prefix('"')?.strip_suffix('"')?;
        let at = inside.find("\" = \"")?;
        Some((of_toml(&inside[..at]), of_toml(&inside[at + 5..])))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// `\u2009` has no braces in TOML.
fn of_toml(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        let (before, code) = rest.split_at(at);
        let Some(digits) = code.get(2..6) else { break };
        out.push_str(&unescaped(before));
        out.extend(
            u32::from_str_radix(digits, 16)
                .ok()
                .and_then(char::from_u32),
        );
        rest = &code[6..];
    }
    out + &unescaped(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
    }

    /// That every text has an entry, the compiler sees to.
    #[test]
    fn no_entry_is_unused_and_all_are_sorted() {
        for name in CRATES {
            let path = root(name).join("words/zh.toml");
            if !path.is_file() {
                continue;
            }
            let keys = said(&root(name)).expect("the sources are there").keys;
            let entries = entries(&path).expect("the catalog is there");
            let lines = fs::read_to_string(&path)
                .expect("it is text")
                .lines()
                .count();
            assert_eq!(entries.len(), lines, "{name}: a line for each entry");
            let unused: Vec<&String> = entries
                .iter()
                .map(|(key, _)| key)
                .filter(|key| !keys.contains(*key))
                .collect();
            assert!(unused.is_empty(), "{name}: {unused:#?}");
            let is_sorted = entries.is_sorted_by(|(a, _), (b, _)| a.as_bytes() < b.as_bytes());
            assert!(is_sorted, "{name}: the catalog is not sorted");
        }
    }

    /// In these crates a sentence stands in a catalog, or the list of exemptions says why it does not. No exemption is without use.
    #[test]
    fn every_sentence_stands_in_a_catalog_or_is_exempt() {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("xtask is in the workspace");
        let mut used = BTreeSet::new();
        for name in CRATES {
            let said = said(&workspace.join(name)).expect("the sources are there");
            for (path, text) in &said.left {
                let file = path
                    .strip_prefix(workspace)
                    .expect("it is in the workspace");
                used.extend(exemption(&file.display().to_string(), text));
            }
            if exempt::HELD.contains(&name) {
                let left = left(workspace, &said);
                assert!(left.is_empty(), "{name}: {left:#?}");
            }
        }
        let used: BTreeSet<usize> = used.into_iter().map(|(at, _)| at).collect();
        let unused: Vec<&str> = (0..exempt::EXEMPT.len())
            .filter(|at| !used.contains(at))
            .map(|at| exempt::EXEMPT[at].file)
            .collect();
        assert!(unused.is_empty(), "exempt without use: {unused:?}");
    }

    /// A heading of names alone, and queries of the search, which are English.
    const NAMES_ALONE: [&str; 2] = ["CPU, ms", "batch 512, sample 40123, slower than 200 ms"];

    /// Of a sentence, something is Chinese.
    #[test]
    fn every_sentence_has_a_chinese_text() {
        for name in CRATES {
            for file in ["words/zh.toml", "words/help.zh.toml"] {
                let path = root(name).join(file);
                let is_chinese =
                    |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
                let all = if path.is_file() {
                    entries(&path).expect("it is text")
                } else {
                    Vec::new()
                };
                let english: Vec<_> = all
                    .iter()
                    .filter(|(key, text)| is_sentence(key) && !is_chinese(text))
                    .filter(|(key, _)| !NAMES_ALONE.contains(&key.as_str()))
                    .collect();
                assert!(english.is_empty(), "{}: {english:#?}", path.display());
            }
        }
    }

    #[test]
    fn texts_are_found_in_sources() {
        let mut said = Said::default();
        let source = r#"
            fn a() { b(say!("Next wait"), text!(n: "batch"), "two words", "word"); c.expect("it is there"); }
            #[cfg(test)]
            mod tests { fn d() { e("in a test") } }
        "#;
        read_source(Path::new("a.rs"), source, &mut said);
        assert_eq!(
            said.keys.into_iter().collect::<Vec<_>>(),
            ["Next wait", "n|batch"]
        );
        assert_eq!(said.left, [(PathBuf::from("a.rs"), "two words".to_owned())]);
    }

    #[test]
    fn entries_are_read() {
        assert_eq!(of_toml(r#"95\u2009% \"a\"\nb"#), "95\u{2009}% \"a\"\nb");
        assert_eq!(
            unescaped("two \\\n    lines \\u{2009}"),
            "two lines \u{2009}"
        );
    }
}
