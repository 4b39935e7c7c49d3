//! Sparkline of the share of time waiting, with one time scale for two runs.

use loadscope_diagnose::Survey;
use loadscope_trace::{Activity, Lane, Nanos};

/// Length of the longer run, characters.
const PARTS: i64 = 64;
/// Characters by share of time waiting, from 0 % to 100 %.
const LEVELS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns one character for each 1/[`PARTS`] of `longest` that `run` covers.
pub fn strip(run: &Survey, longest: Nanos) -> String {
    let at = |k: i64| {
        let offset = i128::from(longest.0) * i128::from(k) / i128::from(PARTS);
        run.start + Nanos(i64::try_from(offset).unwrap_or(i64::MAX))
    };
    let parts = (0..PARTS).map(|k| (at(k), at(k + 1).min(run.end)));
    let parts = parts.take_while(|(from, to)| from < to);
    let level = |(from, to): (Nanos, Nanos)| {
        let waited = run
            .run
            .spent(Lane::Trainer, from, to)
            .time_in(Activity::Waiting);
        let share = waited.0 as f64 / (to - from).0 as f64;
        let top = (LEVELS.len() - 1) as f64;
        // The level is rounded up, so that a short wait is visible.
        let level = (share * top).ceil().clamp(0.0, top);
        LEVELS[level as usize]
    };
    parts.map(level).collect()
}
