//! `loadscope compare`: two recordings side by side.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use loadscope_files::{NewFile, refuse_input};
use loadscope_words::say;

use super::force::ForceArg;
use super::pick::{LoaderArg, pick};
use super::report::{say_broken, write};
use super::terminal::{say, say_json};
use loadscope_insight::report::compare::Comparison;
use loadscope_insight::report::compare::rules::ChangeRule;
use loadscope_insight::report::junit::{Checked, junit};
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
    /// End with exit code 1 if B changed by more than this beside A, beyond chance: wait>+5% (of the time, 5 points more is waited),
    /// throughput<-10%, wait_per_batch>+20%, work_per_batch>+20%. May be given several times
    #[arg(long, value_name = "RULE")]
    fail_on: Vec<ChangeRule>,
    /// Write a test report to this file that CI systems read (JUnit's XML), with a test for each --fail-on
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
}

pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    // Before anything is read: what cannot be written is known at once.
    let tests = match &args.junit {
        Some(path) => {
            refuse_input(path, &args.a)?;
            refuse_input(path, &args.b)?;
            Some(NewFile::create(path, args.force.existing())?)
        }
        None => None,
    };
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
    let checked = args.fail_on.iter().map(|rule| Checked {
        rule: rule.to_string(),
        broken: rule.broken_by(&comparison),
    });
    let checked: Vec<Checked> = checked.collect();
    if let Some(tests) = tests {
        let name = say!("{} beside {}", args.b.display(), args.a.display());
        let seconds = comparison.b.survey.total().as_secs_f64();
        write(tests, &junit(&name, seconds, &checked, &comparison.text()))?;
    }
    Ok(say_broken(&checked))
}
