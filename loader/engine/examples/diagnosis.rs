//! Compares causes added to runs with the verdicts: `cargo xtask diagnosis`.
//!
//! Arguments: the output file and the sets of seeds, such as `1..5` (inclusive). Fails if fewer verdicts are right than promised.
#![allow(
    clippy::disallowed_methods,
    reason = "it writes a page of the documentation, for developers"
)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measures"
)]

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use loadscope_diagnose::Severity;

#[path = "../tests/diagnosis/experiment.rs"]
mod experiment;
#[path = "../tests/diagnosis/scenario.rs"]
mod scenario;
#[path = "../tests/diagnosis/spoil.rs"]
mod spoil;

use experiment::{Score, Set, Trial, table};

/// Minimum share of runs with causes whose verdict is right.
const PROMISED: f64 = 0.95;
/// Default sets of seeds, inclusive.
const SETS: (u64, u64) = (201, 205);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let path = std::env::args_os().nth(1);
    let (first, last) = match std::env::args().nth(2) {
        Some(sets) => range(&sets)?,
        None => SETS,
    };
    let sets: Vec<Set> = (first..=last).map(Set::run).collect();
    let text = report(&sets, (first, last))?;
    println!("{text}");
    if let Some(path) = path {
        std::fs::write(path, &text)?;
    }
    let kept = |trials: fn(&Set) -> &Vec<Trial>, least: f64| {
        Score::of(sets.iter().flat_map(trials)).share() >= least
    };
    let kept =
        kept(|s| &s.alone, PROMISED) && kept(|s| &s.paired, PROMISED) && kept(|s| &s.healthy, 1.0);
    Ok(match kept {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Parses an inclusive range like `101..105`.
fn range(text: &str) -> Result<(u64, u64), Box<dyn Error>> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last) = (first.parse()?, last.parse()?);
    match first <= last {
        true => Ok((first, last)),
        false => Err(format!("{text} is no range").into()),
    }
}

/// Returns the Markdown report: the scores, then the trials of each kind by cause.
fn report(sets: &[Set], (first, last): (u64, u64)) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    let score = |trials: fn(&Set) -> &Vec<Trial>| Score::of(sets.iter().flat_map(trials));
    writeln!(
        out,
        "# Diagnosis against known causes\n\n\
         Written by `cargo xtask diagnosis`, which takes other seeds as an argument. Causes are injected into simulated runs, alone \
         and in pairs, with workers, steps, batch sizes and costs drawn from the seed. A verdict is right if it names an injected \
         cause and every injected cause is a finding of severity warning or above. A healthy run must have none. A cost is a \
         warning from {:.0} % of the run's time on, critical from {:.0} %.\n",
        Severity::WARNING_SHARE * 100.0,
        Severity::CRITICAL_SHARE * 100.0
    )?;
    writeln!(
        out,
        "**Right: {} with one cause, {} with two, {} of the healthy runs.** Goal: {:.0} % with causes and all healthy \
         runs.\n",
        score(|s| &s.alone),
        score(|s| &s.paired),
        score(|s| &s.healthy),
        PROMISED * 100.0
    )?;
    writeln!(
        out,
        "| seeds | one cause | two causes | healthy |\n|---|---|---|---|"
    )?;
    for (number, set) in (first..=last).zip(sets) {
        let [alone, paired, healthy] = [&set.alone, &set.paired, &set.healthy].map(Score::of);
        writeln!(out, "| {number} | {alone} | {paired} | {healthy} |")?;
    }
    for (title, trials) in [
        ("One cause", (|s| &s.alone) as fn(&Set) -> &Vec<Trial>),
        ("Two causes", |s| &s.paired),
        ("None", |s| &s.healthy),
    ] {
        writeln!(out, "\n## {title}\n")?;
        out.push_str(&table(sets.iter().flat_map(trials)));
    }
    let all = sets
        .iter()
        .flat_map(|s| s.alone.iter().chain(&s.paired).chain(&s.healthy));
    let mut wrong = all.filter(|t| !t.is_right).peekable();
    if wrong.peek().is_some() {
        writeln!(out, "\n## What went wrong\n")?;
    }
    for trial in wrong {
        let names: Vec<&str> = trial.put.iter().map(|c| c.id()).collect();
        writeln!(
            out,
            "{}:\n\n```\n{}\n```\n",
            names.join(" + "),
            trial.remark
        )?;
    }
    Ok(out)
}
