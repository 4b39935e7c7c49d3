//! Differences of a program with other settings: output, sample order, batch contents.
//!
//! Programs print times and shuffle without a seed. Only parts that are equal in all unchanged runs are compared.

use std::collections::BTreeMap;

use loadscope_trace::{BatchId, Run, Stage};
use loadscope_words::say;

/// Maximum number of compared output lines.
const MAX_LINES: usize = 2_000;

/// Results of a run of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOutput {
    /// Output lines of the program.
    pub printed: Vec<String>,
    /// Dataset indices of each batch, in yield order.
    pub order: Vec<Vec<u64>>,
    /// Digests of the contents of the first batches.
    pub contents: BTreeMap<BatchId, u32>,
}

/// A difference between a run with other settings and the unchanged runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputDifference {
    /// The program printed another line. Its number, from 1.
    Printed(usize),
    /// A batch has other samples. Its number, from 0.
    Order(usize),
    /// A batch has the same samples with other values.
    Contents(BatchId),
    /// A batch of a stream, which has no indices, has other values.
    Stream(BatchId),
}

impl RunOutput {
    /// Collects the results of a run. `log` is the program's output.
    pub fn of(run: &Run, log: &str) -> Self {
        let rows = 0..run.batches().len();
        let digest = |row: usize| Some((run.batches()[row].id, run.content(row)?.digest()?));
        let contents = rows.clone().filter_map(digest).collect();
        let yielded = rows.filter_map(|row| Some((run.entered(row, Stage::Training)?, row)));
        let mut yielded: Vec<_> = yielded.collect();
        yielded.sort_unstable();
        let indices = yielded.iter().map(|(_, row)| run.indices(*row).to_vec());
        Self {
            printed: log.lines().take(MAX_LINES).map(str::to_owned).collect(),
            order: indices.collect(),
            contents,
        }
    }

    /// Returns the differences from the unchanged runs. With fewer than two of them, no part is known to be stable.
    pub fn differences(&self, as_it_is: &[&Self]) -> Vec<OutputDifference> {
        let [first, others @ ..] = as_it_is else {
            return Vec::new();
        };
        if others.is_empty() {
            return Vec::new();
        }
        let line = first_difference(&self.printed, &first.printed, |at, line| {
            others.iter().all(|o| o.printed.get(at) == Some(line))
        });
        // The output of a run that was ended early can stop in the middle of the last line.
        let line = line.filter(|at| at + 1 < self.printed.len());
        let batch = first_difference(&self.order, &first.order, |at, batch| {
            !batch.is_empty() && others.iter().all(|o| o.order.get(at) == Some(batch))
        });
        // Other samples imply other values.
        let values = match batch {
            Some(_) => None,
            None => self.other_values(first, others),
        };
        let line = line.map(|at| OutputDifference::Printed(at + 1));
        let samples = batch.map(OutputDifference::Order);
        let is_stream = first.order.iter().all(Vec::is_empty);
        let values = values.map(match is_stream {
            true => OutputDifference::Stream,
            false => OutputDifference::Contents,
        });
        let all = [line, samples, values];
        all.into_iter().flatten().collect()
    }

    /// Returns the first batch whose values are equal in all unchanged runs, but different here.
    fn other_values(&self, first: &Self, others: &[&Self]) -> Option<BatchId> {
        let mut differing = first.contents.iter().filter(|(id, digest)| {
            let is_stable = others.iter().all(|o| o.contents.get(id) == Some(*digest));
            is_stable && self.contents.get(id).is_some_and(|own| own != *digest)
        });
        differing.next().map(|(id, _)| *id)
    }
}

/// Returns the first position at which two lists differ and `is_stable` is true.
fn first_difference<T: PartialEq>(
    mine: &[T],
    first: &[T],
    is_stable: impl Fn(usize, &T) -> bool,
) -> Option<usize> {
    let both = mine.iter().zip(first).enumerate();
    let mut differing = both.filter(|(at, (a, b))| a != b && is_stable(*at, b));
    differing.next().map(|(at, _)| at)
}

