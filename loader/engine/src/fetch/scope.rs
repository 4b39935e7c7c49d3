//! What a fetch tells about itself.

use std::convert::Infallible;
use std::sync::Arc;

use loadscope_trace::{BatchId, Stage, StageTiming};

use super::stopwatch::Stopwatch;
use crate::collate::CollateSite;
use crate::dataset::SampleClock;
use crate::probe::Probe;

/// Observes one fetch.
#[derive(Debug)]
pub struct FetchScope<'a> {
    probe: &'a Probe,
    batch: BatchId,
    site: CollateSite,
    /// Named stages inside the samples.
    pub stages: SampleClock,
    /// Only if it is observed.
    stopwatch: Option<Stopwatch>,
    /// The dataset index of the sample under way.
    current: Option<usize>,
    told: bool,
    /// The places of the samples that failed and are not in the batch.
    left_out: Vec<u32>,
}

impl<'a> FetchScope<'a> {
    pub(crate) fn new(probe: &'a Probe, batch: BatchId, site: CollateSite) -> Self {
        let clock = probe.clock();
        let stopwatch = clock.clone().map(Stopwatch::new);
        let stages = clock.map_or_else(SampleClock::off, SampleClock::of);
        Self {
            probe,
            batch,
            site,
            stages: stages.until(Arc::clone(probe.done())).for_batch(batch),
            left_out: Vec::new(),
            stopwatch,
            current: None,
            told: false,
        }
    }

    /// Where the batch is put together.
    pub fn site(&self) -> CollateSite {
        self.site
    }

    /// The sample with dataset index `index` is about to be fetched; `None`: the next one of a stream.
    ///
    /// The samples of a batch are to follow each other closely: all time since the end of the one before counts as part of
    /// this one. Nothing but the index is noted while it is not observed.
    #[inline]
    pub fn begin_sample(&mut self, index: Option<usize>) {
        self.current = index;
        if let Some(stopwatch) = &mut self.stopwatch {
            self.stages.begin_sample();
            stopwatch.begin();
        }
    }

    /// The sample has been fetched.
    ///
    /// Samples much shorter than a microsecond are measured several at a time, and each is recorded with the mean. Those
    /// of streams, which may have to wait, and those whose time is also told by stages are always measured one by one.
    #[inline]
    pub fn end_sample(&mut self) {
        let streamed = self.current.take().is_none();
        if let Some(stopwatch) = &mut self.stopwatch {
            match self.stages.staged() {
                Some(at) => stopwatch.end_staged(at),
                None => stopwatch.end(streamed),
            }
        }
    }

    /// The samples at `indices`, one after the other, each made by `get`; the first error ends it.
    #[inline]
    pub(super) fn each<T, E>(
        &mut self,
        indices: &[usize],
        mut get: impl FnMut(usize, &mut SampleClock) -> Result<T, E>,
    ) -> Result<Vec<T>, (usize, E)> {
        let mut samples = Vec::with_capacity(indices.len());
        let Some(stopwatch) = &mut self.stopwatch else {
            // Only the index is noted, for the message in case `get` panics.
            for &index in indices {
                self.current = Some(index);
                samples.push(get(index, &mut self.stages).map_err(|error| (index, error))?);
            }
            self.current = None;
            return Ok(samples);
        };
        stopwatch.expect(indices.len());
        for &index in indices {
            self.begin_sample(Some(index));
            samples.push(get(index, &mut self.stages).map_err(|error| (index, error))?);
            self.end_sample();
        }
        Ok(samples)
    }

    /// As [`each`](Self::each), of samples that lie in memory and are only copied, each by `copy`. The copy is all of a sample's
    /// time, so it has no stages.
    pub(super) fn stack(&mut self, indices: &[usize], mut copy: impl FnMut(usize)) {
        let copied = self.each(indices, |index, _| -> Result<(), Infallible> {
            copy(index);
            Ok(())
        });
        drop(copied);
    }

    /// The dataset index of the sample under way.
    pub(crate) fn current(&self) -> Option<usize> {
        self.current
    }

    /// The samples at these places failed and will not be in the batch.
    pub(super) fn leave_out(&mut self, places: Vec<u32>) {
        self.left_out = places;
    }

    /// The places of the samples that are not in the batch, increasing.
    pub(crate) fn into_left_out(self) -> Vec<u32> {
        self.left_out
    }

    /// All samples are there and are put together now.
    pub fn collating(&mut self) {
        match self.tell_timings() {
            true => self.probe.enter_at_once(self.batch, Stage::Collating),
            false => self.probe.enter_next(self.batch, Stage::Collating),
        }
    }

    /// Reports what was measured, once; true if that was now.
    pub(crate) fn tell_timings(&mut self) -> bool {
        let Some(stopwatch) = &mut self.stopwatch else {
            return false;
        };
        if std::mem::replace(&mut self.told, true) {
            return false;
        }
        // A sample that failed is still under way.
        let samples = stopwatch.take(self.current.is_some());
        let stages = self.stages.take_stages();
        let named = stages.into_iter().map(|(name, mut walls)| {
            // A sample that failed, and the end of a stream, may have had stages, but are no samples.
            walls.truncate(samples.len());
            StageTiming {
                name: name.to_owned(),
                walls,
            }
        });
        let stages = named.collect();
        self.probe.fetched(self.batch, samples, stages);
        true
    }
}
