//! Rows of SPDL's statistics, and their conversion to events.

use std::collections::BTreeMap;

use loadscope_trace::{
    EventKind, Gauge, GaugeKind, Level, Origin, RunInfo, Stage, percent, plural,
};
use loadscope_words::say;

use crate::input::Sink;

/// Measurements of an interval.
pub(super) struct Row {
    /// Times in seconds since 1970.
    pub start: Option<f64>,
    pub end: f64,
    pub name: String,
    pub values: Vec<(GaugeKind, f64)>,
}

/// Sorts the rows of each part by time, and adds missing starts. Also returns the number of skipped rows, which are totals of others or
/// have no time.
fn in_order(rows: Vec<Row>) -> (BTreeMap<String, Vec<Row>>, u64) {
    let mut left_out = 0;
    let mut parts: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows {
        match row.end.is_finite() {
            true => parts.entry(row.name.clone()).or_default().push(row),
            false => left_out += 1,
        }
    }
    for rows in parts.values_mut() {
        rows.sort_by(|a, b| a.end.total_cmp(&b.end));
        let mut last: Option<f64> = None;
        rows.retain_mut(|row| {
            let is_task = row.start.is_none();
            let start = row.start.or(last).unwrap_or(row.end);
            // A pipeline may log totals of its whole run at its end.
            if last.is_some_and(|last| last - start > 0.5 * (row.end - start)) {
                left_out += 1;
                return false;
            }
            row.start = Some(start);
            if is_task && let Some((GaugeKind::Throughput, count)) = row.values.first_mut() {
                // The length of the first interval is unknown.
                *count = match start < row.end {
                    true => *count / (row.end - start),
                    false => f64::NAN,
                };
            }
            last = Some(row.end);
            true
        });
    }
    (parts, left_out)
}

/// Gauge or message at a time.
enum Mark<'a> {
    Gauge {
        part: &'a str,
        what: GaugeKind,
        value: f64,
    },
    Note(Box<loadscope_trace::Message>),
}

impl Mark<'_> {
    fn event(self) -> EventKind {
        match self {
            Mark::Note(message) => EventKind::Message(message),
            Mark::Gauge { part, what, value } => EventKind::Gauge(Box::new(Gauge {
                lane: None,
                part: Some(part.to_owned()),
                what,
                value,
            })),
        }
    }
}

pub(super) fn emit(rows: Vec<Row>, notes: Vec<(f64, String)>, sink: &mut Sink<'_>) {
    let (parts, left_out) = in_order(rows);
    let all = || parts.values().flatten();
    let starts = all().filter_map(|r| r.start);
    let zero = starts.fold(f64::INFINITY, f64::min);
    let zero = if zero.is_finite() { zero } else { 0.0 };
    let ns = |seconds: f64| ((seconds - zero) * 1e9).round().max(0.0) as i64;
    let info = RunInfo {
        origin: Origin::Import("SPDL".to_owned()),
        dataset: "SPDL pipeline".to_owned(),
        // Batches are not measured. An empty list would mean that all stages are measured.
        measured: vec![Stage::Done],
        started_unix_ns: (zero * 1e9) as i64,
        ..RunInfo::default()
    };
    sink.emit(0, EventKind::RunStarted(Box::new(info)));
    // The gauge event is created when it is sent, because it contains the name of its part, and there are many gauges.
    let mut tape: Vec<(i64, u8, Mark<'_>)> = Vec::new();
    let mut gauge = |at: i64, order: u8, part, what: GaugeKind, value: f64| {
        tape.push((at, order, Mark::Gauge { part, what, value }));
    };
    for (part, rows) in &parts {
        for (k, row) in rows.iter().enumerate() {
            let start = row.start.unwrap_or(row.end);
            for (what, value) in &row.values {
                gauge(ns(start), 1, part, *what, *value);
            }
            // Values in a gap before the next interval are unknown.
            let next = rows.get(k + 1).and_then(|next| next.start);
            if next.is_none_or(|next| next - row.end > 0.05 * (row.end - start)) {
                for (what, _) in &row.values {
                    gauge(ns(row.end), 0, part, *what, f64::NAN);
                }
            }
        }
    }
    let end = all().map(|r| ns(r.end)).max().unwrap_or(0);
    for (at, name) in notes.into_iter().filter(|(at, _)| at.is_finite()) {
        let message = loadscope_trace::Message {
            level: Level::Info,
            text: say!("SPDL event: {name}"),
            about: None,
            worker: None,
            sample: None,
        };
        // The end of the run is reserved for messages about the whole run.
        let at = ns(at).min(end - 1).max(0);
        tape.push((at, 2, Mark::Note(Box::new(message))));
    }
    tape.sort_by_key(|(at, order, _)| (*at, *order));
    for (at, _, mark) in tape {
        sink.emit(at, mark.event());
    }
    summary(&parts, left_out, end, sink);
    sink.emit(end, EventKind::RunEnded);
}

/// Sends messages about the whole run: the share of waiting, the limits of the data, skipped rows.
fn summary(parts: &BTreeMap<String, Vec<Row>>, left_out: u64, end: i64, sink: &mut Sink<'_>) {
    if let Some((name, share)) = starved(parts) {
        let text = say!(
            "According to SPDL, the training loop waited {} of the time for the {name}",
            percent(share.min(1.0))
        );
        sink.emit_message(end, Level::Info, text);
    }
    let text = say!(
        "SPDL records totals of its queues and tasks per interval. Single batches, workers and samples are not measured."
    );
    sink.emit_message(end, Level::Info, text.to_owned());
    if left_out > 0 {
        let text = say!(
            "{} skipped: totals of other rows, or rows without a time",
            plural(left_out, say!(n: "row is"), say!(n: "rows are"))
        );
        sink.emit_message(end, Level::Info, text);
    }
}

/// Returns the queue that the training loop reads from, and the share of the time that the loop waited for it.
fn starved(parts: &BTreeMap<String, Vec<Row>>) -> Option<(&str, f64)> {
    let is_sink = |name: &str| name.to_ascii_lowercase().contains("sink");
    let (name, rows) = parts.iter().find(|(name, rows)| {
        is_sink(name)
            && rows
                .iter()
                .any(|r| r.value(GaugeKind::WaitingToGet).is_some())
    })?;
    let (mut waited, mut all) = (0.0, 0.0);
    for row in rows {
        if let (Some(waiting), Some(start)) = (row.value(GaugeKind::WaitingToGet), row.start) {
            waited += waiting * (row.end - start);
            all += row.end - start;
        }
    }
    (all > 0.0).then_some((name.as_str(), waited / all))
}

impl Row {
    fn value(&self, what: GaugeKind) -> Option<f64> {
        let value = self.values.iter().find(|(kind, _)| *kind == what);
        value.map(|(_, v)| *v).filter(|v| v.is_finite())
    }
}
