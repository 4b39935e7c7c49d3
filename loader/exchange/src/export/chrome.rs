//! Traces for Perfetto in Chrome's format. They have a track per row of each lane, so slices of a track never overlap. A flow connects the
//! slices of each batch, and counters show measured values.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

use loadscope_trace::{Activity, Lane, Nanos, Run, RunId, Span, Track};
use loadscope_words::Language;
use serde_json::Value;

use super::cell::Failure;

/// Number of slices between two calls of `progress`.
const PROGRESS_INTERVAL: usize = 1 << 14;
/// Track of the messages.
const MESSAGES: usize = 0;

/// Writes the trace of the runs of a session, with one process per run.
pub(super) fn write(
    runs: &[(RunId, &Run)],
    names: &[String],
    out: &mut dyn Write,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<(), Failure> {
    if let Some((_, run)) = runs.first() {
        head(run, out)?;
    } else {
        out.write_all(b"{\"traceEvents\": [")?;
    }
    let all: usize = runs.iter().map(|(_, run)| run.memory().spans).sum();
    let (mut is_first, mut slices) = (true, 0);
    for (k, (_, run)) in runs.iter().enumerate() {
        let mut trace = Trace {
            run,
            name: names.get(k).map_or("", String::as_str),
            process: k + 1,
            out,
            is_first,
            slices,
            all: all.max(1),
            progress,
        };
        trace.run()?;
        (is_first, slices) = (trace.is_first, trace.slices);
    }
    out.write_all(b"\n]}\n")?;
    Ok(())
}

/// Writes the fields before the events.
fn head(run: &Run, out: &mut dyn Write) -> Result<(), Failure> {
    let info = &run.info;
    writeln!(
        out,
        "{{\"displayTimeUnit\": \"ms\", \"otherData\": {{\"writer\": \"loadscope {}\", \"origin\": {}, \"dataset\": {}, \
         \"rank\": {}, \"world_size\": {}, \"started_unix_ns\": {}, \"events_lost\": {}}},\n\"traceEvents\": [",
        env!("CARGO_PKG_VERSION"),
        json(&info.origin.key()),
        json(&info.dataset),
        info.rank,
        info.world_size,
        info.started_unix_ns,
        run.dropped(),
    )?;
    Ok(())
}

/// Returns all tracks: the trainer first, then the other lanes against the direction of a batch.
fn tracks(run: &Run) -> Vec<Track> {
    let mut tracks = Vec::new();
    let lanes: BTreeMap<Lane, usize> = run.lanes().collect();
    for (lane, rows) in lanes {
        tracks.extend((0..rows).filter_map(|row| {
            let row = u16::try_from(row).ok()?;
            Some(Track { lane, row })
        }));
    }
    tracks
}

struct Trace<'a> {
    run: &'a Run,
    /// Name of the run among all runs.
    name: &'a str,
    /// Process ID of its tracks.
    process: usize,
    out: &'a mut dyn Write,
    is_first: bool,
    slices: usize,
    all: usize,
    progress: &'a mut dyn FnMut(f32) -> bool,
}

