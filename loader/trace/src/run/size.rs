//! Memory estimates of a run, and its contents of batches.

use std::sync::Arc;

use super::{Kept, Run};
use crate::{Batch, BatchContent, Event, EventKind, Nanos, Transition, Wait};
use loadscope_column::Column;

/// Estimated size of a transition, bytes. A transition closes a span with running sums, and can have entries in other lists.
const TRANSITION: usize = 2 * size_of::<Transition>() + 24 + 16;

/// Size of the times of a sample, bytes.
const SAMPLE: usize = 24;

/// Estimated size of other events, bytes.
const SMALL: usize = 64;

impl Event {
    /// Returns an upper estimate of the bytes that this event adds to [`Run::bytes`].
    pub fn bytes_in_run(&self) -> u64 {
        let bytes = match &self.kind {
            EventKind::Dispatched(dispatch) => {
                let indices = dispatch.indices.len() * (size_of::<u64>() + SAMPLE);
                size_of::<Batch>() + TRANSITION + SMALL + indices
            }
            EventKind::Entered { .. } => TRANSITION,
            // The call for the next batch ends the training step.
            EventKind::Consumer { waiting: true } => TRANSITION + size_of::<Wait>(),
            EventKind::Consumer { waiting: false } => 0,
            EventKind::Fetched(fetched) => {
                let samples = fetched.samples.len();
                SMALL + samples * (SAMPLE + fetched.stages.len() * size_of::<Nanos>())
            }
            EventKind::Content(content) => SMALL + content.nbytes(),
            EventKind::Message(message) => 2 * SMALL + message.text.len(),
            EventKind::Fact(fact) => SMALL + fact.text_bytes(),
            EventKind::Stacks(stacks) => {
                let functions = stacks.functions.iter();
                let names = functions.map(|one| SMALL + one.name.len() + one.file.len());
                let lists = SMALL * (stacks.stacks.len() + stacks.samples.len());
                2 * SMALL + names.sum::<usize>() + lists
            }
            _ => SMALL,
        };
        bytes as u64
    }
}

impl Run {
    /// Returns the size of the contents of all batches: images, numbers, texts.
    pub fn content_bytes(&self) -> u64 {
        self.content_bytes
    }

    /// Returns the approximate memory use. Small parts that do not grow with the run are omitted.
    pub fn bytes(&self) -> u64 {
        let bytes = |count: usize, size: usize| (count as u64).saturating_mul(size as u64);
        let lists = bytes(self.batches.len(), size_of::<Batch>())
            // Each transition closes a span, with running sums.
            + bytes(self.transitions.len(), 2 * size_of::<Transition>() + 24)
            + bytes(self.waits.len(), size_of::<Wait>())
            + bytes(self.indices.len(), size_of::<u64>())
            + bytes(self.stage_walls.len(), size_of::<Nanos>())
            // Each sample has a start, a wall time and a CPU time.
            + bytes(self.indices.len(), 24);
        lists + self.content_bytes()
    }

    pub(super) fn keep_content(&mut self, at: Nanos, content: &Arc<BatchContent>) {
        let Some(row) = self.row(content.batch) else {
            self.inconsistent += 1;
            return;
        };
        // Only the first content of a batch counts. Later contents have no known time.
        if self.content_at(row).is_some() {
            return;
        }
        self.batches[row].content = self.contents.len() as u32;
        self.content_bytes += content.nbytes() as u64;
        let (row, content) = (row as u32, Arc::clone(content));
        self.contents.push(Kept { row, at, content });
    }

    /// Drops the contents of all batches. Events stay.
    pub fn forget_contents(&mut self) {
        self.contents = Column::default();
        self.content_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use crate::{BatchId, Field, FieldData, RunId};

    use super::*;

    /// Programs that drop parts of a run rely on this bound.
    #[test]
    fn a_run_does_not_exceed_the_estimate_of_its_events() {
        let (mut run, mut said) = (Run::default(), 0);
        let mut tell = |at: i64, kind| {
            let (at, id) = (Nanos(at), RunId(0));
            let event = Event { at, run: id, kind };
            said += event.bytes_in_run();
            run.apply(&event);
            assert!(run.bytes() <= said, "{} {said}", run.bytes());
        };
        tell(0, EventKind::EpochStarted { epoch: 0 });
        for idx in 0..1000 {
            let batch = BatchId { epoch: 0, idx };
            let enter = |stage| EventKind::Entered { batch, stage };
            let at = i64::from(idx) * 10;
            tell(
                at,
                EventKind::dispatched(batch, Some(0), vec![3; idx as usize % 7]),
            );
            tell(at, EventKind::Consumer { waiting: true });
            tell(at + 1, enter(crate::Stage::Fetching));
            tell(at + 5, enter(crate::Stage::Training));
        }
    }

    #[test]
    fn content_bytes_are_counted_and_can_be_freed() {
        let mut run = Run::default();
        let batch = BatchId::default();
        let numbers = Field::new(
            "x",
            "torch.float32",
            [1000],
            FieldData::Numbers(vec![1.0; 1000]),
        );
        let fields = vec![numbers];
        let kinds = [
            EventKind::EpochStarted { epoch: 0 },
            EventKind::dispatched(batch, Some(0), [0, 1, 2]),
            EventKind::Content(BatchContent { batch, fields }.into()),
        ];
        for kind in kinds {
            let (at, id) = (Nanos(1), RunId(0));
            run.apply(&Event { at, run: id, kind });
        }
        let (all, content) = (run.bytes(), run.content_bytes());
        assert!(content >= 8000 && all > content, "{all} {content}");
        run.forget_contents();
        assert_eq!((run.bytes(), run.content_bytes()), (all - content, 0));
        assert_eq!((run.batches().len(), run.content(0).is_none()), (1, true));
    }
}
