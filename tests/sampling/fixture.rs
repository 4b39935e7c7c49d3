//! Recordings of runs with the engine's orders.

use eframe::egui::{Key, Theme, Vec2};
use egui_kittest::Harness;
use loadscope::window::App;
use loadscope_engine::order::{Samples, order, samples_of_dataset};
use loadscope_trace::{
    BatchId, EndReason, Event, EventKind, Fetched, Nanos, Origin, RunId, RunInfo, RunOptions,
    SampleTiming, Stage, WorkerInfo,
};
use tempfile::TempDir;

use crate::fixture::{Window, write_log};

/// Recording in its own folder.
pub struct Recorded {
    dir: TempDir,
}

impl Recorded {
    /// Records all epochs of these options.
    pub fn of(options: RunOptions) -> Self {
        Self::with(&events(&options))
    }

    /// Records the first `count` events of these options.
    pub fn cut(options: RunOptions, count: usize) -> Self {
        Self::with(&events(&options)[..count])
    }

    /// Records no events.
    pub fn nothing() -> Self {
        Self::with(&[])
    }

    fn with(events: &[Event]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        write_log(&dir.path().join("order.jsonl"), events);
        Self { dir }
    }
}

/// Opens the Sampling workspace.
pub fn open(recorded: &Recorded, theme: Theme, size: Vec2) -> Harness<'static, App> {
    let mut window = Window {
        theme,
        size,
        files: vec![recorded.dir.path().join("order.jsonl")],
        ..Window::new()
    }
    .open();
    window.key_press(Key::Num2);
    window.run();
    window
}

fn events(options: &RunOptions) -> Vec<Event> {
    let samples = samples_of_dataset(options).expect("the dataset is there");
    let order = order(options, &samples).expect("the options are sound");
    let info = RunInfo {
        origin: Origin::Engine,
        dataset_len: match &samples {
            Samples::Map(len) => Some(*len as u64),
            Samples::Known(table) => Some(table.len as u64),
            Samples::Streams(streams) => Some(streams.count(0, options.num_workers)),
        },
        batches_per_epoch: order.len.map(|len| len as u64),
        rank: options.rank,
        world_size: options.world_size,
        measured: Stage::ALL.to_vec(),
        options: options.clone(),
        ..RunInfo::default()
    };
    let mut events = Vec::new();
    let mut now = 0;
    let mut tell = |kind| {
        now += 400_000;
        events.push(Event {
            at: Nanos(now),
            run: RunId(0),
            kind,
        });
    };
    tell(EventKind::RunStarted(Box::new(info)));
    for (epoch, batches) in order.epochs.iter().enumerate() {
        let epoch = epoch as u32;
        tell(EventKind::EpochStarted { epoch });
        for (worker, seed) in order.seeds[epoch as usize].iter().enumerate() {
            tell(EventKind::WorkerStarted(Box::new(WorkerInfo {
                worker: worker as u16,
                seed: Some(*seed),
                os_id: None,
            })));
        }
        let workers = &order.workers[epoch as usize];
        for (idx, (indices, worker)) in batches.iter().zip(workers).enumerate() {
            let batch = BatchId {
                epoch,
                idx: idx as u32,
            };
            let worker = u16::try_from(*worker).ok();
            // Samples of a stream have no indices.
            let is_stream = matches!(samples, Samples::Streams(_));
            let known = if is_stream { &[][..] } else { indices };
            tell(EventKind::dispatched(batch, worker, known));
            let sample = SampleTiming {
                start: Nanos::ZERO,
                wall: Nanos(100),
                cpu: None,
            };
            tell(EventKind::Fetched(Box::new(Fetched {
                batch,
                samples: vec![sample; indices.len()],
                stages: Vec::new(),
            })));
            for stage in [
                Stage::Fetching,
                Stage::Collating,
                Stage::Returning,
                Stage::Training,
                Stage::Done,
            ] {
                tell(EventKind::Entered { batch, stage });
            }
        }
        for worker in 0..order.seeds[epoch as usize].len() {
            tell(EventKind::WorkerEnded {
                worker: worker as u16,
                reason: EndReason::Finished,
                os_id: None,
            });
        }
        tell(EventKind::EpochEnded { epoch });
    }
    tell(EventKind::RunEnded);
    events
}
