//! Activity of a trainer in equal parts of the time.

use loadscope_trace::{Activity, Lane, Nanos, Run};

use crate::waits::LONG;

/// Maximum number of waits per part that are classified one by one. For more, their mean length decides.
const MAX_CLASSIFIED: usize = 64;

/// Activity of a trainer in a part of the time, as shares from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// Share of training.
    pub trained: f32,
    /// Share of waits shorter than `LONG`.
    pub briefly: f32,
    /// Share of waits of at least `LONG`.
    pub waited: f32,
}

impl Part {
    /// Returns the share of all waits.
    pub fn waiting(&self) -> f32 {
        self.briefly + self.waited
    }
}

/// Returns the activity of the trainer of `run` in `count` equal parts of the time from `start` to `end`.
pub fn trainer(run: &Run, (start, end): (Nanos, Nanos), count: usize) -> Vec<Part> {
    let length = i128::from((end - start).0);
    let at = |k: usize| start + Nanos((length * k as i128 / count.max(1) as i128) as i64);
    (0..count).map(|k| part(run, at(k), at(k + 1))).collect()
}

fn part(run: &Run, start: Nanos, end: Nanos) -> Part {
    let whole = (end - start).0.max(1) as f32;
    let spent = run.spent(Lane::Trainer, start, end);
    let waited = spent.time_in(Activity::Waiting);
    let brief = match waited {
        Nanos::ZERO => waited,
        _ => briefly(run, start, end, waited).min(waited),
    };
    let share = |time: Nanos| (time.0 as f32 / whole).clamp(0.0, 1.0);
    Part {
        trained: share(spent.time_in(Activity::Training)),
        briefly: share(brief),
        waited: share(waited - brief),
    }
}

/// Returns the part of `waited` between `start` and `end` that is in short waits. If there are many, only their mean is
/// used, to bound the cost of a strip.
fn briefly(run: &Run, start: Nanos, end: Nanos, waited: Nanos) -> Nanos {
    let waits = run.waits();
    let first = waits.partition_point(|wait| wait.end <= start);
    let after = first
        + waits
            .range(first..)
            .partition_point(|wait| wait.start < end);
    let inside = waits.range(first..after);
    if inside.len() > MAX_CLASSIFIED {
        let mean = Nanos(waited.0 / inside.len() as i64);
        return if mean < LONG { waited } else { Nanos::ZERO };
    }
    let short = inside
        .iter()
        .filter(|wait| wait.end.min(run.end()) - wait.start < LONG);
    short.fold(Nanos::ZERO, |sum, wait| {
        sum + (wait.end.min(run.end()).min(end) - wait.start.max(start)).max(Nanos::ZERO)
    })
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunId, Stage};

    use super::*;

    /// Returns the run of a trainer with these waits per batch, µs, and training steps of a millisecond.
    fn run(waits: &[i64]) -> Run {
        let mut run = Run::default();
        let mut now = 0;
        let mut tell = |us: i64, kind| {
            run.apply(&Event {
                at: Nanos(us * 1_000),
                run: RunId(0),
                kind,
            });
        };
        tell(0, EventKind::EpochStarted { epoch: 0 });
        for (idx, wait) in (0..).zip(waits) {
            let batch = BatchId { epoch: 0, idx };
            tell(now, EventKind::Consumer { waiting: true });
            tell(now, EventKind::dispatched(batch, Some(0), []));
            now += wait;
            let stage = Stage::Training;
            tell(now, EventKind::Entered { batch, stage });
            now += 1_000;
        }
        tell(now, EventKind::RunEnded);
        run
    }

    #[test]
    fn short_and_long_waits_have_separate_shares() {
        let run = run(&[200, 3_000, 300]);
        let [all] = trainer(&run, (Nanos::ZERO, run.end()), 1)[..] else {
            panic!("one part");
        };
        let near = |share: f32, us: f32| (share - us / 6_500.0).abs() < 1e-3;
        assert!(near(all.trained, 3_000.0), "{all:?}");
        assert!(near(all.briefly, 500.0), "{all:?}");
        assert!(near(all.waited, 3_000.0), "{all:?}");
        assert!((all.waiting() - all.briefly - all.waited).abs() < 1e-6);
    }

    /// A wait across several parts counts with its full length in each part.
    #[test]
    fn a_long_wait_is_long_in_each_of_its_parts() {
        let run = run(&[3_000]);
        let parts = trainer(&run, (Nanos::ZERO, Nanos::from_millis(3)), 6);
        assert!(parts.iter().all(|part| part.waited > 0.99), "{parts:?}");
    }

    #[test]
    fn the_mean_of_many_waits_decides_their_class() {
        let of = |us: i64| {
            let run = run(&[us; 200]);
            trainer(&run, (Nanos::ZERO, run.end()), 1)[0]
        };
        let (short, long) = (of(500), of(2_000));
        assert!(short.briefly > 0.3 && short.waited < 0.01, "{short:?}");
        assert!(long.waited > 0.6 && long.briefly < 0.01, "{long:?}");
    }
}
