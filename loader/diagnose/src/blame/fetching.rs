//! Waited time by sample, and by named stage within samples.

use std::collections::BTreeMap;

use super::{BlameContext, BlamedInterval, Cause};
use loadscope_trace::{Nanos, Run};

/// Waited time with the cause [`Cause::Fetching`], by sample and by named stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchBlame {
    /// Samples with the longest waits, longest first. At most [`FetchBlame::MOST`].
    pub samples: Vec<SampleBlame>,
    /// Waited time per named stage, in the order in which the names first occur.
    pub stages: Vec<(String, Nanos)>,
    /// Waited time within samples but outside all named stages.
    pub unnamed: Nanos,
    /// Waited time outside all measured samples.
    pub elsewhere: Nanos,
}

/// Sample whose loading delayed training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleBlame {
    /// Position of the batch in [`Run::batches`].
    pub row: usize,
    /// Position of the sample within the batch.
    pub position: usize,
    /// Index of the sample in the dataset. `None` if unknown.
    pub index: Option<u64>,
    /// Part of [`SampleBlame::wall`] in which training waited.
    pub waited: Nanos,
    /// Wall time to load the sample.
    pub wall: Nanos,
}

impl FetchBlame {
    /// Maximum number of samples in [`FetchBlame::samples`].
    pub const MOST: usize = 10;

    /// Returns all waited time with the cause [`Cause::Fetching`].
    pub fn total(&self) -> Nanos {
        let stages = self.stages.iter().map(|(_, time)| *time);
        stages.fold(self.unnamed + self.elsewhere, |sum, time| sum + time)
    }

    /// Inserts `sample` by its waited time, and keeps the [`FetchBlame::MOST`] longest.
    fn insert(&mut self, sample: SampleBlame) {
        let place = (self.samples).partition_point(|s| s.waited >= sample.waited);
        if place < Self::MOST {
            self.samples.insert(place, sample);
            self.samples.truncate(Self::MOST);
        }
    }
}

impl FetchBlame {
    /// Splits the waited time with the cause [`Cause::Fetching`] from `start` until `end` by sample and by named stage.
    pub fn between(run: &Run, start: Nanos, end: Nanos) -> Self {
        let mut out = Self::default();
        let mut names = BTreeMap::new();
        let context = BlameContext::of(run);
        let first = run.waits().partition_point(|w| w.end <= start);
        for wait in run
            .waits()
            .range(first..)
            .iter()
            .take_while(|w| w.start < end)
        {
            let clip = (wait.start.max(start), wait.end.min(run.end()).min(end));
            let row = run.awaited_in(wait);
            context.each(row, clip, &mut |part| {
                if part.cause == Cause::Fetching
                    && let Some(row) = row
                {
                    out.add_part(run, row, part, &mut names);
                }
            });
        }
        out
    }

    /// Adds a part of a wait for the batch at `row`. `names` maps each stage name to its position in `stages`.
    fn add_part<'a>(
        &mut self,
        run: &'a Run,
        row: usize,
        part: BlamedInterval,
        names: &mut BTreeMap<&'a str, usize>,
    ) {
        let stages = run.sample_stages(row);
        // A worker loads samples sequentially. If a faulty source reports overlapping samples, the overlap counts for the first.
        let mut from = part.start;
        for sample in run.samples(row) {
            let start = sample.start.max(from);
            let end = sample.end().min(part.end);
            if end <= start {
                continue;
            }
            self.elsewhere += start - from;
            from = end;
            self.insert(SampleBlame {
                row,
                position: sample.position,
                index: sample.index,
                waited: end - start,
                wall: sample.wall,
            });
            let mut stage_start = sample.start;
            let mut named = Nanos::ZERO;
            for (k, name) in stages.iter().flat_map(|s| s.names.iter()).enumerate() {
                let wall = stages.map_or(Nanos::ZERO, |s| s.wall(k, sample.position));
                let stage_end = stage_start + wall.max(Nanos::ZERO);
                let time = stage_end.min(end) - stage_start.max(start);
                stage_start = stage_end;
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
