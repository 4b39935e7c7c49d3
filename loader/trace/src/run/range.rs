//! Summarizes a time range of a run.

use super::Run;
use crate::{Activity, Lane, Nanos, Sample, Shares, Spans, Track};

/// Summary of a time range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangeSummary {
    /// Start (inclusive).
    pub start: Nanos,
    /// End (exclusive), not later than the last event.
    pub end: Nanos,
    /// Batches that the trainer received.
    pub batches: u64,
    /// Samples in these batches.
    pub samples: u64,
    /// Time of the trainer, by activity.
    pub trainer: Shares,
    /// Time of the workers, or of the main process without workers, by activity.
    pub crew: Shares,
    /// Number of workers, or 1 for the main process.
    pub crew_size: usize,
    /// Time of batches in queues, the reorder buffer and the pin thread.
    pub elsewhere: Shares,
    /// Batch with the longest time in a worker, among those processed in the range: its position and that time.
    pub slowest_batch: Option<(usize, Nanos)>,
    /// Slowest sample fetched in the range, with the position of its batch.
    pub slowest_sample: Option<(usize, Sample)>,
}

impl RangeSummary {
    /// Returns the length of the range.
    pub fn len(&self) -> Nanos {
        self.end - self.start
    }

    /// Returns true if the length is 0.
    pub fn is_empty(&self) -> bool {
        self.end <= self.start
    }

    /// Returns `count` per second of the range. Returns `None` if the range is empty.
    pub fn per_second(&self, count: u64) -> Option<f64> {
        (!self.is_empty()).then(|| count as f64 / self.len().as_secs_f64())
    }
}

/// Time of one batch in its worker.
#[derive(Clone, Copy)]
struct Work {
    row: usize,
    fetch: Nanos,
    all: Nanos,
}

impl Run {
    /// Summarizes the time from `start` to `end`.
    pub fn range(&self, start: Nanos, end: Nanos) -> RangeSummary {
        let (start, end) = (start.min(end), start.max(end).min(self.last));
        let mut range = RangeSummary {
            start,
            end: end.max(start),
            ..RangeSummary::default()
        };
        if range.is_empty() {
            return range;
        }
        for (lane, rows) in self.lanes.iter() {
            let shares = rows
                .iter()
                .map(|spans| spans.until(end) - spans.until(start))
                .fold(Shares::default(), |sum, shares| sum + shares);
            match lane {
                Lane::Trainer => range.trainer = range.trainer + shares,
                Lane::Worker(_) => {
                    range.crew = range.crew + shares;
                    range.crew_size += 1;
                }
                // With `num_workers=0`, a batch is queued in the lane that fetches it.
                Lane::Main => {
                    range.crew = range.crew + shares;
                    range.crew_size += 1;
                }
                _ => range.elsewhere = range.elsewhere + shares,
            }
        }
        self.count_yielded(&mut range);
        self.find_slowest(&mut range);
        range
    }

    fn count_yielded(&self, range: &mut RangeSummary) {
        let Some(rows) = self.lanes.get(&Lane::Trainer) else {
            return;
        };
        for span in rows.iter().flat_map(|s| s.range(range.start, range.end)) {
            if span.activity == Activity::Training
                && span.start >= range.start
                && let Some(batch) = span.batch().and_then(|row| self.batches.get(row))
            {
                range.batches += 1;
                range.samples += u64::from(batch.samples());
            }
        }
    }

    fn find_slowest(&self, range: &mut RangeSummary) {
        let mut work = Vec::new();
        for (lane, rows) in self.lanes.iter() {
            if matches!(lane, Lane::Worker(_) | Lane::Main) {
                rows.iter()
                    .for_each(|spans| self.work_of(spans, range, &mut work));
            }
        }
        // The earliest of equally slow batches counts.
        let slowest = work.iter().rev().max_by_key(|w| w.all);
        range.slowest_batch = slowest.map(|w| (w.row, w.all));
        // A sample takes no longer than the fetch of its batch. The longest fetch is searched first. After that, only fetches longer than
        // the slowest sample so far are searched.
        let likely = work.iter().max_by_key(|w| w.fetch).copied();
        for work in likely.iter().chain(&work) {
            let found = range.slowest_sample.map_or(Nanos(-1), |(_, s)| s.wall);
            if work.fetch <= found {
                continue;
            }
            let samples = self.samples(work.row);
            let inside = samples.filter(|s| s.end() > range.start && s.start < range.end);
            if let Some(slowest) = inside.max_by_key(|s| (s.wall, std::cmp::Reverse(s.position)))
                && slowest.wall > found
            {
                range.slowest_sample = Some((work.row, slowest));
            }
        }
    }

