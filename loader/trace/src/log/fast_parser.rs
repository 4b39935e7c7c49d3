//! Fast parser for the most frequent lines. It parses integers, plain words and lists of numbers. Any other line is left to the serde
//! parser, which also reports errors. This parser only has to be right about the lines that it accepts.

use crate::event::{Dispatch, Event, EventKind, Fetched, SampleTiming, StageTiming};
use crate::{BatchId, Nanos, RunId, Stage, WorkerId};

mod tokens;

use tokens::Tokens;

/// Fast parser with a reused buffer for lists.
#[derive(Clone, Debug, Default)]
pub(super) struct FastParser {
    numbers: Vec<i64>,
}

impl FastParser {
    /// Parses the first line of `text`. Returns the event and the length of the line, or `None` if the line needs the serde parser or is
    /// incomplete.
    pub fn parse(&mut self, text: &[u8]) -> Option<(Event, usize)> {
        parse_fixed_order(text).or_else(|| self.any_order(text))
    }

    /// Parses a line with its fields in any order.
    fn any_order(&mut self, text: &[u8]) -> Option<(Event, usize)> {
        let length = text.len();
        let mut text = Tokens { rest: text };
        let mut fields = Fields::default();
        text.expect_byte(b'{')?;
        loop {
            let name = text.word()?;
            text.expect_byte(b':')?;
            fields.read(name, &mut text, &mut self.numbers)?;
            match text.next()? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
        if text.peek()? == b'\r' {
            text.rest = &text.rest[1..];
        }
        text.expect_byte(b'\n')?;
        Some((fields.into_event()?, length - text.rest.len()))
    }
}

/// Parses the exact form that Loadscope writes for `entered` and `consumer`, about three lines in four.
#[inline]
fn parse_fixed_order(text: &[u8]) -> Option<(Event, usize)> {
    let length = text.len();
    let mut text = Tokens { rest: text };
    text.expect_bytes(b"{\"t\":")?;
    let at = Nanos(text.digits()?);
    text.expect_bytes(b",\"e\":\"")?;
    let kind = if text.expect_bytes(b"entered\",\"epoch\":").is_some() {
        let epoch = text.digits()?.try_into().ok()?;
        text.expect_bytes(b",\"batch\":")?;
        let idx = text.digits()?.try_into().ok()?;
        text.expect_bytes(b",\"stage\":")?;
        let batch = BatchId { epoch, idx };
        let stage = stage(text.word()?)?;
        EventKind::Entered { batch, stage }
    } else {
        text.expect_bytes(b"consumer\",\"waiting\":")?;
        let waiting = text.bool()?;
        EventKind::Consumer { waiting }
    };
    text.expect_bytes(b"}\n")?;
    let run = RunId(0);
    Some((Event { at, run, kind }, length - text.rest.len()))
}

#[derive(Clone, Copy, PartialEq)]
enum Name {
    Entered,
    Consumer,
    Dispatched,
    Fetched,
}

#[derive(Default)]
struct Fields {
    t: Option<i64>,
    run: Option<u32>,
    name: Option<Name>,
    epoch: Option<u32>,
    batch: Option<u32>,
    stage: Option<Stage>,
    worker: Option<WorkerId>,
    waiting: Option<bool>,
    indices: Option<Vec<u64>>,
    samples: Option<Vec<SampleTiming>>,
    has_walls: bool,
    has_cpus: bool,
    stages: Option<Vec<StageTiming>>,
}

/// Sets a field. Returns `None` if it was already set.
fn set<T>(field: &mut Option<T>, value: T) -> Option<()> {
    field.replace(value).is_none().then_some(())
}

impl Fields {
    /// Parses the value of the field `name`. Returns `None` for an unknown field or value.
    fn read(&mut self, name: &[u8], text: &mut Tokens<'_>, numbers: &mut Vec<i64>) -> Option<()> {
        match name {
            b"t" => set(&mut self.t, text.int()?),
            b"e" => set(
                &mut self.name,
                match text.word()? {
                    b"entered" => Name::Entered,
                    b"consumer" => Name::Consumer,
                    b"dispatched" => Name::Dispatched,
                    b"fetched" => Name::Fetched,
                    _ => return None,
                },
            ),
            b"epoch" => set(&mut self.epoch, text.int()?.try_into().ok()?),
            b"batch" => set(&mut self.batch, text.int()?.try_into().ok()?),
            b"stage" => set(&mut self.stage, stage(text.word()?)?),
            b"worker" => set(&mut self.worker, text.int()?.try_into().ok()?),
            b"run" => set(&mut self.run, text.int()?.try_into().ok()?),
            b"waiting" => set(&mut self.waiting, text.bool()?),
            b"indices" => {
                text.numbers(numbers)?;
                if numbers.iter().any(|index| *index < 0) {
                    return None;
                }
                set(
                    &mut self.indices,
                    numbers.iter().map(|index| *index as u64).collect(),
                )
            }
            b"starts" => {
                text.numbers(numbers)?;
                let sample = |start: &i64| SampleTiming {
                    start: Nanos(*start),
                    wall: Nanos::ZERO,
                    cpu: None,
                };
                set(&mut self.samples, numbers.iter().map(sample).collect())
            }
            b"walls" if !std::mem::replace(&mut self.has_walls, true) => {
                self.fill(text, |sample, text| {
                    sample.wall = Nanos(text.int()?);
                    Some(())
                })
            }
            b"cpus" if !std::mem::replace(&mut self.has_cpus, true) => {
                self.fill(text, |sample, text| {
                    if text.peek()? == b'n' {
                        text.expect_word(b"null")
                    } else {
                        sample.cpu = Some(Nanos(text.int()?));
                        Some(())
                    }
                })
            }
            b"stages" => {
                let count = self.samples.as_ref()?.len();
                let mut stages = Vec::new();
                text.parse_list(|text| {
                    stages.push(text.stage(count)?);
                    Some(())
                })?;
                set(&mut self.stages, stages)
            }
            _ => None,
        }
    }

