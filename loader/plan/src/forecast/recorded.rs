//! What a run tells about costs.

mod batch;
mod contention;
mod delays;
mod measured;
mod memory;
mod notes;
mod part;
mod processor;
mod rest;
mod sample;
mod size;
mod startup;
mod streams;
mod task;

use loadscope_diagnose::Blame;
use loadscope_trace::{Nanos, OnError, Origin, Part as Of, Run, RunOptions, plural};
use loadscope_words::say;

use super::cores::side_by_side;
use super::number::{self, sane};
use super::{Refusal, Setting};
pub(super) use batch::BatchFacts;
pub(super) use delays::{Delays, SWITCH_INTERVAL, median};
use measured::CoreWaits;
pub(super) use measured::Step;
use memory::Memory;
use part::Part;
pub(super) use part::Weight;
use processor::Processor;
pub(super) use sample::REST;
use sample::SampleCost;
pub(super) use size::Size;
use startup::Startup;

/// Batches that are looked at in a second or so, for several dozens of settings.
const MOST_BATCHES: usize = 16_384;
/// The same of samples.
const MOST_SAMPLES: usize = 524_288;
/// Fewer batches say nothing, however large they are.
const FEW_BATCHES: usize = 512;

/// What loading took in a recording, sample by sample.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub(super) options: RunOptions,
    /// Cores of the host; `None`: not known, or a simulation, which has as many as it needs.
    pub(super) cores: Option<usize>,
    /// Cores of these that other programs used.
    pub(super) taken: f64,
    /// Steps are of a fixed length, whatever the size of a batch.
    pub(super) fixed_step: bool,
    pub(super) pinned: bool,
    pub(super) streams: bool,
    /// Every worker yields the whole stream.
    pub(super) is_repeated: bool,
    /// Workers that have a part of the stream, where others have none: more of them have nothing to yield.
    pub(super) shards: Option<usize>,
    pub(super) epochs: Vec<EpochCosts>,
    pub(super) samples: Vec<SampleCost>,
    pub(super) stages: Vec<StageCosts>,
    pub(super) delays: Delays,
    pub(super) startup: Startup,
    /// Who tells.
    pub(super) origin: Origin,
    /// How large batches are, if it is known.
    pub(super) size: Option<Size>,
    pub(super) memory: Memory,
    /// What sending a batch takes in the middle, in a thread of its worker.
    pub(super) beside: Nanos,
    /// How many times as long computing took beside other threads as alone.
    pub(super) slowed: f64,
    /// What is left of the training steps, and of what they compute, where no worker competes with them.
    pub(super) steps_alone: (f64, f64),
    /// By how much the forecast of its own setting is off, as a share.
    pub(super) refit_error: f64,
    /// How much longer computing took than it would on a core of its own, less 1.
    pub(super) queueing: f64,
    processor: Processor,
    /// Waiting for a core, of fetches and of training steps, where it was measured.
    core_waits: CoreWaits,
    step_waits: CoreWaits,
    notes: Vec<String>,
    /// Position of the note on training steps.
    step_note: Option<usize>,
    time: Nanos,
    waited: Nanos,
}

/// A named stage of the samples.
#[derive(Clone, Debug)]
pub(super) struct StageCosts {
    pub name: String,
    /// One entry for each of [`Recorded::samples`].
    pub walls: Vec<Nanos>,
}

/// One epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct EpochCosts {
    /// From the end of the epoch before to the beginning of this one.
    pub pause: Nanos,
    /// In the order of the sampler.
    pub tasks: Vec<TaskCost>,
    /// What the trainer took for the batches that it got, in that order.
    pub steps: Vec<Step>,
    /// From the last batch to the end.
    pub finish: Nanos,
    /// For how much it stands.
    pub weight: Weight,
}

/// One batch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskCost {
    /// Its samples in [`Recorded::samples`].
    pub first: usize,
    pub len: usize,
    /// What fetching took beyond its samples.
    pub extra: Nanos,
    pub collate: Nanos,
    /// What it waits for beside its samples, without a core.
    pub off: Nanos,
    /// What sending it takes of its worker's process.
    pub beside: Nanos,
    pub pin: Nanos,
    /// Who fetched it (streams).
    pub worker: usize,
    /// Its error was raised in the trainer.
    pub fails: bool,
}

