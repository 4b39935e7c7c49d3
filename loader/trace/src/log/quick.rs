//! The lines of which a recording has millions, read without a detour: whole numbers, plain words, lists of numbers. Whatever
//! looks unusual is left to the thorough reader, which also says what is wrong with it; so this one only has to be right about
//! what it takes, and it never refuses anything.

use crate::event::{Dispatch, Event, EventKind, Fetched, SampleTiming, StageTiming};
use crate::{BatchId, Nanos, RunId, Stage, WorkerId};

/// The event on the line at the beginning of `text`, and the length of that line; `None` if the thorough reader has to look at
/// it, be it only because the line goes on behind `text`.
pub(super) fn parse(text: &[u8]) -> Option<(Event, usize)> {
    let length = text.len();
    let mut text = Text { rest: text };
    let mut fields = Fields::default();
    text.take(b'{')?;
    loop {
        let name = text.word()?;
        text.take(b':')?;
        fields.read(name, &mut text)?;
        match text.next()? {
            b',' => {}
            b'}' => break,
            _ => return None,
        }
    }
    if text.peek()? == b'\r' {
        text.rest = &text.rest[1..];
    }
    text.take(b'\n')?;
    Some((fields.into_event()?, length - text.rest.len()))
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

/// Puts a value into a field that has none yet.
fn set<T>(field: &mut Option<T>, value: T) -> Option<()> {
    field.replace(value).is_none().then_some(())
}

impl Fields {
    fn read(&mut self, name: &[u8], text: &mut Text<'_>) -> Option<()> {
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
                let mut indices = Vec::with_capacity(text.entries()?);
                text.each(|text| {
                    indices.push(u64::try_from(text.int()?).ok()?);
                    Some(())
                })?;
                set(&mut self.indices, indices)
            }
            b"starts" => {
                let mut samples = Vec::with_capacity(text.entries()?);
                text.each(|text| {
                    samples.push(SampleTiming {
                        start: Nanos(text.int()?),
                        wall: Nanos::ZERO,
                        cpu: None,
                    });
                    Some(())
                })?;
                set(&mut self.samples, samples)
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
                        text.exactly(b"null")
                    } else {
                        sample.cpu = Some(Nanos(text.int()?));
                        Some(())
                    }
                })
            }
            b"stages" => {
                let count = self.samples.as_ref()?.len();
                let mut stages = Vec::new();
                text.each(|text| {
                    stages.push(text.stage(count)?);
                    Some(())
                })?;
                set(&mut self.stages, stages)
            }
            _ => None,
        }
    }

    /// Reads a list with one entry a sample; the samples have to be known.
    fn fill(
        &mut self,
        text: &mut Text<'_>,
        mut put: impl FnMut(&mut SampleTiming, &mut Text<'_>) -> Option<()>,
    ) -> Option<()> {
        let mut samples = self.samples.as_mut()?.iter_mut();
        text.each(|text| put(samples.next()?, text))?;
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

/// What is still to be read.
struct Text<'a> {
    rest: &'a [u8],
}

impl<'a> Text<'a> {
    /// The next byte that is no white space, which stays.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.rest.first()? {
                b' ' | b'\t' => self.rest = &self.rest[1..],
                byte => return Some(byte),
            }
        }
    }

    /// The next byte that is no white space.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.rest = &self.rest[1..];
        Some(byte)
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn exactly(&mut self, word: &[u8]) -> Option<()> {
        self.peek()?;
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    /// A string of lower-case letters and underscores, as all names of the format are.
    #[inline]
    fn word(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let plain = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'_';
        let length = self.rest.iter().position(|byte| !plain(byte))?;
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest.strip_prefix(b"\"")?;
        Some(word)
    }

    /// A whole number of at most 18 digits: more might not fit.
    #[inline]
    fn int(&mut self) -> Option<i64> {
        let negative = self.peek()? == b'-';
        if negative {
            self.rest = &self.rest[1..];
        }
        let mut value = 0;
        let mut digits = 0;
        while let Some(digit) = self.rest.get(digits).map(|b| b.wrapping_sub(b'0'))
            && digit < 10
        {
            if digits == 18 {
                return None;
            }
            value = value * 10 + i64::from(digit);
            digits += 1;
        }
        let zeros = self.rest.first() == Some(&b'0') && (digits > 1 || negative);
        if digits == 0 || zeros || matches!(self.rest.get(digits), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        self.rest = &self.rest[digits..];
        Some(if negative { -value } else { value })
    }

    fn bool(&mut self) -> Option<bool> {
        let value = self.peek()? == b't';
        self.exactly(if value { b"true" } else { b"false" })?;
        Some(value)
    }

    /// Number of entries of the list of numbers that comes, for the room they take: what follows the line is in `rest` as well.
    fn entries(&self) -> Option<usize> {
        let end = self.rest.iter().position(|byte| *byte == b']')?;
        Some(self.rest[..end].iter().filter(|b| **b == b',').count() + 1)
    }

    /// Every entry of a list.
    #[inline]
    fn each(&mut self, mut entry: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            self.rest = &self.rest[1..];
            return Some(());
        }
        loop {
            entry(self)?;
            match self.next()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    /// `["decode",[1,2,3]]`, with one time a sample.
    fn stage(&mut self, count: usize) -> Option<StageTiming> {
        self.take(b'[')?;
        let name = std::str::from_utf8(self.word()?).ok()?.to_owned();
        self.take(b',')?;
        let mut walls = Vec::with_capacity(count);
        self.each(|text| {
            walls.push(Nanos(text.int()?));
            Some(())
        })?;
        self.take(b']')?;
        (walls.len() == count).then_some(StageTiming { name, walls })
    }
}

#[cfg(test)]
mod tests;
