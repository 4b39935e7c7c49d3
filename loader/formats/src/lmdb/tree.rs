//! B-tree of a database and the list of its leaves.

use std::collections::HashSet;

use loadscope_words::say;

use super::page::{Description, Pages};
use crate::error::FormatError;

/// Maximum depth of LMDB's trees.
const DEEPEST: u64 = 32;

/// Leaves of a tree in key order.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    /// Page number of each leaf, and number of entries up to its end.
    pages: Vec<(u64, usize)>,
}

impl Leaves {
    /// Lists all leaves of a database. A tree with a cycle or a repeated page is damaged.
    pub(super) fn of(description: Description, pages: &Pages) -> Result<Self, FormatError> {
        let mut leaves = Self::default();
        let Some(root) = description.root else {
            return Ok(leaves);
        };
        let broken = |reason: &str| pages.damaged(root, reason);
        if description.depth == 0 || description.depth > DEEPEST {
            return Err(broken(say!("the B-tree of its keys has an invalid depth")));
        }
        let mut level = vec![root];
        let mut seen = HashSet::from([root]);
        for _ in 1..description.depth {
            let mut below = Vec::new();
            for page in level {
                for child in pages.children(page)? {
                    if !seen.insert(child) {
                        return Err(broken(say!("the B-tree of its keys contains a page twice")));
                    }
                    below.push(child);
                }
            }
            level = below;
        }
        leaves.pages.reserve(level.len());
        let mut end = 0;
        for page in level {
            end += pages.leaf(page)?.count()?;
            leaves.pages.push((page, end));
        }
        if end as u64 != description.entries {
            return Err(broken(&say!(
                "it declares {} entries but has {end}",
                description.entries
            )));
        }
        Ok(leaves)
    }

    pub(super) fn len(&self) -> usize {
        self.pages.last().map_or(0, |(_, end)| *end)
    }

    /// Returns the page of an entry and the entry's position in it.
    pub(super) fn find(&self, index: usize) -> Option<(u64, usize)> {
        let at = self.pages.partition_point(|(_, end)| *end <= index);
        let (page, _) = self.pages.get(at)?;
        let begin = at.checked_sub(1).and_then(|before| self.pages.get(before));
        Some((*page, index - begin.map_or(0, |(_, end)| *end)))
    }
}
