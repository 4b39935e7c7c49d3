//! The texts in which patterns are counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

/// Kind of text.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Doc comments, which rustdoc shows.
    DocComments,
    /// Other comments on separate lines.
    Comments,
    /// All Markdown, without code.
    Markdown,
    /// README, docs and the Python package's documents, without code.
    UserDocuments,
    /// English texts of the program.
    CatalogKeys,
    /// First lines of commit messages.
    CommitSubjects,
    /// Words of all files, also in code.
    Words,
}

/// Text in which patterns are counted: all words of a file, or one line of another kind.
pub struct Text {
    /// Kind of text.
    pub kind: Kind,
    /// File relative to the workspace, or commit.
    pub file: String,
    /// Number of the first line, from 1. 0 for a commit.
    pub number: usize,
    /// Content without comment markers.
    pub text: String,
}

/// Returns the texts of the workspace, and the subjects of the commits after `since`. A clone without that commit has no subjects.
///
/// # Errors
/// If git lists no files, or a file cannot be read.
pub fn all(workspace: &Path, since: &str) -> Result<Vec<Text>> {
    let listed = git(workspace, &["ls-files", "-z", "-co", "--exclude-standard"])
        .context("this is not a git clone")?;
    let mut texts = Vec::new();
    for name in listed.split_terminator('\0') {
        let path = workspace.join(name);
        // Git lists removed files until the removal is committed.
        if ENDINGS.iter().any(|ending| name.ends_with(ending)) && path.is_file() {
            let text = fs::read_to_string(&path).with_context(|| name.to_owned())?;
            add_file(name, &text, &mut texts)?;
        }
    }
    let range = format!("{since}..HEAD");
    let subjects = git(workspace, &["log", "--no-merges", "--format=%h %s", &range]);
    for line in subjects.unwrap_or_default().lines() {
        let (commit, subject) = line.split_once(' ').unwrap_or((line, ""));
        add(&mut texts, Kind::CommitSubjects, commit, 0, subject);
    }
    Ok(texts)
}

/// Endings of the read files: sources, Python programs, documents, catalogs.
const ENDINGS: [&str; 4] = [".rs", ".py", ".md", ".toml"];

fn add(texts: &mut Vec<Text>, kind: Kind, file: &str, number: usize, text: &str) {
    let (file, text) = (file.to_owned(), text.to_owned());
    texts.push(Text {
        kind,
        file,
        number,
        text,
    });
}

/// Adds the texts of a file.
fn add_file(name: &str, text: &str, texts: &mut Vec<Text>) -> Result<()> {
    let is_document = name.ends_with(".md");
    let text = if is_document {
        prose(text)
    } else {
        text.to_owned()
    };
    let words = match name {
        // Stored preferences contain the height of the pipeline under this name.
        "app/model/src/prefs.rs" => words(&text).replace("machine", ""),
        // The patterns contain the old terms.
        _ if name.starts_with("xtask/src/wording/") => String::new(),
        _ => words(&text),
    };
    add(texts, Kind::Words, name, 1, &words);
    for (at, line) in text.lines().enumerate() {
        let (number, line) = (at + 1, line.trim());
        if name.contains("/words/") && name.ends_with("zh.toml") {
            for (key, _) in toml::from_str::<BTreeMap<String, String>>(line)
                .with_context(|| format!("{name}:{number}"))?
            {
                add(texts, Kind::CatalogKeys, name, number, &key);
            }
        } else if is_document {
            add(texts, Kind::Markdown, name, number, line);
            if is_for_users(name) {
                add(texts, Kind::UserDocuments, name, number, line);
            }
        } else if name.ends_with(".rs") {
            if let Some(doc) = line.strip_prefix("///").or(line.strip_prefix("//!")) {
                add(texts, Kind::DocComments, name, number, doc.trim());
            } else if let Some(comment) = line.strip_prefix("//") {
                add(texts, Kind::Comments, name, number, comment.trim());
            }
        }
    }
    Ok(())
}

fn is_for_users(name: &str) -> bool {
    ["README.md", "CHANGELOG.md"].contains(&name)
        || ["docs/", "app/wheel/"]
            .iter()
            .any(|folder| name.starts_with(folder))
}

/// Replaces each piece of code in Markdown by a backquote. Keeps the number of lines.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().map(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        match is_code || is_fence {
            true => "`".to_owned(),
            false => line.split('`').step_by(2).collect::<Vec<_>>().join("`"),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the words of a text in lower case, with a period for each punctuation mark. `snake_case` and `CamelCase` are several words, and a
/// phrase may continue in the next line of a comment.
fn words(text: &str) -> String {
    let (mut words, mut previous) = (String::new(), ' ');
    for c in text.chars() {
        match c {
            _ if c.is_alphanumeric() => {
                if previous.is_lowercase() && c.is_uppercase() {
                    words.push(' ');
                }
                words.extend(c.to_lowercase());
            }
            '\n' => words.push('\n'),
            '_' | '/' | '!' | '#' | '\\' => words.push(' '),
            _ if c.is_whitespace() => words.push(' '),
            _ => words.push('.'),
        }
        previous = c;
    }
    words
}

fn git(workspace: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    let output = command.args(arguments).current_dir(workspace).output()?;
    if !output.status.success() {
        bail!(
            "git {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    String::from_utf8(output.stdout).context("git prints UTF-8")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the texts of a file.
    pub fn of_file(name: &str, text: &str) -> Vec<Text> {
        let mut texts = Vec::new();
        add_file(name, text, &mut texts).unwrap_or_default();
        texts
    }

    #[test]
    fn code_in_documents_is_skipped() {
        let text = "# A `let a = 1;` b\n```\nlet b;\n```\nend";
        let found: Vec<String> = of_file("docs/a.md", text)
            .into_iter()
            .filter(|text| text.kind == Kind::UserDocuments)
            .map(|text| text.text)
            .collect();
        assert_eq!(found, ["# A ` b", "`", "`", "`", "end"]);
    }
}
