//! What a forecast assumes, because the recording does not tell it.

use loadscope_trace::{Origin, PinMemory, Run, count};

use super::{BatchFacts, QUICK, Recorded};

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
            &format!(
                "Forecast from {} of {} batches, taken from all over the recording",
                count(some),
                count(all)
            ),
        );
        note(
            !by_sample,
            "The time of single samples was not measured: that of their batch is spread evenly over them",
        );
        let slow_without = rows()
            .flat_map(|row| run.samples(row))
            .any(|s| s.cpu.is_none() && s.wall >= QUICK);
        note(
            !simulated && (slow_without || !by_sample),
            "The processor time of samples was not measured: they are taken to wait (for a disk, say) rather than to \
             compute, so the gain of more workers than cores may be overstated",
        );
        note(
            !simulated && run.info.cores == 0,
            "The number of cores was not told: there are taken to be enough",
        );
        note(
            !self.fixed_step,
            "Training steps are taken to need no core, as on a GPU, and to grow with the batch size",
        );
        note(
            self.options.num_workers == 0,
            "Recorded without workers: starting them and the way of a batch from a worker to the trainer are taken to \
             cost nothing",
        );
        note(
            self.options.pin_memory != PinMemory::Off && !self.pinned,
            "Pinning was asked for but not recorded, so it is left out",
        );
        let cut = !run.has_ended() || run.epochs().iter().any(|e| e.end.is_none());
        note(
            cut,
            "The recording is not complete: the forecast is for the batches that were handed out",
        );
        note(
            run.dropped() > 0,
            "Events were lost while recording, so batches may be missing",
        );
        self.notes = notes;
    }
}
