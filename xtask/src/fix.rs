//! `cargo xtask fix`: repairs that need no decision.

use std::path::Path;

use anyhow::Result;

use crate::steps::{finish, plain_cargo};
use crate::{catalogs, setup, wording};

/// Formats the code, sorts the catalogs, subsets the Chinese font and stores lower counts of `xtask/wording.toml`.
///
/// # Errors
/// If a file cannot be read or written, or the font's tools are missing.
pub fn fix(workspace: &Path) -> Result<u8> {
    catalogs::sort(workspace)?;
    wording::lower(workspace)?;
    catalogs::font::fix(workspace, &setup::target(workspace))?;
    finish(plain_cargo(&["fmt", "--all"]).current_dir(workspace))
}
