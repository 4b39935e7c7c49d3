//! The lines of which a recording has millions, read without a detour: whole numbers, plain words, lists of numbers. Whatever
//! looks unusual is left to the thorough reader, which also says what is wrong with it; so this one only has to be right about
//! what it takes, and it never refuses anything.

use crate::event::{Dispatch, Event, EventKind, Fetched, SampleTiming, StageTiming};
use crate::{BatchId, Nanos, RunId, Stage, WorkerId};

/// The quick reader. Keeps what it needs for lists, so that it has room from the second one on.
#[derive(Clone, Debug, Default)]
pub(super) struct Quick {
    numbers: Vec<i64>,
}

impl Quick {
    /// The event on the line at the beginning of `text`, and the length of that line; `None` if the thorough reader has to look at
    /// it, be it only because the line goes on behind `text`.
    pub fn parse(&mut self, text: &[u8]) -> Option<(Event, usize)> {
        usual(text).or_else(|| self.any_order(text))
    }

    /// The same for fields in any order.
    fn any_order(&mut self, text: &[u8]) -> Option<(Event, usize)> {
        let length = text.len();
        let mut text = Text { rest: text };
        let mut fields = Fields::default();
        text.take(b'{')?;
        loop {
            let name = text.word()?;
            text.take(b':')?;
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
        text.take(b'\n')?;
        Some((fields.into_event()?, length - text.rest.len()))
    }
}

/// What three lines of four look like when we wrote them: a change of stage, or the trainer's call.
#[inline]
fn usual(text: &[u8]) -> Option<(Event, usize)> {
    let length = text.len();
    let mut text = Text { rest: text };
    text.is(b"{\"t\":")?;
    let at = Nanos(text.digits()?);
    text.is(b",\"e\":\"")?;
    let kind = if text.is(b"entered\",\"epoch\":").is_some() {
        let epoch = text.digits()?.try_into().ok()?;
        text.is(b",\"batch\":")?;
        let idx = text.digits()?.try_into().ok()?;
        text.is(b",\"stage\":")?;
        let batch = BatchId { epoch, idx };
        let stage = stage(text.word()?)?;
        EventKind::Entered { batch, stage }
    } else {
        text.is(b"consumer\",\"waiting\":")?;
        let waiting = text.bool()?;
        EventKind::Consumer { waiting }
    };
    text.is(b"}\n")?;
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

/// Puts a value into a field that has none yet.
fn set<T>(field: &mut Option<T>, value: T) -> Option<()> {
    field.replace(value).is_none().then_some(())
}

impl Fields {
    fn read(&mut self, name: &[u8], text: &mut Text<'_>, numbers: &mut Vec<i64>) -> Option<()> {
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

    /// Goes past exactly these bytes, white space included.
    #[inline]
    fn is(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(bytes)?;
        Some(())
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
        if self.peek()? != b'-' {
            return self.digits();
        }
        self.rest = &self.rest[1..];
        // There is no other zero than 0.
        self.digits()
            .filter(|value| *value != 0)
            .map(|value| -value)
    }

    /// The same without a sign and without white space before it.
    #[inline]
    fn digits(&mut self) -> Option<i64> {
        let mut value = 0;
        let mut length = 0;
        // Eight at a time.
        while let Some(eight) = self.rest.get(length..length + 8) {
            let eight = u64::from_le_bytes(eight.try_into().ok()?);
            let count = digits_of(eight);
            if length + count > 18 {
                return None;
            }
            if count < 8 {
                value = value * POWERS[count] + number_of(eight, count);
                return self.after(value, length + count);
            }
            value = value * 100_000_000 + number_of(eight, 8);
            length += 8;
        }
        while let Some(digit) = self.rest.get(length).map(|b| b.wrapping_sub(b'0'))
            && digit < 10
        {
            if length == 18 {
                return None;
            }
            value = value * 10 + u64::from(digit);
            length += 1;
        }
        self.after(value, length)
    }

    /// The number of `length` digits that comes is `value`, unless it is written as it should not be, or goes on.
    #[inline]
    fn after(&mut self, value: u64, length: usize) -> Option<i64> {
        let zeros = length > 1 && self.rest.first() == Some(&b'0');
        let goes_on = matches!(self.rest.get(length), Some(b'.' | b'e' | b'E'));
        if length == 0 || length > 18 || zeros || goes_on {
            return None;
        }
        self.rest = &self.rest[length..];
        Some(value as i64)
    }

    fn bool(&mut self) -> Option<bool> {
        let value = self.peek()? == b't';
        self.exactly(if value { b"true" } else { b"false" })?;
        Some(value)
    }

    /// A list of whole numbers.
    fn numbers(&mut self, numbers: &mut Vec<i64>) -> Option<()> {
        numbers.clear();
        self.each(|text| {
            numbers.push(text.int()?);
            Some(())
        })
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

/// Powers of ten.
const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// How many of eight characters are digits, from the first (the lowest byte) on.
#[inline]
fn digits_of(eight: u64) -> usize {
    // A digit is 0x30 to 0x39: its upper half is 3, and still is when 6 is added.
    let other = (eight ^ REPEATED_ZERO) | (eight.wrapping_add(6 * ONES) ^ REPEATED_ZERO);
    ((other & (0xF0 * ONES)).trailing_zeros() / 8) as usize
}

const ONES: u64 = 0x0101_0101_0101_0101;
const REPEATED_ZERO: u64 = 0x30 * ONES;

/// The number that the first `count` (1 to 8; of none it is 0) of eight characters say, two, four, eight digits at a time.
#[inline]
fn number_of(eight: u64, count: usize) -> u64 {
    if count == 0 {
        return 0;
    }
    let digits = (eight << (64 - 8 * count)) & (0x0F * ONES);
    let pairs = (digits.wrapping_mul(10 * 256 + 1) >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100 * 65_536 + 1) >> 16) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000 * (1 << 32) + 1) >> 32
}

#[cfg(test)]
mod tests;
