//! The lines of text in which patterns are counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
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
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::DocComments,
        Self::Comments,
        Self::Markdown,
        Self::UserDocuments,
        Self::CatalogKeys,
        Self::CommitSubjects,
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DocComments => "doc comments",
            Self::Comments => "comments",
            Self::Markdown => "Markdown",
            Self::UserDocuments => "user documents",
            Self::CatalogKeys => "catalog keys",
            Self::CommitSubjects => "commit subjects",
        })
    }
}

/// A line of text.
pub struct Line {
    /// Kind of text.
    pub kind: Kind,
    /// File relative to the workspace, or commit.
    pub file: String,
    /// Line number from 1. 0 for a commit.
    pub number: usize,
    /// Text without comment markers.
    pub text: String,
}

/// Returns the lines of the workspace, and the subjects of the commits after `since`. A clone without that commit has no subjects.
///
/// # Errors
/// If git lists no files, or a file cannot be read.
pub fn all(workspace: &Path, since: &str) -> Result<Vec<Line>> {
    let listed = git(workspace, &["ls-files", "-z", "-co", "--exclude-standard"])
        .context("this is not a git clone")?;
    let mut lines = Vec::new();
    for name in listed.split_terminator('\0') {
        let is_catalog = name.contains("/words/") && name.ends_with("zh.toml");
        if !(name.ends_with(".rs") || name.ends_with(".md") || is_catalog) {
            continue;
        }
        let path = workspace.join(name);
        // Git lists removed files until the removal is committed.
        if path.is_file() {
            let text = fs::read_to_string(&path).with_context(|| name.to_owned())?;
            add_file(name, &text, &mut lines)?;
        }
    }
    let range = format!("{since}..HEAD");
    let subjects = git(workspace, &["log", "--no-merges", "--format=%h %s", &range]);
    for line in subjects.unwrap_or_default().lines() {
        let (commit, subject) = line.split_once(' ').unwrap_or((line, ""));
        add(&mut lines, Kind::CommitSubjects, commit, 0, subject);
    }
    Ok(lines)
}

fn add(lines: &mut Vec<Line>, kind: Kind, file: &str, number: usize, text: &str) {
    let (file, text) = (file.to_owned(), text.trim().to_owned());
    lines.push(Line {
        kind,
        file,
        number,
        text,
    });
}

/// Adds the counted lines of a file.
fn add_file(name: &str, text: &str, lines: &mut Vec<Line>) -> Result<()> {
    let mut is_code = false;
    for (at, line) in text.lines().enumerate() {
        let (number, line) = (at + 1, line.trim());
        if name.ends_with(".toml") {
            for (key, _) in toml::from_str::<BTreeMap<String, String>>(line)
                .with_context(|| format!("{name}:{number}"))?
            {
                add(lines, Kind::CatalogKeys, name, number, &key);
            }
        } else if name.ends_with(".md") {
            let is_fence = line.starts_with("```");
            is_code ^= is_fence;
            if !is_code && !is_fence {
                let prose = without_code(line);
                add(lines, Kind::Markdown, name, number, &prose);
                if is_for_users(name) {
                    add(lines, Kind::UserDocuments, name, number, &prose);
                }
            }
        } else if let Some(doc) = line.strip_prefix("///").or(line.strip_prefix("//!")) {
            add(lines, Kind::DocComments, name, number, doc);
        } else if let Some(comment) = line.strip_prefix("//") {
            add(lines, Kind::Comments, name, number, comment);
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

/// Removes code between backquotes from Markdown.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Added lines. `None` without a git history, when all lines count as added.
pub struct Added(Option<BTreeSet<(String, usize)>>);

impl Added {
    /// Returns the lines added after the commit that last changed `file`. Without a history, these are all lines.
    pub fn since_last_change_of(file: &str, workspace: &Path) -> Self {
        let read = || {
            let commit = git(workspace, &["log", "-1", "--format=%H", "--", file])?;
            git(
                workspace,
                &["diff", "--unified=0", "--no-color", commit.trim()],
            )
        };
        Self(read().ok().map(|diff| added_lines(&diff)))
    }

    /// Returns true for an added line, and for a commit.
    pub fn contains(&self, line: &Line) -> bool {
        let is_new = |set: &BTreeSet<_>| set.contains(&(line.file.clone(), line.number));
        line.number == 0 || self.0.as_ref().is_none_or(is_new)
    }
}

fn added_lines(diff: &str) -> BTreeSet<(String, usize)> {
    let (mut file, mut added) = (String::new(), BTreeSet::new());
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("+++ b/") {
            name.clone_into(&mut file);
        } else if let Some((_, hunk)) = line.strip_prefix("@@ ").and_then(|l| l.split_once('+')) {
            let range = hunk.split(' ').next().unwrap_or_default();
            let (start, length) = range.split_once(',').unwrap_or((range, "1"));
            let start: usize = start.parse().unwrap_or(0);
            let length: usize = length.parse().unwrap_or(0);
            added.extend((start..start + length).map(|at| (file.clone(), at)));
        }
    }
    added
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

    /// Returns the counted lines of a file.
    pub fn of_file(name: &str, text: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        add_file(name, text, &mut lines).unwrap_or_default();
        lines
    }

    #[test]
    fn code_in_documents_is_skipped() {
        let text = "# A `let a = 1;` b\n```\nlet b;\n```\nend";
        let found: Vec<String> = of_file("docs/a.md", text)
            .into_iter()
            .filter(|line| line.kind == Kind::UserDocuments)
            .map(|line| line.text)
            .collect();
        assert_eq!(found, ["# A ` b", "end"]);
    }

    #[test]
    fn lines_of_a_diff_are_found() {
        let diff = "+++ b/a.rs\n@@ -1,2 +3,2 @@ fn a\n+x\n+y\n@@ -9 +12 @@\n+z\n";
        let numbers: Vec<usize> = added_lines(diff).into_iter().map(|(_, at)| at).collect();
        assert_eq!(numbers, [3, 4, 12]);
    }
}