impl Recorded {
    /// What `run` tells.
    ///
    /// # Errors
    /// If it tells too little.
    pub fn of(run: &Run) -> Result<Self, Refusal> {
        Self::of_parts(run, &part::whole(run))
    }

    /// [`Recorded::of_part`] of a run with enough batches for a forecast.
    ///
    /// # Errors
    /// If it has too few batches, or too few measurements.
    pub fn of_enough(run: &Run) -> Result<Self, Refusal> {
        const FEWEST: u64 = 10;
        let batches = run.yields().all().len() as u64;
        // Without a batch, it contains too little.
        if (1..FEWEST).contains(&batches) {
            return Err(Refusal(plural(
                batches,
                say!(n: "batch is too few"),
                say!(n: "batches are too few"),
            )));
        }
        Self::of_part(run)
    }

    /// The same; of a long run, what a part of it tells that can be looked at many times in a second.
    ///
    /// # Errors
    /// If it tells too little.
    pub fn of_part(run: &Run) -> Result<Self, Refusal> {
        let samples = run.batches().iter().map(|b| b.samples() as usize);
        let each = samples.sum::<usize>().div_ceil(run.batches().len().max(1));
        let most = (MOST_SAMPLES / each.max(1)).clamp(FEW_BATCHES, MOST_BATCHES);
        Self::of_parts(run, &part::of_at_most(run, most))
    }

    fn of_parts(run: &Run, parts: &[Part]) -> Result<Self, Refusal> {
        let (time, waited) = lasted(run);
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
            delays: Delays::default(),
            startup: Startup::default(),
            origin: run.info.origin.clone(),
            size: Size::of(run),
            memory: Memory::of(run),
            beside: Nanos::ZERO,
            slowed: 1.0,
            steps_alone: (1.0, 1.0),
            refit_error: 0.0,
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
        if recorded.tasks() == 0 {
            return Err(Refusal(
                say!("the recording has no fetch times, so nothing can be forecast").to_owned(),
            ));
        }
        recorded.processor.fill_in(&mut recorded.samples);
        recorded.delays = Delays::of(run, &facts, recorded.is_measured());
        recorded.startup = Startup::of(run, &facts);
        let tasks = recorded.epochs.iter().flat_map(|e| &e.tasks);
        let mut beside: Vec<Nanos> = tasks.map(|t| t.beside).collect();
        recorded.beside = median(&mut beside);
        recorded.note_assumptions(run, &facts);
        if recorded.is_measured() && recorded.options.num_workers > 0 {
            recorded.steps_alone = recorded.steps_alone();
        }
        recorded.slowed = recorded.slowed_by_others();
        if !recorded.is_measured() {
            recorded.take_out_contention();
        }
        recorded.refit_error = recorded.refit();
        Ok(recorded)
    }

    /// Cores that the loader has in `setting`: those that it names, or those that other programs left.
    pub(super) fn cores_of(&self, setting: &Setting) -> Option<f64> {
        let left = |cores: usize| (cores as f64 - self.taken).max(1.0);
        let named = setting.cores.map(|cores| cores as f64);
        named.or(self.cores.map(left))
    }

    /// Batches in it.
    pub fn tasks(&self) -> usize {
        self.epochs.iter().map(|e| e.tasks.len()).sum()
    }

    /// How long it took, from the beginning of the first epoch to the end of the last, or to the error that ended the run.
    pub fn time(&self) -> Nanos {
        self.time
    }

    /// How long the trainer waited in it.
    pub fn waited(&self) -> Nanos {
        self.waited
    }

    /// What is assumed, because it was not measured: sentences for people.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The stages that the dataset names.
    pub fn stage_names(&self) -> Vec<&str> {
        self.stages.iter().map(|s| s.name.as_str()).collect()
    }

    pub(super) fn stage(&self, name: &str) -> Option<&StageCosts> {
        self.stages.iter().find(|s| s.name == name)
    }

    pub(super) fn pause_before(&self, epoch: usize) -> Nanos {
        self.epochs.get(epoch).map_or(Nanos::ZERO, |e| e.pause)
    }

