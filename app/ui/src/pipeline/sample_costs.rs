//! Sample costs, compared with the median.

use loadscope_model::state::State;
use loadscope_trace::{HeldBatch, Nanos, Run};
use loadscope_words::say;

/// Maximum number of batches, from all over the run, that the median is computed from.
const MAX_BATCHES: usize = 256;

/// Median sample cost, updated as the run grows.
#[derive(Debug, Default)]
pub struct MedianCost {
    /// Run number, and its number of batches at the last update.
    computed_for: (u64, usize),
    median: Option<Nanos>,
}

impl MedianCost {
    /// Recomputes the median if the run changes or has grown by about a tenth.
    pub fn update(&mut self, state: &State) {
        let run = &state.session.run;
        let (number, count) = (state.session.run_number, run.batches().len());
        let (of, seen) = self.computed_for;
        if of == number && (seen..seen + seen / 10 + 8).contains(&count) && self.median.is_some() {
            return;
        }
        self.computed_for = (number, count);
        let rows = (0..count).step_by(count / MAX_BATCHES + 1);
        let mut walls: Vec<Nanos> = rows
            .flat_map(|row| run.samples(row).map(|s| s.wall))
            .collect();
        let middle = walls.len() / 2;
        self.median = match walls.is_empty() {
            true => None,
            false => Some(*walls.select_nth_unstable(middle).1),
        };
    }

    /// Returns the median sample time.
    pub fn get(&self) -> Option<Nanos> {
        self.median.filter(|median| *median > Nanos::ZERO)
    }
}

/// Sample that is being read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleProgress {
    /// Position in the batch. `of` is the number of samples in the batch.
    pub position: usize,
    pub of: usize,
    /// Index in the dataset.
    pub index: Option<u64>,
    /// Reading time so far.
    pub so_far: Nanos,
}

impl SampleProgress {
    /// Compares the cost with the median: `sample 1 of 32: 264 ms so far, 30× the median`.
    pub fn compared_to_median(&self, median: Option<Nanos>) -> Option<String> {
        let ratio = self.so_far.0 as f64 / median?.0.max(1) as f64;
        let (at, of, so_far) = (self.position + 1, self.of, self.so_far);
        let times = match ratio {
            0.0..10.0 => format!("{ratio:.1}"),
            _ => format!("{ratio:.0}"),
        };
        Some(say!(
            "sample {at} of {of}: {so_far} so far, {times}× the median"
        ))
    }
}

/// Returns the sample of a batch that is being read at `now`.
pub fn sample_in_progress(run: &Run, batch: &HeldBatch, now: Nanos) -> Option<SampleProgress> {
    let (of, begun) = run.samples_begun(batch.row, now);
    let here = begun.last().filter(|s| now < s.end())?;
    Some(SampleProgress {
        position: here.position,
        of,
        index: here.index,
        so_far: now - here.start,
    })
}

/// Part of a strip: one sample, or several where there is no room for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// Not started.
    Pending,
    /// Being read, with the time so far.
    Reading(Nanos),
    /// Read, with its duration. If the part contains several samples, this is the longest duration.
    Done(Nanos),
}

/// Splits the samples of a batch at `now` into at most `most` parts.
pub fn parts(run: &Run, batch: &HeldBatch, now: Nanos, most: usize) -> Vec<Part> {
    let (count, begun) = run.samples_begun(batch.row, now);
    let parts = count.min(most.max(1));
    let mut all = vec![Part::Pending; parts];
    for sample in begun {
        let part = &mut all[sample.position * parts / count.max(1)];
        let this = match sample.end() <= now {
            false => Part::Reading(now - sample.start),
            true => Part::Done(sample.wall),
        };
        *part = match (*part, this) {
            (Part::Done(a), Part::Done(b)) => Part::Done(a.max(b)),
            (_, this) => this,
        };
    }
    all
}

/// Returns the emphasis of a cost, from 0 (at most half the median) to 1 (at least sixteen times the median).
pub fn weight(cost: Nanos, median: Option<Nanos>) -> f32 {
    let Some(median) = median else {
        return 0.0;
    };
    let ratio = cost.0.max(1) as f32 / median.0.max(1) as f32;
    ((ratio.log2() + 1.0) / 5.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use loadscope_model::state::SessionState;
    use loadscope_trace::{RunOptions, Stage};

    use super::*;

    /// Returns a state with batches of 8 samples of 10 ms. Sample 11 takes 300 ms.
    fn state() -> State {
        let options = RunOptions {
            dataset: "synthetic:len=64,cost_ms=10,slow=11:300".to_owned(),
            batch_size: Some(8),
            num_workers: 1,
            ..RunOptions::default()
        };
        let run = loadscope_lessons::simulated(&options).expect("sound options");
        State {
            session: SessionState {
                run,
                ..SessionState::default()
            },
            ..State::default()
        }
    }

    #[test]
    fn a_slow_sample_is_shown_while_it_is_read() {
        let state = state();
        let run = &state.session.run;
        let mut median = MedianCost::default();
        median.update(&state);
        assert_eq!(median.get(), Some(Nanos::from_millis(10)));
        let slow = run.samples(1).nth(3).expect("batch 1 has 8");
        let now = slow.start + Nanos::from_millis(264);
        let pipeline = run.pipeline_at(now);
        let batch = pipeline
            .batches()
            .find(|b| b.row == 1)
            .expect("it is fetched");
        assert_eq!(batch.stage, Stage::Fetching);
        let reading = sample_in_progress(run, &batch, now).expect("a sample is read");
        assert_eq!(
            (reading.position, reading.of, reading.index),
            (3, 8, Some(11))
        );
        assert_eq!(reading.so_far, Nanos::from_millis(264));
        let said = reading
            .compared_to_median(median.get())
            .expect("the median is known");
        let said = said.replace('\u{2009}', " ");
        assert_eq!(said, "sample 4 of 8: 264 ms so far, 26× the median");
        let parts = parts(run, &batch, now, 100);
        assert_eq!(parts[..3], [Part::Done(Nanos::from_millis(10)); 3]);
        assert_eq!(parts[3], Part::Reading(Nanos::from_millis(264)));
        assert_eq!(parts[4..], [Part::Pending; 4]);
        assert!(weight(reading.so_far, median.get()) > 0.9);
        assert!(weight(Nanos::from_millis(10), median.get()) < 0.3);
    }

    #[test]
    fn with_little_space_the_slowest_sample_is_shown() {
        let state = state();
        let run = &state.session.run;
        let end = run.samples(1).last().expect("batch 1 has 8").end();
        let pipeline = run.pipeline_at(end - Nanos(1));
        let batch = pipeline
            .batches()
            .find(|b| b.row == 1)
            .expect("it is fetched");
        let parts = parts(run, &batch, end, 2);
        assert_eq!(
            parts,
            [300, 10].map(|ms| Part::Done(Nanos::from_millis(ms)))
        );
    }
}
