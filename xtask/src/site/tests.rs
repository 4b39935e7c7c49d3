//! Tests of the documents: each is a chapter, links lead to files and headings, and figures equal the measurements.

use std::fs;
use std::path::Path;

use super::chapters::{CHAPTERS, Chapter, has};
use super::links::resolved;
use crate::setup::workspace;

/// Documents for users, whose prose has no semicolon.
const FOR_USERS: [&str; 12] = [
    "README.md",
    "app/wheel/CI.md",
    "app/wheel/README.md",
    "docs/BUILDING.md",
    "docs/DATASETS.md",
    "docs/ENGINE.md",
    "docs/GUIDE.md",
    "docs/HANGS.md",
    "docs/RECORDING.md",
    "docs/REMOTE.md",
    "docs/REPORTS.md",
    "docs/TUNING.md",
];

/// Maximum number of lines of the README.
const LONGEST_README: usize = 170;

/// Figures in the README, by the file with the measurement.
const FIGURES: &[(&str, &[&str])] = &[
    ("tests/pytorch/OVERHEAD.md", &["0.88 %", "3.33", "0.95 µs"]),
    (
        "tests/pytorch/TRUTH.md",
        &["132", "4.1 %", "19.6 %", "94.7 %"],
    ),
    (
        "tests/pytorch/DRAWN.md",
        &["303", "4.6 %", "19.1 %", "90.4 %"],
    ),
    ("tests/pytorch/CAUSES.md", &["44"]),
    ("tests/faults/RESULTS.md", &["465"]),
];

fn read(file: &str) -> String {
    fs::read_to_string(workspace().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// Returns the numbered lines of prose, without code blocks and `code`.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let lines = text.lines().enumerate().filter_map(|(at, line)| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let spans = line.split('`').step_by(2);
        (!is_code && !is_fence).then(|| (at + 1, spans.collect::<Vec<_>>().join("``")))
    });
    lines.collect()
}

/// Returns the targets of `[text](target)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(')')?.0))
}

/// Returns the anchor of a heading, in GitHub's format.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| {
        if c == ' ' {
            '-'
        } else {
            c.to_ascii_lowercase()
        }
    })
    .collect()
}

/// Returns the anchors of all headings of a document.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter_map(|line| {
        line.trim_start_matches('#')
            .strip_prefix(' ')
            .filter(|_| line.starts_with('#'))
    });
    headings.map(anchor).collect()
}

#[test]
fn each_document_for_users_is_a_chapter() {
    let docs = fs::read_dir(workspace().join("docs")).expect("the folder docs");
    for entry in docs {
        let file = format!("docs/{}", entry.expect("a name").file_name().display());
        assert!(FOR_USERS.contains(&file.as_str()), "{file} is not checked");
    }
    for file in FOR_USERS {
        assert!(has(file), "{file} is not a chapter of the site");
    }
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    let files = CHAPTERS.iter().filter_map(|chapter| match chapter {
        Chapter::Part(_) => None,
        Chapter::Page { file, .. } => Some(*file),
    });
    for file in files {
        for (number, line) in prose(&read(file)) {
            for target in targets(&line).filter(|t| !t.contains("://")) {
                let (path, heading) = target.split_once('#').unwrap_or((target, ""));
                let folder = Path::new(file).parent().unwrap_or(Path::new(""));
                let path = match path {
                    "" => Path::new(file).to_owned(),
                    _ => resolved(folder, path),
                };
                let is_there = workspace().join(&path).exists();
                let has_heading = heading.is_empty()
                    || is_there
                        && anchors(&read(&path.to_string_lossy()))
                            .iter()
                            .any(|a| a == heading);
                if !is_there || !has_heading {
                    broken.push(format!("{file}:{number}: {target}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn documents_for_users_have_no_semicolons() {
    let mut found = Vec::new();
    for file in FOR_USERS {
        let lines = prose(&read(file))
            .into_iter()
            .filter(|(_, line)| line.contains(';'));
        found.extend(lines.map(|(number, line)| format!("{file}:{number}: {line}")));
    }
    assert!(found.is_empty(), "semicolons:\n{}", found.join("\n"));
}

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= LONGEST_README, "{lines} lines");
}

#[test]
fn figures_equal_the_measurements() {
    let readme = read("README.md");
    for (file, figures) in FIGURES {
        let measured = read(file);
        for figure in *figures {
            assert!(measured.contains(figure), "{file} has no {figure}");
            assert!(
                readme.contains(figure),
                "README.md has no {figure} of {file}"
            );
        }
    }
    let kinds = read("tests/pytorch/KINDS.md");
    let programs = kinds.lines().filter(|line| line.starts_with("| `")).count();
    assert!(
        readme.contains(&format!("{programs} programs")),
        "KINDS.md has {programs} programs"
    );
}

#[test]
fn code_is_left_out_of_prose() {
    let text = "a `b; c` d\n```\ne; f\n```\ng";
    let lines = [(1, "a `` d".to_owned()), (5, "g".to_owned())];
    assert_eq!(prose(text), lines);
    assert_eq!(
        anchor("`record`: a job, that's it"),
        "record-a-job-thats-it"
    );
}
