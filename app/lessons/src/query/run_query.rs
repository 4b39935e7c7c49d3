//! Queries about a whole run.

use loadscope_diagnose::{BlamedInterval, FindingId, WaitSummary};
use loadscope_insight::Datasets;
use loadscope_insight::report::Report;
use loadscope_insight::variables::prefetch_window;
use loadscope_trace::{BatchId, Level, Nanos, Run, Stage, Summary, WorkerId};

use crate::moment::longest_wait;
use crate::phrase::phrases;
use crate::value::Value;

phrases! {
    /// A query about a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    RunQuery, RUN_QUERIES:
    "seconds", "duration of the loop" => Seconds;
    "waited percent", "share of the loop in which the trainer waited" => WaitedPercent;
    "waited seconds", "time in which the trainer waited" => WaitedSeconds;
    "longest wait ms", "the longest wait of the trainer" => LongestWait;
    "first wait ms of epoch N", "the wait for the first batch of an epoch" => FirstWait(u32);
    "batches", "batches that the trainer received" => Batches;
    "samples", "samples that the trainer received" => Samples;
    "batches out of order", "batches that arrived before an earlier one" => OutOfOrder;
    "batches failed", "batches whose error reached the trainer" => Failed;
    "tasks without answer", "tasks without a batch" => Discarded;
    "batches pinned", "batches that went through the pin thread" => Pinned;
    "workers started", "in all epochs" => WorkersStarted;
    "window", "prefetch_factor times num_workers" => Window;
    "iterable-style", "yes or no: the dataset is a stream" => Stream;
    "worker of batch N", "worker that makes it" => WorkerOf(u32);
    "batch of sample N", "batch that contains it" => BatchOfSample(u64);
    "worker of sample N", "worker that reads it" => WorkerOfSample(u64);
    "samples in batch N", "its size" => SizeOf(u32);
    "samples in the last batch", "its size" => SizeOfLast;
    "batches of worker N", "number of its batches" => BatchesOfWorker(WorkerId);
    "indices of batch N", "a list" => IndicesOf(u32);
    "first N arrivals", "batches in order of arrival" => Arrivals(usize);
    "first N yields", "batches in order of delivery" => Yields(usize);
    "path of batch N", "its stages" => PathOf(u32);
    "batch of the longest wait", "the awaited batch" => BatchOfLongestWait;
    "cause of the longest wait", "not_dispatched, starting, queued, index_queue, fetching, …" => CauseOfLongestWait;
    "slowest sample", "sample with the longest time" => SlowestSample;
    "seed step", "the seed of worker 1 minus that of worker 0" => SeedStep;
    "same seeds in epochs N and N", "yes or no" => SameSeeds(u32, u32);
    "verdict", "name of the verdict: starved_workers, heavy_tail, fine, …" => Verdict;
    "finds NAME", "yes or no: this finding applies" => Finds(FindingId);
    "error", "the first error message" => Error;
}

impl RunQuery {
    /// Returns true if the answer is part of the diagnosis, which is hidden while a question is open.
    pub fn is_diagnosis(self) -> bool {
        matches!(
            self,
            Self::Verdict | Self::Finds(_) | Self::CauseOfLongestWait
        )
    }

    /// Returns the answer, if the run has one.
    pub(super) fn answer(self, run: &Run) -> Option<Value> {
        match self {
            Self::Seconds
            | Self::WaitedPercent
            | Self::WaitedSeconds
            | Self::LongestWait
            | Self::FirstWait(_) => self.time(run).map(Value::Number),
            Self::Batches
            | Self::Samples
            | Self::OutOfOrder
            | Self::Failed
            | Self::Discarded
            | Self::Pinned
            | Self::WorkersStarted
            | Self::Window
            | Self::SizeOf(_)
            | Self::SizeOfLast
            | Self::BatchesOfWorker(_) => self.count(run).map(|n| Value::Number(n as f64)),
            Self::Stream => Some(Value::yes(run.info.options.is_stream())),
            Self::WorkerOf(idx) => worker(run, row(run, idx)?),
            Self::BatchOfSample(index) => Some(Value::Batch(
                run.batches().get(row_of_sample(run, index)?)?.id,
            )),
            Self::WorkerOfSample(index) => worker(run, row_of_sample(run, index)?),
            Self::IndicesOf(idx) => {
                let indices = run.indices(row(run, idx)?).iter();
                list(indices.map(|i| Value::Number(*i as f64)).collect())
            }
            Self::Arrivals(count) => list(entering(run, &[Stage::Held, Stage::Ready], count, true)),
            Self::Yields(count) => list(entering(run, &[Stage::Training], count, false)),
            Self::PathOf(idx) => {
                let path = run.path(row(run, idx)?).into_iter();
                list(
                    path.map(|step| Value::Word(step.stage.id().to_owned()))
                        .collect(),
                )
            }
            Self::BatchOfLongestWait => {
                let batch = run.batches().get(WaitSummary::of(run).batch()?)?;
                Some(Value::Batch(batch.id))
            }
            Self::CauseOfLongestWait => cause(run),
            Self::SlowestSample => {
                let rows = 0..run.batches().len();
                let slowest = rows
                    .flat_map(|row| run.samples(row))
                    .max_by_key(|s| s.wall)?;
                Some(Value::Sample(slowest.index?))
            }
            Self::SeedStep => {
                let seed = |id| {
                    run.workers()
                        .iter()
                        .find(|w| w.info.worker == id)?
                        .info
                        .seed
                };
                Some(Value::Number(seed(1)?.wrapping_sub(seed(0)?) as f64))
            }
            Self::SameSeeds(one, other) => Some(Value::yes(seeds(run, one)? == seeds(run, other)?)),
            Self::Verdict => {
                let report = Report::of(run, false, Datasets::default());
                let id = report.diagnosis.verdict.id;
                Some(Value::Word(id.as_str().to_owned()))
            }
            Self::Finds(id) => {
                let report = Report::of(run, false, Datasets::default());
                Some(Value::yes(
                    report.diagnosis.findings.iter().any(|f| f.id == id),
                ))
            }
            Self::Error => {
                let mut all = run.messages().iter();
                let error = all.find(|(_, m)| m.level == Level::Error)?;
                Some(Value::Word(error.1.text.clone()))
            }
        }
    }

