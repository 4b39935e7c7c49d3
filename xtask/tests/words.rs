//! Consistent terms: old names must not return to sources and documents.

use std::fs;
use std::path::{Path, PathBuf};

/// Replaced phrase.
struct Old {
    phrase: &'static str,
    instead: &'static str,
    /// Preceding words with which the phrase has another meaning.
    after: &'static [&'static str],
    /// Following words with which the phrase has another meaning.
    before: &'static [&'static str],
}

const fn old(phrase: &'static str, instead: &'static str) -> Old {
    Old {
        phrase,
        instead,
        after: &[],
        before: &[],
    }
}

const OLD: &[Old] = &[
    Old {
        after: &["state"],
        before: &["learning"],
        ..old(
            "machine",
            "the drawing is the pipeline, a computer is a host",
        )
    },
    Old {
        after: &["num"],
        ..old("machines", "computers are hosts")
    },
    old("headspace", "headroom"),
    Old {
        before: &["at"],
        ..old("handed out", "yielded or returned")
    },
    old("hands out", "yields or returns"),
    old("hand out", "yield or return"),
    old("handing out", "yielding or returning"),
    Old {
        after: &["of"],
        before: &["of", "that"],
        ..old("the form", "the options")
    },
    old("foretold", "predicted"),
    old("foretell", "predict"),
    old("foretells", "predicts"),
    old("broken off", "stopped or aborted"),
    old("break off", "stop or abort"),
    old("breaks off", "stops or aborts"),
    old("broke off", "stopped or aborted"),
    old("breaking off", "stopping or aborting"),
    old("lay ready", "were already finished"),
    old("holds the others up", "is the straggler"),
    old("of like cost", "of similar cost"),
    old("gives no sign", "appears stuck"),
    old("is no whole number", "is not a whole number"),
    old("a tensor a field", "a tensor per field"),
    old("nothing was learned", "the training loop was blocked"),
    old("the batch had come", "the batch had arrived"),
    old("in a blink", "almost instantly"),
    old("adds a range up", "summarizes a range"),
    old("the one in the middle", "the median"),
    old("no action is called", "no matching action"),
    old("data set", "dataset"),
    old("data sets", "datasets"),
    old("nine cases of ten", "90 % interval"),
    old("9 of 10", "90 % interval"),
    old("nobody", "say what is missing: a reader, an owner"),
    old("somebody", "say who: the user, another process"),
    old("whoever", "say who: the user, a process, a caller"),
    old("is told", "is reported, recorded, sent"),
    old("are told", "are reported, recorded, sent"),
    old("was told", "was reported, recorded, sent"),
    old("were told", "were reported, recorded, sent"),
    old("is said", "is reported, printed, shown"),
    old("are said", "are reported, printed, shown"),
    old("was said", "was reported, printed, shown"),
    old("were said", "were reported, printed, shown"),
];

/// Files in which a phrase is correct.
const ALLOWED: &[(&str, &str)] = &[
    // The phrase is in the title of the collection with the digits.
    ("assets/digits/ATTRIBUTION.md", "data set"),
    // Stored preferences contain the height of the pipeline under this key.
    ("app/model/src/prefs.rs", "machine"),
];

/// Scanned files: sources, Python programs, documents.
const ENDINGS: [&str; 4] = ["rs", "py", "md", "toml"];
const FOLDERS: [&str; 6] = ["app", "assets", "docs", "loader", "tests", "xtask"];
/// Generated files, and this list.
const LEFT_OUT: [&str; 4] = ["target", "golden", "snapshots", "words.rs"];

/// Word in lower case, and its line, from 1. `joined` is true if only whitespace and comment markers precede it.
#[derive(Debug, PartialEq)]
struct Word {
    text: String,
    line: usize,
    joined: bool,
}

