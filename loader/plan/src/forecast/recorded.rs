//! Costs of a recorded run.

mod batch;
mod contention;
mod delays;
mod lines;
mod measured;
mod memory;
mod notes;
mod part;
mod processor;
mod rest;
mod sample;
mod size;
mod stage;
mod startup;
mod streams;
mod task;

use loadscope_diagnose::Blame;
use loadscope_trace::{
    DeviceTime, Nanos, OnError, Origin, Part as CpuPart, Run, RunOptions, plural,
};
use loadscope_words::say;

use super::number::{self, clamp_cost};
use super::overhead::RecordingOverhead;
use super::{ForecastError, Setting};
pub(super) use batch::BatchFacts;
pub(super) use delays::{Delays, SWITCH_INTERVAL, median};
use lines::Lines;
use measured::CoreWaits;
pub(super) use measured::Step;
use memory::Memory;
use part::Part;
pub(super) use part::Weight;
use processor::Processor;
pub(super) use sample::REST;
pub(super) use sample::SampleCost;
pub(super) use size::Size;
pub(super) use stage::StageCosts;
use startup::Startup;

/// Number of batches that can be simulated in about a second for several dozen settings.
const MAX_BATCHES: usize = 16_384;
/// Number of samples that can be simulated in the same time.
const MAX_SAMPLES: usize = 524_288;
/// Minimum number of batches, regardless of their size. Fewer batches are not representative.
const MIN_KEPT: usize = 512;

/// Costs of a recording, per sample.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub(super) options: RunOptions,
    /// Cores of the host. `None`: unknown, or a simulation, which has unlimited cores.
    pub(super) cores: Option<usize>,
    /// Cores that other programs used.
    pub(super) taken: f64,
    /// Training steps take a fixed time, regardless of the batch size.
    pub(super) fixed_step: bool,
    pub(super) pinned: bool,
    pub(super) streams: bool,
    /// Every worker yields the whole stream.
    pub(super) is_repeated: bool,
    /// Number of workers that yield samples, if other workers yield none. Additional workers would yield none either.
    pub(super) shards: Option<usize>,
    pub(super) epochs: Vec<EpochCosts>,
    pub(super) samples: Vec<SampleCost>,
    pub(super) stages: Vec<StageCosts>,
    pub(super) lines: Lines,
    pub(super) delays: Delays,
    pub(super) startup: Startup,
    pub(super) origin: Origin,
    /// Time of Python for a short JSON list, ns. 0 if unknown.
    pub(super) json_ns: u32,
    /// Size of the batches. `None`: unknown.
    pub(super) size: Option<Size>,
    pub(super) memory: Memory,
    /// Median CPU time of sending a batch, in a thread of its worker.
    pub(super) beside: Nanos,
    /// Factor by which computing took longer with other threads than alone.
    pub(super) slowed: f64,
    /// Factors for the training step and for its CPU time if no worker competes.
    pub(super) steps_alone: (f64, f64),
    /// Forecast of the recorded run, with the time that recording adds.
    pub(super) refit: Nanos,
    /// Recording overhead that a run without recording does not have.
    pub(super) overhead: RecordingOverhead,
    /// Relative increase of computing time over a core of its own.
    pub(super) queueing: f64,
    processor: Processor,
    /// Measured waits for a core, of fetches and of training steps.
    core_waits: CoreWaits,
    step_waits: CoreWaits,
    notes: Vec<String>,
    /// Position of the note on training steps.
    step_note: Option<usize>,
    time: Nanos,
    waited: Nanos,
}

/// Costs of one epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct EpochCosts {
    /// Time outside the loop: since the end of the previous epoch, and of other work after the last batch.
    pub pause: Nanos,
    /// Tasks in the order of the sampler.
    pub tasks: Vec<TaskCost>,
    /// Training steps in the order in which batches were yielded.
    pub steps: Vec<Step>,
    /// Time from the last batch to the end of the epoch, without other work of the program.
    pub finish: Nanos,
    pub weight: Weight,
}

