//! Counts patterns of unclear writing, and old terms, in comments, documents, texts, names and commit subjects. The counts in
//! `xtask/wording.toml` may only fall.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

mod patterns;
mod texts;

use texts::{Kind, Text};

/// File with the counts, relative to the workspace.
const FILE: &str = "xtask/wording.toml";
const HEADER: &str = "# Patterns of unclear writing (see \"Writing\" in CONTRIBUTING.md), counted by `cargo xtask check`.\n\
                      # A count may fall, never rise. A pattern without a count allows no match. `cargo xtask fix` stores lower counts.\n\n";
/// Maximum number of printed places per pattern.
const SHOWN: usize = 30;

/// Matches per kind of text and pattern.
type Counts = BTreeMap<Kind, BTreeMap<String, usize>>;

/// Content of the file.
#[derive(Debug, Deserialize, Serialize)]
struct Ratchet {
    /// Commit after which the subjects are counted.
    since: String,
    counts: Counts,
}

/// Returns false and prints the matches if a pattern matches more often than `xtask/wording.toml` allows.
///
/// # Errors
/// If a file of the workspace cannot be read.
pub fn check(workspace: &Path) -> Result<bool> {
    let ratchet = read(workspace)?;
    let texts = texts::all(workspace, &ratchet.since)?;
    let risen = risen(&ratchet.counts, &counted(&texts));
    for (kind, pattern, count, allowed) in &risen {
        eprintln!("{kind:?}: {pattern}: {count} matches, {allowed} allowed:");
        let of_kind = texts.iter().filter(|text| text.kind == *kind);
        let places = of_kind.flat_map(|text| matches(text).filter(|place| place.name == pattern));
        for Match {
            file, number, line, ..
        } in places.take(SHOWN)
        {
            eprintln!("  {file}:{number}: {line}");
        }
    }
    if !risen.is_empty() {
        eprintln!("Rewrite these lines by the rules of \"Writing\" in CONTRIBUTING.md.");
    }
    Ok(risen.is_empty())
}

/// Stores lower counts in `xtask/wording.toml`. Counts that rose stay.
///
/// # Errors
/// If a file of the workspace cannot be read, or the counts cannot be written.
pub fn lower(workspace: &Path) -> Result<()> {
    let mut ratchet = read(workspace)?;
    let now = counted(&texts::all(workspace, &ratchet.since)?);
    ratchet.counts = lowered(&ratchet.counts, &now);
    let text = HEADER.to_owned() + &toml::to_string(&ratchet)?;
    fs::write(workspace.join(FILE), text).with_context(|| format!("cannot write {FILE}"))
}

fn read(workspace: &Path) -> Result<Ratchet> {
    let text = fs::read_to_string(workspace.join(FILE)).with_context(|| FILE.to_owned())?;
    toml::from_str(&text).with_context(|| FILE.to_owned())
}

/// Match of a pattern.
struct Match<'a> {
    name: &'static str,
    file: &'a str,
    number: usize,
    line: &'a str,
}

/// Returns the matches of all patterns in a text.
fn matches(text: &Text) -> impl Iterator<Item = Match<'_>> {
    let patterns = patterns::of(text.kind).iter();
    let found = patterns.flat_map(|pattern| {
        let places = pattern.find(&text.text).into_iter();
        places.map(|place| (pattern.name, place))
    });
    found.map(|(name, place)| {
        let before = text.text.get(..place).unwrap_or_default();
        let number = before.matches('\n').count();
        Match {
            name,
            file: &text.file,
            number: text.number + number,
            line: text.text.lines().nth(number).unwrap_or_default().trim(),
        }
    })
}

/// Counts the matches of all patterns in `texts`, by kind.
fn counted(texts: &[Text]) -> Counts {
    let mut counts = Counts::new();
    for text in texts {
        for found in matches(text) {
            let counts = counts.entry(text.kind).or_default();
            *counts.entry(found.name.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Returns the count of a pattern.
fn count(counts: &Counts, kind: Kind, pattern: &str) -> usize {
    let of_kind = counts.get(&kind);
    of_kind.and_then(|c| c.get(pattern)).copied().unwrap_or(0)
}

/// Returns kind, pattern, count and limit of each pattern that matches more often than allowed.
fn risen(allowed: &Counts, now: &Counts) -> Vec<(Kind, String, usize, usize)> {
    let all = (now.iter()).flat_map(|(kind, counts)| counts.iter().map(|(n, c)| (*kind, n, *c)));
    all.map(|(kind, name, now)| (kind, name.clone(), now, count(allowed, kind, name)))
        .filter(|(.., now, allowed)| now > allowed)
        .collect()
}

/// Returns the smaller of two counts of each pattern, without zeros.
fn lowered(allowed: &Counts, now: &Counts) -> Counts {
    let mut lowered = allowed.clone();
    for (kind, counts) in &mut lowered {
        counts.retain(|name, allowed| {
            *allowed = count(now, *kind, name).min(*allowed);
            *allowed > 0
        });
    }
    lowered.retain(|_, counts| !counts.is_empty());
    lowered
}

#[cfg(test)]
mod tests;
