//! What is to be done.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};

/// What is to be done.
pub struct Job {
    /// Which part.
    pub part: Part,
    /// Where files go.
    pub folder: PathBuf,
    /// So many events.
    pub events: u64,
    /// Where random numbers begin.
    pub seed: u64,
    /// How the clock of the events goes.
    pub clock: Clock,
}

/// A part of the program that goes on for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The recorder with a limit.
    Recorder,
    /// The window.
    Fold,
    /// The embedded engine, recorded.
    Engine,
    /// A copy of a recording that grows, for the engine.
    Copy,
}

/// How the clock of the events goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Onwards.
    Steady,
    /// It is set forwards and back by hours, and the events are sorted as those of the engine are.
    Sorted,
    /// The same without sorting.
    Raw,
}

impl Job {
    /// What the arguments say; `None` if they name no part.
    ///
    /// # Errors
    /// If one of them is not known.
    pub fn of(arguments: impl Iterator<Item = String>) -> Result<Option<Self>> {
        let mut part = None;
        let mut job = Self {
            part: Part::Recorder,
            folder: PathBuf::new(),
            events: 1_000_000,
            seed: 1,
            clock: Clock::Steady,
        };
        for argument in arguments {
            // Cargo says so to each of them.
            if argument == "--bench" {
                continue;
            }
            let pair = argument.split_once('=');
            let (name, value) = pair.with_context(|| format!("{argument} is not name=value"))?;
            match name {
                "part" => part = Some(value.parse()?),
                "folder" => job.folder = value.into(),
                "events" => job.events = number(value)?,
                "seed" => job.seed = number(value)?,
                "clock" => job.clock = value.parse()?,
                _ => bail!(
                    "there is no argument {name}. There are part, folder, events, seed and clock"
                ),
            }
        }
        Ok(part.map(|part| Self { part, ..job }))
    }
}

fn number(text: &str) -> Result<u64> {
    text.parse()
        .with_context(|| format!("{text} is not a whole number"))
}

impl FromStr for Part {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text {
            "recorder" => Self::Recorder,
            "fold" => Self::Fold,
            "engine" => Self::Engine,
            "copy" => Self::Copy,
            _ => bail!("there is no part {text}. There are recorder, fold, engine and copy"),
        })
    }
}

impl FromStr for Clock {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text {
            "steady" => Self::Steady,
            "sorted" => Self::Sorted,
            "raw" => Self::Raw,
            _ => bail!("there is no clock {text}. There are steady, sorted and raw"),
        })
    }
}
