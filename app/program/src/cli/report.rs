//! `loadscope report`: explains why training waited, and what to change.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use loadscope_files::{AtomicFile, check_not_input, is_being_written};
use loadscope_words::say;

use super::output::ForceArg;
use super::pick::{LoaderArg, pick};
use super::terminal::{print_json_line, print_message, print_report};
use loadscope_insight::report::junit::{RuleResult, junit};
use loadscope_insight::report::rules::Rule;
use loadscope_insight::report::{Report, html, markdown, text};
use loadscope_session::datasets;

/// Exit codes of `report` and `compare`.
pub(super) const EXIT_CODES: &str = "\
Exit code:
  0    success
  1    a --fail-on condition holds or cannot be checked
  2    any other error
  130  interrupted by Ctrl+C (143 by SIGTERM)";

/// The recording, and the form of the report.
#[derive(Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub struct ReportArgs {
    /// Recording, folder of recordings, or trace of another tool
    ///
    /// Reads .jsonl, .jsonl.zst, traces of torch.profiler, folders of LotusTrace logs and statistics of SPDL.
    file: PathBuf,
    #[command(flatten)]
    loader: LoaderArg,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print Markdown, for CI summaries and review comments
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Write a JUnit XML file with one test per --fail-on rule
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the report as one HTML page with charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Exit with code 1 if this condition holds, such as 'wait>10%' (can be repeated)
    ///
    /// Examples: 'wait>10%', 'wait>2s', 'fetching>500ms', 'throughput<100', 'dropped>0', 'findings>0', 'memory>8GB'. Quote them, because a
    /// shell redirects at > and <.
    ///
    /// Keys: collating, dropped, end, errors, fetching, findings, held, in_worker, index_queue, memory, not_dispatched, not_measured,
    /// pinning, queued, ready, returning, run, sampling, shm, starting, throughput, trainer, wait.
    #[arg(long, value_name = "RULE")]
    fail_on: Vec<Rule>,
}

pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    // The files are created first, so that an unwritable path fails at once.
    let page = created(args.html.as_deref(), args)?;
    let tests = created(args.junit.as_deref(), args)?;
    let picked = pick(&args.file, args.loader.loader.as_deref())?;
    let report = Report::with_prospects(picked.run(), picked.cut(), datasets());
    let mut report = picked.among(report);
    report.file = Some(args.file.display().to_string());
    report.is_growing = is_being_written(&args.file);
    match (args.json, args.markdown) {
        (true, _) => print_json_line(report.json())?,
        (false, true) => print_report(&markdown(&report))?,
        (false, false) => print_report(&text(&report))?,
    }
    if let Some(page) = page {
        write(page, &html(&report))?;
    }
    let checked = args.fail_on.iter().map(|rule| RuleResult {
        rule: rule.to_string(),
        broken: rule.violation(&report),
    });
    let checked: Vec<RuleResult> = checked.collect();
    if let Some(tests) = tests {
        let name = args.file.display().to_string();
        let seconds = report.survey.total().as_secs_f64();
        write(tests, &junit(&name, seconds, &checked, &text(&report)))?;
    }
    Ok(print_broken_rules(&checked))
}

/// Creates an output file for the report.
fn created(path: Option<&Path>, args: &ReportArgs) -> anyhow::Result<Option<AtomicFile>> {
    let Some(path) = path else { return Ok(None) };
    check_not_input(path, &args.file)?;
    Ok(Some(AtomicFile::create(path, args.force.existing())?))
}

/// Writes the whole text and commits the file.
pub(super) fn write(mut file: AtomicFile, text: &str) -> anyhow::Result<()> {
    let path = file.path().display().to_string();
    file.write_all(text.as_bytes())
        .with_context(|| say!("cannot write the report to {path}"))?;
    Ok(file.commit()?)
}

/// Prints the broken rules. Returns exit code 1 if there is one.
pub(super) fn print_broken_rules(checked: &[RuleResult]) -> ExitCode {
    let broken = checked.iter().filter_map(|rule| rule.broken.as_ref());
    let mut code = ExitCode::SUCCESS;
    for why in broken {
        print_message(why);
        code = ExitCode::from(1);
    }
    code
}

#[cfg(test)]
mod tests {
    use clap::Args as _;
    use loadscope_insight::report::rules::keys;

    use super::*;

    #[test]
    fn the_help_lists_all_keys_of_rules() {
        let command = ReportArgs::augment_args(clap::Command::new("report"));
        let mut arguments = command.get_arguments();
        let fail_on = arguments.find(|argument| argument.get_id() == "fail_on");
        let help = fail_on.and_then(|argument| argument.get_long_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        let listed = format!("Keys: {}.", keys().join(", "));
        assert!(help.contains(&listed), "{help}");
    }
}
