//! The texts of the command-line help: doc comments of clap's structs and enums.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Adds the paragraphs of the help in a Rust file, or in all Rust files of a folder. Strips the final period like clap.
///
/// # Errors
/// If a source cannot be read.
pub fn add(path: &Path, into: &mut BTreeSet<String>) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(|| path.display().to_string())? {
            add(&entry?.path(), into)?;
        }
    } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
        let source = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        into.extend(paragraphs(&source));
    }
    Ok(())
}

fn paragraphs(source: &str) -> Vec<String> {
    const DERIVES: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];
    let (mut found, mut doc, mut is_clap) = (Vec::new(), Vec::new(), false);
    for line in source.lines() {
        let code = line.trim();
        if let Some(text) = code.strip_prefix("///") {
            doc.push(text.trim());
        } else if line == "}" {
            is_clap = false;
        } else if code.starts_with("#[derive(") {
            is_clap = DERIVES.iter().any(|name| code.contains(name));
        } else if !code.starts_with("#[") {
            let is_hidden = doc.is_empty() || !is_clap || !line.starts_with(' ');
            let doc = std::mem::take(&mut doc);
            if !is_hidden {
                found.extend(doc.split(|line| line.is_empty()).map(joined));
            }
        }
    }
    found
}

fn joined(lines: &[&str]) -> String {
    let text = lines.join(" ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.strip_suffix('.').unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_of_options_are_found() {
        let source = "/// Doc.\n#[derive(Debug, Args)]\nstruct A {\n    /// Keep\n    /// N.\n    ///\n    /// More\n    #[arg(long)]\n    \
                      n: u8,\n}\n\nimpl A {\n    /// No help.\n    fn a() {}\n}\n";
        assert_eq!(paragraphs(source), ["Keep N", "More"]);
    }
}
