//! Events of a data loader, and the run derived from them.
//!
//! This crate contains [`Event`]s, the fold of events into a [`Run`], the queries on a run, and the recording format. It has no threads, no
//! window and no tensors.
//!
//! Main invariant: **a batch is always in exactly one [`Stage`]**. An event records the stage that a batch entered. [`Run::apply`] derives
//! spans, queue depths, waits and the state of the pipeline from these events.
//!
//! ```
//! use loadscope_trace::{BatchId, Event, EventKind, Nanos, Run, RunId, RunInfo, Stage};
//!
//! let mut run = Run::new(RunInfo::default());
//! let batch = BatchId { epoch: 0, idx: 0 };
//! let mut at = |ns, kind| run.apply(&Event { at: Nanos(ns), run: RunId(0), kind });
//! at(0, EventKind::EpochStarted { epoch: 0 });
//! at(10, EventKind::dispatched(batch, Some(0), [3, 1, 2]));
//! at(25, EventKind::Entered { batch, stage: Stage::Fetching });
//! assert_eq!(run.pipeline_at(Nanos(12)).stage_of(batch), Some(Stage::Queued));
//! assert_eq!(run.pipeline_at(Nanos(30)).stage_of(batch), Some(Stage::Fetching));
//! ```

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

mod batch;
mod clock;
mod content;
mod counter;
mod error;
mod event;
mod fact;
pub mod fleet;
mod id;
mod keyframe;
mod lane;
mod lanes;
mod log;
mod message;
mod moment;
mod options;
mod past;
mod pipeline;
mod process;
mod profile;
mod retention;
mod retention_filter;
mod rows;
mod run;
mod series;
mod sketch;
mod sorter;
mod span;
mod spans;
mod stack_log;
mod stage;
mod step;
mod step_phase;
mod streams;
mod summary;
mod sums;
mod time;
mod timings;
mod transition;
mod words;

pub use batch::{Batch, PathStep, Sample, SampleStages};
pub use clock::{Clock, ClockMethod};
pub use content::{BatchContent, ENVELOPE, Field, FieldData, LEFT_OUT, Pictures, SPECTROGRAM};
pub use counter::Counter;
#[cfg(target_os = "linux")]
pub use loadscope_column::spill_to;
pub use loadscope_column::{Column, Items, View};

pub use error::LogError;
pub use event::{
    DeviceWait, Dispatch, EndReason, Event, EventKind, Fetched, Function, Gauge, GaugeKind, Kept,
    Part, ProcessorTime, RandomStates, SampleTiming, Stack, StackSamples, Stacks, StageTiming,
    State, WorkerInfo, is_user_file,
};
pub use fact::{Difference, Fact, Misfit, Sent, SentAttribute, ThreadPool};
pub use fleet::Fleet;
pub use id::{BatchId, RunId, WorkerId};
pub use lane::{Lane, Track};
pub use log::{
    Compression, FORMAT_VERSION, Lines, LogReader, LogWriter, Merge, Parsed, ReadOutcome,
    format_event, multipart, read_log,
};
#[cfg(not(target_family = "wasm"))]
pub use log::{Damage, Gap, KeptLine, repair};
pub use message::{Level, Message};
pub use moment::Moment;
pub use options::{
    ArgValue, Argument, Collate, OnError, Origin, Override, Overrides, ParseCollateError,
    PinMemory, RunInfo, RunOptions, SourceLine, StartMethod, UNNAMED_DATASET, parts, quote,
    without_password,
};
pub use past::Past;
pub use pipeline::{HeldBatch, Pipeline, TaskInfo};
pub use process::ProcessCost;
pub use profile::{CallTree, HotLine, Profile, place};
pub use retention::Retention;
pub use retention_filter::{RetentionFilter, RetentionPolicy};
pub use run::{
    CpuTime, DeviceTime, Epoch, Memory, RangeSummary, Run, TimeOutsideLoop, Wait, Worker,
};
pub use series::{CountLevel, Series, Ticks};
pub use sketch::{Log2Histogram, QuantileSketch};
pub use sorter::Sorter;
pub use span::{Activity, Shares, Span};
pub use spans::{Spans, SumCheckpoint};
pub use stack_log::{Call, SampledStack, StackLog};
pub use stage::Stage;
pub use step::{Aside, AsideKind};
pub use step_phase::{PhaseFinder, StepPhase, StepPhases};
pub use streams::Streams;
pub use summary::Summary;
pub use sums::{AwaitedStage, GaugeSum, Sums};
pub use time::Nanos;
pub use transition::Transition;
pub use words::{brief, bytes, count, list, percent, plural};

/// Doctest of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