/// Costs of one batch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskCost {
    /// Position of its first sample in [`Recorded::samples`].
    pub first: usize,
    pub len: usize,
    /// Fetch time in addition to the samples.
    pub extra: Nanos,
    pub collate: Nanos,
    /// Waiting off a core in addition to the samples.
    pub off: Nanos,
    /// CPU time of sending in its worker's process.
    pub beside: Nanos,
    pub pin: Nanos,
    /// Worker that fetched it, for streams.
    pub worker: usize,
    /// True if its error was raised in the trainer.
    pub fails: bool,
}

impl Recorded {
    /// Reads the costs of `run`.
    ///
    /// # Errors
    /// If the run has too little data.
    pub fn of(run: &Run) -> Result<Self, ForecastError> {
        Self::of_parts(run, &part::whole(run))
    }

    /// Returns [`Recorded::of_part`] of a run with enough batches for a forecast.
    ///
    /// # Errors
    /// If the run has too few batches or measurements.
    pub fn of_enough(run: &Run) -> Result<Self, ForecastError> {
        const MIN_BATCHES: u64 = 10;
        let batches = run.yields().all().len() as u64;
        // A run without batches is refused by `of_part`.
        if (1..MIN_BATCHES).contains(&batches) {
            return Err(ForecastError(plural(
                batches,
                say!(n: "batch is too few"),
                say!(n: "batches are too few"),
            )));
        }
        Self::of_part(run)
    }

    /// Reads the costs of `run`. A long run is reduced to a part that can be simulated many times per second.
    ///
    /// # Errors
    /// If the run has too little data.
    pub fn of_part(run: &Run) -> Result<Self, ForecastError> {
        let samples = run.batches().iter().map(|b| b.samples() as usize);
        let each = samples.sum::<usize>().div_ceil(run.batches().len().max(1));
        let most = (MAX_SAMPLES / each.max(1)).clamp(MIN_KEPT, MAX_BATCHES);
        Self::of_parts(run, &part::of_at_most(run, most))
    }

    /// Reads the costs of `parts`, then removes contention and measures the error of the forecast of the recorded setting.
    fn of_parts(run: &Run, parts: &[Part]) -> Result<Self, ForecastError> {
        let (time, waited) = measured_time(run);
        let simulated = run.info.origin == Origin::Simulation;
        let cores = (run.info.cores as usize).max(1);
        let mut recorded = Self {
            options: run.info.options.clone(),
            cores: (!simulated && run.info.cores > 0).then_some(cores),
            taken: run.taken_cores().unwrap_or(0.0),
            fixed_step: matches!(run.info.origin, Origin::Engine | Origin::Simulation),
            pinned: run.batches().iter().any(loadscope_trace::Batch::was_pinned),
            streams: false,
            is_repeated: false,
            shards: None,
            epochs: Vec::new(),
            samples: Vec::new(),
            stages: Vec::new(),
            lines: Lines::of(run),
            delays: Delays::default(),
            startup: Startup::default(),
            origin: run.info.origin.clone(),
            json_ns: run.info.json_ns,
            size: Size::of(run),
            memory: Memory::of(run),
            beside: Nanos::ZERO,
            slowed: 1.0,
            steps_alone: (1.0, 1.0),
            refit: Nanos::ZERO,
            overhead: RecordingOverhead::default(),
            queueing: 0.0,
            processor: Processor::default(),
            core_waits: CoreWaits::default(),
            step_waits: CoreWaits::default(),
            notes: Vec::new(),
            step_note: None,
            time,
            waited,
        };
        recorded.measure(run);
        let facts = recorded.take_epochs(run, parts);
        recorded.lines.spread_short_samples();
        if recorded.tasks() == 0 {
            return Err(ForecastError(
                say!("the recording has no fetch times, so nothing can be forecast").to_owned(),
            ));
        }
        recorded.processor.fill_in(&mut recorded.samples);
        recorded.delays = Delays::of(
            run,
            &facts,
            recorded.is_measured(),
            recorded.usual_receive(),
        );
        recorded.startup = Startup::of(run, &facts);
        let tasks = recorded.epochs.iter().flat_map(|e| &e.tasks);
        let mut beside: Vec<Nanos> = tasks.map(|t| t.beside).collect();
        recorded.beside = median(&mut beside);
        recorded.note_assumptions(run, &facts);
        if recorded.is_measured() && recorded.options.num_workers > 0 {
            recorded.steps_alone = recorded.steps_alone();
        }
        recorded.remove_spin();
        recorded.slowed = recorded.slowed_by_others();
        if !recorded.is_measured() {
            recorded.remove_contention();
        }
        // The recorded run has this overhead, forecasts do not.
        recorded.refit = recorded.simulate_recorded();
        recorded.overhead = recorded.recording_overhead();
        Ok(recorded)
    }

