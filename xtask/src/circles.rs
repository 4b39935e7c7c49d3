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

use tree::{Taken, Tree};

/// Shortest import cycle: each file, and a name that it uses from the next one. The last file uses the first.
#[derive(Debug, PartialEq, Eq)]
pub struct Circle(Vec<(PathBuf, String)>);

impl Circle {
    /// Formats the cycle as lines of text, with paths relative to `workspace`.
    pub fn shown(&self, workspace: &Path) -> String {
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
pub fn find(root: &Path) -> Result<Vec<Circle>> {
    let tree = Tree::read(root)?;
    let edges = tree.edges();
    let mut circles = Vec::new();
    let mut seen = BTreeSet::new();
    for start in 0..edges.len() {
        if seen.contains(&start) {
            continue;
        }
        let Some(way) = way_back(start, &edges) else {
            continue;
        };
        // Only the shortest cycle of the strongly connected files is shown.
        let together: Vec<usize> = (0..edges.len())
            .filter(|other| leads(start, *other, &edges) && leads(*other, start, &edges))
            .collect();
        let shortest = together.iter().filter_map(|file| way_back(*file, &edges));
        let shortest = shortest.min_by_key(Vec::len).unwrap_or(way);
        seen.extend(together);
        circles.push(circle(&shortest, &edges, tree.files()));
    }
    Ok(circles)
}

fn circle(way: &[usize], edges: &[Taken], files: &[PathBuf]) -> Circle {
    let next = way.iter().cycle().skip(1);
    let taken = way.iter().zip(next);
    let circle = taken.map(|(file, other)| (files[*file].clone(), edges[*file][other].clone()));
    Circle(circle.collect())
}

fn leads(from: usize, to: usize, edges: &[Taken]) -> bool {
    way(from, to, edges).is_some()
}

fn way_back(start: usize, edges: &[Taken]) -> Option<Vec<usize>> {
    way(start, start, edges)
}

/// Returns a shortest path along at least one edge, without its end.
fn way(from: usize, to: usize, edges: &[Taken]) -> Option<Vec<usize>> {
    let mut before = vec![None; edges.len()];
    let mut waiting = VecDeque::from([from]);
    while let Some(at) = waiting.pop_front() {
        for next in edges[at].keys() {
            if *next == to {
                let mut way = vec![at];
                let mut last = at;
                while last != from {
                    last = before[last]?;
                    way.push(last);
                }
                way.reverse();
                return Some(way);
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
