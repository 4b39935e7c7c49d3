//! Everything that has to be in place before cargo is called: system packages, libtorch, links.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::libtorch::{self, Choice, Surroundings};
use crate::packages::{self, Level, Missing};
use crate::{link, python};

/// A set-up that is complete.
pub struct Ready {
    /// Where cargo builds.
    pub target: PathBuf,
    /// The folder with libtorch's `lib` and `include`.
    pub libtorch: PathBuf,
    /// Variables that cargo must not see, so that it builds what a plain `cargo run` would build.
    pub hidden: Vec<&'static str>,
}

/// Puts in place whatever is missing.
pub fn prepare(level: Level, missing: Missing) -> Result<Ready> {
    let workspace = workspace();
    let target = target(&workspace);
    packages::require(level, missing)?;

    let surroundings = Surroundings::of_this_process(&workspace)?;
    let mut hidden = Vec::new();
    if !surroundings.own_libtorch_set() {
        // What cargo itself put there for us: it will do so again for the commands we start.
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

    // Executables look for libtorch beside the folder they are built in.
    for place in [workspace.join("target"), target.clone()] {
        link::point(&place.join("libtorch"), &folder)?;
    }
    Ok(Ready {
        target,
        libtorch: folder,
        hidden,
    })
}

/// The folder of this clone.
pub fn workspace() -> PathBuf {
    // The variable of this run goes first: a clone may use an xtask that another clone built.
    let manifest = env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .filter(|folder| folder.ends_with("xtask"))
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    manifest.parent().unwrap_or(&manifest).to_path_buf()
}

/// Cargo's target folder: this program lies in `<target>/<profile>`, whatever configured it.
pub fn target(workspace: &Path) -> PathBuf {
    env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.parent()?.to_path_buf()))
        .unwrap_or_else(|| workspace.join("target"))
}
