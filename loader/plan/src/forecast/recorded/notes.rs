//! What a forecast assumes, because the recording does not tell it.

use loadscope_trace::{Origin, PinMemory, ProcessCost, Run, count, percent};
use loadscope_words::{Text, say, text};

use super::{BatchFacts, Recorded};

impl Recorded {
    /// Says what was not measured.
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
        note(
            !self.fixed_step,
            say!(
                "Training steps are assumed to need no CPU core, as on a GPU, and to grow with the batch size"
            ),
        );
        note(
            self.streams && self.may_divide(),
            say!(
                "Other numbers of workers are assumed to split the dataset with get_worker_info(). Without that, every worker yields all of it."
            ),
        );
        let workers = self.note_on_workers(run);
        note(workers.is_some(), &workers.unwrap_or_default());
        note(
            self.options.pin_memory != PinMemory::Off && !self.pinned,
            say!("Pinning was requested but not recorded, so the forecast leaves it out"),
        );
        let cut = !run.has_ended() || run.epochs().iter().any(|e| e.end.is_none());
        note(
            cut,
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
        self.notes = notes;
    }

    /// What workers are taken to cost where there were none.
    fn note_on_workers(&self, run: &Run) -> Option<String> {
        if self.options.num_workers > 0 {
            return None;
        }
        let Some(cost) = ProcessCost::assumed(&run.info.origin) else {
            let free = say!(
                "Recorded without workers: starting workers and transferring batches are assumed to be free"
            );
            return Some(free.to_owned());
        };
        Some(say!(
            "Recorded without workers. Assumed for forked processes: {} to start one, {} more until it fetches, {} to end all. Spawned processes take seconds. Transferring a batch is assumed to be free.",
            cost.start,
            cost.begin,
            cost.end
        ))
    }

    /// Of how many samples it is not known how much they compute, and what is taken to be so.
    fn note_on_processor(&self, by_sample: bool) -> Option<String> {
        const WAITS: Text = text!(
            "they are assumed to wait (for a disk, for example), so the gain of more workers than cores may be overstated"
        );
        let (known, unknown) = (self.processor.known, self.processor.unknown());
        if by_sample && unknown == 0 {
            return None;
        }
        if known == 0 || !by_sample {
            return Some(say!("The CPU time of samples was not measured: {WAITS}"));
        }
        let taken = match self.processor.share() {
            Some(share) => say!(
                "they are assumed to compute for {} of their time, like the others",
                percent(share)
            ),
            None => WAITS.say().to_owned(),
        };
        let all = known + unknown;
        Some(say!(
            "The CPU time of {} of {} samples ({}) was not measured: {taken}",
            count(unknown as u64),
            count(all as u64),
            percent(unknown as f64 / all as f64)
        ))
    }
}