    /// Appends the batches of a worker in the range, with their whole time, including time outside of the range.
    fn work_of(&self, spans: &Spans, range: &RangeSummary, out: &mut Vec<Work>) {
        let all = spans.all();
        let touched = spans.range(range.start, range.end);
        let Some(first) = touched.first() else {
            return;
        };
        let mut at = spans.index_after(range.start);
        let after = at + touched.len();
        // The fetch of the first batch can begin before the range.
        while at > 0 && all[at - 1].batch == first.batch {
            at -= 1;
        }
        let mut last: Option<Work> = None;
        for (k, span) in all.iter().enumerate().skip(at) {
            let Some(row) = span.batch() else {
                continue;
            };
            let goes_on = last.is_some_and(|w| w.row == row);
            if k >= after && !goes_on {
                break;
            }
            if !goes_on {
                out.extend(last.take());
            }
            let took = span.end.min(self.last) - span.start;
            let work = last.get_or_insert(Work {
                row,
                fetch: Nanos::ZERO,
                all: Nanos::ZERO,
            });
            match span.activity {
                Activity::Fetching => {
                    work.fetch += took;
                    work.all += took;
                }
                Activity::Collating => work.all += took,
                _ => {}
            }
        }
        out.extend(last);
    }

    /// Returns the time of all rows of a lane between two instants, by activity.
    pub fn spent(&self, lane: Lane, start: Nanos, end: Nanos) -> Shares {
        let rows = self.lanes.get(&lane).map_or(0, |rows| rows.len());
        let tracks = (0..rows).filter_map(|row| {
            let row = u16::try_from(row).ok()?;
            self.track(Track { lane, row })
        });
        tracks.fold(Shares::default(), |sum, t| {
            sum + (t.until(end) - t.until(start))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Fetched;
    use crate::{BatchId, Event, EventKind, RunId, SampleTiming, Stage};

    #[test]
    fn range_summaries_add_up_and_name_the_slowest() {
        let mut run = Run::default();
        let id = |idx| BatchId { epoch: 0, idx };
        let enter = |idx, stage| EventKind::Entered {
            batch: id(idx),
            stage,
        };
        let fetched = |idx, starts: &[(i64, i64)]| {
            let timing = |&(start, wall): &(i64, i64)| SampleTiming {
                start: Nanos(start),
                wall: Nanos(wall),
                cpu: None,
            };
            EventKind::Fetched(Box::new(Fetched {
                batch: id(idx),
                samples: starts.iter().map(timing).collect(),
                stages: Vec::new(),
            }))
        };
        for (at, kind) in [
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(id(0), Some(0), [7, 8])),
            (0, EventKind::dispatched(id(1), Some(0), [9, 10])),
            (0, EventKind::Consumer { waiting: true }),
            (0, enter(0, Stage::Fetching)),
            (40, fetched(0, &[(0, 10), (10, 30)])),
            (40, enter(0, Stage::Collating)),
            (50, enter(0, Stage::Training)),
            (50, enter(1, Stage::Fetching)),
            (75, fetched(1, &[(50, 20), (70, 5)])),
            (75, enter(1, Stage::Collating)),
            (78, enter(1, Stage::Returning)),
            (80, EventKind::Consumer { waiting: true }),
            (100, enter(1, Stage::Training)),
            (200, EventKind::EpochEnded { epoch: 0 }),
        ] {
            run.apply(&Event {
                at: Nanos(at),
                run: RunId(0),
                kind,
            });
        }
        let all = run.range(Nanos(0), Nanos(1_000));
        assert_eq!((all.batches, all.samples, all.end), (2, 4, Nanos(200)));
        assert_eq!(all.trainer.time_in(Activity::Waiting), Nanos(70));
        assert_eq!(all.crew.total(), Nanos(78));
        assert_eq!(all.slowest_batch, Some((0, Nanos(50))));
        let (row, sample) = all.slowest_sample.expect("samples were measured");
        assert_eq!((row, sample.index, sample.wall), (0, Some(8), Nanos(30)));
        assert_eq!(all.per_second(all.batches), Some(2.0 / 200e-9));

        // The range begins while batch 0 is collated. Its whole time counts, but not its samples.
        let part = run.range(Nanos(120), Nanos(45));
        assert_eq!(
            (part.start, part.end, part.batches),
            (Nanos(45), Nanos(120), 2)
        );
        assert_eq!(part.slowest_batch, Some((0, Nanos(50))));
        assert_eq!(
            part.slowest_sample.map(|(row, s)| (row, s.index)),
            Some((1, Some(9)))
        );
        assert!(run.range(Nanos(500), Nanos(600)).is_empty());
    }
}
