//! Sentences that no catalog contains.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// Crates in which catalogs contain all other sentences.
pub const CHECKED: [&str; 5] = [
    "loader/plan",
    "loader/exchange",
    "loader/live",
    "loader/engine",
    "loader/formats",
];

/// File with the sentences, relative to the workspace.
pub const FILE: &str = "xtask/src/catalogs/exempt.toml";

/// Beginnings of sentences per file, relative to the workspace.
type Beginnings = BTreeMap<String, Vec<String>>;

/// Exempt sentences per reason. The file explains the reasons.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exempt {
    pytorch: Beginnings,
    recorded: Beginnings,
    code: Beginnings,
}

impl Exempt {
    /// Reads the exemptions.
    ///
    /// # Errors
    /// If the file has an unknown reason or a syntax error.
    pub fn read() -> Result<Self> {
        toml::from_str(include_str!("exempt.toml")).context(FILE)
    }

    /// Returns all files, each with a beginning.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let reasons = [&self.pytorch, &self.recorded, &self.code];
        reasons.into_iter().flatten().flat_map(|(file, begins)| {
            let begins = begins.iter();
            begins.map(move |begin| (file.as_str(), begin.as_str()))
        })
    }

    /// Returns true for an exempt sentence of a file.
    pub fn contains(&self, file: &str, text: &str) -> bool {
        self.all()
            .any(|(of, begin)| of == file && text.starts_with(begin))
    }
}
