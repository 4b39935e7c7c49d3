//! Errors, warnings and notes about a run.

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::{BatchId, WorkerId, count};

/// Severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Note that needs no reaction.
    Info,
    /// Warning, such as a `UserWarning` of PyTorch.
    Warning,
    /// Error, such as an exception in a worker.
    Error,
}

/// Message about a run, a worker or a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Error, warning or note.
    pub level: Level,
    /// Text in complete sentences.
    pub text: String,
    /// Batch, if the message is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<BatchId>,
    /// Worker, if the message is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
    /// Dataset index of the sample, if the message is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
}

impl Message {
    /// Returns the first line. Python errors contain a traceback after it.
    pub fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// Returns true for a `StopIteration` of a sample, which ends the epoch early but not the program.
    pub fn ends_epoch(&self) -> bool {
        let line = self.first_line().trim();
        let is_stop = line == "StopIteration" || line.starts_with("StopIteration:");
        is_stop && self.level == Level::Error && self.about.is_some()
    }

    /// Returns true for an interrupt by the user (Ctrl-C).
    pub fn is_interrupt(&self) -> bool {
        self.first_line().trim_end_matches([':', ' ']) == "KeyboardInterrupt"
    }

    /// Returns true for PyTorch's error about a worker that died. The handler of `SIGCHLD` raises it in any line of the main process.
    pub fn is_about_dead_worker(&self) -> bool {
        self.first_line().contains("DataLoader worker (pid")
    }

    /// Returns the known place, such as `sample 77 of batch 9 in worker 1`.
    pub fn place(&self) -> Option<String> {
        let sample = self.sample.map(|at| say!("sample {}", count(at)));
        let batch = self.about.map(|batch| batch.to_string());
        let what: Vec<String> = sample.into_iter().chain(batch).collect();
        let worker = self.worker.map(|worker| say!("worker {worker}"));
        match (what.is_empty(), worker) {
            (true, worker) => worker,
            (false, None) => Some(what.join(" of ")),
            (false, Some(worker)) => Some(say!("{} in {worker}", what.join(" of "))),
        }
    }
}
