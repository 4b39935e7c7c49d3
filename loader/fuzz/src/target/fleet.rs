//! Events of several loaders: missing and duplicate ranks, disagreeing clocks, extreme counts.
//! The queries are those for several loaders.

use std::collections::BTreeMap;

use loadscope_diagnose::align::{ClockInfo, align_recordings};
use loadscope_diagnose::straggler;
use loadscope_trace::{
    Clock, ClockMethod, Event, EventKind, Fleet, Nanos, Run, RunId, RunInfo, Summary,
};

use super::events::{Bytes, info, kind};
use super::recording::{by_line, sorted, written};
use crate::examine;

/// Maximum number of events. More do not lead to new histories.
const MOST: usize = 2_000;

pub fn run(bytes: &[u8], thoroughly: bool) {
    let events = events(bytes);
    let text = written(&events);
    let read = by_line(&text).expect("our own header");
    assert_eq!((read.1, read.2, read.0.len()), (false, None, events.len()));
    let mut fleet = Fleet::default();
    let events = sorted(&read.0);
    events.iter().for_each(|event| fleet.apply(event));
    assert_eq!(fleet.events() + fleet.left_out(), events.len() as u64);
    several(&fleet);
    in_a_folder(&events);
    examine::fleet(&fleet, thoroughly);
}

/// Returns the events of a few loaders from the bytes.
pub fn events(bytes: &[u8]) -> Vec<Event> {
    let mut from = Bytes(bytes);
    let (mut events, mut at) = (Vec::new(), 0i64);
    while !from.0.is_empty() && events.len() < MOST {
        at = match from.byte() {
            step @ 0..0xF8 => at.saturating_add(i64::from(step) << 12),
            0xF8..0xFC => at.saturating_add(from.number()),
            _ => from.number(),
        };
        let run = RunId(match from.byte() {
            near @ 0..0xF8 => u32::from(near % 6),
            _ => from.number() as u32,
        });
        let kind = match from.byte() {
            0..24 => EventKind::RunStarted(Box::new(rank(&mut from))),
            24..30 => EventKind::Dropped {
                count: u64::MAX - from.number() as u64 % 3,
            },
            _ => kind(&mut from),
        };
        let at = Nanos(at);
        events.push(Event { at, run, kind });
    }
    events
}

/// Returns a loader with one of few ranks.
fn rank(from: &mut Bytes<'_>) -> RunInfo {
    let which = from.byte();
    let mut info = match from.byte() {
        0..32 => info(from),
        _ => RunInfo::default(),
    };
    info.rank = u32::from(which & 3);
    info.world_size = u32::from((which >> 2) & 3);
    info.dataset = ["", "a", "b", "a · b"][usize::from(which >> 4 & 3)].to_owned();
    info.host = ["", "gpu-0"][usize::from(which >> 6 & 1)].to_owned();
    info.recording = ["", "run.jsonl"][usize::from(which >> 7)].to_owned();
    info.started_unix_ns = 1_790_000_000_000_000_000_i64.saturating_add(from.number());
    info.clock = match from.byte() % 4 {
        0 => None,
        by => Some(Clock {
            by: [
                ClockMethod::Steps,
                ClockMethod::WallClock,
                ClockMethod::Beginning,
            ][usize::from(by) - 1],
            within: (from.byte() & 1 == 1).then(|| Nanos(from.number())),
        }),
    };
    info
}

/// Checks queries on all loaders, and on loaders with the same role on several ranks.
fn several(fleet: &Fleet) {
    let all: Vec<(RunId, &Run)> = fleet.runs().collect();
    let sum = Summary::combined(all.iter().map(|(_, run)| *run));
    for (id, run) in &all {
        let one = Summary::of(run);
        assert!(sum.dropped >= one.dropped && sum.samples >= one.samples);
        assert!(sum.batches >= one.batches && sum.events >= one.events);
        assert_eq!(fleet.get(*id).map(Run::events), Some(run.events()));
    }
    assert!(sum.seconds >= 0.0 && sum.seconds.is_finite());
    assert!(sum.samples_per_second >= 0.0 && sum.waited_seconds >= 0.0);
    let mut crews: BTreeMap<&str, Vec<(RunId, &Run)>> = BTreeMap::new();
    for (id, run) in &all {
        crews.entry(&run.info.dataset).or_default().push((*id, run));
    }
    for crew in crews.values().chain([&all]) {
        let Some(slow) = straggler(crew.iter().copied()) else {
            continue;
        };
        assert!(
            slow.waited >= slow.usual && slow.share.is_finite(),
            "{slow:?}"
        );
        assert!(slow.epochs <= slow.of_epochs, "{slow:?}");
        assert!(crew.iter().any(|(id, _)| *id == slow.run), "{slow:?}");
    }
    for (_, run) in &all {
        let said = run.info.clock.map(|clock| clock.label());
        assert!(said.is_none_or(|text| !text.is_empty()));
    }
}

/// Treats each loader as a separate recording, and aligns them on one time axis.
fn in_a_folder(events: &[Event]) {
    let mut clock_info: BTreeMap<RunId, ClockInfo> = BTreeMap::new();
    for event in events {
        let own = clock_info.entry(event.run).or_default();
        own.apply(event);
    }
    // Each recording is compared with all others, so their number is limited.
    let clock_info: Vec<ClockInfo> = clock_info.into_values().take(16).collect();
    assert_eq!(align_recordings(&clock_info).len(), clock_info.len());
}
