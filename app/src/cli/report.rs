//! `loadscope report`: why training waited, and what to do about it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use super::pick::{LoaderArg, pick};
use super::terminal::say;
use crate::report::rules::Rule;
use crate::report::{Report, html, text};

/// What to say about which recording.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A recording (.jsonl or .jsonl.zst), a folder of them, or what another tool wrote
    file: PathBuf,
    #[command(flatten)]
    loader: LoaderArg,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write the report to this file, as one page with pictures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// End with exit code 1 if the rule is broken: wait>10%, wait>2s, fetching>500ms, throughput<100, dropped>0, findings>0.
    /// May be given several times
    #[arg(long, value_name = "RULE")]
    fail_on: Vec<Rule>,
}

pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let picked = pick(&args.file, args.loader.loader.as_deref())?;
    let mut report = Report::with_prospects(picked.run(), picked.cut());
    report.loader = picked.about();
    if args.json {
        say(&report.json().to_string())?;
    } else {
        say(&text(&report))?;
    }
    if let Some(path) = &args.html {
        let page = html(&report);
        std::fs::write(path, page)
            .with_context(|| format!("cannot write the report to {}", path.display()))?;
    }
    let broken = args
        .fail_on
        .iter()
        .filter_map(|rule| rule.broken_by(&report));
    let broken: Vec<String> = broken.collect();
    for rule in &broken {
        eprintln!("loadscope: broken: {rule}");
    }
    Ok(match broken.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(1),
    })
}
