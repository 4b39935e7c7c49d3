//! Notes on assumptions for missing measurements.

use loadscope_trace::{
    Origin, Part, PinMemory, ProcessCost, Run, StartMethod, count, percent, plural,
};
use loadscope_words::{Text, say, text};

use super::{BatchFacts, Recorded, Setting};

impl Recorded {
    /// Returns the notes that apply to `setting`. A setting with its own step omits the note on the recorded step.
    pub fn notes_for(&self, setting: &Setting) -> Vec<&str> {
        let has_own_step = setting.step.is_some() || setting.trainer_cpu.is_some();
        let left_out = self.step_note.filter(|_| has_own_step);
        let notes = self.notes.iter().enumerate();
        let notes = notes.filter(|(at, _)| Some(*at) != left_out);
        notes.map(|(_, note)| note.as_str()).collect()
    }

    /// Collects notes on missing measurements.
    pub(super) fn note_assumptions(&mut self, run: &Run, facts: &[BatchFacts]) {
        let mut notes = Vec::new();
        let mut note = |applies: bool, text: &str| {
            if applies {
                notes.push(text.to_owned());
            }
        };
        let rows = || {
            facts
                .iter()
                .map(|f| f.row)
                .filter(|row| run.batches()[*row].was_yielded)
        };
        let simulated = run.info.origin == Origin::Simulation;
        let by_sample = rows().all(|row| run.samples(row).len() > 0);
        let (some, all) = (facts.len() as u64, run.batches().len() as u64);
        note(
            some < all,
            &say!(
                "Forecast from {} of {} batches, taken from the whole recording",
                count(some),
                count(all)
            ),
        );
        note(
            !by_sample,
            say!(
                "The time per sample was not measured: the time of each batch is spread evenly over its samples"
            ),
        );
        let processor = self.note_on_processor(by_sample).filter(|_| !simulated);
        note(processor.is_some(), &processor.unwrap_or_default());
        note(
            !simulated && run.info.cores == 0,
            say!("The number of CPU cores was not recorded: enough cores are assumed"),
        );
        let taken = self.cores.filter(|_| self.taken > 0.0).map(|cores| {
            say!(
                "Other programs used {:.1} of {}, and are assumed to do so again",
                self.taken,
                plural(cores as u64, say!(n: "core"), say!(n: "cores"))
            )
        });
        note(taken.is_some(), &taken.unwrap_or_default());
        let step_note = (!self.fixed_step).then(|| note_on_steps(run, facts));
        note(
            step_note.is_some(),
            step_note.as_deref().unwrap_or_default(),
        );
        note(
            self.streams && self.may_divide() && !self.is_repeated && self.shards.is_none(),
            say!(
                "Forecasts assume that other numbers of workers split the dataset with get_worker_info(). Otherwise, every worker yields all of it."
            ),
        );
        let shards = self.shards.map(|n| {
            let shards = plural(n as u64, say!(n: "shard"), say!(n: "shards"));
            say!("The stream has {shards}, because no other worker yielded a batch: more workers have nothing to yield")
        });
        note(shards.is_some(), &shards.unwrap_or_default());
        let workers = self.note_on_workers(run);
        note(workers.is_some(), &workers.unwrap_or_default());
        note(
            self.options.pin_memory != PinMemory::Off && !self.pinned,
            say!("Pinning was requested but not recorded, so the forecast leaves it out"),
        );
        note(
            is_cut(run),
            say!("The recording is incomplete: the forecast covers the yielded batches only"),
        );
        note(
            run.failure().is_some(),
            say!("The run ended with an error: the forecast covers only the time before it"),
        );
        note(
            run.dropped() > 0,
            say!("Events were dropped during recording, so batches may be missing"),
        );
        self.step_note = step_note.and_then(|text| notes.iter().position(|note| *note == text));
        self.notes = notes;
    }

    /// Returns a note on the assumed costs of workers, for a recording without workers.
    fn note_on_workers(&self, run: &Run) -> Option<String> {
        if self.options.num_workers > 0 {
            return None;
        }
        let Some(cost) = ProcessCost::assumed(&run.info) else {
            let free = say!(
                "Recorded without workers: forecasts assume that starting workers and transferring batches take no time"
            );
            return Some(free.to_owned());
        };
        Some(say!(
            "Recorded without workers. Forecasts assume the start method {}: {} to start each worker, {} until its first fetch, and {} to end all.",
            run.info.start_method.unwrap_or(StartMethod::Fork).name(),
            cost.start,
            cost.begin,
            cost.end
        ))
    }

    /// Returns a note on samples of unknown CPU time, with the assumed value.
    fn note_on_processor(&self, by_sample: bool) -> Option<String> {
        const WAITS: Text = text!(
            "forecasts assume that they wait (for a disk, for example), which may overstate the gain of more workers than cores"
        );
        let (known, unknown) = (self.processor.known, self.processor.unknown());
        if by_sample && unknown == 0 {
            return None;
        }
        if known == 0 || !by_sample {
            return Some(say!("CPU time per sample is unknown: {WAITS}"));
        }
        let taken = match self.processor.share() {
            Some(share) => say!(
                "forecasts assume that {} of their time is CPU time, as for the other samples",
                percent(share)
            ),
            None => WAITS.say().to_owned(),
        };
        let all = known + unknown;
        Some(say!(
            "CPU time is unknown for {} of {} samples ({}): {taken}",
            count(unknown as u64),
            count(all as u64),
            percent(unknown as f64 / all as f64)
        ))
    }
}

/// Returns a note on the CPU time of training steps.
fn note_on_steps(run: &Run, facts: &[BatchFacts]) -> String {
    let (mut cpu, mut wall) = (0.0, 0.0);
    for fact in facts {
        if let (Some(computed), Some(took)) = (run.cpu_time(fact.row, Part::Step), fact.step()) {
            cpu += computed.cpu.as_secs_f64();
            wall += took.as_secs_f64();
        }
    }
    match wall > 0.0 {
        true => say!(
            "A training step uses {:.1} CPU cores, as measured. Forecasts assume that it scales with the batch size.",
            cpu / wall
        ),
        false => {
            say!("Forecasts assume that training steps run on a GPU and scale with the batch size")
        }
        .to_owned(),
    }
}

/// Returns true if the recording or an epoch has no end, or the user interrupted the program.
fn is_cut(run: &Run) -> bool {
    let is_interrupted = run.abort().is_some_and(|(_, error)| error.is_interrupt());
    is_interrupted || !run.has_ended() || run.epochs().iter().any(|e| e.end.is_none())
}
