//! Parser of the soak test's arguments.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};

/// Arguments of a soak test.
pub struct Job {
    /// Part of the program to test.
    pub part: Part,
    /// Folder for files.
    pub folder: PathBuf,
    /// Number of events.
    pub events: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Clock of the events.
    pub clock: Clock,
}

/// Long-running part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Recorder with a limit.
    Recorder,
    /// Window with run after run.
    Fold,
    /// Embedded loader with a recording.
    Engine,
    /// Copy of a growing recording, used by the engine part.
    Copy,
}

/// Clock of the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Clock that never jumps.
    Steady,
    /// Clock that is set forwards and back by hours. The events are sorted like those of the embedded loader.
    Sorted,
    /// The same clock, without sorting.
    Raw,
}

impl Job {
    /// Parses the arguments. Returns `None` if they name no part.
    ///
    /// # Errors
    /// If an argument is unknown or invalid.
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
            // Cargo passes this argument to each benchmark.
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
