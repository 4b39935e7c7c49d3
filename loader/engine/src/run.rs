//! A whole run from [`RunOptions`]: dataset, loader and a simulated training loop.
//!
//! The window and the command line start such runs.

mod collate;
mod lenient;
pub(crate) mod source;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use loadscope_plan::Facts;
pub use loadscope_plan::plan::check_options as check;
use loadscope_trace::{EventKind, Level, Nanos, OnError, RunOptions};
use loadscope_words::say;

use crate::clock::Clock;
use crate::dataset::{AnyDataset, DatasetSpec, Entry};
use crate::error::LoaderError;
use crate::gate::Gate;
use crate::limits;
use crate::loader::DataLoader;
use crate::pin::Pinning;
use crate::plan::Plan;
use crate::probe::{ContentPolicy, Events, Probe};
use crate::sync::AtomicBool;
use lenient::LeftOut;
use source::ValueFetch;

/// Maximum number of unread events: 256 MiB at 24 bytes each. Only a slow reader needs more than a small share.
pub const MAX_EVENTS: usize = (256 << 20) / 24;

/// Handle of a running run. Dropping it stops the run and joins its threads.
pub struct RunHandle {
    /// Events of the run.
    pub events: Events,
    /// Control of the run.
    pub control: RunControl,
    probe: Probe,
    trainer: Option<JoinHandle<Result<(), LoaderError>>>,
}

/// Control that pauses, steps and stops a run from any thread.
#[derive(Clone, Debug)]
pub struct RunControl {
    gate: Gate,
    clock: Clock,
    stop: Arc<AtomicBool>,
    /// Slow-motion factor of samples and training steps.
    factor: u32,
}

impl Default for RunControl {
    fn default() -> Self {
        Self {
            gate: Gate::default(),
            clock: Clock::start(),
            stop: Arc::default(),
            factor: 1,
        }
    }
}

impl RunControl {
    /// Enables slow motion: each sample and each training step takes `factor` times as long.
    #[must_use]
    pub fn with_slow_motion(self, factor: u32) -> Self {
        Self {
            factor: factor.max(1),
            ..self
        }
    }

    /// Stops every thread at its next change of stage, and stops the run's clock.
    pub fn pause(&self) {
        self.gate.pause();
        self.clock.pause();
    }

    /// Resumes all threads and the clock.
    pub fn resume(&self) {
        self.clock.resume();
        self.gate.resume();
    }

    /// Allows one change of stage.
    pub fn step(&self) {
        self.gate.step();
    }

    /// Returns true while the run is paused.
    pub fn is_paused(&self) -> bool {
        self.gate.is_paused()
    }

    /// Returns the current time on the clock of the run's events.
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Ends the run after the current batch. Events arrive until its threads are joined.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.clock.resume();
        self.gate.release();
    }
}

