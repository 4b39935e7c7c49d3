//! The module tree of a crate, and the resolution of paths to files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::source::{self, Import};

/// Limit of lookups per name. A longer chain means that imports form a loop.
const MOST_STEPS: u32 = 32;

/// Modules of a crate and their files.
pub struct Tree {
    files: Vec<PathBuf>,
    modules: Vec<Module>,
}

/// Indices of the files that a file uses, each with one of the used names.
pub type UsedFiles = BTreeMap<usize, String>;

struct Module {
    file: usize,
    parent: usize,
    /// Child modules by name. Several per name if the target selects the file.
    children: BTreeMap<String, Vec<usize>>,
    source: source::Module,
}

/// File and name of a defined item.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    file: usize,
    name: String,
}

impl Tree {
    /// Reads the crate with the root file `root`.
    pub fn read(root: &Path) -> Result<Self> {
        let mut tree = Self {
            files: Vec::new(),
            modules: Vec::new(),
        };
        let folder = root.parent().unwrap_or(root);
        tree.add_file(root, folder, 0)?;
        Ok(tree)
    }

    /// Returns the files, the root first.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Returns the files that each file uses.
    pub fn edges(&self) -> Vec<UsedFiles> {
        let mut edges = vec![UsedFiles::new(); self.files.len()];
        for at in 0..self.modules.len() {
            let file = self.modules[at].file;
            for found in self.used_items(at) {
                if found.file != file {
                    edges[file].entry(found.file).or_insert(found.name);
                }
            }
        }
        edges
    }

    /// Adds a file with all its submodules. `folder` contains the files of the modules that it declares.
    fn add_file(&mut self, path: &Path, folder: &Path, parent: usize) -> Result<usize> {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = self.files.len();
        self.files.push(path.to_owned());
        self.add_module(source::read(&text), file, folder, parent)
    }