impl OutputDifference {
    /// Describes the difference, as in `num_workers=4 changes the output of the program: line 3 differs from the runs as it is`.
    pub fn sentence(self, setting: &str) -> String {
        match self {
            Self::Printed(line) => say!(
                "{setting} changes the output of the program: line {line} differs from the runs as it is"
            ),
            Self::Order(batch) => say!(
                "{setting} changes the samples of the batches: batch {batch} differs from the runs as it is"
            ),
            Self::Contents(batch) => say!(
                "{setting} changes the values of the batches: {batch} differs from the runs as it is. Random augmentations depend on the worker."
            ),
            Self::Stream(batch) => say!(
                "{setting} changes the batches: {batch} differs from the runs as it is. The number of workers divides the stream."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(printed: &[&str], order: &[&[u64]]) -> RunOutput {
        RunOutput {
            printed: printed.iter().map(|&line| line.to_owned()).collect(),
            order: order.iter().map(|batch| batch.to_vec()).collect(),
            contents: BTreeMap::new(),
        }
    }

    #[test]
    fn only_stable_output_and_order_can_differ() {
        let first = outcome(
            &["start", "loss 0.5", "took 1.2 s", "end"],
            &[&[0, 1], &[2, 3]],
        );
        let again = outcome(
            &["start", "loss 0.5", "took 1.3 s", "end"],
            &[&[0, 1], &[2, 3]],
        );
        let as_it_is = [&first, &again];
        assert_eq!(again.differences(&as_it_is), []);
        let timed = outcome(
            &["start", "loss 0.5", "took 0.4 s", "end"],
            &[&[0, 1], &[2, 3]],
        );
        assert_eq!(timed.differences(&as_it_is), []);
        let other = outcome(
            &["start", "loss 0.7", "took 0.4 s", "end"],
            &[&[0, 1], &[3, 2]],
        );
        assert_eq!(
            other.differences(&as_it_is),
            [OutputDifference::Printed(2), OutputDifference::Order(1)]
        );
        // The output stops earlier, in the middle of a line.
        let cut = outcome(&["start", "lo"], &[&[0, 1]]);
        assert_eq!(cut.differences(&as_it_is), []);
    }

    #[test]
    fn other_values_of_the_same_samples_are_a_difference() {
        let with = |digests: &[u32]| {
            let ids = (0..).map(|idx| BatchId { epoch: 0, idx });
            RunOutput {
                contents: ids.zip(digests.iter().copied()).collect(),
                ..outcome(&[], &[&[0, 1], &[2, 3]])
            }
        };
        let (first, again) = (with(&[1, 2, 3]), with(&[1, 2, 9]));
        let as_it_is = [&first, &again];
        let second = BatchId { epoch: 0, idx: 1 };
        assert_eq!(with(&[1, 2]).differences(&as_it_is), []);
        assert_eq!(
            with(&[1, 7, 3]).differences(&as_it_is),
            [OutputDifference::Contents(second)]
        );
        // Unseeded random numbers differ between unchanged runs.
        assert_eq!(with(&[1, 2, 7]).differences(&as_it_is), []);
        // A stream has no indices.
        let stream = |digests: &[u32]| RunOutput {
            order: vec![Vec::new(); 2],
            ..with(digests)
        };
        let as_streams = [&stream(&[1, 2]), &stream(&[1, 2])];
        assert_eq!(
            stream(&[1, 7]).differences(&as_streams),
            [OutputDifference::Stream(second)]
        );
        let shuffled = RunOutput {
            order: vec![vec![2, 3], vec![0, 1]],
            ..with(&[5, 6])
        };
        assert_eq!(
            shuffled.differences(&as_it_is),
            [OutputDifference::Order(0)]
        );
    }

    #[test]
    fn shuffling_without_a_seed_is_no_difference() {
        let runs = [[4, 1], [2, 7], [5, 0]].map(|batch| outcome(&[], &[&batch]));
        assert_eq!(runs[2].differences(&[&runs[0], &runs[1]]), []);
        // A single run does not show which parts are stable.
        assert_eq!(runs[2].differences(&[&runs[0]]), []);
        // Streams have no indices.
        let stream = outcome(&[], &[&[]]);
        assert_eq!(runs[0].differences(&[&stream, &stream]), []);
    }
}
