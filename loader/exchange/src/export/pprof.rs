//! Sampled stacks for pprof, in the format [profile.proto](https://github.com/google/pprof/blob/main/proto/profile.proto).

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use loadscope_trace::{Run, RunId, WorkerId};

use super::cell::Failure;
use super::stacks::{Frames, each_activity, process_name};

/// Writes the samples of the runs of a session, with the loader, the process and the activity as labels.
pub(super) fn write(
    runs: &[(RunId, &Run)],
    names: &[String],
    out: &mut dyn Write,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<(), Failure> {
    let (frames, texts) = (Frames::default(), Texts::default());
    let mut profile = Profile { frames, texts, out };
    let counted = profile.pair("samples", "count");
    let timed = profile.pair("time", "nanoseconds");
    profile.put(Message::default().message(field::SAMPLE_TYPE, &counted))?;
    profile.put(Message::default().message(field::SAMPLE_TYPE, &timed))?;
    for (k, (_, run)) in runs.iter().enumerate() {
        profile.frames.start_run();
        for worker in run.stacks().processes() {
            if !progress(k as f32 / runs.len() as f32) {
                return Err(Failure::Cancelled);
            }
            profile.samples(run, worker, names.get(k).map_or("", String::as_str))?;
        }
    }
    profile.functions()?;
    let ns = |time: Option<i64>| time.unwrap_or_default().max(0).unsigned_abs();
    let started = runs.iter().map(|(_, run)| run.info.started_unix_ns);
    let ends = runs.iter().map(|(_, run)| run.end().0);
    let periods = runs.iter().map(|(_, run)| run.stacks().period().0);
    profile.put(
        Message::default()
            .number(field::TIME_NANOS, ns(started.min()))
            .number(field::DURATION_NANOS, ns(ends.max()))
            .message(field::PERIOD_TYPE, &timed)
            .number(field::PERIOD, ns(periods.max())),
    )
}

/// Numbers of the fields of the message `Profile`.
mod field {
    pub const SAMPLE_TYPE: u64 = 1;
    pub const SAMPLE: u64 = 2;
    pub const LOCATION: u64 = 4;
    pub const FUNCTION: u64 = 5;
    pub const STRING_TABLE: u64 = 6;
    pub const TIME_NANOS: u64 = 9;
    pub const DURATION_NANOS: u64 = 10;
    pub const PERIOD_TYPE: u64 = 11;
    pub const PERIOD: u64 = 12;
}

struct Profile<'a, 'o> {
    frames: Frames<'a>,
    texts: Texts,
    out: &'o mut dyn Write,
}

impl<'a> Profile<'a, '_> {
    /// Writes fields. The fields of a message can have any order.
    fn put(&mut self, fields: Message) -> Result<(), Failure> {
        Ok(self.out.write_all(&fields.0)?)
    }

    /// Returns a message `ValueType` (a type and its unit) or `Label` (a key and its value).
    fn pair(&mut self, first: &str, second: &str) -> Message {
        let (first, second) = (self.texts.number(first), self.texts.number(second));
        Message::default().number(1, first).number(2, second)
    }

    /// Writes one message `Sample` per stack and activity of a process.
    fn samples(
        &mut self,
        run: &'a Run,
        worker: Option<WorkerId>,
        loader: &str,
    ) -> Result<(), Failure> {
        let (log, process) = (run.stacks(), process_name(worker));
        let mut counts: BTreeMap<_, u64> = BTreeMap::new();
        each_activity(run, worker, |samples, span| {
            let activity = span.map(|span| span.activity);
            *counts.entry((samples.stack, activity)).or_default() += u64::from(samples.count);
            Ok(())
        })?;
        for ((stack, activity), count) in counts {
            let frames = self.frames.of(log, stack);
            let locations: Vec<u64> = frames.iter().map(|frame| *frame as u64 + 1).collect();
            let ns = count.saturating_mul(log.period().0.unsigned_abs());
            let activity = activity.map(|activity| ("activity", activity.id()));
            let labels = [("loader", loader), ("process", &process)]
                .into_iter()
                .chain(activity);
            let sample = Message::default()
                .numbers(1, &locations)
                .numbers(2, &[count, ns]);
            let sample = labels.fold(sample, |sample, (key, value)| {
                sample.message(3, &self.pair(key, value))
            });
            self.put(Message::default().message(field::SAMPLE, &sample))?;
        }
        Ok(())
    }

    /// Writes the messages `Function` and `Location` of the samples, and their texts.
    fn functions(&mut self) -> Result<(), Failure> {
        let mut functions = HashMap::new();
        for (k, (function, line)) in std::mem::take(&mut self.frames.all).into_iter().enumerate() {
            let next = functions.len() as u64 + 1;
            let id = *functions.entry(function).or_insert(next);
            if id == next {
                let name = self.texts.number(&function.name);
                let file = self.texts.number(&function.file);
                let names = Message::default()
                    .number(1, id)
                    .number(2, name)
                    .number(3, name);
                self.put(Message::default().message(field::FUNCTION, &names.number(4, file)))?;
            }
            let line = Message::default().number(1, id).number(2, u64::from(line));
            let location = Message::default().number(1, k as u64 + 1).message(4, &line);
            self.put(Message::default().message(field::LOCATION, &location))?;
        }
        for text in std::mem::take(&mut self.texts.all) {
            self.put(Message::default().bytes(field::STRING_TABLE, text.as_bytes()))?;
        }
        Ok(())
    }
}

/// Texts with their numbers. Number 0 is the empty text.
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl Default for Texts {
    fn default() -> Self {
        let (all, numbers) = (Vec::new(), HashMap::new());
        let mut texts = Self { all, numbers };
        texts.number("");
        texts
    }
}

impl Texts {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let number = self.all.len() as u64;
        self.numbers.insert(text.to_owned(), number);
        self.all.push(text.to_owned());
        number
    }
}

/// Message in the encoding of Protocol Buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    fn numbers(self, field: u64, numbers: &[u64]) -> Self {
        let mut packed = Self::default();
        numbers.iter().for_each(|number| packed.varint(*number));
        self.message(field, &packed)
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}
