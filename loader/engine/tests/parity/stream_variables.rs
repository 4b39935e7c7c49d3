//! Variables of PyTorch's iterator after each call of `next`, for streams that end at different times.
//!
//! PyTorch's answers are replayed in the order in which its main process received them. Here workers answer as soon as
//! they get a task, so a sent answer is not always a received one.

use std::collections::{HashSet, VecDeque};

use loadscope_engine::scheduler::{Next, Scheduler, SchedulerOptions, Task};
use loadscope_trace::{
    BatchId, Event, EventKind, Nanos, Run, RunId, RunInfo, RunOptions, Stage, WorkerId,
};
use serde_json::{Value as Json, json};

use super::rows::number;
use super::verdict::{Case, Verdict};

/// The scheduler with PyTorch's answers, and the run of its events.
struct Replay {
    scheduler: Scheduler<()>,
    run: Run,
    now: i64,
    in_order: bool,
    /// Tasks that a worker answers at some time.
    answered: HashSet<usize>,
    training: Option<usize>,
}

/// An answer: the task, and true if it is the end of the worker's stream.
type Answer = (usize, bool);

fn id(idx: usize) -> BatchId {
    BatchId {
        epoch: 0,
        idx: idx as u32,
    }
}

impl Replay {
    fn emit(&mut self, kind: EventKind) {
        self.now += 1;
        let (at, run) = (Nanos(self.now), RunId(0));
        self.run.apply(&Event { at, run, kind });
    }

    fn enter(&mut self, idx: usize, stage: Stage) {
        let batch = id(idx);
        self.emit(EventKind::Entered { batch, stage });
    }

    fn try_put(&mut self) {
        let Ok(put) = self.scheduler.try_put(|| Some(Ok::<_, ()>(()))) else {
            return;
        };
        if let Some((idx, worker, ())) = put {
            self.emit(EventKind::dispatched(id(idx), Some(worker as WorkerId), []));
            if self.answered.contains(&idx) {
                self.enter(idx, Stage::Fetching);
                self.enter(idx, Stage::Returning);
            }
        }
    }

    /// `next(iterator)`, which receives these answers. Returns false if PyTorch received others.
    fn next(&mut self, mut answers: VecDeque<Answer>) -> bool {
        if let Some(idx) = self.training.take() {
            self.enter(idx, Stage::Done);
        }
        self.emit(EventKind::Consumer { waiting: true });
        let yielded = loop {
            match self.scheduler.next_step() {
                Next::Exhausted => return answers.is_empty(),
                Next::Yield(yielded) => break yielded,
                Next::Dropped { idx } => self.enter(idx, Stage::Discarded),
                Next::Receive => {
                    let Some((idx, is_end)) = answers.pop_front() else {
                        return false;
                    };
                    if is_end {
                        let Some(Task::Outstanding { worker }) = self.scheduler.task(idx) else {
                            return false;
                        };
                        let worker = *worker;
                        self.enter(idx, Stage::Discarded);
                        self.scheduler.worker_ended(worker, idx);
                        self.try_put();
                        continue;
                    }
                    let is_its_turn = idx == self.scheduler.rcvd_idx() || !self.in_order;
                    self.enter(
                        idx,
                        if is_its_turn {
                            Stage::Ready
                        } else {
                            Stage::Held
                        },
                    );
                    if let Some(yielded) = self.scheduler.receive(idx, ()) {
                        break yielded;
                    }
                }
            }
        };
        self.try_put();
        self.enter(yielded.idx, Stage::Training);
        self.training = Some(yielded.idx);
        if let Some(idx) = self.scheduler.ready().filter(|_| self.in_order) {
            self.enter(idx, Stage::Ready);
        }
        answers.is_empty()
    }

    /// Returns the scheduler's variables.
    fn of_scheduler(&self, answers: &Json) -> Json {
        let scheduler = &self.scheduler;
        let known = |idx| {
            let has_data = matches!(scheduler.task(idx)?, Task::Held { .. });
            Some(json!([idx, has_data]))
        };
        let tasks: Vec<Json> = (0..scheduler.send_idx()).filter_map(known).collect();
        json!([
            answers,
            scheduler.send_idx(),
            scheduler.rcvd_idx(),
            scheduler.tasks_outstanding(),
            scheduler.workers_status(),
            tasks
        ])
    }

    /// Returns the variables derived from the events.
    fn of_events(&self, answers: &Json) -> Json {
        let pipeline = self.run.pipeline_at(Nanos(self.now));
        let workers = self.scheduler.workers_status().len() as WorkerId;
        let status: Vec<bool> = (0..workers).map(|w| pipeline.takes_tasks(w)).collect();
        let tasks = pipeline.task_info();
        let tasks: Vec<Json> = tasks.map(|t| json!([t.idx, t.has_data])).collect();
        json!([
            answers,
            pipeline.send_idx,
            pipeline.rcvd_idx,
            pipeline.tasks_outstanding,
            status,
            tasks
        ])
    }
}

fn answers(row: &Json) -> VecDeque<Answer> {
    let all = row[0].as_array().into_iter().flatten();
    all.map(|answer| (number(&answer[0]), answer[1] == true))
        .collect()
}

pub fn check(case: &Case<'_>) -> Verdict {
    let (input, expected) = (case.input, case.out());
    let rows = expected.as_array().cloned().unwrap_or_default();
    let (num_workers, prefetch_factor) = (
        number(&input["num_workers"]),
        number(&input["prefetch_factor"]),
    );
    let in_order = input["in_order"] == true;
    let options = RunOptions {
        num_workers,
        prefetch_factor: Some(prefetch_factor),
        in_order,
        ..RunOptions::default()
    };
    let mut replay = Replay {
        scheduler: Scheduler::new(SchedulerOptions {
            num_workers,
            prefetch_factor,
            in_order,
        }),
        run: Run::new(RunInfo {
            options,
            ..RunInfo::default()
        }),
        now: 0,
        in_order,
        answered: rows.iter().flat_map(answers).map(|(idx, _)| idx).collect(),
        training: None,
    };
    replay.emit(EventKind::EpochStarted { epoch: 0 });
    for _ in 0..replay.scheduler.window() {
        replay.try_put();
    }
    let (mut of_scheduler, mut of_events) = (Vec::new(), Vec::new());
    for (k, row) in rows.iter().enumerate() {
        if k > 0 && !replay.next(answers(row)) {
            return Verdict::fail(&row.to_string(), "other answers are received");
        }
        of_scheduler.push(replay.of_scheduler(&row[0]));
        of_events.push(replay.of_events(&row[0]));
    }
    Verdict::all(vec![
        Verdict::equal(expected, &json!(of_scheduler)),
        Verdict::equal(expected, &json!(of_events)),
    ])
}
