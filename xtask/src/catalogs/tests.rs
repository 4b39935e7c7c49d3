#![allow(clippy::expect_used, reason = "a test ends with the reason")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::source::is_sentence;
use super::*;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// An English text needs no translation: `say!` falls back to English.
#[test]
fn catalogs_are_sorted_and_used() {
    assert!(check(&workspace()).expect("sources and catalogs are readable"));
}

#[test]
fn every_exemption_is_used() {
    let exemptions = Exempt::read().expect("the file is valid");
    let mut unused: BTreeSet<(&str, &str)> = exemptions.all().collect();
    for name in CRATES {
        let texts = read_texts(&workspace().join(name)).expect("the sources are readable");
        for (path, text) in &texts.uncatalogued {
            let file = path.strip_prefix(workspace()).expect("in the workspace");
            unused.retain(|(of, begin)| file != Path::new(of) || !text.starts_with(begin));
        }
    }
    assert!(unused.is_empty(), "exempt without use: {unused:?}");
}

/// A heading of names, and search queries, which are English in every language.
const NAMES_ALONE: [&str; 3] = [
    "CPU, ms",
    "batch 512, sample 40123, slower than 200 ms",
    "the cgroup (pids.max)",
];

#[test]
fn every_translation_of_a_sentence_is_chinese() {
    let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let help = std::iter::once(HELP.to_owned());
    for file in CRATES
        .iter()
        .map(|name| format!("{name}/words/zh.toml"))
        .chain(help)
    {
        let entries = entries(&workspace().join(&file)).expect("the catalog is readable");
        let english: Vec<_> = entries
            .iter()
            .filter(|(key, text)| is_sentence(key) && !is_chinese(text))
            .filter(|(key, _)| !NAMES_ALONE.contains(&key.as_str()))
            .collect();
        assert!(english.is_empty(), "{file}: {english:#?}");
    }
}

#[test]
fn lines_of_catalogs_are_read() {
    let line = r#""95\u2009% \"a\"\nb" = "c""#;
    let entry = parse_line(line).expect("a line").expect("an entry");
    assert_eq!(entry, ("95\u{2009}% \"a\"\nb".to_owned(), "c".to_owned()));
    assert_eq!(parse_line("# a comment").expect("a line"), None);
}
