//! `loadscope compare`: two recordings side by side.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::pick::{LoaderArg, pick};
use super::terminal::{say, say_json};
use loadscope_insight::report::compare::Comparison;
use loadscope_session::datasets;

/// Which recordings.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The recording that is compared with
    a: PathBuf,
    /// The recording that may be better or worse
    b: PathBuf,
    #[command(flatten)]
    loader: LoaderArg,
    /// The loader of the second recording, if it is another one than of the first
    #[arg(long, value_name = "LOADER")]
    other_loader: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let wanted = args.loader.loader.as_deref();
    let a = pick(&args.a, wanted)?;
    let b = pick(&args.b, args.other_loader.as_deref().or(wanted))?;
    let mut comparison = Comparison::of((a.run(), a.cut()), (b.run(), b.cut()), datasets());
    (comparison.a.loader, comparison.b.loader) = (a.about(), b.about());
    if args.json {
        say_json(comparison.json())?;
    } else {
        say(&comparison.text())?;
    }
    Ok(ExitCode::SUCCESS)
}
