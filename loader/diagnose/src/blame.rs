//! Causes of waits: the stage of the awaited batch at each instant of a wait. The parts add up to the waited time exactly.

use std::collections::BTreeMap;

use loadscope_trace::{Activity, Lane, Nanos, Origin, Run, Stage, Worker, WorkerId};

mod cause;
mod fetching;

pub use cause::Cause;
pub use fetching::{FetchBlame, SampleBlame};

/// Waited time by cause, in a run or in a time range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blame {
    times: [Nanos; Cause::ALL.len()],
    /// Waited time: the sum of all causes.
    pub waited: Nanos,
    /// Time of finished batches in the reorder buffer, summed over the batches. `None` if not recorded.
    pub ready_batches: Option<Nanos>,
    /// Position in [`Run::waits`] of the longest wait.
    pub longest: Option<usize>,
    /// Causes that the source does not measure. Their time counts as [`Cause::NotMeasured`] or as the previous stage.
    pub not_measured: Vec<Cause>,
}

impl Blame {
    /// Returns the waited time of `cause`. Returns `None` if the source does not measure it.
    pub fn time_of(&self, cause: Cause) -> Option<Nanos> {
        let time = self.times[cause as usize];
        let unknown = time == Nanos::ZERO && self.not_measured.contains(&cause);
        (!unknown).then_some(time)
    }

    /// Returns the causes with a time above 0, in the order of the stages.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, Nanos)> + '_ {
        let all = Cause::ALL.into_iter();
        all.map(|c| (c, self.times[c as usize]))
            .filter(|(_, t)| t.0 > 0)
    }

    /// Returns the cause with the longest time, the first of equal ones.
    pub fn main(&self) -> Option<(Cause, Nanos)> {
        self.iter()
            .max_by_key(|(cause, time)| (*time, std::cmp::Reverse(*cause)))
    }

    fn add(&mut self, cause: Cause, time: Nanos) {
        self.times[cause as usize] += time;
    }
}

/// Part of a wait with its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlamedInterval {
    /// State of the awaited batch in this interval.
    pub cause: Cause,
    /// Start (inclusive).
    pub start: Nanos,
    /// End (exclusive).
    pub end: Nanos,
}

impl Blame {
    /// Explains the waits of a run, up to its last event.
    pub fn whole(run: &Run) -> Self {
        Self::between(run, Nanos(i64::MIN), Nanos::MAX)
    }

    /// Explains the waits from `start` to `end`.
    pub fn between(run: &Run, start: Nanos, end: Nanos) -> Self {
        let mut blame = Self::none(run);
        if end <= start {
            return blame;
        }
        let first = run.waits().partition_point(|w| w.end <= start);
        let waits = run.waits().iter().enumerate().skip(first);
        let context = BlameContext::of(run);
        let mut most = Nanos(-1);
        for (k, wait) in waits.take_while(|(_, wait)| wait.start < end) {
            let clip = (wait.start.max(start), wait.end.min(run.end()).min(end));
            let took = clip.1 - clip.0;
            if took > most {
                most = took;
                blame.longest = Some(k);
            }
            blame.waited += took;
            context.each(run.awaited_in(wait), clip, &mut |part| {
                blame.add(part.cause, part.end - part.start);
            });
        }
        if run.measures(Stage::Held) {
            let held = run.spent(Lane::Reorder, start.min(run.end()), end.min(run.end()));
            blame.ready_batches = Some(held.time_in(Activity::Held));
        }
        blame
    }

    fn none(run: &Run) -> Self {
        let pins = run.info.pinning.is_some();
        let unmeasured = |cause: &Cause| {
            let stage = cause.stage();
            stage.is_some_and(|s| !run.measures(s) && (s != Stage::Pinning || pins))
        };
        let causes = Cause::ALL.into_iter();
        Self {
            not_measured: causes.filter(unmeasured).collect(),
            ..Self::default()
        }
    }
}

impl BlamedInterval {
    /// Returns the parts of the wait at position `k` in [`Run::waits`], the last one first.
    pub fn of_wait(run: &Run, k: usize) -> Vec<Self> {
        let mut parts = Vec::new();
        if let Some(wait) = run.waits().get(k) {
            let clip = (wait.start, wait.end.min(run.end()));
            BlameContext::of(run).each(run.awaited_in(wait), clip, &mut |part| parts.push(part));
        }
        parts
    }
}

