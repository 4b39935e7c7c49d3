//! Sample order that the Sampling workspace shows.

use loadscope_insight::sampling::of_run::is_complete;
use loadscope_insight::sampling::{Choice, OrderSource};
use loadscope_words::say;

use crate::state::{Source, State};

/// Maximum epoch for the options of the next run. All earlier epochs must be drawn too.
const LAST: u32 = 999;
/// Returns the source of the shown order. Without a run, only the options of the next run are available.
pub fn order_of(state: &State) -> OrderSource {
    match state.has_run() {
        true => state.session.sampling.of,
        false => OrderSource::Options,
    }
}

/// Returns the shown epoch, the first and the last one.
/// The values are positions for the epochs of a run, and epoch numbers otherwise.
pub fn epochs(state: &State) -> (u32, u32, u32) {
    let count = state.session.run.epochs().len();
    match order_of(state) {
        OrderSource::Run => {
            let last = count.saturating_sub(1);
            let at = state.session.sampling.epoch.map_or(last, |e| e.min(last)) as u32;
            (at, 0, last as u32)
        }
        OrderSource::Next => {
            let last = state.session.run.epochs().last();
            let next = last.map_or(0, |e| e.epoch.saturating_add(1));
            (next, next, next)
        }
        OrderSource::Options => (state.session.sampling.options_epoch.min(LAST), 0, LAST),
    }
}

/// Returns the choice that shows this epoch.
pub fn choice_of(state: &State, epoch: u32) -> Choice {
    let (_, first, last) = epochs(state);
    let epoch = epoch.clamp(first, last);
    let now = state.session.sampling;
    match order_of(state) {
        // Choosing the latest epoch follows it.
        OrderSource::Run => Choice {
            epoch: (epoch < last).then_some(epoch as usize),
            ..now
        },
        OrderSource::Next => now,
        OrderSource::Options => Choice {
            options_epoch: epoch,
            ..now
        },
    }
}

/// Returns the reason why an epoch is incomplete.
pub fn incomplete(state: &State, epoch: usize) -> Option<&'static str> {
    let run = &state.session.run;
    let ended = run.epochs().get(epoch).is_none_or(|e| e.end.is_some());
    match &state.session.source {
        _ if is_complete(run, epoch) => None,
        _ if run.dropped() > 0 => Some(say!("events were dropped, so indices may be missing here")),
        Source::Live { .. } if !ended => Some(say!("still running")),
        _ if run.hidden_after().is_some() => Some(say!("so far: the future is hidden")),
        _ => Some(say!("stopped early")),
    }
}
