//! Counts patterns of unclear writing in comments, documents, texts and commit subjects. The counts in `xtask/wording.toml` may only fall.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

mod lines;
mod patterns;

use lines::{Added, Kind, Line};

/// File with the counts, relative to the workspace.
const FILE: &str = "xtask/wording.toml";
const HEADER: &str = "# Patterns of unclear writing (see \"Writing\" in CONTRIBUTING.md), counted by `cargo xtask check`.\n\
                      # A count may fall, never rise. `cargo xtask fix` stores lower counts.\n\n";
/// Maximum number of printed places per pattern.
const SHOWN: usize = 12;

/// Matches per kind of text and pattern.
type Counts = BTreeMap<Kind, BTreeMap<String, usize>>;

/// Content of the file.
#[derive(Debug, Deserialize, Serialize)]
struct Ratchet {
    /// Commit after which the subjects are counted.
    since: String,
    counts: Counts,
}

/// Returns false and prints the added lines if a pattern matches more often than `xtask/wording.toml` allows.
///
/// # Errors
/// If a file of the workspace cannot be read.
pub fn check(workspace: &Path) -> Result<bool> {
    let ratchet = read(workspace)?;
    let lines = lines::all(workspace, &ratchet.since)?;
    let risen = risen(&ratchet.counts, &counted(&lines));
    if risen.is_empty() {
        return Ok(true);
    }
    let added = Added::since_last_change_of(FILE, workspace);
    for (kind, pattern, count, allowed) in risen {
        eprintln!("{kind}: {pattern}: {count} matches, {allowed} allowed. Added since:");
        let places = lines.iter().filter(|line| {
            line.kind == kind && matches(line).any(|name| name == pattern) && added.contains(line)
        });
        for line in places.take(SHOWN) {
            eprintln!("  {}:{}: {}", line.file, line.number, line.text);
        }
    }
    eprintln!("Rewrite these lines by the rules of \"Writing\" in CONTRIBUTING.md.");
    Ok(false)
}

/// Stores lower counts in `xtask/wording.toml`. Counts that rose stay.
///
/// # Errors
/// If a file of the workspace cannot be read, or the counts cannot be written.
pub fn lower(workspace: &Path) -> Result<()> {
    let mut ratchet = read(workspace)?;
    let mut now = counted(&lines::all(workspace, &ratchet.since)?);
    for (kind, pattern, _, allowed) in risen(&ratchet.counts, &now) {
        now.entry(kind).or_default().insert(pattern, allowed);
    }
    ratchet.counts = now;
    let text = HEADER.to_owned() + &toml::to_string(&ratchet)?;
    fs::write(workspace.join(FILE), text).with_context(|| format!("cannot write {FILE}"))
}

fn read(workspace: &Path) -> Result<Ratchet> {
    let text = fs::read_to_string(workspace.join(FILE)).with_context(|| FILE.to_owned())?;
    toml::from_str(&text).with_context(|| FILE.to_owned())
}

/// Returns the names of the patterns that match a line, once per match.
fn matches(line: &Line) -> impl Iterator<Item = &'static str> {
    let patterns = patterns::of(line.kind).iter();
    patterns.flat_map(|pattern| std::iter::repeat_n(pattern.name, pattern.count(&line.text)))
}

/// Counts the matches of all patterns in `lines`, by kind.
fn counted(lines: &[Line]) -> Counts {
    let mut counts = Counts::new();
    for kind in Kind::ALL {
        let names = patterns::of(kind).iter().map(|p| (p.name.to_owned(), 0));
        counts.insert(kind, names.collect());
    }
    for line in lines {
        for name in matches(line) {
            let counts = counts.entry(line.kind).or_default();
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Returns kind, pattern, count and limit of each pattern that matches more often than allowed. A pattern without a count allows no match.
fn risen(allowed: &Counts, now: &Counts) -> Vec<(Kind, String, usize, usize)> {
    let of = |kind, name| allowed.get(&kind)?.get(name).copied();
    let all = (now.iter()).flat_map(|(kind, counts)| counts.iter().map(|(n, c)| (*kind, n, *c)));
    all.map(|(kind, name, count)| (kind, name.clone(), count, of(kind, name).unwrap_or(0)))
        .filter(|(.., count, allowed)| count > allowed)
        .collect()
}

#[cfg(test)]
mod tests;