/// Splits a text into words. `snake_case` and `CamelCase` are several words, so that names are read like sentences.
fn words(text: &str) -> Vec<Word> {
    let mut all: Vec<Word> = Vec::new();
    let (mut line, mut joined, mut previous) = (1, false, ' ');
    for c in text.chars() {
        if c.is_alphanumeric() {
            let begins =
                !previous.is_alphanumeric() || (previous.is_lowercase() && c.is_uppercase());
            match all.last_mut() {
                Some(word) if !begins => word.text.extend(c.to_lowercase()),
                _ => all.push(Word {
                    text: c.to_lowercase().collect(),
                    line,
                    joined: std::mem::replace(&mut joined, true),
                }),
            }
        } else {
            joined &= c.is_whitespace() || matches!(c, '_' | '/' | '!' | '#' | '\\');
            line += usize::from(c == '\n');
        }
        previous = c;
    }
    all
}

/// Masks code in Markdown. It may contain an old name, for example in an explanation of a renaming.
fn prose(text: &str) -> String {
    let mut is_code = false;
    text.chars()
        .map(|c| {
            is_code ^= c == '`';
            if is_code && c != '\n' { '`' } else { c }
        })
        .collect()
}

/// Returns the lines with `old`, from 1.
fn lines_with(old: &Old, all: &[Word]) -> Vec<usize> {
    let phrase: Vec<&str> = old.phrase.split(' ').collect();
    let is = |at: Option<&Word>, of: &[&str]| at.is_some_and(|w| of.contains(&w.text.as_str()));
    (all.windows(phrase.len()).enumerate())
        .filter(|(at, found)| {
            let same = found.iter().zip(&phrase).all(|(w, p)| w.text == *p);
            same && found[1..].iter().all(|w| w.joined)
                && !is(at.checked_sub(1).map(|k| &all[k]), old.after)
                && !is(all.get(at + phrase.len()), old.before)
        })
        .map(|(_, found)| found[0].line)
        .collect()
}

fn add_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("a name").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if LEFT_OUT.contains(&name.as_ref()) || name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            add_files(&path, files);
        } else if path
            .extension()
            .is_some_and(|e| ENDINGS.iter().any(|known| e == *known))
        {
            files.push(path);
        }
    }
}

#[test]
fn old_words_do_not_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let documents = fs::read_dir(&root).expect("the repository");
    let mut files: Vec<PathBuf> = documents
        .map(|entry| entry.expect("a name").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    for folder in FOLDERS {
        add_files(&root.join(folder), &mut files);
    }
    assert!(
        files.len() > 300,
        "too few files were found: {}",
        files.len()
    );

    let mut found = Vec::new();
    for path in files {
        let name = path.strip_prefix(&root).expect("below it");
        let name = name.to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&path).expect("text");
        let all = match name.ends_with(".md") {
            true => words(&prose(&text)),
            false => words(&text),
        };
        for old in OLD {
            if ALLOWED.contains(&(name.as_str(), old.phrase)) {
                continue;
            }
            for line in lines_with(old, &all) {
                found.push(format!("{name}:{line}: {:?}: {}", old.phrase, old.instead));
            }
        }
    }
    assert!(found.is_empty(), "old words:\n{}", found.join("\n"));
}

#[test]
fn old_words_are_found_in_names_and_across_lines() {
    let lines = |phrase: &str, text: &str| {
        let old = OLD
            .iter()
            .find(|o| o.phrase == phrase)
            .expect("in the list");
        lines_with(old, &words(text))
    };
    assert_eq!(lines("machine", "fn machine_at()\nMachineView"), [1, 2]);
    assert_eq!(lines("data set", "/// of a data\n/// set"), [1]);
    assert_eq!(lines("handed out", "was_handed_out"), [1]);
    assert!(lines("handed out", "handed_out_at_ns").is_empty());
    assert!(lines("data set", "the data: set it").is_empty());
    assert!(lines("machine", "a state\n/// machine").is_empty());
    assert!(lines("the form", "of the form name=value").is_empty());
    assert!(
        words(&prose("`headspace` -> headroom"))
            .iter()
            .all(|w| w.text == "headroom")
    );
}
