//! Preparation of everything that cargo needs: system packages, libtorch, links.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::libtorch::{self, BuildEnvironment, Choice};
use crate::packages::{self, Level, Missing};
use crate::{link, python};

/// Result of a complete setup.
pub struct Ready {
    /// Target folder of cargo.
    pub target: PathBuf,
    /// Folder with libtorch's `lib` and `include`.
    pub libtorch: PathBuf,
    /// Environment variables that cargo must not see, so that it builds the same as a plain `cargo run`.
    pub hidden: Vec<&'static str>,
}

/// Installs everything that is missing.
pub fn prepare(level: Level, missing: Missing) -> Result<Ready> {
    let workspace = workspace();
    let target = target(&workspace);
    packages::require(level, missing)?;

    let surroundings = BuildEnvironment::of_this_process(&workspace)?;
    let mut hidden = Vec::new();
    if !surroundings.own_libtorch_set() {
        // Cargo set the variable for xtask, and sets it again for the commands that xtask starts.
        hidden.push("LIBTORCH");
    }
    let choice = surroundings.choose();
    let folder = match &choice {
        Choice::Own(folder) => {
            libtorch::require_usable(folder)?;
            if surroundings.use_pytorch {
                eprintln!(
                    "Both LIBTORCH and LIBTORCH_USE_PYTORCH are set: taking LIBTORCH. Unset the \
                     other one, or a plain `cargo run` will take PyTorch."
                );
                hidden.push("LIBTORCH_USE_PYTORCH");
            }
            folder.clone()
        }
        Choice::Pytorch => python::installed_torch()?,
        Choice::Wheels(folder) => {
            if !libtorch::is_complete(folder) {
                libtorch::assemble(folder, &workspace)?;
            }
            folder.clone()
        }
    };

    // Executables look for libtorch next to their build folder.
    for place in [workspace.join("target"), target.clone()] {
        link::point(&place.join("libtorch"), &folder)?;
    }
    Ok(Ready {
        target,
        libtorch: folder,
        hidden,
    })
}

/// Returns the folder of this clone.
pub fn workspace() -> PathBuf {
    // The environment variable comes first, because a clone may use an xtask that another clone built.
    let manifest = env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .filter(|folder| folder.ends_with("xtask"))
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    manifest.parent().unwrap_or(&manifest).to_path_buf()
}

/// Returns cargo's target folder. This program is in `<target>/<profile>`, independent of the configuration.
pub fn target(workspace: &Path) -> PathBuf {
    env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.parent()?.to_path_buf()))
        .unwrap_or_else(|| workspace.join("target"))
}