    /// From the last batch of epoch `epoch` to its end. That is the end of the workers, where they end; so it is what was
    /// recorded only where they did so in the recording, or in neither.
    pub(super) fn finish(&self, setting: &Setting, epoch: usize) -> Nanos {
        let recorded = self.epochs.get(epoch).map_or(Nanos::ZERO, |e| e.finish);
        let workers = |n: usize| n.max(1) as f64;
        // Processes take longer to end the more there are.
        let more = match self.origin {
            Origin::Pytorch(_) => workers(setting.num_workers) / workers(self.options.num_workers),
            _ => 1.0,
        };
        match (self.setting().ends_workers(), setting.ends_workers()) {
            (true, false) => Nanos::ZERO,
            (true, true) => Nanos((number::float(recorded) * more) as i64),
            (false, true) => recorded + self.startup.end,
            _ => recorded,
        }
    }

    pub(super) fn stops_at_errors(&self) -> bool {
        self.options.on_error == OnError::Stop
    }

    /// How many times as long computing took beside other threads, on average, as it would have alone.
    fn slowed_by_others(&self) -> f64 {
        let (Some(cores), true) = (self.cores, self.is_measured()) else {
            return 1.0;
        };
        let tasks = self.epochs.iter().flat_map(|e| &e.tasks);
        let of_tasks = tasks.map(|t| {
            let samples = &self.samples[t.first..t.first + t.len];
            let samples = samples.iter().map(|s| number::float(s.cpu)).sum::<f64>();
            samples + number::float(t.extra + t.collate + t.beside)
        });
        let steps = self.epochs.iter().flat_map(|e| &e.steps);
        let computed = of_tasks.sum::<f64>() + steps.map(|s| number::float(s.cpu)).sum::<f64>();
        let busy = computed / number::float(self.time).max(1.0);
        side_by_side(busy.min(cores as f64))
    }

    /// True if it was measured what fetches compute, and how long they wait for a core.
    pub(super) fn is_measured(&self) -> bool {
        self.core_waits.known > 0
    }

    /// Learns what is to be said of all batches at once.
    fn measure(&mut self, run: &Run) {
        let rows = 0..run.batches().len();
        let facts = rows.filter_map(|row| BatchFacts::of(run, row));
        let facts: Vec<BatchFacts> = facts.collect();
        let fetches = facts.iter().filter_map(|f| Some((f.row, f.work()?)));
        self.core_waits = CoreWaits::of(run, Of::Fetch, fetches);
        let steps = facts.iter().filter_map(|f| Some((f.row, f.step()?)));
        self.step_waits = CoreWaits::of(run, Of::Step, steps);
    }

    fn take_epochs(&mut self, run: &Run, parts: &[Part]) -> Vec<BatchFacts> {
        let mut all = Vec::new();
        self.streams = self.is_of_streams(run);
        self.note_shares(run);
        for part in parts {
            let epoch = &run.epochs()[part.epoch];
            let before = part.epoch.checked_sub(1).map(|k| &run.epochs()[k]);
            let pause = before.map(|b| sane(epoch.start - b.end.unwrap_or(run.end())));
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
                    let wall = sane(done.unwrap_or(end) - start);
                    let step = Step::of(run, facts.row, wall, &self.step_waits);
                    handed.push((start, step));
                }
                if facts.was_yielded() {
                    behind = costs.tasks.len();
                }
                last = last.max(facts.gone);
                all.push(facts);
            }
            // What the trainer never got is of no interest, unless something behind it overtook it.
            costs.tasks.truncate(behind);
            handed.sort_by_key(|(at, _)| *at);
            costs.steps = handed.into_iter().map(|(_, step)| step).collect();
            let is_broken = run.failure().is_some() && part.epoch + 1 == run.epochs().len();
            if let (Some(last), Some(_), false) = (last, epoch.end, is_broken) {
                costs.finish = sane(end - last);
            }
            self.epochs.push(costs);
        }
        all
    }
}

/// How long a run took, and how long its trainer waited. What happens after the error that ended it is no loading.
fn lasted(run: &Run) -> (Nanos, Nanos) {
    if let (Some((at, _)), Some(first)) = (run.failure(), run.epochs().first()) {
        let waited = Blame::between(run, first.start, at).waited;
        return (sane(at - first.start), sane(waited));
    }
    let start = run.epochs().first().map_or(Nanos::ZERO, |e| e.start);
    let ends = run.epochs().iter().map(|e| e.end.unwrap_or(run.end()));
    let end = ends.max().unwrap_or(Nanos::ZERO);
    (sane(end - start), sane(run.waited()))
}
