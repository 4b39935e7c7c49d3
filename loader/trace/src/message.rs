//! Errors, warnings and notes that belong to a run.

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::{BatchId, WorkerId, count};

/// How bad a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// PyTorch would print a `UserWarning`.
    Warning,
    /// Something failed.
    Error,
}

/// Something said about a run, a worker or a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// How bad it is.
    pub level: Level,
    /// Whole sentences.
    pub text: String,
    /// The batch it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<BatchId>,
    /// The worker it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
    /// The dataset index it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
}

impl Message {
    /// Its first line: errors of Python come with the way to them.
    pub fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// True for a `StopIteration` of a sample, which ends its epoch early and not the program.
    pub fn ends_epoch(&self) -> bool {
        let line = self.first_line().trim();
        let is_stop = line == "StopIteration" || line.starts_with("StopIteration:");
        is_stop && self.level == Level::Error && self.about.is_some()
    }

    /// `sample 77 of batch 9 in worker 1`, as far as it is known; `None` if nothing of it is.
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
