//! `loadscope report`: why training waited, and what to do about it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use loadscope_files::{NewFile, refuse_input};

use super::force::ForceArg;
use super::pick::{LoaderArg, pick};
use super::terminal::{complain, say, say_json};
use loadscope_insight::report::rules::Rule;
use loadscope_insight::report::{Report, html, text};
use loadscope_session::datasets;

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
    #[command(flatten)]
    force: ForceArg,
    /// End with exit code 1 if the rule is broken: wait>10%, wait>2s, fetching>500ms, throughput<100, dropped>0, findings>0, memory>8GB.
    /// May be given several times
    #[arg(long, value_name = "RULE")]
    fail_on: Vec<Rule>,
}

pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    // Before anything is read: what cannot be written is known at once.
    let page = match &args.html {
        Some(path) => {
            refuse_input(path, &args.file)?;
            Some(NewFile::create(path, args.force.existing())?)
        }
        None => None,
    };
    let picked = pick(&args.file, args.loader.loader.as_deref())?;
    let mut report = Report::with_prospects(picked.run(), picked.cut(), datasets());
    report.loader = picked.about();
    if args.json {
        say_json(report.json())?;
    } else {
        say(&text(&report))?;
    }
    if let Some(mut page) = page {
        let path = page.path().display().to_string();
        page.write_all(html(&report).as_bytes())
            .with_context(|| format!("cannot write the report to {path}"))?;
        page.commit()?;
    }
    let broken = args
        .fail_on
        .iter()
        .filter_map(|rule| rule.broken_by(&report));
    let broken: Vec<String> = broken.collect();
    for rule in &broken {
        complain(format_args!("broken: {rule}"));
    }
    Ok(match broken.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(1),
    })
}