/// Calls `visit` for each wait with its position, the awaited batch and the parts.
pub(crate) fn each_wait(run: &Run, mut visit: impl FnMut(usize, Option<usize>, &[BlamedInterval])) {
    let context = BlameContext::of(run);
    let mut parts = Vec::new();
    for (k, wait) in run.waits().iter().enumerate() {
        parts.clear();
        let row = run.awaited_in(wait);
        let clip = (wait.start, wait.end.min(run.end()));
        context.each(row, clip, &mut |part| parts.push(part));
        visit(k, row, &parts);
    }
}

/// Returns the time from which a worker can take tasks. Before its first batch, a worker process starts, imports, unpickles the dataset and
/// runs `worker_init_fn`. The end of this phase is not recorded, so the start of the first batch counts.
fn ready_from(run: &Run, worker: &Worker) -> Nanos {
    if worker.was_running
        || !matches!(run.info.origin, Origin::Pytorch(_))
        || !run.measures(Stage::Fetching)
    {
        return worker.start;
    }
    let end = worker.end.map_or(Nanos::MAX, |(at, _)| at);
    let rows = run.rows_of(Lane::Worker(worker.info.worker));
    let first = rows.filter_map(|spans| spans.range(worker.start, end).first());
    let first = first.map(|span| span.start.max(worker.start)).min();
    first.unwrap_or(end.min(run.end()).max(worker.start))
}

/// Lifetimes of the workers, which determine the causes of waits.
struct BlameContext<'a> {
    run: &'a Run,
    /// Lifetimes of each worker, from ready for tasks to its end.
    lives: BTreeMap<WorkerId, Vec<(Nanos, Nanos)>>,
    /// Workers whose work is not recorded.
    unrecorded: Vec<&'a Worker>,
}

impl<'a> BlameContext<'a> {
    fn of(run: &'a Run) -> Self {
        let mut lives: BTreeMap<WorkerId, Vec<(Nanos, Nanos)>> = BTreeMap::new();
        for worker in run.workers() {
            let end = worker.end.map_or(Nanos::MAX, |(at, _)| at);
            let of = lives.entry(worker.info.worker).or_default();
            of.push((ready_from(run, worker), end));
        }
        Self {
            run,
            lives,
            unrecorded: run.workers().iter().filter(|w| !w.is_recorded).collect(),
        }
    }

    /// Calls `visit` for each part of a wait for the batch at `row`. The parts fill `clip` without gaps, the last part first.
    fn each(
        &self,
        row: Option<usize>,
        clip: (Nanos, Nanos),
        visit: &mut impl FnMut(BlamedInterval),
    ) {
        let (start, mut end) = clip;
        if end <= start {
            return;
        }
        let Some(row) = row else {
            visit(BlamedInterval {
                cause: Cause::End,
                start,
                end,
            });
            return;
        };
        let mut next = None;
        for (step, t) in self.run.steps_back(row) {
            if t.at < end {
                let part = (t.at.max(start), end);
                self.stage(row, step, next, part, visit);
                end = part.0;
                if end <= start {
                    return;
                }
            }
            next = Some(t.stage);
        }
        // A source that does not measure queues does not record dispatches.
        let cause = match self.run.measures(Stage::Queued) {
            true => Cause::NotDispatched,
            false => Cause::NotMeasured,
        };
        visit(BlamedInterval { cause, start, end });
    }

    /// Calls `visit` with the causes in one stage of the batch at `row`. The batch entered the stage at transition `at`, and then the stage
    /// `next`.
    fn stage(
        &self,
        row: usize,
        at: usize,
        next: Option<Stage>,
        part: (Nanos, Nanos),
        visit: &mut impl FnMut(BlamedInterval),
    ) {
        let run = self.run;
        let stage = run.transitions()[at].stage;
        let skips = |s: Stage| next != Some(s) && !run.measures(s);
        let is_blind = match stage {
            // The source does not record the start of the work, so part of this time can be work.
            Stage::Queued => skips(Stage::Fetching),
            Stage::Returning => {
                run.info.pinning.is_some()
                    && skips(Stage::Pinning)
                    && !run.batches()[row].was_pinned()
            }
            _ => false,
        };
        let mut whole = |cause| {
            visit(BlamedInterval {
                cause,
                start: part.0,
                end: part.1,
            });
        };
        match stage {
            Stage::Queued if self.is_unrecorded(row, at) => whole(Cause::InWorker),
            _ if is_blind || !run.measures(stage) => whole(Cause::NotMeasured),
            Stage::Queued => self.queued(row, part, visit),
            Stage::Fetching => whole(Cause::Fetching),
            Stage::Collating => whole(Cause::Collating),
            Stage::Returning => whole(Cause::Returning),
            Stage::Pinning => whole(Cause::Pinning),
            Stage::Held => whole(Cause::Held),
            Stage::Ready => self.ready(row, at, part, visit),
            Stage::Training | Stage::Done => whole(Cause::Trainer),
            Stage::Failed | Stage::Discarded => whole(Cause::End),
        }
    }

