//! Tree of a batch's containers, built from the paths of its leaves.

use loadscope_insight::content::path::segments;

/// Container or leaf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Last segment of the path: `["image"]`, `[0]`, `.x`.
    pub label: String,
    /// Position of the leaf among the fields. `None` for a container.
    pub field: Option<usize>,
    /// Children of a container.
    pub children: Vec<Node>,
}

impl Node {
    /// Builds the tree of leaves with these positions and paths, in their order.
    pub fn of<'a>(paths: impl IntoIterator<Item = (usize, &'a str)>) -> Self {
        let mut root = Self::default();
        for (field, path) in paths {
            root.insert(&segments(path), field);
        }
        root
    }

    fn insert(&mut self, path: &[&str], field: usize) {
        let Some((first, rest)) = path.split_first() else {
            // The batch is a single leaf.
            self.children.push(Self {
                field: Some(field),
                ..Self::default()
            });
            return;
        };
        if rest.is_empty() {
            self.children.push(Self {
                label: (*first).to_owned(),
                field: Some(field),
                children: Vec::new(),
            });
            return;
        }
        // The leaves of a container are adjacent.
        let is_open = |n: &&mut Self| n.label == *first && n.field.is_none();
        if self.children.last_mut().filter(is_open).is_none() {
            self.children.push(Self {
                label: (*first).to_owned(),
                ..Self::default()
            });
        }
        if let Some(last) = self.children.last_mut() {
            last.insert(rest, field);
        }
    }

    /// Returns the number of leaves below this node.
    pub fn leaves(&self) -> usize {
        match self.field {
            Some(_) => 1,
            None => self.children.iter().map(Self::leaves).sum(),
        }
    }

    /// Returns the Python type of the container, as far as its keys show.
    pub fn kind(&self) -> &'static str {
        match self.children.first().map(|c| c.label.as_str()) {
            Some(label) if label.starts_with('.') => "namedtuple",
            Some(label) if label.starts_with("[\"") => "dict",
            Some(_) => "list",
            None => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn leaves_are_placed_below_their_containers() {
        let root = Node::of([
            (0, "[0]"),
            (1, "[1][\"label\"]"),
            (2, "[1][\"boxes\"][0]"),
            (3, "[1][\"boxes\"][1]"),
            (4, "[2]"),
        ]);
        let labels = |n: &Node| {
            n.children
                .iter()
                .map(|c| c.label.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(&root), ["[0]", "[1]", "[2]"]);
        let map = &root.children[1];
        assert_eq!((map.kind(), map.leaves(), map.field), ("dict", 3, None));
        assert_eq!(labels(&map.children[1]), ["[0]", "[1]"]);
        assert_eq!(map.children[1].children[1].field, Some(3));
        let single = Node::of([(0, "")]);
        assert_eq!(
            (single.children.len(), single.children[0].field),
            (1, Some(0))
        );
    }

    proptest! {
        #[test]
        fn any_paths_become_a_tree_with_all_leaves(paths in prop::collection::vec("[\\[\\].\"\\\\a0é]{0,12}", 0..20)) {
            let root = Node::of(paths.iter().map(String::as_str).enumerate());
            prop_assert_eq!(root.leaves(), paths.len());
        }
    }
}