impl Trace<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        let tracks = tracks(self.run);
        self.names(&tracks)?;
        // Track 0 is for messages.
        for (k, track) in tracks.iter().enumerate() {
            self.track(*track, k + 1)?;
        }
        self.tasks_outstanding()?;
        self.gauges()?;
        self.messages()
    }

    /// Writes an event. `rest` contains the fields of its kind.
    fn event(&mut self, phase: &str, rest: fmt::Arguments<'_>) -> Result<(), Failure> {
        let comma = if self.is_first { "" } else { ",\n" };
        self.is_first = false;
        write!(
            self.out,
            "{comma}{{\"ph\":\"{phase}\",\"pid\":{},{rest}}}",
            self.process
        )?;
        Ok(())
    }

    fn names(&mut self, tracks: &[Track]) -> Result<(), Failure> {
        let info = &self.run.info;
        let dataset = match info.made_at {
            Some(_) if !info.dataset.is_empty() => format!(" ({})", info.dataset),
            _ => String::new(),
        };
        let process = json(&format!("loader: {}{dataset}", self.name));
        self.event(
            "M",
            format_args!("\"name\":\"process_name\",\"args\":{{\"name\":{process}}}"),
        )?;
        let mut name = |tid: usize, name: &str| {
            let name = json(name);
            self.event(
                "M",
                format_args!("\"tid\":{tid},\"name\":\"thread_name\",\"args\":{{\"name\":{name}}}"),
            )?;
            self.event(
                "M",
                format_args!(
                    "\"tid\":{tid},\"name\":\"thread_sort_index\",\"args\":{{\"sort_index\":{tid}}}"
                ),
            )
        };
        name(MESSAGES, "messages")?;
        for (k, track) in tracks.iter().enumerate() {
            let row = match track.row {
                0 => String::new(),
                row => format!(" ({})", row + 1),
            };
            name(k + 1, &format!("{}{row}", track.lane))?;
        }
        Ok(())
    }

    fn track(&mut self, track: Track, tid: usize) -> Result<(), Failure> {
        let Some(spans) = self.run.track(track) else {
            return Ok(());
        };
        for span in spans.all() {
            self.slices += 1;
            if self.slices.is_multiple_of(PROGRESS_INTERVAL)
                && !(self.progress)(self.slices as f32 / self.all as f32)
            {
                return Err(Failure::Cancelled);
            }
            self.slice(span, tid)?;
        }
        Ok(())
    }

    fn slice(&mut self, span: &Span, tid: usize) -> Result<(), Failure> {
        let (start, end) = (span.start, span.end.min(self.run.end()));
        let (ts, dur) = (Micros(start), Micros(end - start));
        let label = span.activity.text().of(Language::En);
        let category = span.activity.id();
        let Some((row, batch)) = span
            .batch()
            .and_then(|r| Some((r, self.run.batches().get(r)?)))
        else {
            return self.event(
                "X",
                format_args!(
                    "\"tid\":{tid},\"ts\":{ts},\"dur\":{dur},\"cat\":\"{category}\",\"name\":\"{label}\""
                ),
            );
        };
        let (id, samples) = (batch.id, batch.samples());
        self.event(
            "X",
            format_args!(
                "\"tid\":{tid},\"ts\":{ts},\"dur\":{dur},\"cat\":\"{category}\",\"name\":\"{label} #{}\",\
                 \"args\":{{\"epoch\":{},\"batch\":{},\"samples\":{samples}}}",
                id.idx,
                id.epoch,
                id.idx
            ),
        )?;
        // Viewers cannot attach a flow to a slice without length. Waiting is not part of a batch's path.
        if end <= start || span.activity == Activity::Waiting {
            return Ok(());
        }
        let phase = match span.activity {
            Activity::Training => "f",
            _ if self.is_first_of(row, span) => "s",
            _ => "t",
        };
        // The process is part of the ID, so that flows of different runs are separate.
        let flow = ((self.process as u64) << 32) | row as u64;
        let enclosing = if phase == "f" { ",\"bp\":\"e\"" } else { "" };
        self.event(
            phase,
            format_args!("\"tid\":{tid},\"ts\":{ts},\"id\":{flow},\"cat\":\"batch\",\"name\":\"batch\"{enclosing}"),
        )
    }

    /// Returns true if `span` is the first span of its batch with a length.
    fn is_first_of(&self, row: usize, span: &Span) -> bool {
        let path = self.run.path(row);
        let first = path.iter().find(|s| s.end.is_none_or(|end| end > s.start));
        first.is_some_and(|s| s.start == span.start)
    }

    /// Writes a counter value. `name` is JSON, encoded once for all its values.
    fn counter(&mut self, name: &str, at: Nanos, value: f64) -> Result<(), Failure> {
        let ts = Micros(at);
        self.event(
            "C",
            format_args!("\"ts\":{ts},\"name\":{name},\"args\":{{\"value\":{value}}}"),
        )
    }

    /// Writes PyTorch's `_tasks_outstanding`, one value per time at which it changes.
    fn tasks_outstanding(&mut self) -> Result<(), Failure> {
        let level = self.run.tasks_outstanding();
        let (up, down) = (level.up.all(), level.down.all());
        let (mut u, mut d, name) = (0, 0, json("tasks_outstanding"));
        while u < up.len() || d < down.len() {
            let next = match (up.get(u), down.get(d)) {
                (Some(a), Some(b)) => *a.min(b),
                (a, b) => a.or(b).copied().unwrap_or_default(),
            };
            u += up.range(u..).iter().take_while(|at| **at == next).count();
            d += down.range(d..).iter().take_while(|at| **at == next).count();
            self.counter(&name, next, u.saturating_sub(d) as f64)?;
        }
        Ok(())
    }

    fn gauges(&mut self) -> Result<(), Failure> {
        let run = self.run;
        let lanes = run.gauges().map(|(lane, what, series)| {
            let of = lane.map(|l| format!("{l}: ")).unwrap_or_default();
            (format!("{of}{} [{}]", what.id(), what.unit()), series)
        });
        let parts = run.part_gauges().map(|(part, what, series)| {
            let of = run
                .parts()
                .get(usize::from(part))
                .map_or("", String::as_str);
            (format!("{of}: {} [{}]", what.id(), what.unit()), series)
        });
        for (name, series) in lanes.chain(parts) {
            let name = json(&name);
            // A counter cannot represent an unmeasured value.
            for (at, value) in series.points().iter().filter(|(_, v)| v.is_finite()) {
                self.counter(&name, *at, *value)?;
            }
        }
        Ok(())
    }

    fn messages(&mut self) -> Result<(), Failure> {
        for (at, message) in self.run.messages() {
            let (ts, text) = (Micros(*at), json(&message.text));
            self.event(
                "i",
                format_args!(
                    "\"tid\":{MESSAGES},\"ts\":{ts},\"s\":\"t\",\"cat\":\"message\",\"name\":{text}"
                ),
            )?;
        }
        Ok(())
    }
}

/// Nanoseconds, formatted exactly as microseconds with a fraction.
struct Micros(Nanos);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.0.unsigned_abs();
        let sign = if self.0.0 < 0 { "-" } else { "" };
        match ns % 1000 {
            0 => write!(f, "{sign}{}", ns / 1000),
            part => write!(f, "{sign}{}.{part:03}", ns / 1000),
        }
    }
}

/// Returns a text as a JSON string with quotation marks.
fn json(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_texts_are_exact() {
        assert_eq!(Micros(Nanos(1_234_567)).to_string(), "1234.567");
        assert_eq!(Micros(Nanos(-1)).to_string(), "-0.001");
        assert_eq!(Micros(Nanos(5_000)).to_string(), "5");
        let odd = "a\"b\\c\n\t\u{1}\u{7f}\u{e9}\u{2028}";
        let read: String = serde_json::from_str(&json(odd)).expect("JSON");
        assert_eq!(read, odd);
    }
}
