//! The user's Python and its PyTorch.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::version::{VERSION, require_version};

/// Finds a Python that can run `python/libtorch.py`.
pub fn find() -> Result<&'static str> {
    let names = if cfg!(windows) {
        ["python", "py"]
    } else {
        ["python3", "python"]
    };
    let check = "import sys, zipfile, ssl; sys.exit(sys.version_info < (3, 9))";
    let fits = |name: &&str| {
        let status = Command::new(name)
            .args(["-c", check])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    if let Some(name) = names.into_iter().find(fits) {
        return Ok(name);
    }
    bail!(
        "No Python 3.9 or newer on the PATH ({} was looked for), and putting libtorch together \
         takes one. Install it (Debian: apt-get install python3 python3-pip), or unpack libtorch \
         {} yourself and set LIBTORCH to its folder.",
        names.join(" or "),
        VERSION
    )
}

/// Returns the folder of the PyTorch that LIBTORCH_USE_PYTORCH selects.
pub fn installed_torch() -> Result<PathBuf> {
    // torch-sys chooses the same Python.
    let name = if cfg!(windows) || env::var_os("VIRTUAL_ENV").is_some() {
        "python"
    } else {
        "python3"
    };
    // The script does not import torch, because this takes seconds.
    let script = "import importlib.metadata, importlib.util\n\
                  print(importlib.metadata.version('torch'))\n\
                  print(importlib.util.find_spec('torch').submodule_search_locations[0])";
    let output = Command::new(name)
        .args(["-c", script])
        .stdin(Stdio::null())
        .output();
    let text = match &output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout),
        _ => "".into(),
    };
    let remedy = format!(
        "Install it there ({name} -m pip install torch=={}), or unset LIBTORCH_USE_PYTORCH to \
         have libtorch put together.",
        VERSION
    );
    let Some((version, folder)) = text.trim_end().split_once('\n') else {
        bail!("LIBTORCH_USE_PYTORCH is set, but `{name}` has no PyTorch. {remedy}");
    };
    require_version(version, &format!("the PyTorch of `{name}`"), &remedy)?;
    Ok(PathBuf::from(folder.trim()))
}
