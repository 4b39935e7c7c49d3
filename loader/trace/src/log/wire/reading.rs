//! Conversion of lines to events.

use std::borrow::Cow;

use super::{Line, Name};
use crate::event::{
    DeviceWait, Dispatch, Event, EventKind, Fetched, Gauge, ProcessorTime, SampleTiming,
    StageTiming, WorkerInfo,
};
use crate::{Aside, BatchContent, BatchId, Lane, Message, RandomStates};
use loadscope_words::say;

/// Reason why valid JSON is not a valid event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongLine {
    /// Missing field that this kind of event requires.
    #[error("{}", say!("the field `{0}` is missing", .0))]
    Missing(&'static str),
    /// Number that is too large.
    #[error("{}", say!("{0} does not fit in 32 bits", .0))]
    TooLarge(&'static str),
    /// Lists of different lengths.
    #[error("{}", say!("`{name}` has {len} entries, but `starts` has {starts}", name = .name, len = .len, starts = .starts))]
    Uneven {
        /// Name of the other list.
        name: String,
        /// Length of the other list.
        len: usize,
        /// Length of `starts`.
        starts: usize,
    },
    /// Number that is zero or negative.
    #[error("{}", say!("`{0}` must be greater than 0", .0))]
    NotPositive(&'static str),
    /// Repetition without a sample before it.
    #[error("{}", say!("a negative number in `samples` must follow a stack or null"))]
    NoSample,
    /// Nested line with an event that must not be nested.
    #[error("{}", say!("`events` must contain ordinary events only"))]
    Within,
    /// Unknown lane.
    #[error("{}", say!("`{0}` is not a lane", .0))]
    NoLane(String),
}

impl Line<'_> {
    pub fn into_event(self) -> Result<Event, WrongLine> {
        Ok(Event {
            at: self.t,
            run: self.run,
            kind: self.into_kind()?,
        })
    }

    fn id(&self) -> Result<BatchId, WrongLine> {
        Ok(BatchId {
            epoch: need(self.epoch, "epoch")?,
            idx: need(self.batch, "batch")?,
        })
    }

    /// Converts the fields of the line to the event that `e` names.
    fn into_kind(self) -> Result<EventKind, WrongLine> {
        Ok(match self.e {
            Name::RunStarted => {
                EventKind::RunStarted(Box::new(need(self.info, "info")?.into_owned()))
            }
            Name::EpochStarted => EventKind::EpochStarted {
                epoch: need(self.epoch, "epoch")?,
            },
            Name::EpochEnded => EventKind::EpochEnded {
                epoch: need(self.epoch, "epoch")?,
            },
            Name::RunEnded => EventKind::RunEnded,
            Name::WorkerStarted => EventKind::WorkerStarted(Box::new(WorkerInfo {
                worker: need(self.worker, "worker")?,
                seed: self.seed,
                os_id: self.os_id,
            })),
            Name::WorkerEnded => EventKind::WorkerEnded {
                worker: need(self.worker, "worker")?,
                reason: need(self.reason, "reason")?,
                os_id: match self.os_id.map(u32::try_from).transpose() {
                    Ok(os_id) => os_id,
                    Err(_) => return Err(WrongLine::TooLarge("os_id")),
                },
            },
            Name::WorkerSeeded => EventKind::WorkerSeeded(Box::new(RandomStates {
                worker: need(self.worker, "worker")?,
                os_id: self.os_id,
                numpy: self.numpy,
                python: self.python,
            })),
            Name::Dispatched => EventKind::Dispatched(Box::new(Dispatch {
                batch: self.id()?,
                worker: self.worker,
                indices: need(self.indices, "indices")?.into_owned(),
            })),
            Name::Entered => EventKind::Entered {
                batch: self.id()?,
                stage: need(self.stage, "stage")?,
            },
            Name::Fetched => EventKind::Fetched(Box::new(self.into_fetched()?)),
            Name::Processor => EventKind::Processor(Box::new(ProcessorTime {
                batch: self.id()?,
                part: need(self.of, "of")?,
                cpu: need(self.cpu, "cpu")?,
                core_wait: self.core_wait,
                other_threads: self.beside,
            })),
            Name::Aside => EventKind::Aside(Box::new(self.into_aside()?)),
            Name::DeviceWait => EventKind::DeviceWait(Box::new(self.into_device_wait()?)),
            Name::Content => EventKind::Content(
                BatchContent {
                    batch: self.id()?,
                    fields: need(self.fields, "fields")?.into_owned(),
                }
                .into(),
            ),
            Name::Consumer => EventKind::Consumer {
                waiting: need(self.waiting, "waiting")?,
            },
            Name::Stacks => EventKind::Stacks(Box::new(self.into_stacks()?)),
            Name::Gauge => EventKind::Gauge(Box::new(Gauge {
                lane: self.lane.as_deref().map(parse_lane).transpose()?,
                part: self.part.map(Cow::into_owned),
                what: need(self.what, "what")?,
                value: self.value.unwrap_or(f64::NAN),
            })),
            Name::Message => EventKind::Message(Box::new(self.into_message()?)),
            Name::Dropped => EventKind::Dropped {
                count: need(self.count, "count")?,
            },
            Name::EpochContinued => EventKind::EpochContinued {
                epoch: need(self.epoch, "epoch")?,
                first: need(self.first, "first")?,
            },
            Name::Fact => EventKind::Fact(Box::new(need(self.fact, "fact")?.into_owned())),
            Name::Retention | Name::Summed | Name::Kept | Name::State => self.into_past()?,
        })
    }

    fn into_aside(self) -> Result<Aside, WrongLine> {
        Ok(Aside {
            batch: self.id()?,
            kind: need(self.kind, "kind")?,
            start: need(self.start, "start")?,
        })
    }

    fn into_device_wait(self) -> Result<DeviceWait, WrongLine> {
        Ok(DeviceWait {
            batch: self.id()?,
            waited: need(self.waited, "waited")?,
            idle: need(self.idle, "idle")?,
        })
    }

    fn into_message(self) -> Result<Message, WrongLine> {
        Ok(Message {
            about: match (self.epoch, self.batch) {
                (None, None) => None,
                _ => Some(self.id()?),
            },
            level: need(self.level, "level")?,
            text: need(self.text, "text")?.into_owned(),
            worker: self.worker,
            sample: self.sample,
        })
    }

    fn into_fetched(self) -> Result<Fetched, WrongLine> {
        let batch = self.id()?;
        let starts = need(self.starts, "starts")?;
        let walls = need(self.walls, "walls")?;
        let same = |name: &str, len: usize| {
            if len == starts.len() {
                return Ok(());
            }
            Err(WrongLine::Uneven {
                name: name.to_owned(),
                len,
                starts: starts.len(),
            })
        };
        same("walls", walls.len())?;
        let cpus = match self.cpus {
            Some(cpus) => cpus,
            None => vec![None; starts.len()],
        };
        same("cpus", cpus.len())?;
        let mut stages = Vec::new();
        for (name, walls) in self.stages.into_iter().flatten() {
            same(&name, walls.len())?;
            stages.push(StageTiming { name, walls });
        }
        let times = starts.iter().zip(walls).zip(cpus);
        Ok(Fetched {
            batch,
            samples: times
                .map(|((start, wall), cpu)| SampleTiming {
                    start: *start,
                    wall,
                    cpu,
                })
                .collect(),
            stages,
        })
    }
}

pub(super) fn need<T>(value: Option<T>, name: &'static str) -> Result<T, WrongLine> {
    value.ok_or(WrongLine::Missing(name))
}

fn parse_lane(text: &str) -> Result<Lane, WrongLine> {
    let fixed = [
        Lane::Trainer,
        Lane::Reorder,
        Lane::DataQueue,
        Lane::Pin,
        Lane::ResultQueue,
        Lane::Main,
    ];
    if let Some(lane) = fixed.into_iter().find(|lane| lane.key() == text) {
        return Ok(lane);
    }
    let numbered = text.rsplit_once(' ').and_then(|(name, id)| {
        let id = id.parse().ok()?;
        match name {
            "worker" => Some(Lane::Worker(id)),
            "index queue" => Some(Lane::IndexQueue(id)),
            _ => None,
        }
    });
    numbered.ok_or_else(|| WrongLine::NoLane(text.to_owned()))
}
