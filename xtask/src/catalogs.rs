//! Checks of the catalogs of translated texts: untranslated and unused texts, the order of entries, the characters of the Chinese font.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

mod exempt;
pub mod font;
mod help;
mod source;

use exempt::Exempt;
use source::{SourceTexts, read_texts};

/// Crates with texts for users.
const CRATES: [&str; 16] = [
    "app/ui",
    "app/model",
    "app/insight",
    "app/window",
    "app/web",
    "app/session",
    "app/program",
    "loader/diagnose",
    "loader/trace",
    "loader/plan",
    "loader/exchange",
    "loader/live",
    "loader/stacks",
    "loader/files",
    "loader/formats",
    "loader/engine",
];

/// Prints texts without a translation. Returns false if a catalog is unsorted or contains an entry that no source uses. Also returns false
/// if a source contains a user text outside of `say!` and `text!`.
///
/// # Errors
/// If a source or a catalog cannot be read.
pub fn check(workspace: &Path) -> Result<bool> {
    let mut untranslated = Vec::new();
    let mut faults = Vec::new();
    let exemptions = Exempt::read()?;
    for name in CRATES {
        let texts = read_texts(&workspace.join(name))?;
        let path = format!("{name}/words/zh.toml");
        let entries = entries(&workspace.join(&path))?;
        let is_known = |key: &&String| entries.iter().any(|(known, _)| known == *key);
        let missing = texts.keys.iter().filter(|key| !is_known(key));
        untranslated.extend(missing.map(|key| format!("{path}: {key:?}")));
        let unused = entries.iter().filter(|(key, _)| !texts.keys.contains(key));
        faults.extend(unused.map(|(key, _)| {
            format!("{path}: no source uses {key:?}. Remove it, or give it the changed text.")
        }));
        if !entries.is_sorted_by(|(a, _), (b, _)| a < b) {
            faults.push(format!("{path} is not sorted. Run `cargo xtask fix`."));
        }
        if exempt::CHECKED.contains(&name) {
            faults.extend(uncatalogued(workspace, &texts, &exemptions).iter().map(
                |(file, text)| {
                    format!(
                        "{file}: {text:?} is outside of `say!`. Use it, or list it in {}.",
                        exempt::FILE
                    )
                },
            ));
        }
    }
    untranslated.extend(untranslated_help(workspace)?);
    if !untranslated.is_empty() {
        println!(
            "{} texts without a translation, shown in English:\n  {}",
            untranslated.len(),
            untranslated.join("\n  ")
        );
    }
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    Ok(faults.is_empty())
}

/// Sorts the lines of all catalogs by the bytes of their English texts.
///
/// # Errors
/// If a catalog cannot be read or written.
pub fn sort(workspace: &Path) -> Result<()> {
    let files = CRATES.map(|name| workspace.join(name).join("words/zh.toml"));
    let help = workspace.join(HELP);
    for path in files.iter().chain([&help]) {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut lines: Vec<(String, &str)> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let key = parse_line(line).with_context(|| path.display().to_string())?;
            lines.push((key.map(|(key, _)| key).unwrap_or_default(), line));
        }
        lines.sort();
        let sorted = lines.iter().map(|(_, line)| format!("{line}\n"));
        let sorted: String = sorted.collect();
        if sorted != text {
            fs::write(path, sorted).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// Returns the paragraphs of the command-line help without a translation.
fn untranslated_help(workspace: &Path) -> Result<Vec<String>> {
    let program = workspace.join("app/program");
    let mut texts = BTreeSet::new();
    help::add(&program.join("src/cli.rs"), &mut texts)?;
    help::add(&program.join("src/cli"), &mut texts)?;
    let entries = entries(&workspace.join(HELP))?;
    for (key, _) in entries {
        let key = key.split_whitespace().collect::<Vec<_>>().join(" ");
        texts.remove(key.strip_suffix('.').unwrap_or(&key));
    }
    Ok(texts.iter().map(|key| format!("{HELP}: {key:?}")).collect())
}

/// Catalog of the command-line help.
const HELP: &str = "app/program/words/help.zh.toml";

/// Returns the texts of a crate outside of `say!` and `text!` that are not exempt, with their files.
fn uncatalogued(workspace: &Path, texts: &SourceTexts, exempt: &Exempt) -> Vec<(String, String)> {
    let all = texts.uncatalogued.iter().map(|(path, text)| {
        let file = path.strip_prefix(workspace).unwrap_or(path);
        (file.display().to_string(), text.clone())
    });
    all.filter(|(file, text)| !exempt.contains(file, text))
        .collect()
}

/// Returns the entries of a catalog in its order.
fn entries(path: &Path) -> Result<Vec<(String, String)>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let entries = text.lines().filter_map(|line| parse_line(line).transpose());
    entries
        .collect::<Result<_>>()
        .with_context(|| path.display().to_string())
}

/// Parses the English text and the translation of a line. Returns `None` for an empty line or a comment.
fn parse_line(line: &str) -> Result<Option<(String, String)>> {
    Ok(toml::from_str::<BTreeMap<String, String>>(line)?.pop_first())
}

#[cfg(test)]
mod tests;
