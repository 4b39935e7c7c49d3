//! Selection of the loader that a command analyzes.

use std::path::Path;

use anyhow::anyhow;
use clap::Args;
use loadscope_trace::{Run, RunId};

use super::terminal::print_message;
use loadscope_insight::loaders::find;
use loadscope_insight::report::{LoaderContext, Report};
use loadscope_session::{self as session, Opened, describe_open_error};

/// `--loader`.
#[derive(Clone, Debug, Default, Args)]
pub struct LoaderArg {
    /// Loader to analyze, by number or part of its name [default: the one training waited for longest]
    ///
    /// Examples: 4, "rank 2", train.
    #[arg(long, value_name = "LOADER")]
    pub loader: Option<String>,
}

/// `--loader` of commands that take all loaders by default.
#[derive(Clone, Debug, Default, Args)]
pub struct OnlyLoaderArg {
    /// Only this loader, by number or part of its name [default: all]
    ///
    /// Examples: 4, "rank 2", train.
    #[arg(long, value_name = "LOADER")]
    pub loader: Option<String>,
}

/// Recording and the analyzed loader.
pub struct Picked {
    opened: Opened,
    id: RunId,
    is_requested: bool,
    /// Empty run, for a recording without a loader.
    nothing: Run,
}

/// Reads a recording or a folder of recordings. Prints notes about the files to standard error.
pub(super) fn open(file: &Path) -> anyhow::Result<Opened> {
    let opened =
        session::open(file, |_| true).map_err(|e| anyhow!(describe_open_error(file, &e)))?;
    for note in &opened.notes {
        print_message(&note.text);
    }
    Ok(opened)
}

/// Reads a recording and finds the requested loader.
pub(super) fn pick(file: &Path, wanted: Option<&str>) -> anyhow::Result<Picked> {
    let opened = open(file)?;
    let id = match wanted {
        Some(text) => find_loader(&opened, text)?,
        None => opened.fleet.longest_waiting().unwrap_or_default(),
    };
    Ok(Picked {
        opened,
        id,
        is_requested: wanted.is_some(),
        nothing: Run::default(),
    })
}

/// Returns the loader that matches `text`.
pub(super) fn find_loader(opened: &Opened, text: &str) -> anyhow::Result<RunId> {
    let all: Vec<(RunId, &Run)> = opened.fleet.runs().collect();
    find(&all, text).map_err(|text| anyhow!(text))
}

impl Picked {
    /// Returns the loader.
    pub fn run(&self) -> &Run {
        self.opened.fleet.get(self.id).unwrap_or(&self.nothing)
    }

    /// Returns true if the file is truncated.
    pub fn cut(&self) -> bool {
        self.opened.cut
    }

    /// Adds the findings about the recording's other loaders.
    pub fn among<'a>(&self, report: Report<'a>) -> Report<'a> {
        let all: Vec<(RunId, &Run)> = self.opened.fleet.runs().collect();
        report.for_loader(&all, self.id, self.is_requested)
    }

    /// Returns the number and name of the loader, if the recording has several.
    pub fn about(&self) -> Option<LoaderContext> {
        let all: Vec<(RunId, &Run)> = self.opened.fleet.runs().collect();
        LoaderContext::of(&all, self.id, self.is_requested)
    }
}
