//! How much memory a run takes, and how to take less.

use crate::{Batch, Event, EventKind, Run, Transition, Wait};
use loadscope_column::Column;

/// Bytes of a transition: it closes a span, which stands in the lane with its running sums, and may have a place in other lists.
const TRANSITION: usize = 2 * size_of::<Transition>() + 24 + 16;

/// Bytes of what each sample took, and when.
const SAMPLE: usize = 24;

/// Bytes of anything that is small.
const SMALL: usize = 64;

impl Event {
    /// Bytes that a run grows by with it, about, and rather more than [`Run::bytes`] counts.
    pub fn bytes_in_run(&self) -> u64 {
        let bytes = match &self.kind {
            EventKind::Dispatched(dispatch) => {
                let indices = dispatch.indices.len() * (size_of::<u64>() + SAMPLE);
                size_of::<Batch>() + TRANSITION + SMALL + indices
            }
            EventKind::Entered { .. } => TRANSITION,
            // Asking for the next batch ends the work on the one before.
            EventKind::Consumer { waiting: true } => TRANSITION + size_of::<Wait>(),
            EventKind::Consumer { waiting: false } => 0,
            EventKind::Fetched(fetched) => {
                let samples = fetched.samples.len();
                SMALL + samples * (SAMPLE + fetched.stages.len() * size_of::<crate::Nanos>())
            }
            EventKind::Content(content) => SMALL + content.nbytes(),
            EventKind::Message(message) => 2 * SMALL + message.text.len(),
            _ => SMALL,
        };
        bytes as u64
    }
}

impl Run {
    /// Bytes of the contents of its batches: pictures, numbers, texts.
    pub fn content_bytes(&self) -> u64 {
        let all = self.contents.iter();
        all.map(|kept| kept.content.nbytes() as u64).sum()
    }

    /// Bytes of all of it, about: what is small and does not grow with the run is left out.
    pub fn bytes(&self) -> u64 {
        let of = |count: usize, size: usize| (count as u64).saturating_mul(size as u64);
        let lists = of(self.batches.len(), size_of::<Batch>())
            // Each transition closes a span, which stands in the lane with its running sums.
            + of(self.transitions.len(), 2 * size_of::<Transition>() + 24)
            + of(self.waits.len(), size_of::<Wait>())
            + of(self.indices.len(), size_of::<u64>())
            + of(self.stage_walls.len(), size_of::<crate::Nanos>())
            // What each sample took, and when.
            + of(self.indices.len(), 24);
        lists + self.content_bytes()
    }

    /// Forgets the contents of its batches. All that happened stays.
    pub fn forget_contents(&mut self) {
        self.contents = Column::default();
    }
}

#[cfg(test)]
mod tests {
    use crate::{BatchContent, BatchId, Event, EventKind, Field, FieldData, Nanos, RunId};

    use super::*;

    /// Who lets stretches of a run leave counts on it.
    #[test]
    fn a_run_is_never_larger_than_its_events_say() {
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
    fn contents_are_counted_and_can_be_forgotten() {
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
            EventKind::Content(Box::new(BatchContent { batch, fields })),
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
