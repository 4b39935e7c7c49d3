//! Queries about the moment of a step.

use loadscope_trace::{BatchId, Pipeline, Stage};

use crate::part::Part;
use crate::phrase::forms;
use crate::value::Value;

/// A query about a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentQuery {
    /// `_send_idx`
    SendIdx,
    /// `_rcvd_idx`
    RcvdIdx,
    /// `_tasks_outstanding`
    Outstanding,
    /// Number of entries in `_task_info`.
    InFlight,
    /// Number of entries with data in `_task_info`.
    HeldCount,
    /// Batches of the entries with data.
    Held,
    /// Number of tasks in index queues.
    Queued,
    /// Number of workers that fetch or collate.
    Busy,
    /// The next batch for the trainer, in the order of the sampler.
    Next,
    /// Worker of the next batch.
    WorkerOfNext,
    /// Stage of a batch.
    StageOf(u32),
    /// Part of the pipeline that contains a batch.
    PlaceOf(u32),
}

forms! {
    /// All queries about a moment.
    MOMENT_QUERIES: MomentQuery;
    "send_idx", "tasks sent in this epoch" => |_| Some(MomentQuery::SendIdx);
    "rcvd_idx", "number of the next batch in order" => |_| Some(MomentQuery::RcvdIdx);
    "tasks_outstanding", "tasks sent whose batches have not arrived" => |_| Some(MomentQuery::Outstanding);
    "batches in flight", "entries of task_info" => |_| Some(MomentQuery::InFlight);
    "batches held", "entries of task_info with data" => |_| Some(MomentQuery::HeldCount);
    "held batches", "numbers of the held batches" => |_| Some(MomentQuery::Held);
    "tasks in index queues", "tasks that no worker has started" => |_| Some(MomentQuery::Queued);
    "busy workers", "number of workers that fetch or collate" => |_| Some(MomentQuery::Busy);
    "next batch", "the batch that the trainer gets next" => |_| Some(MomentQuery::Next);
    "worker of the next batch", "its worker" => |_| Some(MomentQuery::WorkerOfNext);
    "stage of batch N", "queued, fetching, …" => |h| h.read(0).map(MomentQuery::StageOf);
    "place of batch N", "its part of the pipeline" => |h| h.read(0).map(MomentQuery::PlaceOf);
}

impl MomentQuery {
    /// Returns the answer. Returns `None` if there is none at this moment.
    pub(super) fn answer(self, pipeline: &Pipeline<'_>) -> Option<Value> {
        let id = |idx| BatchId {
            epoch: pipeline.epoch.unwrap_or_default(),
            idx,
        };
        let number = |number: u32| Some(Value::Number(f64::from(number)));
        let held = || pipeline.task_info().filter(|t| t.has_data);
        let in_stages = |stages: &[Stage]| {
            let all = pipeline.batches().filter(|b| stages.contains(&b.stage));
            Some(Value::count(all.count()))
        };
        match self {
            Self::SendIdx => number(pipeline.send_idx),
            Self::RcvdIdx => number(pipeline.rcvd_idx),
            Self::Outstanding => number(pipeline.tasks_outstanding),
            Self::InFlight => Some(Value::count(pipeline.task_info().count())),
            Self::HeldCount => Some(Value::count(held().count())),
            Self::Held => Some(Value::List(
                held().map(|t| Value::Batch(id(t.idx))).collect(),
            )),
            Self::Queued => in_stages(&[Stage::Queued]),
            Self::Busy => in_stages(&[Stage::Fetching, Stage::Collating]),
            Self::Next => Some(Value::Batch(pipeline.awaited()?.id)),
            Self::WorkerOfNext => {
                let next = pipeline.awaited()?.id;
                let task = pipeline.task_info().find(|t| t.idx == next.idx)?;
                Some(Value::Worker(task.worker?))
            }
            Self::StageOf(idx) => {
                let stage = pipeline.stage_of(id(idx))?;
                Some(Value::Word(stage.id().to_owned()))
            }
            Self::PlaceOf(idx) => {
                let batch = pipeline.batches().find(|b| b.id == id(idx))?;
                Some(Value::Part(Part::of_lane(batch.lane?)))
            }
        }
    }
}