    fn add_module(
        &mut self,
        mut source: source::Module,
        file: usize,
        folder: &Path,
        parent: usize,
    ) -> Result<usize> {
        let inline = std::mem::take(&mut source.inline);
        let outside = std::mem::take(&mut source.files);
        let at = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            children: BTreeMap::new(),
            source,
        });
        for (name, inside) in inline {
            let child = self.add_module(inside, file, &folder.join(&name), at)?;
            self.modules[at]
                .children
                .entry(name)
                .or_default()
                .push(child);
        }
        for declared in outside {
            for (path, inside) in self.places(&declared, file, folder) {
                let child = self.add_file(&path, &inside, at)?;
                let children = &mut self.modules[at].children;
                children
                    .entry(declared.name.clone())
                    .or_default()
                    .push(child);
            }
        }
        Ok(at)
    }

    /// Returns the possible files of a declared module, each with the folder of its submodules.
    fn places(
        &self,
        declared: &source::FileModule,
        file: usize,
        folder: &Path,
    ) -> Vec<(PathBuf, PathBuf)> {
        let inside = folder.join(&declared.name);
        let mut places = vec![
            (folder.join(format!("{}.rs", declared.name)), inside.clone()),
            (inside.join("mod.rs"), inside),
        ];
        let beside = self.files[file].parent().unwrap_or(folder);
        for path in &declared.paths {
            let path = beside.join(path);
            let inside = path.parent().unwrap_or(folder).to_owned();
            places.push((path, inside));
        }
        places.retain(|(path, _)| path.is_file());
        places
    }

    /// Returns all items that a module uses, also from its own file.
    fn used_items(&self, at: usize) -> Vec<Item> {
        let source = &self.modules[at].source;
        let mut found = Vec::new();
        for import in &source.imports {
            found.extend(self.imported(at, import));
        }
        for path in &source.paths {
            found.extend(self.resolve(at, path, MOST_STEPS));
        }
        found
    }

    /// Returns the items that an import uses. A re-export counts only if the module itself uses the name.
    fn imported(&self, at: usize, import: &Import) -> Vec<Item> {
        let mentioned = &self.modules[at].source.mentioned;
        match &import.name {
            Some(name) if import.is_public && !mentioned.contains(name) => Vec::new(),
            Some(_) => self.resolve(at, &import.path, MOST_STEPS),
            None => {
                let own = &self.modules[at].source.items;
                let mut found = Vec::new();
                for inside in self.targets(at, &import.path, MOST_STEPS) {
                    for name in mentioned.difference(own) {
                        found.extend(self.member(inside, std::slice::from_ref(name), MOST_STEPS));
                    }
                }
                found
            }
        }
    }

    /// Finds the definition of the item at `path`, seen from module `at`. Returns nothing for modules and other crates.
    fn resolve(&self, at: usize, path: &[String], steps: u32) -> Vec<Item> {
        let Some(steps) = steps.checked_sub(1) else {
            return Vec::new();
        };
        match path {
            [] => Vec::new(),
            [first, rest @ ..] => match self.step(at, first) {
                Some(to) => self.inside(to, rest, steps),
                None => self.member(at, path, steps),
            },
        }
    }

    /// Returns the modules at `path`, seen from module `at`.
    fn targets(&self, at: usize, path: &[String], steps: u32) -> BTreeSet<usize> {
        let Some(steps) = steps.checked_sub(1) else {
            return BTreeSet::new();
        };
        let [first, rest @ ..] = path else {
            return BTreeSet::from([at]);
        };
        if let Some(to) = self.step(at, first) {
            return self.targets(to, rest, steps);
        }
        let module = &self.modules[at];
        let mut targets = BTreeSet::new();
        for child in module.children.get(first).into_iter().flatten() {
            targets.extend(self.targets(*child, rest, steps));
        }
        for import in &module.source.imports {
            if import.name.as_ref() == Some(first) {
                let path = [&import.path, rest].concat();
                targets.extend(self.targets(at, &path, steps));
            }
        }
        targets
    }

    /// Resolves `crate`, `self` and `super`.
    fn step(&self, at: usize, name: &str) -> Option<usize> {
        match name {
            "crate" => Some(0),
            "self" => Some(at),
            "super" => Some(self.modules[at].parent),
            _ => None,
        }
    }

    /// Resolves `path` inside module `at`. A macro of that module is assumed to define an unknown name.
    fn inside(&self, at: usize, path: &[String], steps: u32) -> Vec<Item> {
        let [first, ..] = path else {
            return Vec::new();
        };
        if let Some(to) = self.step(at, first) {
            return self.inside(to, &path[1..], steps);
        }
        let found = self.member(at, path, steps);
        let is_known = !found.is_empty() || self.knows(at, first);
        match is_known {
            true => found,
            false => vec![self.found(at, first)],
        }
    }

    fn knows(&self, at: usize, name: &String) -> bool {
        let module = &self.modules[at];
        let imports = &module.source.imports;
        module.children.contains_key(name)
            || imports
                .iter()
                .any(|import| import.name.as_ref() == Some(name))
    }

    /// Finds the definition of the item at `path` in the scope of a module.
    fn member(&self, at: usize, path: &[String], steps: u32) -> Vec<Item> {
        let (Some(steps), [first, rest @ ..]) = (steps.checked_sub(1), path) else {
            return Vec::new();
        };
        let module = &self.modules[at];
        let mut found = Vec::new();
        for child in module.children.get(first).into_iter().flatten() {
            found.extend(self.inside(*child, rest, steps));
        }
        if module.source.items.contains(first) && (found.is_empty() || rest.is_empty()) {
            found.push(self.found(at, first));
        }
        let imports = &module.source.imports;
        if found.is_empty() && !module.children.contains_key(first) {
            for import in imports
                .iter()
                .filter(|import| import.name.as_ref() == Some(first))
            {
                let path = [&import.path, rest].concat();
                // An import does not resolve to itself: `use time::time` names another crate.
                if import.path.first() != Some(first) {
                    found.extend(self.resolve(at, &path, steps));
                }
            }
        }
        if found.is_empty() {
            for import in imports.iter().filter(|import| import.name.is_none()) {
                for target in self.targets(at, &import.path, steps) {
                    found.extend(self.member(target, path, steps));
                }
            }
        }
        found
    }

    fn found(&self, at: usize, name: &str) -> Item {
        Item {
            file: self.modules[at].file,
            name: name.to_owned(),
        }
    }
}
