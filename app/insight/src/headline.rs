//! Headline of a run: share and cause of the trainer's waiting, or the error of a failed run.

use loadscope_diagnose::WaitSummary;
use loadscope_trace::{Level, Run};
use loadscope_words::say;

use crate::format::capital;

/// Summary of the trainer's waiting.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// Share of the time that the trainer waited, 0 to 1.
    pub share: f64,
    /// True if an error ended the run.
    pub has_failed: bool,
    /// True if the run ended without a batch.
    pub is_empty: bool,
    /// `The trainer waited 1.11 s of 1.59 s (70 %)`, or time and place of the error.
    pub verdict: String,
    /// `0.96 s of it for batch 4: sample 4 took 1.00 s in worker 0 while batches 5 and 7 were already finished`, or the error message.
    pub cause: Option<String>,
    /// Position of the batch with the longest wait, or of the failed batch.
    pub batch: Option<usize>,
}

impl Headline {
    /// Returns the headline of `run`. Returns `None` before the first epoch.
    pub fn of(run: &Run) -> Option<Self> {
        run.epochs().first()?;
        let wait_summary = WaitSummary::of(run);
        if let Some((at, error)) = run.failure() {
            let place = error.place().map(|place| format!(": {place}"));
            return Some(Self {
                share: wait_summary.share(),
                has_failed: true,
                is_empty: false,
                verdict: say!(
                    "The run ended with an error at {}{}",
                    wait_summary.format_time(at),
                    place.unwrap_or_default()
                ),
                cause: Some(error.first_line().to_owned()),
                batch: error.about.and_then(|id| run.row(id)),
            });
        }
        if run.batches().is_empty() && run.has_ended() {
            return Some(Self::of_nothing(run));
        }
        Some(Self {
            share: wait_summary.share() * wait_summary.device.idle_share(),
            has_failed: false,
            is_empty: false,
            verdict: wait_summary.headline(),
            // The window shows the cause on its own line.
            cause: wait_summary.cause().map(|cause| capital(&cause)),
            batch: wait_summary.batch(),
        })
    }

    /// Returns the headline of a run without a batch. The call of `next` that found nothing is not a wait. The first
    /// warning or error is the cause.
    fn of_nothing(run: &Run) -> Self {
        let said = run.messages().iter().map(|(_, message)| message);
        let mut said = said.filter(|message| message.level >= Level::Warning);
        Self {
            share: 0.0,
            has_failed: false,
            is_empty: true,
            verdict: say!("The loader yielded no batch").to_owned(),
            cause: said.next().map(|message| capital(message.first_line())),
            batch: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, Message, Nanos, RunId, RunInfo, Stage};

    use super::*;

    #[test]
    fn the_headline_names_the_batch_and_its_stage() {
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
            Some("100 ms of it for batch 0: fetching in worker 2 took 80.0 ms")
        );
        assert_eq!(headline.batch, Some(0));
        assert!(!headline.has_failed);
    }

    /// A long validation after the epoch is not part of the 200 ms.
    #[test]
    fn the_headline_names_the_loop_if_other_work_is_long() {
        let batch = BatchId::default();
        let headline = |end| {
            let mut run = Run::new(RunInfo::default());
            for (ms, kind) in [
                (0, EventKind::EpochStarted { epoch: 0 }),
                (0, EventKind::dispatched(batch, Some(2), [7])),
                (0, EventKind::Consumer { waiting: true }),
                (
                    100,
                    EventKind::Entered {
                        batch,
                        stage: Stage::Training,
                    },
                ),
                (200, EventKind::EpochEnded { epoch: 0 }),
                (end, EventKind::RunEnded),
            ] {
                run.apply(&Event {
                    at: Nanos::from_millis(ms),
                    run: RunId(0),
                    kind,
                });
            }
            let headline = Headline::of(&run).expect("an epoch has begun");
            headline.verdict.replace('\u{2009}', " ")
        };
        assert_eq!(headline(215), "The trainer waited 100 ms of 200 ms (50 %)");
        assert_eq!(
            headline(900),
            "The trainer waited 100 ms of 200 ms in the DataLoader loop (50 %)"
        );
    }

