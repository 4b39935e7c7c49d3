//! `loadscope install` and `uninstall` prepare a Python environment, so that its programs can be recorded without environment variables.
//! The Python package does the work, because it knows the folders of its Python.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{anyhow, bail};
use clap::Args;
use loadscope_words::{cause, explain, say};

/// The Python environment.
#[derive(Debug, Args)]
pub struct InstallArgs {
    /// Python interpreter [default: the one next to this program, or python3]
    #[arg(long, value_name = "PYTHON")]
    python: Option<PathBuf>,
}

/// Runs `python -m loadscope WHAT`.
pub fn run(args: &InstallArgs, what: &str) -> anyhow::Result<ExitCode> {
    let python = args.python.clone().unwrap_or_else(python_beside);
    let name = python.display();
    let has_package =
        "import importlib.util, sys; sys.exit(importlib.util.find_spec('loadscope') is None)";
    let asked = Command::new(&python)
        .args(["-c", has_package])
        .status()
        .map_err(|e| {
            anyhow!(say!(
                "cannot start {name}: {e}. Choose another Python with --python.",
                e = cause(&e)
            ))
        })?;
    if !asked.success() {
        bail!(say!(
            "{name} has no package loadscope. Install the wheel with `{name} -m pip install loadscope-*.whl`."
        ));
    }
    let status = Command::new(&python)
        .args(["-m", "loadscope", what])
        .status()
        .map_err(|e| anyhow!(say!("cannot start Python as {name}: {e}", e = explain(&e))))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// Returns the Python of the environment that contains this program.
fn python_beside() -> PathBuf {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(|own| own.parent());
    let names = ["python", "python3", "python.exe"];
    let found = beside.and_then(|folder| {
        let mut paths = names.iter().map(|name| folder.join(name));
        paths.find(|path| path.is_file())
    });
    found.unwrap_or_else(|| PathBuf::from("python3"))
}
