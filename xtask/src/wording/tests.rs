#![allow(clippy::expect_used, reason = "a test ends with the reason")]

use super::texts::tests::of_file;
use super::*;

fn names(kind: Kind, text: &str) -> Vec<&'static str> {
    let (file, text) = (String::new(), text.to_owned());
    let text = Text {
        kind,
        file,
        number: 1,
        text,
    };
    matches(&text).map(|found| found.name).collect()
}

#[test]
fn each_pattern_is_found() {
    for (kind, text, expected) in [
        (Kind::DocComments, "What is tried.", "opens with What"),
        (
            Kind::Markdown,
            "It ends. Of the rest, sums are kept.",
            "opens with Of",
        ),
        (Kind::Comments, "It told the recorder.", "tell, hear"),
        (Kind::CatalogKeys, "the file stands here", "stand, lie"),
        (Kind::Markdown, "which goes on", "comes to"),
        (
            Kind::DocComments,
            "Holds forecasts against runs.",
            "held against",
        ),
        (Kind::Comments, "so many bytes", "so many"),
        (Kind::Comments, "drawn anew", "anew"),
        (Kind::Markdown, "3 samples a second", "a for per"),
        (Kind::UserDocuments, "one; two", "semicolon"),
        (Kind::CatalogKeys, "this is no rule", "is no"),
        (Kind::CatalogKeys, "It ended. Start it", "several sentences"),
        (
            Kind::CatalogKeys,
            "a b c d e f g h i j k l; m",
            "semicolon in more",
        ),
        (
            Kind::CommitSubjects,
            "fuzz: the target lets words be",
            "not imperative",
        ),
        (
            Kind::CommitSubjects,
            "Words as the glossary has them",
            "not imperative",
        ),
        (
            Kind::CommitSubjects,
            "Updated the documents",
            "not imperative",
        ),
    ] {
        let found = names(kind, text);
        assert!(
            found.iter().any(|name| name.starts_with(expected)),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn clear_texts_match_no_pattern() {
    for (kind, text) in [
        (Kind::DocComments, "Budget for failed decompression, bytes."),
        (Kind::Markdown, "Older data is reduced to sums per minute."),
        (Kind::CatalogKeys, "It ended. Start it again."),
        (Kind::CatalogKeys, "No problems found"),
        (Kind::CommitSubjects, "recorder: yield after 64 events"),
        (
            Kind::CommitSubjects,
            "random_split: match Python 3.12 float summation",
        ),
        (Kind::CommitSubjects, "Prevent data loss"),
        (Kind::CommitSubjects, "fix: format, sort the catalogs"),
    ] {
        assert_eq!(names(kind, text), <[&str; 0]>::default(), "{text}");
    }
}

#[test]
fn a_risen_count_and_a_new_pattern_fail() {
    let before = counted(&of_file("a.rs", "/// What a.\n/// What b.\n"));
    let now = counted(&of_file("a.rs", "/// What a.\n/// It told b.\n"));
    let names: Vec<String> = risen(&before, &now).into_iter().map(|r| r.1).collect();
    assert_eq!(names.len(), 1);
    assert!(names[0].starts_with("tell"));
    assert_eq!(risen(&Counts::new(), &now).len(), 2);
    assert!(risen(&before, &before).is_empty());
}

/// Returns the lines of a file with an old term, from 1.
fn old_terms(name: &str, text: &str) -> Vec<usize> {
    let texts = of_file(name, text);
    let words = texts.iter().filter(|text| text.kind == Kind::Words);
    words.flat_map(matches).map(|found| found.number).collect()
}

#[test]
fn old_terms_are_found_in_each_kind_of_text() {
    for (name, text, lines) in [
        ("a.rs", "\nfn machine_at()\nMachineView", vec![2, 3]),
        ("a.rs", "/// of a data\n/// set", vec![1]),
        ("a.rs", "//! It broke off.\n// Somebody.\n", vec![1, 2]),
        ("a.rs", "say!(\"the form\"), was_handed_out", vec![1, 1]),
        ("a.py", "# were\n# told", vec![1]),
        ("a.toml", "headspace = 1", vec![1]),
        ("app/ui/words/zh.toml", "\"9 of 10\" = \"\"", vec![1]),
        ("docs/a.md", "Two\n\ndata sets", vec![3]),
        (
            "docs/a.md",
            "`headspace`: headroom\n```\nmachine\n```",
            vec![],
        ),
        ("a.rs", "handed_out_at_ns; the data: set it", vec![]),
        ("a.rs", "a state\n/// machine, num_machines", vec![]),
        ("a.rs", "of the form name=value", vec![]),
        ("xtask/src/wording/patterns.rs", "machine", vec![]),
    ] {
        assert_eq!(old_terms(name, text), lines, "{text}");
    }
}

#[test]
fn counts_only_fall() {
    let text = |a: usize, b: usize| "/// What a.\n".repeat(a) + &"/// It told b.\n".repeat(b);
    let counts = |a, b| counted(&of_file("a.rs", &text(a, b)));
    assert_eq!(lowered(&counts(3, 1), &counts(1, 2)), counts(1, 1));
    assert_eq!(lowered(&counts(3, 1), &counts(0, 2)), counts(0, 1));
    assert_eq!(lowered(&counts(0, 1), &counts(1, 0)), Counts::new());
}

#[test]
fn counts_are_read_back() {
    let counts = counted(&of_file("a.rs", "/// What a.\n"));
    let ratchet = Ratchet {
        since: "abc".to_owned(),
        counts,
    };
    let text = toml::to_string(&ratchet).expect("it is a table");
    let back: Ratchet = toml::from_str(&text).expect("it was just written");
    assert_eq!((back.since, back.counts), (ratchet.since, ratchet.counts));
}