    /// Returns the cores for the loader in `setting`: the ones that it names, or the ones that other programs left.
    pub(super) fn cores_of(&self, setting: &Setting) -> Option<f64> {
        let left = |cores: usize| (cores as f64 - self.taken).max(1.0);
        let named = setting.cores.map(|cores| cores as f64);
        named.or(self.cores.map(left))
    }

    /// Returns the number of batches.
    pub fn tasks(&self) -> usize {
        self.epochs.iter().map(|e| e.tasks.len()).sum()
    }

    /// Returns the time from the start of the first epoch to the end of the last, or to the error that ended the run.
    pub fn time(&self) -> Nanos {
        self.time
    }

    /// Returns the time that the trainer waited.
    pub fn waited(&self) -> Nanos {
        self.waited
    }

    /// Returns the assumptions made for missing measurements, as sentences for the user.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the stages that the dataset names.
    pub fn stage_names(&self) -> Vec<&str> {
        self.stages.iter().map(|s| s.name.as_str()).collect()
    }

    pub(super) fn pause_before(&self, epoch: usize) -> Nanos {
        self.epochs.get(epoch).map_or(Nanos::ZERO, |e| e.pause)
    }

    /// Returns the time from the last batch of epoch `epoch` to its end. It includes the end of the workers if they end with the epoch.
    /// The recorded time applies if the workers end in the recording and the setting, or in neither.
    pub(super) fn finish(&self, setting: &Setting, epoch: usize) -> Nanos {
        let recorded = self.epochs.get(epoch).map_or(Nanos::ZERO, |e| e.finish);
        // All workers end at once. More of them than cores take longer.
        let scaled = |time: Nanos, factor: f64| match self.origin {
            Origin::Pytorch(_) => Nanos((number::float(time) * factor) as i64),
            _ => time,
        };
        let own = self.setting();
        let crowd = self.workers_per_core(setting);
        match (own.ends_workers(), setting.ends_workers()) {
            (true, false) => Nanos::ZERO,
            (true, true) => scaled(recorded, crowd / self.workers_per_core(&own)),
            (false, true) => recorded + scaled(self.startup.end, crowd),
            _ => recorded,
        }
    }

    /// Returns the number of workers per core, at least 1.
    pub(super) fn workers_per_core(&self, setting: &Setting) -> f64 {
        let cores = self.cores_of(setting).unwrap_or(f64::INFINITY);
        (setting.num_workers as f64 / cores.max(1.0)).max(1.0)
    }

    pub(super) fn stops_at_errors(&self) -> bool {
        self.options.on_error == OnError::Stop
    }

    /// Returns true if the CPU time of fetches and their waits for a core were measured.
    pub(super) fn is_measured(&self) -> bool {
        self.core_waits.known > 0
    }

