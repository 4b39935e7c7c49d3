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
                "Forecast from {} of {} batches, taken from all over the recording",
                count(some),
                count(all)
            ),
        );
        note(
            !by_sample,
            say!(
                "The time of single samples was not measured: that of their batch is spread evenly over them"
            ),
        );
        let processor = self.note_on_processor(by_sample).filter(|_| !simulated);
        note(processor.is_some(), &processor.unwrap_or_default());
        note(
            !simulated && run.info.cores == 0,
            say!("The number of cores was not recorded: enough are assumed"),
        );
        note(
            !self.fixed_step,
            say!(
                "Training steps are taken to need no core, as on a GPU, and to grow with the batch size"
            ),
        );
        note(
            self.streams && self.may_divide(),
            say!(
                "Other numbers of workers are taken to divide the stream among themselves, as an __iter__ does that asks \
             get_worker_info(); without that each of them would yield all of it"
            ),
        );
        let workers = self.note_on_workers(run);
        note(workers.is_some(), &workers.unwrap_or_default());
        note(
            self.options.pin_memory != PinMemory::Off && !self.pinned,
            say!("Pinning was asked for but not recorded, so it is left out"),
        );
        let cut = !run.has_ended() || run.epochs().iter().any(|e| e.end.is_none());
        note(
            cut,
            say!(
                "The recording is not complete: the forecast is for the batches that were yielded"
            ),
        );
        note(
            run.failure().is_some(),
            say!("The run ended with an error: the forecast is for what was before it"),
        );
        note(
            run.dropped() > 0,
            say!("Events were lost while recording, so batches may be missing"),
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
                "Recorded without workers: starting them and the way of a batch from a worker to the trainer are taken to \
                 cost nothing"
            );
            return Some(free.to_owned());
        };
        Some(say!(
            "Recorded without workers: starting a process is taken to take {}, until it fetches {} more, and ending \
             all of them {}, as where they are forked (spawned ones take seconds); the way of a batch from a worker \
             to the trainer is taken to cost nothing",
            cost.start,
            cost.begin,
            cost.end
        ))
    }

    /// Of how many samples it is not known how much they compute, and what is taken to be so.
    fn note_on_processor(&self, by_sample: bool) -> Option<String> {
        const WAITS: Text = text!(
            "they are taken to wait (for a disk, say) rather than to compute, so the gain of more workers than \
                             cores may be overstated"
        );
        let (known, unknown) = (self.processor.known, self.processor.unknown());
        if by_sample && unknown == 0 {
            return None;
        }
        if known == 0 || !by_sample {
            return Some(say!(
                "The processor time of samples was not measured: {WAITS}"
            ));
        }
        let taken = match self.processor.share() {
            Some(share) => say!(
                "they are taken to compute for {} of their time, as the others do",
                percent(share)
            ),
            None => WAITS.say().to_owned(),
        };
        let all = known + unknown;
        Some(say!(
            "The processor time of {} of {} samples ({}) was not measured: {taken}",
            count(unknown as u64),
            count(all as u64),
            percent(unknown as f64 / all as f64)
        ))
    }
}