    /// Regression test: the headline was "The trainer waited 436 µs of 436 µs (100 %)" in red.
    #[test]
    fn a_run_without_batches_has_no_wait_share() {
        let warning = Message {
            level: Level::Warning,
            text: "the dataset has no samples".to_owned(),
            about: None,
            worker: None,
            sample: None,
        };
        let mut run = Run::new(RunInfo::default());
        let tell = |run: &mut Run, ms, kind| {
            run.apply(&Event {
                at: Nanos::from_millis(ms),
                run: RunId(0),
                kind,
            });
        };
        tell(&mut run, 0, EventKind::Message(Box::new(warning)));
        tell(&mut run, 0, EventKind::EpochStarted { epoch: 0 });
        tell(&mut run, 0, EventKind::Consumer { waiting: true });
        let running = Headline::of(&run).expect("an epoch has begun");
        assert!(!running.is_empty, "batches may still come");
        tell(&mut run, 1, EventKind::EpochEnded { epoch: 0 });
        tell(&mut run, 1, EventKind::RunEnded);
        let headline = Headline::of(&run).expect("an epoch has begun");
        assert_eq!((headline.share, headline.is_empty), (0.0, true));
        assert_eq!(headline.verdict, "The loader yielded no batch");
        let cause = headline.cause.as_deref();
        assert_eq!(cause, Some("The dataset has no samples"));
    }

    #[test]
    fn the_error_of_a_failed_run_comes_first() {
        let mut run = Run::new(RunInfo::default());
        let batch = BatchId::default();
        for (ms, kind) in [
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(batch, Some(1), [7])),
            (
                90,
                EventKind::Message(Box::new(Message {
                    level: Level::Error,
                    text: "ValueError: 7 is broken\nfurther lines".to_owned(),
                    about: Some(batch),
                    worker: Some(1),
                    sample: Some(7),
                })),
            ),
            (100, EventKind::RunEnded),
        ] {
            run.apply(&Event {
                at: Nanos::from_millis(ms),
                run: RunId(0),
                kind,
            });
        }
        let headline = Headline::of(&run).expect("an epoch has begun");
        assert!(headline.has_failed);
        assert_eq!(
            headline.verdict.replace('\u{2009}', " "),
            "The run ended with an error at 90.0 ms: sample 7 of batch 0 in worker 1"
        );
        assert_eq!(headline.cause.as_deref(), Some("ValueError: 7 is broken"));
        assert_eq!(headline.batch, Some(0));
    }

    /// Equal waits are reported by number and length, because the longest of them is not a cause.
    #[test]
    fn equal_waits_are_counted_and_a_single_long_wait_is_named() {
        let starved = loadscope_trace::RunOptions {
            dataset: "synthetic:len=256,cost_ms=25".to_owned(),
            batch_size: Some(4),
            num_workers: 1,
            step_ms: 40.0,
            ..loadscope_trace::RunOptions::default()
        };
        let slow = loadscope_trace::RunOptions {
            dataset: "synthetic:len=256,cost_ms=10,slow=90:900".to_owned(),
            num_workers: 2,
            ..starved.clone()
        };
        let cause = |options| {
            let run = crate::simulated(options);
            Headline::of(&run).and_then(|headline| headline.cause)
        };
        let starved = cause(&starved).expect("it waits");
        assert!(
            starved.starts_with("63 waits of about 60.0\u{2009}ms each, the longest ("),
            "{starved}"
        );
        let slow = cause(&slow).expect("it waits");
        assert!(
            !slow.contains("waits of") && slow.contains("batch 22"),
            "{slow}"
        );
    }
}
