//! What the time comes to in which the trainer waited for samples: which sample, and which of its named stages.

use std::collections::BTreeMap;

use super::{Blamed, Cause, Culprits};
use loadscope_trace::{Nanos, Run};

/// The waited time that fetching is to blame for, sample by sample and stage by stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchBlame {
    /// The samples that were waited for longest, the longest first; at most [`FetchBlame::MOST`].
    pub samples: Vec<SampleBlame>,
    /// Waited time by named stage, in the order in which the names came up.
    pub stages: Vec<(String, Nanos)>,
    /// Waited time within samples, outside of any named stage.
    pub unnamed: Nanos,
    /// Waited time outside of any sample that was measured.
    pub elsewhere: Nanos,
}

/// A sample that the trainer waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleBlame {
    /// Position of its batch in [`Run::batches`].
    pub row: usize,
    /// Its position within the batch.
    pub position: usize,
    /// Its index in the dataset, if that is known.
    pub index: Option<u64>,
    /// How long the trainer waited while it was fetched.
    pub waited: Nanos,
    /// How long it took in all.
    pub wall: Nanos,
}

impl FetchBlame {
    /// Samples that are kept.
    pub const MOST: usize = 10;

    /// All of it.
    pub fn total(&self) -> Nanos {
        let stages = self.stages.iter().map(|(_, time)| *time);
        stages.fold(self.unnamed + self.elsewhere, |sum, time| sum + time)
    }

    fn keep(&mut self, sample: SampleBlame) {
        let place = (self.samples).partition_point(|s| s.waited >= sample.waited);
        if place < Self::MOST {
            self.samples.insert(place, sample);
            self.samples.truncate(Self::MOST);
        }
    }
}

impl FetchBlame {
    /// Splits the time of [`Cause::Fetching`] from `start` until `end` into the samples of the awaited batches.
    pub fn between(run: &Run, start: Nanos, end: Nanos) -> Self {
        let mut out = Self::default();
        let mut names = BTreeMap::new();
        let culprits = Culprits::of(run);
        let first = run.waits().partition_point(|w| w.end <= start);
        for wait in run.waits()[first..].iter().take_while(|w| w.start < end) {
            let clip = (wait.start.max(start), wait.end.min(run.end()).min(end));
            let row = run.awaited_in(wait);
            culprits.each(row, clip, &mut |part| {
                if part.cause == Cause::Fetching
                    && let Some(row) = row
                {
                    out.go_into(run, row, part, &mut names);
                }
            });
        }
        out
    }

    fn go_into<'a>(
        &mut self,
        run: &'a Run,
        row: usize,
        part: Blamed,
        names: &mut BTreeMap<&'a str, usize>,
    ) {
        let stages = run.sample_stages(row);
        // Samples come one after the other. What a broken source says of two at a time counts for the first.
        let mut from = part.start;
        for sample in run.samples(row) {
            let start = sample.start.max(from);
            let end = sample.end().min(part.end);
            if end <= start {
                continue;
            }
            self.elsewhere += start - from;
            from = end;
            self.keep(SampleBlame {
                row,
                position: sample.position,
                index: sample.index,
                waited: end - start,
                wall: sample.wall,
            });
            let mut begins = sample.start;
            let mut named = Nanos::ZERO;
            for (k, name) in stages.iter().flat_map(|s| s.names.iter()).enumerate() {
                let wall = stages.map_or(Nanos::ZERO, |s| s.wall(k, sample.position));
                let stage_end = begins + wall.max(Nanos::ZERO);
                let time = stage_end.min(end) - begins.max(start);
                begins = stage_end;
                if time.0 <= 0 {
                    continue;
                }
                named += time;
                let at = *names.entry(name).or_insert_with(|| {
                    self.stages.push((name.clone(), Nanos::ZERO));
                    self.stages.len() - 1
                });
                self.stages[at].1 += time;
            }
            self.unnamed += (end - start) - named;
        }
        self.elsewhere += part.end - from;
    }
}
