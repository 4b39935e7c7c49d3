//! How much memory a run takes, and how to take less.

use crate::Run;

impl Run {
    /// Bytes of the contents of its batches: pictures, numbers, texts.
    pub fn content_bytes(&self) -> u64 {
        let all = self.contents.values();
        all.map(|kept| kept.content.nbytes() as u64).sum()
    }

    /// Bytes of all of it, about: what is small and does not grow with the run is left out.
    pub fn bytes(&self) -> u64 {
        let of = |count: usize, size: usize| (count as u64).saturating_mul(size as u64);
        let lists = of(self.batches.len(), size_of::<crate::Batch>())
            // Each transition closes a span, which stands in the lane with its running sums.
            + of(self.transitions.len(), 2 * size_of::<crate::Transition>() + 24)
            + of(self.waits.len(), size_of::<crate::Wait>())
            + of(self.indices.len(), size_of::<u64>())
            + of(self.stage_walls.len(), size_of::<crate::Nanos>())
            // What each sample took, and when.
            + of(self.indices.len(), 24);
        lists + self.content_bytes()
    }

    /// Forgets the contents of its batches. All that happened stays.
    pub fn forget_contents(&mut self) {
        self.contents.clear();
    }
}

#[cfg(test)]
mod tests {
    use crate::{BatchContent, BatchId, Event, EventKind, Field, FieldData, Nanos, RunId};

    use super::*;

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
