//! Events from a completed fetch.

use loadscope_trace::{
    BatchContent, BatchId, EventKind, Fetched, Field, Nanos, Part, ProcessorTime, RunId,
    SampleTiming, Stage, StageTiming, WorkerId,
};

use super::{Fetch, Join, Outcome, Stream};
use crate::wire::CpuUse;

impl Join {
    /// Records the end of a fetch. Returns the failed batch with its worker and sample, or `None` if it did not fail.
    pub(super) fn emit_fetched(
        &mut self,
        stream: &Stream,
        run: RunId,
        batch: BatchId,
        worker: Option<WorkerId>,
        indices: &[u64],
        fetch: &Fetch,
    ) -> Option<(BatchId, Option<WorkerId>, Option<u64>)> {
        let end = self.time(stream, fetch.end);
        if let Some(collating) = fetch.collating {
            self.enter(self.time(stream, collating), run, batch, Stage::Collating);
        }
        if fetch.outcome == Outcome::Fetched
            && let Some(fetched) = self.timings(stream, batch, indices.len(), fetch)
        {
            self.event(end, run, EventKind::Fetched(Box::new(fetched)));
        }
        if let Some(cpu_use) = fetch.cpu_use.filter(|_| fetch.outcome == Outcome::Fetched) {
            self.emit_cpu_use(end, run, batch, Part::Fetch, cpu_use);
        }
        // A worker also returns errors and the end of a stream through its result queue.
        if worker.is_some() {
            self.enter(end, run, batch, Stage::Returning);
        }
        (fetch.outcome == Outcome::Failed).then(|| {
            let began = fetch.times.len().checked_sub(1);
            let sample = began.filter(|_| fetch.collating.is_none());
            (
                batch,
                worker,
                sample.and_then(|at| indices.get(at).copied()),
            )
        })
    }

    /// Records the CPU use of a part of the work on a batch.
    pub(super) fn emit_cpu_use(
        &mut self,
        at: Nanos,
        run: RunId,
        batch: BatchId,
        part: Part,
        cpu_use: CpuUse,
    ) {
        let time = |ns: i64| Nanos(ns.max(0));
        let kind = EventKind::Processor(Box::new(ProcessorTime {
            batch,
            part,
            cpu: time(cpu_use.cpu),
            core_wait: cpu_use.core_wait.map(time),
            other_threads: cpu_use.beside.map(time),
        }));
        self.event(at, run, kind);
    }

    /// Returns the time of each sample. Returns `None` if not measured.
    fn timings(
        &self,
        stream: &Stream,
        batch: BatchId,
        expected: usize,
        fetch: &Fetch,
    ) -> Option<Fetched> {
        let count = fetch
            .times
            .len()
            .checked_sub(1)
            .filter(|count| *count > 0)?;
        // The worker fetched another number of samples than dispatched, so the times do not match the indices.
        if expected != 0 && expected != count {
            return None;
        }
        let took = |pair: &[i64]| Nanos(pair[1].saturating_sub(pair[0]).max(0));
        let cpus = (fetch.cpus.len() == fetch.times.len()).then(|| fetch.cpus.windows(2).map(took));
        let mut cpus = cpus.into_iter().flatten();
        let samples = fetch.times.windows(2).map(|pair| SampleTiming {
            start: self.time(stream, pair[0]),
            wall: took(pair),
            cpu: cpus.next(),
        });
        let stages = fetch
            .stages
            .iter()
            .filter(|(_, walls)| walls.len() == count);
        Some(Fetched {
            batch,
            samples: samples.collect(),
            stages: stages
                .map(|(name, walls)| StageTiming {
                    name: name.clone(),
                    walls: walls.iter().map(|wall| Nanos((*wall).max(0))).collect(),
                })
                .collect(),
        })
    }

    pub(super) fn emit_content(
        &mut self,
        at: Nanos,
        run: RunId,
        batch: BatchId,
        fields: Vec<Field>,
    ) {
        let content = BatchContent { batch, fields };
        self.event(at, run, EventKind::Content(content.into()));
    }
}