    fn time(self, run: &Run) -> Option<f64> {
        let wait_summary = WaitSummary::of(run);
        let took =
            |wait: loadscope_trace::Wait| (wait.end.min(run.end()) - wait.start).as_millis_f64();
        match self {
            Self::Seconds => Some(wait_summary.total.as_secs_f64()),
            Self::WaitedPercent => Some(wait_summary.share() * 100.0),
            Self::WaitedSeconds => Some(wait_summary.waited.as_secs_f64()),
            Self::LongestWait => longest_wait(run).map(took),
            Self::FirstWait(epoch) => {
                let is_of = |row: &u32| {
                    let batch = run.batches().get(*row as usize);
                    batch.is_some_and(|batch| batch.id.epoch == epoch)
                };
                let mut waits = run.waits().iter();
                waits
                    .find(|wait| wait.batch.as_ref().is_some_and(is_of))
                    .copied()
                    .map(took)
            }
            _ => None,
        }
    }

    fn count(self, run: &Run) -> Option<u64> {
        let summary = || Summary::of(run);
        Some(match self {
            Self::Batches => summary().batches,
            Self::Samples => summary().samples,
            Self::OutOfOrder => out_of_order(run),
            Self::Failed => summary().failed,
            Self::Discarded => summary().discarded,
            Self::Pinned => run.batches().iter().filter(|b| b.was_pinned()).count() as u64,
            Self::WorkersStarted => run.workers().len() as u64,
            Self::Window => prefetch_window(run) as u64,
            Self::SizeOf(idx) => u64::from(run.batches().get(row(run, idx)?)?.samples()),
            Self::SizeOfLast => {
                let mut yielded = run.batches().iter().filter(|b| b.was_yielded);
                u64::from(yielded.next_back()?.samples())
            }
            Self::BatchesOfWorker(worker) => {
                let all = run.batches().iter();
                all.filter(|b| b.worker == Some(worker) && b.was_yielded)
                    .count() as u64
            }
            _ => return None,
        })
    }
}

fn row(run: &Run, idx: u32) -> Option<usize> {
    run.row(BatchId { epoch: 0, idx })
}

fn row_of_sample(run: &Run, index: u64) -> Option<usize> {
    (0..run.batches().len()).find(|row| run.indices(*row).contains(&index))
}

fn worker(run: &Run, row: usize) -> Option<Value> {
    Some(Value::Worker(run.batches().get(row)?.worker?))
}

fn list(all: Vec<Value>) -> Option<Value> {
    (!all.is_empty()).then_some(Value::List(all))
}

/// Returns the first batches that enter one of these stages. `once` counts each batch only once.
fn entering(run: &Run, stages: &[Stage], count: usize, once: bool) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    let entering = run
        .transitions()
        .iter()
        .filter(|t| stages.contains(&t.stage));
    let first = entering.filter(|t| !once || seen.insert(t.batch));
    let ids = first.filter_map(|t| run.batches().get(t.batch as usize));
    ids.take(count).map(|b| Value::Batch(b.id)).collect()
}

/// Counts the batches that reached the main process before a batch with a lower index.
fn out_of_order(run: &Run) -> u64 {
    let arrivals = entering(run, &[Stage::Held, Stage::Ready], usize::MAX, true);
    let mut lowest = None;
    let mut count = 0;
    for arrival in arrivals.iter().rev() {
        let Value::Batch(id) = arrival else { continue };
        match lowest {
            Some(later) if *id > later => count += 1,
            _ => lowest = Some(*id),
        }
    }
    count
}

/// Returns the cause of the largest part of the longest wait.
fn cause(run: &Run) -> Option<Value> {
    let longest = WaitSummary::of(run).longest?;
    let mut times = std::collections::BTreeMap::new();
    for part in BlamedInterval::of_wait(run, longest) {
        let time = times.entry(part.cause).or_insert(Nanos::ZERO);
        *time += part.end - part.start;
    }
    let most = times.into_iter().max_by_key(|(_, time)| *time)?;
    Some(Value::Word(most.0.id().to_owned()))
}

/// Returns the seeds of the workers that exist at the start of an epoch. Returns `None` without such an epoch or without workers.
fn seeds(run: &Run, epoch: u32) -> Option<Vec<Option<u64>>> {
    let epoch = run.epochs().iter().find(|e| e.epoch == epoch)?;
    let is_there = |w: &&loadscope_trace::Worker| {
        w.start <= epoch.start && w.end.is_none_or(|(end, _)| end > epoch.start)
    };
    let there = run.workers().iter().filter(is_there);
    let seeds: Vec<Option<u64>> = there.map(|w| w.info.seed).collect();
    (!seeds.is_empty()).then_some(seeds)
}
