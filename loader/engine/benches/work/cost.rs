//! Cost of recording: two loaders of the same data in one process alternate, and one of them is recorded.
//!
//! Speeds vary over time and between processes by more than the cost of recording. The result is therefore the ratio of successive turns.

use std::hint::black_box;
use std::time::{Duration, Instant};

use loadscope_engine::fetch::Fetch;
use loadscope_engine::{DataLoader, LoaderError};
use serde_json::{Value as Json, json};

use super::engine::epoch;
use super::processor::Processor;
use super::recording::{MAX_EVENT_DELAY, Observer, POLL_INTERVAL};

/// Minimum length of a turn, seconds.
const TURN: f64 = 0.1;

/// Maximum time of the initial period in which all batches are summarized.
const MAX_GRACE_PERIOD: Duration = Duration::from_secs(10);

/// Maximum time before events are read, seconds.
const MAX_UNREAD: f64 = MAX_EVENT_DELAY.0 as f64 / 1e9 + POLL_INTERVAL.as_secs_f64();

/// Totals of a loader's turns.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    seconds: f64,
    batches: f64,
    /// CPU seconds of the listening thread, and of all others.
    listening: f64,
    loading: f64,
}

impl Side {
    fn add(&mut self, turn: Self) {
        self.seconds += turn.seconds;
        self.batches += turn.batches;
        self.listening += turn.listening;
        self.loading += turn.loading;
    }

    /// Converts seconds to microseconds per batch.
    fn micros(&self, seconds: f64) -> f64 {
        seconds * 1e6 / self.batches.max(1.0)
    }
}

/// Runs whole epochs for at least [`TURN`].
fn turn<F: Fetch>(
    loader: &mut DataLoader<F>,
    observer: Option<&Observer>,
) -> Result<Side, LoaderError> {
    let thread = observer.map_or(0, Observer::thread_number);
    let (before, start) = (Processor::now(), Instant::now());
    let mut batches = 0;
    while batches == 0 || start.elapsed().as_secs_f64() < TURN {
        batches += epoch(loader, |batch| {
            black_box(batch);
        })?;
    }
    let mut seconds = start.elapsed().as_secs_f64();
    let (during, loading) = Processor::now().since(&before, thread);
    let mut listening = during as f64 / 1e9;
    if let Some(observer) = observer {
        observer.catch_up();
        let all = Processor::now().since(&before, thread).0 as f64 / 1e9;
        // Some events are always unread. Any further ones are postponed work, and count as if all threads had waited for it.
        let usual = all * (MAX_UNREAD / seconds).min(1.0);
        seconds += (all - listening - usual).max(0.0);
        listening = all;
    }
    Ok(Side {
        seconds,
        batches: batches as f64,
        listening,
        loading: loading as f64 / 1e9,
    })
}

/// Measures the share by which `recorded` is slower than `alone`, in turns of `seconds` for each.
///
/// Also returns the CPU time of both in microseconds per batch, and the number of events per batch.
pub fn cost<F: Fetch>(
    alone: &mut DataLoader<F>,
    recorded: &mut DataLoader<F>,
    observer: &Observer,
    at_least: f64,
) -> Result<Json, LoaderError> {
    // At the beginning of a run each batch is summarized. A long run pays only the cost after that.
    let begin = Instant::now();
    while observer.probe.is_in_grace_period() && begin.elapsed() < MAX_GRACE_PERIOD {
        turn(recorded, Some(observer))?;
    }
    observer.catch_up();
    let events = observer.events();
    let (mut off, mut on, mut ratios) = (Side::default(), Side::default(), Vec::new());
    while off.seconds < at_least || ratios.len() < 4 {
        let recorded_first = ratios.len() % 2 == 0;
        let before = match recorded_first {
            true => Some(turn(recorded, Some(observer))?),
            false => None,
        };
        let without = turn(alone, None)?;
        let with = match before {
            Some(with) => with,
            None => turn(recorded, Some(observer))?,
        };
        ratios.push(with.micros(with.seconds) / without.micros(without.seconds));
        off.add(without);
        on.add(with);
    }
    let events = (observer.events() - events) as f64;
    Ok(json!({
        "cost": median(&mut ratios) - 1.0,
        "batch": off.micros(off.seconds), "recorded_batch": on.micros(on.seconds),
        "loading": off.micros(off.loading), "recorded_loading": on.micros(on.loading),
        "listening": on.micros(on.listening), "batch_events": events / on.batches.max(1.0),
    }))
}

/// Returns the median, or 0 if there are no values.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
