//! The version of libtorch that Loadscope is built with.

use std::env;

use anyhow::{Result, bail};

/// libtorch version that the tch crate supports.
pub const VERSION: &str = "2.13.0";

/// torchvision release for this version.
pub const VISION: &str = "0.28.0";

/// Accepts the version that tch supports, or an unknown version.
pub fn require_version(version: &str, whose: &str, remedy: &str) -> Result<()> {
    let plain = version.trim().split('+').next().unwrap_or_default();
    let unchecked = env::var_os("LIBTORCH_BYPASS_VERSION_CHECK").is_some();
    if plain.is_empty() || plain == VERSION || unchecked {
        return Ok(());
    }
    bail!(
        "Loadscope is built with libtorch {VERSION}, but {whose} is {plain}. {remedy} Setting \
         LIBTORCH_BYPASS_VERSION_CHECK=1 tries it all the same."
    )
}
