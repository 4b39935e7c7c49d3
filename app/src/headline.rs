//! The first thing to read: is the trainer waiting, for how much of the time, and because of what.

use loadscope_trace::{Glance, Run};

/// What the trainer's waiting comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// Share of the time that the trainer waited, 0 to 1.
    pub share: f64,
    /// `The trainer waited 1.11 s of 1.59 s (70 %)`.
    pub verdict: String,
    /// `0.96 s of it for batch 4: sample 4 took 1.00 s in worker 0 while batches 5 and 7 lay ready`
    pub cause: Option<String>,
    /// The batch that was waited for longest, by position.
    pub batch: Option<usize>,
}

impl Headline {
    /// Sums up `run`; `None` before the first epoch.
    pub fn of(run: &Run) -> Option<Self> {
        run.epochs().first()?;
        let glance = Glance::of(run);
        Some(Self {
            share: glance.share(),
            verdict: glance.headline(),
            cause: glance.cause(),
            batch: glance.batch(),
        })
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, Nanos, RunId, RunInfo, Stage};

    use super::*;

    #[test]
    fn it_names_the_batch_and_its_stage() {
        let mut run = Run::new(RunInfo::default());
        assert_eq!(Headline::of(&run), None);
        let batch = BatchId::default();
        let enter = |stage| EventKind::Entered { batch, stage };
        for (ms, kind) in [
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(batch, Some(2), [7])),
            (0, EventKind::Consumer { waiting: true }),
            (10, enter(Stage::Fetching)),
            (90, enter(Stage::Returning)),
            (100, enter(Stage::Training)),
            (200, EventKind::EpochEnded { epoch: 0 }),
            (200, EventKind::RunEnded),
        ] {
            run.apply(&Event {
                at: Nanos::from_millis(ms),
                run: RunId(0),
                kind,
            });
        }
        let headline = Headline::of(&run).expect("an epoch has begun");
        let plain = |text: String| text.replace('\u{2009}', " ");
        assert_eq!(
            plain(headline.verdict),
            "The trainer waited 100 ms of 200 ms (50 %)"
        );
        assert_eq!(
            headline.cause.map(plain).as_deref(),
            Some("100 ms of it for batch 0: it was fetched by worker 2")
        );
        assert_eq!(headline.batch, Some(0));
    }
}
