//! Each command and option shown in the documents exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use loadscope_diagnose::FindingId;
use strum::IntoEnumIterator as _;

use crate::support::loadscope;

/// Documents that show commands.
const DOCUMENTS: [&str; 12] = [
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

/// Returns the calls of the program in a document: lines of code, and `code` in sentences.
fn calls(text: &str) -> Vec<&str> {
    let spans = text.split('`').flat_map(str::lines);
    let lines = spans.map(|line| line.trim().trim_start_matches("$ "));
    lines
        .filter_map(|line| line.strip_prefix("loadscope "))
        .collect()
}

/// Returns the command and the options of a call, without the arguments of the recorded program, comments and redirections.
fn parts(call: &str) -> (Option<&str>, Vec<&str>) {
    let words = call.split_whitespace();
    let own = words
        .take_while(|word| !["--", ">", ">>", "|", "&&"].contains(word) && !word.starts_with('#'));
    let own: Vec<&str> = own.collect();
    let name = own.iter().find(|word| !word.starts_with('-')).copied();
    let options = own.into_iter().filter(|word| word.starts_with('-'));
    (
        name,
        options
            .map(|word| word.split_once('=').map_or(word, |(name, _)| name))
            .collect(),
    )
}

fn help(arguments: &[&str]) -> Option<String> {
    let output = loadscope(arguments);
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns true if a help text lists the option.
fn lists(help: &str, option: &str) -> bool {
    let words = help.split(|c: char| c.is_whitespace() || ",[=<".contains(c));
    words.into_iter().any(|word| word == option)
}

#[test]
fn commands_in_documents_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all: BTreeMap<String, BTreeSet<(&str, String)>> = BTreeMap::new();
    for file in DOCUMENTS {
        let text = fs::read_to_string(root.join(file)).expect("a document");
        for call in calls(&text) {
            // `COMMAND` is any command.
            let (Some(name), options) = parts(call) else {
                continue;
            };
            if name.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
                let of = all.entry(name.to_owned()).or_default();
                of.extend(options.into_iter().map(|option| (file, option.to_owned())));
            }
        }
    }
    assert!(all.len() > 10, "too few commands: {all:?}");
    let window = help(&["--help"]).expect("the help");
    let mut wrong = Vec::new();
    for (name, options) in all {
        let Some(help) = help(&[name.as_str(), "--help"]) else {
            wrong.push(format!("there is no command {name}"));
            continue;
        };
        for (file, option) in options {
            if !lists(&help, &option) && !lists(&window, &option) {
                wrong.push(format!("{file}: {name} has no option {option}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_key_of_a_rule_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs/REPORTS.md")).expect("the document");
    let is_missing = |key: &&str| !text.contains(&format!("`{key}` |"));
    let keys = loadscope_insight::report::rules::keys();
    let missing: Vec<_> = keys.into_iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn each_finding_is_in_the_table_of_findings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs/REPORTS.md")).expect("the document");
    let (_, section) = text.split_once("\n### Findings\n").expect("the section");
    let (section, _) = section.split_once("\n## ").unwrap_or((section, ""));
    let rows = section.lines().filter_map(|line| line.strip_prefix('|'));
    let ids: Vec<&str> = rows.filter_map(|row| row.split('|').next()).collect();
    let ids = ids.concat();
    let is_missing = |id: &FindingId| !ids.contains(&format!("`{}`", id.as_str()));
    let missing: Vec<_> = FindingId::iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "not in docs/REPORTS.md: {missing:?}");
}

/// The README may omit lines of an output and wrap the text next to a label. All other text must match.
#[test]
fn the_readme_output_equals_the_program_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("README.md")).expect("the README");
    let blocks = text.split("```").skip(1).step_by(2);
    let shown: Vec<&str> = blocks
        .filter_map(|block| block.trim_start().strip_prefix("$ loadscope "))
        .collect();
    assert!(!shown.is_empty(), "the README shows no output");
    for block in shown {
        let (call, output) = block.split_once('\n').expect("an output");
        let (command, file) = call.split_once(' ').expect("a file");
        let file = root.join(file);
        let file = file.to_str().expect("a path of the repository");
        let printed = loadscope(&[command, file]);
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        let mut lines = printed.lines();
        let wrapped = format!("\n{}", " ".repeat("Best change  ".len()));
        for line in output.replace(&wrapped, " ").lines() {
            assert!(
                lines.any(|l| l == line),
                "{call} does not print {line:?}:\n{printed}"
            );
        }
    }
}

#[test]
fn calls_in_documents_are_parsed() {
    let text = "see `loadscope what-if --set a=1`:\n```\nloadscope record --last=3m -o x -- python --y # z\n```";
    assert_eq!(calls(text).len(), 2);
    assert_eq!(parts(calls(text)[0]), (Some("what-if"), vec!["--set"]));
    assert_eq!(
        parts(calls(text)[1]),
        (Some("record"), vec!["--last", "-o"])
    );
}