    /// Returns true if the batch at `row`, dispatched at transition `at`, is in a worker whose work is not recorded.
    fn is_unrecorded(&self, row: usize, at: usize) -> bool {
        let when = self.run.transitions()[at].at;
        let worker = self.run.batches()[row].worker;
        let lived = |w: &Worker| w.start <= when && w.end.is_none_or(|(end, _)| when < end);
        let mut all = self.unrecorded.iter();
        all.any(|w| Some(w.info.worker) == worker && lived(w))
    }

    /// Splits the time in an index queue: the worker starts, works on an earlier batch, or has not taken the task.
    fn queued(&self, row: usize, part: (Nanos, Nanos), visit: &mut impl FnMut(BlamedInterval)) {
        let (mut start, end) = part;
        let Some(worker) = self.run.batches()[row].worker else {
            let cause = Cause::IndexQueue;
            visit(BlamedInterval { cause, start, end });
            return;
        };
        let (starting, at_work) = self.not_yet_alive(worker, start, end);
        if starting.0 > 0 {
            visit(BlamedInterval {
                cause: Cause::Starting,
                start,
                end: start + starting,
            });
        }
        start += starting;
        // A worker processes one batch at a time, so its busy time is the time for earlier batches.
        let busy = self.busy(worker, part.0, end) - at_work;
        let middle = start + busy.max(Nanos::ZERO).min(end - start);
        if middle > start {
            let cause = Cause::Queued;
            visit(BlamedInterval {
                cause,
                start,
                end: middle,
            });
        }
        if end > middle {
            visit(BlamedInterval {
                cause: Cause::IndexQueue,
                start: middle,
                end,
            });
        }
    }

    /// Returns the busy time of a worker. After lost events, a worker can seem to have several batches at once. Their overlap counts once.
    fn busy(&self, worker: WorkerId, start: Nanos, end: Nanos) -> Nanos {
        let lane = Lane::Worker(worker);
        if self.run.rows_of(lane).nth(1).is_none() {
            return self.run.spent(lane, start, end).total();
        }
        let rows = self.run.rows_of(lane);
        let spans = rows.flat_map(|spans| spans.range(start, end));
        let mut parts: Vec<(Nanos, Nanos)> = spans
            .map(|span| (span.start.max(start), span.end.min(end)))
            .collect();
        parts.sort_unstable();
        let (mut busy, mut until) = (Nanos::ZERO, start);
        for (from, to) in parts {
            let from = from.max(until);
            if to > from {
                busy += to - from;
                until = to;
            }
        }
        busy
    }

    /// Returns the time in `start..end` before the worker was ready, and its busy time in it. A worker can report its start late.
    fn not_yet_alive(&self, worker: WorkerId, start: Nanos, end: Nanos) -> (Nanos, Nanos) {
        let (mut dead, mut at_work) = (Nanos::ZERO, Nanos::ZERO);
        let mut from = start;
        for life in self.lives.get(&worker).into_iter().flatten() {
            let begin = life.0.min(end);
            if begin > from {
                dead += begin - from;
                at_work += self.busy(worker, from, begin);
            }
            from = from.max(life.1);
            if from >= end {
                break;
            }
        }
        (dead, at_work)
    }

    /// Splits the time after the arrival: the main process draws the indices of the next task, then yields the batch.
    fn ready(
        &self,
        row: usize,
        at: usize,
        part: (Nanos, Nanos),
        visit: &mut impl FnMut(BlamedInterval),
    ) {
        // Few other transitions are in between. The limit bounds the search in a broken recording.
        const NEAR: usize = 64;
        let (start, end) = part;
        let later = self.run.transitions().range(at + 1..).iter().take(NEAR);
        let mut until_out = later.take_while(|t| t.batch as usize != row);
        let put = until_out.find(|t| t.stage == Stage::Queued);
        let drawn = put.map_or(start, |t| t.at.clamp(start, end));
        if drawn > start {
            visit(BlamedInterval {
                cause: Cause::Sampling,
                start,
                end: drawn,
            });
        }
        if end > drawn {
            visit(BlamedInterval {
                cause: Cause::Trainer,
                start: drawn,
                end,
            });
        }
    }
}