    /// Reads a list with one entry per sample. `starts` must come first.
    fn fill(
        &mut self,
        text: &mut Tokens<'_>,
        mut put: impl FnMut(&mut SampleTiming, &mut Tokens<'_>) -> Option<()>,
    ) -> Option<()> {
        let mut samples = self.samples.as_mut()?.iter_mut();
        text.parse_list(|text| put(samples.next()?, text))?;
        samples.next().is_none().then_some(())
    }

    fn into_event(self) -> Option<Event> {
        let id = || {
            Some(BatchId {
                epoch: self.epoch?,
                idx: self.batch?,
            })
        };
        let kind = match self.name? {
            Name::Entered => EventKind::Entered {
                batch: id()?,
                stage: self.stage?,
            },
            Name::Consumer => EventKind::Consumer {
                waiting: self.waiting?,
            },
            Name::Dispatched => EventKind::Dispatched(Box::new(Dispatch {
                batch: id()?,
                worker: self.worker,
                indices: self.indices?,
            })),
            Name::Fetched if self.has_walls => EventKind::Fetched(Box::new(Fetched {
                batch: id()?,
                samples: self.samples?,
                stages: self.stages.unwrap_or_default(),
            })),
            Name::Fetched => return None,
        };
        Some(Event {
            at: Nanos(self.t?),
            run: RunId(self.run.unwrap_or_default()),
            kind,
        })
    }
}

fn stage(word: &[u8]) -> Option<Stage> {
    Some(match word {
        b"queued" => Stage::Queued,
        b"fetching" => Stage::Fetching,
        b"collating" => Stage::Collating,
        b"returning" => Stage::Returning,
        b"pinning" => Stage::Pinning,
        b"held" => Stage::Held,
        b"ready" => Stage::Ready,
        b"training" => Stage::Training,
        b"done" => Stage::Done,
        b"failed" => Stage::Failed,
        b"discarded" => Stage::Discarded,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