impl RunHandle {
    /// Returns true once all threads have ended.
    pub fn is_finished(&self) -> bool {
        self.trainer.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// The error that ended the run, if any.
    pub fn join(&mut self) -> Result<(), LoaderError> {
        match self.trainer.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(LoaderError::Panic {
                message: say!("the training loop stopped. This is a bug in Loadscope.").to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Returns the number of lost events that no event has reported yet.
    pub fn dropped(&self) -> u64 {
        self.probe.dropped()
    }
}

impl Drop for RunHandle {
    fn drop(&mut self) {
        self.control.stop();
        // An event has already reported an error.
        let _ = self.join();
    }
}

/// Starts a run that `control` controls. Opening a folder of images may take several seconds.
///
/// # Errors
/// If the options contradict each other or the dataset cannot be opened.
pub fn start(
    options: &RunOptions,
    content: ContentPolicy,
    control: RunControl,
) -> Result<RunHandle, LoaderError> {
    let spec: DatasetSpec = options.dataset.parse()?;
    let dataset = source::in_slow_motion(source::open(options, &spec)?, control.factor);
    let clock = control.clock.clone();
    let (probe, events) = Probe::new(clock.clone(), content, MAX_EVENTS);
    let probe = probe.with_gate(control.gate.clone());
    let stop = Arc::clone(&control.stop);
    let mut training = Training::prepare(options, &dataset, &spec, &clock, &probe, stop)?;
    training.set_slow_motion(control.factor);
    let trainer = {
        let stop = Arc::clone(&control.stop);
        Builder::new()
            .name("trainer".to_owned())
            .spawn(move || training.run(&stop))
            .map_err(|e| LoaderError::Thread {
                what: say!("the trainer thread").to_owned(),
                message: e.to_string(),
                remedy: say!("Close other programs and try again."),
            })?
    };
    Ok(RunHandle {
        events,
        control,
        probe,
        trainer: Some(trainer),
    })
}

struct Training {
    loader: DataLoader<ValueFetch>,
    plan: Plan,
    options: RunOptions,
    probe: Probe,
    /// Counter of failed samples, if these are skipped.
    left_out: Option<Arc<LeftOut>>,
    /// Slow-motion factor of training steps.
    factor: u32,
}

impl Training {
    /// Checks the options against the limits of this host, builds the loader and records the start of the run.
    fn prepare(
        options: &RunOptions,
        dataset: &AnyDataset,
        spec: &DatasetSpec,
        clock: &Clock,
        probe: &Probe,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, LoaderError> {
        check(options)?;
        // A fresh seed is also recorded, so that the run can be reproduced.
        let mut options = options.clone();
        if options.global_seed.is_none() {
            options
                .seed
                .get_or_insert((clock.unix_ns as u64) & 0xFFFF_FFFF);
        }
        limits::check_threads(options.num_workers)?;
        let pinning = Pinning::choose(options.pin_memory)?;
        let plan = source::plan(&options, dataset)?;
        let epoch = source::epoch(&options, &plan, spec);
        limits::check_run(&options, epoch)?;
        limits::check_in_flight(&options, epoch, spec.sample_bytes(options.image_size))?;
        let left_out = LeftOut::of(&options, probe);
        let loader = source::loader(&options, &plan, dataset, left_out.as_ref())?;
        let facts = Facts {
            options: &options,
            spec,
            dataset: &Entry {
                len: dataset.len(),
                classes: dataset.classes().to_vec(),
                labels: None,
            },
            batches: loader.len().ok(),
        };
        let info = facts.info(clock.unix_ns, pinning.label);
        probe.emit(|| EventKind::RunStarted(Box::new(info)));
        if dataset.len() == Some(0) {
            probe.emit_message(Level::Warning, || {
                "The dataset has no samples, so the loader yields no batches".to_owned()
            });
        }
        for note in dataset.notes() {
            probe.emit_message(Level::Warning, || note.clone());
        }
        Ok(Self {
            loader: loader.observed(probe.clone()).interruptible(stop),
            plan,
            options,
            probe: probe.clone(),
            left_out,
            factor: 1,
        })
    }

    /// Enables slow motion, with a message in the recording.
    fn set_slow_motion(&mut self, factor: u32) {
        self.factor = factor;
        if factor > 1 {
            self.probe.emit_message(Level::Info, || {
                format!("In slow motion: each sample and each training step takes {factor} times as long")
            });
        }
    }

    fn run(mut self, stop: &AtomicBool) -> Result<(), LoaderError> {
        let mut result = Ok(());
        for epoch in 0..self.options.epochs {
            self.plan.set_epoch(u64::from(epoch));
            if stop.load(Ordering::Acquire) || result.is_err() {
                break;
            }
            result = self.epoch(stop);
        }
        // Persistent workers must end before the run does.
        drop(self.loader);
        if let Some(left_out) = &self.left_out {
            left_out.report();
        }
        self.probe.emit(|| EventKind::RunEnded);
        result
    }

    fn epoch(&mut self, stop: &AtomicBool) -> Result<(), LoaderError> {
        let step = Duration::from_secs_f64(self.options.step_ms.max(0.0) / 1e3);
        let step = step.saturating_mul(self.factor);
        let batches = match self.loader.iter() {
            Ok(batches) => batches,
            Err(LoaderError::Interrupted) => return Ok(()),
            Err(error) => {
                self.probe.emit_message(Level::Error, || error.to_string());
                return Err(error);
            }
        };
        for batch in batches {
            match batch {
                Ok(_) => simulate_step(step, stop),
                // A requested stop is not a failure.
                Err(LoaderError::Interrupted) => break,
                Err(error) if self.options.on_error == OnError::Stop => return Err(error),
                Err(_) => {}
            }
            if stop.load(Ordering::Acquire) {
                break;
            }
        }
        Ok(())
    }
}

/// Simulates a training step: sleeps with high precision, in slices so that it can be stopped.
fn simulate_step(step: Duration, stop: &AtomicBool) {
    /// Maximum wake-up delay of a sleeping thread. The thread spins for the rest of the time.
    const WAKE_UP_DELAY: Duration = Duration::from_micros(120);
    const SLICE: Duration = Duration::from_millis(50);
    let end = Instant::now() + step;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || stop.load(Ordering::Acquire) {
            return;
        }
        match left.checked_sub(WAKE_UP_DELAY) {
            Some(nap) => std::thread::sleep(nap.min(SLICE)),
            None => std::hint::spin_loop(),
        }
    }
}
