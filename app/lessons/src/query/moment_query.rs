//! Queries about the moment of a step.

use loadscope_trace::{BatchId, Pipeline, Stage};

use crate::part::Part;
use crate::phrase::phrases;
use crate::value::Value;

phrases! {
    /// A query about a moment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    MomentQuery, MOMENT_QUERIES:
    "send_idx", "tasks sent in this epoch" => SendIdx;
    "rcvd_idx", "number of the next batch in order" => RcvdIdx;
    "tasks_outstanding", "tasks sent whose batches have not arrived" => Outstanding;
    "batches in flight", "entries of task_info" => InFlight;
    "batches held", "entries of task_info with data" => HeldCount;
    "held batches", "numbers of the held batches" => Held;
    "tasks in index queues", "tasks that no worker has started" => Queued;
    "busy workers", "number of workers that fetch or collate" => Busy;
    "next batch", "the batch that the trainer gets next" => Next;
    "worker of the next batch", "its worker" => WorkerOfNext;
    "stage of batch N", "queued, fetching, …" => StageOf(u32);
    "place of batch N", "its part of the pipeline" => PlaceOf(u32);
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
