//! `loadscope compare`: two recordings side by side.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use loadscope_trace::Run;

use super::terminal::say;
use crate::report::compare::Comparison;
use crate::session::{read_run, refusal};

/// Which recordings.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The recording that is compared with
    a: PathBuf,
    /// The recording that may be better or worse
    b: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let ((a, a_cut), (b, b_cut)) = (read(&args.a)?, read(&args.b)?);
    let comparison = Comparison::of((&a, a_cut), (&b, b_cut));
    if args.json {
        say(&comparison.json().to_string())?;
    } else {
        say(&comparison.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> anyhow::Result<(Run, bool)> {
    read_run(file, |_| true).map_err(|e| anyhow!(refusal(file, &e)))
}