    /// Collects the waits for a core of all batches.
    fn measure(&mut self, run: &Run) {
        let rows = 0..run.batches().len();
        let facts = rows.filter_map(|row| BatchFacts::of(run, row));
        let facts: Vec<BatchFacts> = facts.collect();
        let fetches = facts.iter().filter_map(|f| Some((f.row, f.work()?)));
        self.core_waits = CoreWaits::of(run, CpuPart::Fetch, fetches);
        let steps = facts.iter().filter_map(|f| Some((f.row, f.step()?)));
        self.step_waits = CoreWaits::of(run, CpuPart::Step, steps);
    }

    fn take_epochs(&mut self, run: &Run, parts: &[Part]) -> Vec<BatchFacts> {
        let mut all = Vec::new();
        self.streams = self.is_of_streams(run);
        self.note_shares(run);
        for part in parts {
            let epoch = &run.epochs()[part.epoch];
            let before = part.epoch.checked_sub(1).map(|k| &run.epochs()[k]);
            let pause = before.map(|b| clamp_cost(epoch.start - b.end.unwrap_or(run.end())));
            let mut costs = EpochCosts {
                pause: pause.unwrap_or_default(),
                weight: part.weight,
                ..EpochCosts::default()
            };
            let end = epoch.end.unwrap_or(run.end());
            let mut handed = Vec::new();
            let mut last = None;
            let mut behind = 0;
            for &row in part
                .tasks
                .iter()
                .flat_map(|(from, to)| epoch.rows.range(*from..*to))
            {
                let Some(facts) = BatchFacts::of(run, row as usize) else {
                    costs.tasks.extend(costs.tasks.last().copied());
                    continue;
                };
                costs
                    .tasks
                    .extend(self.task(run, &facts, costs.tasks.last()));
                if let Some((start, done)) = facts.training {
                    handed.push((start, facts.row, clamp_cost(done.unwrap_or(end) - start)));
                }
                if facts.was_yielded() {
                    behind = costs.tasks.len();
                }
                last = last.max(facts.gone);
                all.push(facts);
            }
            // Batches that were never yielded are dropped, unless a later batch was yielded.
            costs.tasks.truncate(behind);
            handed.sort_by_key(|(at, ..)| *at);
            // The device works on a step until the part of the next wait in which it has no work.
            let next = handed.iter().skip(1).map(|(_, row, _)| Some(*row));
            let next: Vec<Option<usize>> = next.chain([None]).collect();
            let steps = handed.into_iter().zip(next).map(|((_, row, wall), next)| {
                let wait = next.and_then(|next| run.device_wait(next));
                let hidden = wait.map_or(Nanos::ZERO, DeviceTime::hidden);
                Step::of(run, row, wall + hidden, &self.step_waits)
            });
            costs.steps = steps.collect();
            let is_broken = run.abort().is_some() && part.epoch + 1 == run.epochs().len();
            if let (Some(last), Some(_), false) = (last, epoch.end, is_broken) {
                let outside = run.asides_within(last, end).min(end - last);
                costs.pause += outside;
                costs.finish = clamp_cost(end - last - outside);
            }
            self.epochs.push(costs);
        }
        all
    }
}

/// Returns the time of a run and the waiting time of its trainer, up to the error or the interrupt that ended the run.
fn measured_time(run: &Run) -> (Nanos, Nanos) {
    if let (Some((at, _)), Some(first)) = (run.abort(), run.epochs().first()) {
        let waited = Blame::between(run, first.start, at).waited;
        return (clamp_cost(at - first.start), clamp_cost(waited));
    }
    let start = run.epochs().first().map_or(Nanos::ZERO, |e| e.start);
    let ends = run.epochs().iter().map(|e| e.end.unwrap_or(run.end()));
    let end = ends.max().unwrap_or(Nanos::ZERO);
    let hidden = run.device_time().map_or(Nanos::ZERO, DeviceTime::hidden);
    (clamp_cost(end - start), clamp_cost(run.waited() - hidden))
}
