//! The first thing to read: is the trainer waiting, for how much of the time, and because of what.

use loadscope_trace::{Nanos, Run, Stage};

use crate::format;

/// What the trainer's waiting comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// Share of the time that the trainer waited, 0 to 1.
    pub share: f64,
    /// `The trainer waited 1.11 s of 1.59 s (70 %)`.
    pub verdict: String,
    /// `0.96 s of it for batch 4, which was Fetching in worker 0`.
    pub cause: Option<String>,
    /// The batch that was waited for longest, by position.
    pub batch: Option<usize>,
}

impl Headline {
    /// Sums up `run`; `None` before the first epoch.
    pub fn of(run: &Run) -> Option<Self> {
        let start = run.epochs().first()?.start;
        let end = run.epochs().last().and_then(|e| e.end).unwrap_or(run.end());
        let total = end - start;
        let waited = run.waited();
        let share = if total.0 > 0 {
            waited.0 as f64 / total.0 as f64
        } else {
            0.0
        };
        let verb = if run.has_ended() {
            "waited"
        } else {
            "has waited"
        };
        let verdict = format!(
            "The trainer {verb} {waited} of {total} ({})",
            format::percent(share)
        );
        let longest = longest_wait(run, end);
        Some(Self {
            share,
            verdict,
            cause: longest.map(|w| w.sentence(run)),
            batch: longest.map(|w| w.row),
        })
    }
}

#[derive(Clone, Copy)]
struct LongestWait {
    row: usize,
    took: Nanos,
    /// The stage the batch was in for most of it.
    stage: Stage,
}

fn longest_wait(run: &Run, end: Nanos) -> Option<LongestWait> {
    let length = |w: &loadscope_trace::Wait| w.end.min(end) - w.start;
    let wait = run.waits().iter().max_by_key(|w| length(w))?;
    let row = match wait.batch {
        Some(row) => row as usize,
        None if wait.end == Nanos::MAX => run.machine_at(end).awaited()?.row,
        None => return None,
    };
    let overlap =
        |from: Nanos, to: Nanos| (to.min(wait.end.min(end)) - from.max(wait.start)).0.max(0);
    let path = run.path(row);
    let main = path
        .iter()
        .max_by_key(|s| overlap(s.start, s.end.unwrap_or(end)))?;
    Some(LongestWait {
        row,
        took: length(wait),
        stage: main.stage,
    })
}

impl LongestWait {
    fn sentence(&self, run: &Run) -> String {
        let batch = &run.batches()[self.row];
        let place = match batch.worker {
            Some(worker) => format!("worker {worker}"),
            None => "the main thread".to_owned(),
        };
        let what = match self.stage {
            Stage::Queued => format!("was still queued for {place}"),
            Stage::Fetching => match slowest_sample(run, self.row) {
                Some(sample) => format!("was being fetched by {place}: {sample}"),
                None => format!("was being fetched by {place}"),
            },
            Stage::Collating => format!("was being collated by {place}"),
            Stage::Returning => "was in the result queue".to_owned(),
            Stage::Pinning => "was being pinned".to_owned(),
            _ => "was on its way".to_owned(),
        };
        format!("{} of it for {}, which {what}", self.took, batch.id)
    }
}

/// `sample 4 took 1.00 s`, if one sample took more than half of the batch.
fn slowest_sample(run: &Run, row: usize) -> Option<String> {
    let total: i64 = run.samples(row).map(|s| s.wall.0).sum();
    let slowest = run.samples(row).max_by_key(|s| s.wall)?;
    let index = slowest.index?;
    (slowest.wall.0 * 2 > total).then(|| format!("sample {index} took {}", slowest.wall))
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunId, RunInfo};

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
            Some("100 ms of it for batch 0, which was being fetched by worker 2")
        );
    }
}
