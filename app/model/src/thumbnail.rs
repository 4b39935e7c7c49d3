//! Thumbnail of a recording: the working and waiting times of its trainer.

use std::path::{Path, PathBuf};

use loadscope_diagnose::WaitSummary;
use loadscope_insight::loaders::{Part, trainer};
use loadscope_trace::{Nanos, Run};
use serde::{Deserialize, Serialize};

/// Number of parts of a thumbnail, from left to right.
const PARTS: usize = 60;

/// Small drawing of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Thumbnail {
    /// Fractions of working and waiting time of the trainer in each part, 0 to 255.
    parts: Vec<[u8; 2]>,
    /// Duration as in the list of runs, without the time outside the loader's loop.
    pub length: Nanos,
    /// Fraction of the time that the trainer waited, 0 to 1.
    pub share: f64,
    /// Number of workers.
    pub workers: usize,
}

impl Thumbnail {
    /// Draws all of `run`. Returns `None` if there was no training. The cost is independent of the number of batches.
    pub fn of(run: &Run) -> Option<Self> {
        let start = run.epochs().first()?.start;
        let drawn = run.whole().end() - start;
        if drawn <= Nanos::ZERO || run.batches().is_empty() || run.hidden_after().is_some() {
            return None;
        }
        let byte = |share: f32| (share.clamp(0.0, 1.0) * 255.0).round() as u8;
        let parts = trainer(run, (start, run.whole().end()), PARTS).into_iter();
        Some(Self {
            parts: parts
                .map(|part| [byte(part.trained), byte(part.waiting())])
                .collect(),
            length: run.in_loop(),
            share: WaitSummary::of(run).share(),
            workers: run.info.options.num_workers,
        })
    }

    /// Returns the activity of the trainer in each part. A file from elsewhere can contain any number of parts.
    pub fn parts(&self) -> Vec<Part> {
        let share = |byte: u8| f32::from(byte) / 255.0;
        let parts = self.parts.iter().take(PARTS);
        parts
            .map(|[works, waits]| Part {
                trained: share(*works),
                briefly: 0.0,
                waited: share(*waits).min(1.0 - share(*works)),
            })
            .collect()
    }
}

/// Thumbnails of opened recordings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Thumbnails(Vec<(PathBuf, Thumbnail)>);

impl Thumbnails {
    /// Returns the thumbnail of the recording at `path`.
    pub fn get(&self, path: &Path) -> Option<&Thumbnail> {
        self.0
            .iter()
            .find(|(of, _)| of == path)
            .map(|(_, thumbnail)| thumbnail)
    }

    /// Draws the recording of `run` at `path`.
    pub fn draw(&mut self, path: &Path, run: &Run) {
        if let Some(thumbnail) = Thumbnail::of(run) {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            self.0.retain(|(of, _)| *of != path);
            self.0.push((path, thumbnail));
        }
    }

    /// Removes all thumbnails except those of `recent` files.
    pub fn keep(&mut self, recent: &[PathBuf]) {
        self.0.retain(|(of, _)| recent.contains(of));
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::RunOptions;

    use super::*;

    fn run() -> Run {
        let options = RunOptions {
            dataset: "synthetic:len=12,cost_ms=10,slow=3:200".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            step_ms: 2.0,
            ..RunOptions::default()
        };
        loadscope_lessons::simulated(&options).expect("sound options")
    }

    #[test]
    fn thumbnail_parts_add_up_to_the_waiting_share() {
        let thumbnail = Thumbnail::of(&run()).expect("12 batches");
        let parts = thumbnail.parts();
        let waited: f64 = parts.iter().map(|part| f64::from(part.waited)).sum();
        let share = waited / parts.len() as f64;
        assert!(
            (share - thumbnail.share).abs() < 0.03,
            "{share} {}",
            thumbnail.share
        );
        assert!(parts.iter().all(|part| part.trained + part.waited <= 1.001));
        assert_eq!(Thumbnail::of(&Run::default()), None);
    }

    /// Regression test: the start page showed 10.1 s, and the list of runs 7.99 s.
    #[test]
    fn thumbnail_and_run_list_show_the_same_length() {
        use loadscope_trace::{BatchId, Event, EventKind, RunId, Stage};

        use crate::state::kept::RunLine;
        use crate::state::{SessionState, Source};

        let mut long = Run::default();
        let batch = BatchId::default();
        let enter = |stage| EventKind::Entered { batch, stage };
        for (ms, kind) in [
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(batch, Some(0), [])),
            (0, EventKind::Consumer { waiting: true }),
            (1000, enter(Stage::Training)),
            (2000, enter(Stage::Done)),
            (2000, EventKind::EpochEnded { epoch: 0 }),
            // A long validation follows the epoch.
            (9000, EventKind::RunEnded),
        ] {
            let (at, run) = (Nanos::from_millis(ms), RunId(0));
            long.apply(&Event { at, run, kind });
        }
        for run in [long, run()] {
            let thumbnail = Thumbnail::of(&run).expect("a batch");
            let session = SessionState {
                run,
                source: Source::Finished,
                ..SessionState::default()
            };
            let line = RunLine::of(&session);
            assert_eq!(Some(thumbnail.length), line.took);
            assert_eq!(Some(thumbnail.share), line.share);
        }
    }

    #[test]
    fn a_thumbnail_is_kept_while_its_recording_is_recent() {
        let path = PathBuf::from("/runs/monday.jsonl.zst");
        let mut thumbnails = Thumbnails::default();
        thumbnails.draw(&path, &run());
        thumbnails.keep(std::slice::from_ref(&path));
        let written = serde_json::to_string(&thumbnails).expect("plain data");
        let read: Thumbnails = serde_json::from_str(&written).expect("what was written");
        assert_eq!(read, thumbnails);
        assert!(
            read.get(&path)
                .is_some_and(|thumbnail| thumbnail.workers == 2)
        );
        thumbnails.keep(&[]);
        assert_eq!(thumbnails.get(&path), None);
    }
}
