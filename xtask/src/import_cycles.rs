//! Import cycles between the files of a crate.
//!
//! A file uses another file if it imports an item that is defined there, or names the item by its path. Declared modules, re-exports (`pub
//! use`) and tests do not count.

pub mod lex;
mod source;
mod tree;

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value as Json;

use tree::{Tree, UsedFiles};

/// Shortest import cycle: each file, and a name that it uses from the next one. The last file uses the first.
#[derive(Debug, PartialEq, Eq)]
pub struct ImportCycle(Vec<(PathBuf, String)>);

impl ImportCycle {
    /// Formats the cycle as lines of text, with paths relative to `workspace`.
    pub fn format(&self, workspace: &Path) -> String {
        let mut text = String::new();
        let next = self.0.iter().cycle().skip(1);
        for ((file, name), (other, _)) in self.0.iter().zip(next) {
            let short = |path: &Path| {
                path.strip_prefix(workspace)
                    .unwrap_or(path)
                    .display()
                    .to_string()
            };
            let _ = writeln!(text, "  {} uses `{name}` of {}", short(file), short(other));
        }
        text
    }
}

/// Finds the import cycles of the crate with the root file `root`, one per strongly connected set of files.
pub fn find(root: &Path) -> Result<Vec<ImportCycle>> {
    let tree = Tree::read(root)?;
    let edges = tree.edges();
    let mut cycles = Vec::new();
    let mut seen = BTreeSet::new();
    for start in 0..edges.len() {
        if seen.contains(&start) {
            continue;
        }
        let Some(path) = shortest_cycle(start, &edges) else {
            continue;
        };
        // Only the shortest cycle of the strongly connected files is shown.
        let together: Vec<usize> = (0..edges.len())
            .filter(|other| reaches(start, *other, &edges) && reaches(*other, start, &edges))
            .collect();
        let shortest = together
            .iter()
            .filter_map(|file| shortest_cycle(*file, &edges));
        let shortest = shortest.min_by_key(Vec::len).unwrap_or(path);
        seen.extend(together);
        cycles.push(cycle(&shortest, &edges, tree.files()));
    }
    Ok(cycles)
}

fn cycle(path: &[usize], edges: &[UsedFiles], files: &[PathBuf]) -> ImportCycle {
    let next = path.iter().cycle().skip(1);
    let taken = path.iter().zip(next);
    let cycle = taken.map(|(file, other)| (files[*file].clone(), edges[*file][other].clone()));
    ImportCycle(cycle.collect())
}

fn reaches(from: usize, to: usize, edges: &[UsedFiles]) -> bool {
    shortest_path(from, to, edges).is_some()
}

fn shortest_cycle(start: usize, edges: &[UsedFiles]) -> Option<Vec<usize>> {
    shortest_path(start, start, edges)
}

/// Returns a shortest path along at least one edge, without its end.
fn shortest_path(from: usize, to: usize, edges: &[UsedFiles]) -> Option<Vec<usize>> {
    let mut before = vec![None; edges.len()];
    let mut waiting = VecDeque::from([from]);
    while let Some(at) = waiting.pop_front() {
        for next in edges[at].keys() {
            if *next == to {
                let mut path = vec![at];
                let mut last = at;
                while last != from {
                    last = before[last]?;
                    path.push(last);
                }
                path.reverse();
                return Some(path);
            }
            if before[*next].is_none() && *next != from {
                before[*next] = Some(at);
                waiting.push_back(*next);
            }
        }
    }
    None
}

/// Returns the root files of all targets of the workspace from the output of `cargo metadata`.
pub fn roots(metadata: &str) -> Result<Vec<PathBuf>> {
    let metadata: Json = serde_json::from_str(metadata).context("cargo metadata prints JSON")?;
    let mut roots = Vec::new();
    for package in list(&metadata, "packages")? {
        for target in list(package, "targets")? {
            let path = target.get("src_path").and_then(Json::as_str);
            roots.push(
                path.context("cargo metadata: a target without a file")?
                    .into(),
            );
        }
    }
    Ok(roots)
}

fn list<'a>(object: &'a Json, name: &str) -> Result<&'a Vec<Json>> {
    let list = object.get(name).and_then(Json::as_array);
    list.with_context(|| format!("cargo metadata: no {name}"))
}

#[cfg(test)]
mod tests;
