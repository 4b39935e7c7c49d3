//! Random events of all kinds with all fields, including values that no real source sends.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::sync::Arc;

use loadscope_trace::{Event, EventKind, RunId};
use proptest::prelude::*;

mod fact;
mod past;
mod plain;
mod value;

pub use value::time;

/// Returns any kind of event. With `even`, lists of one event have equal lengths.
pub fn kind(even: bool) -> impl Strategy<Value = EventKind> {
    prop_oneof![20 => plain::plain(even), 1 => past::past()].boxed()
}

/// Returns any event that a recording can contain.
pub fn event() -> impl Strategy<Value = Event> {
    let run = prop_oneof![6 => Just(0u32), 1 => any::<u32>()].prop_map(RunId);
    (time(), run, kind(true)).prop_map(|(at, run, kind)| Event { at, run, kind })
}

/// Returns the events as they are read from a recording. JSON has no NaN and no infinities, so such statistics are missing.
pub fn as_written(mut events: Vec<Event>) -> Vec<Event> {
    let fix = |v: &mut Option<f64>| *v = v.filter(|v| v.is_finite());
    for event in &mut events {
        match &mut event.kind {
            EventKind::Kept(kept) => kept.events = as_written(std::mem::take(&mut kept.events)),
            EventKind::State(state) => state.events = as_written(std::mem::take(&mut state.events)),
            EventKind::Content(content) => Arc::make_mut(content).fields.iter_mut().for_each(|f| {
                [&mut f.min, &mut f.max, &mut f.mean, &mut f.std]
                    .into_iter()
                    .for_each(fix);
            }),
            EventKind::Gauge(g) if !g.value.is_finite() => g.value = f64::NAN,
            _ => {}
        }
    }
    events
}
