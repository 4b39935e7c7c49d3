//! `loadscope compare`: two recordings side by side.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use loadscope_files::{AtomicFile, check_not_input};
use loadscope_words::say;

use super::output::ForceArg;
use super::pick::{LoaderArg, pick};
use super::report::{EXIT_CODES, print_broken_rules, write};
use super::terminal::{print_json_line, print_report};
use loadscope_insight::report::compare::Comparison;
use loadscope_insight::report::compare::rules::ChangeRule;
use loadscope_insight::report::junit::{RuleResult, junit};
use loadscope_session::datasets;

/// The two recordings, and the form of the answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub struct CompareArgs {
    /// Baseline recording
    a: PathBuf,
    /// Recording to compare with the baseline
    b: PathBuf,
    #[command(flatten)]
    loader: LoaderArg,
    /// Loader in B, if its name differs from the one in A [default: the value of --loader]
    #[arg(long, value_name = "LOADER")]
    other_loader: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Exit with code 1 if this condition holds, such as 'wait>+5%' (can be repeated)
    ///
    /// The change must be statistically significant. Recordings that are too short for an interval are judged by the change alone.
    ///
    /// Rules: 'wait>+5%' (percentage points of the time), 'throughput<-10%', 'wait_per_batch>+20%', 'work_per_batch>+20%'. Quote them,
    /// because a shell redirects at > and <.
    #[arg(long, value_name = "RULE")]
    fail_on: Vec<ChangeRule>,
    /// Write a JUnit XML file with one test per --fail-on rule
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
}

pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    // The file is created first, so that an unwritable path fails at once.
    let tests = match &args.junit {
        Some(path) => {
            check_not_input(path, &args.a)?;
            check_not_input(path, &args.b)?;
            Some(AtomicFile::create(path, args.force.existing())?)
        }
        None => None,
    };
    let wanted = args.loader.loader.as_deref();
    let a = pick(&args.a, wanted)?;
    let b = pick(&args.b, args.other_loader.as_deref().or(wanted))?;
    let mut comparison = Comparison::of((a.run(), a.cut()), (b.run(), b.cut()), datasets());
    (comparison.a.loader, comparison.b.loader) = (a.about(), b.about());
    if args.json {
        print_json_line(comparison.json())?;
    } else {
        print_report(&comparison.text())?;
    }
    let checked = args.fail_on.iter().map(|rule| RuleResult {
        rule: rule.to_string(),
        broken: rule.violation(&comparison),
    });
    let checked: Vec<RuleResult> = checked.collect();
    if let Some(tests) = tests {
        let name = say!("{} compared with {}", args.b.display(), args.a.display());
        let seconds = comparison.b.survey.total().as_secs_f64();
        write(tests, &junit(&name, seconds, &checked, &comparison.text()))?;
    }
    Ok(print_broken_rules(&checked))
}
