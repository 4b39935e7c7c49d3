//! Selection of a part of a long recording: segments of consecutive batches across each epoch. Results of an epoch's part are scaled to the
//! whole epoch.

use loadscope_trace::Run;

use crate::forecast::number;

/// Maximum number of segments of an epoch. Many segments cover local effects.
const STRETCHES: usize = 256;
/// Minimum length of a segment, in prefetch windows. In a longer segment, the effects at its ends do not matter.
const WINDOWS: usize = 8;
/// Maximum number of epochs.
const EPOCHS: usize = 16;

/// Part of an epoch.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Position of the epoch in the run.
    pub epoch: usize,
    /// Half-open ranges of its tasks.
    pub tasks: Vec<(usize, usize)>,
    pub weight: Weight,
}

/// Scale from a part to the whole recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Weight {
    /// Batches of the epoch per selected batch.
    pub batches: f64,
    /// Epochs per selected epoch.
    pub epochs: f64,
}

impl Default for Weight {
    fn default() -> Self {
        Self {
            batches: 1.0,
            epochs: 1.0,
        }
    }
}

/// Returns all batches of the run.
pub(super) fn whole(run: &Run) -> Vec<Part> {
    let epochs = run.epochs().iter().enumerate();
    let parts = epochs.map(|(epoch, e)| Part {
        epoch,
        tasks: vec![(0, e.rows.len())],
        weight: Weight::default(),
    });
    parts.collect()
}

/// Returns about `most` batches, or all if there are fewer.
pub(super) fn of_at_most(run: &Run, most: usize) -> Vec<Part> {
    let all: usize = run.epochs().iter().map(|e| e.rows.len()).sum();
    if all <= most {
        return whole(run);
    }
    let chosen = chosen_epochs(run);
    let few: usize = chosen.iter().map(|e| run.epochs()[*e].rows.len()).sum();
    let share = (most as f64 / few.max(1) as f64).min(1.0);
    // The first epoch has weight 1, since workers start in it. The other selected epochs represent the rest.
    let others = run.epochs().len().saturating_sub(1);
    let each = others as f64 / chosen.len().saturating_sub(1).max(1) as f64;
    let window = run.info.options.window().max(1);
    let parts = chosen.into_iter().map(|epoch| {
        let len = run.epochs()[epoch].rows.len();
        let tasks = stretches(len, (len as f64 * share) as usize, window);
        let kept: usize = tasks.iter().map(|(start, end)| end - start).sum();
        Part {
            epoch,
            tasks,
            weight: Weight {
                batches: len as f64 / kept.max(1) as f64,
                epochs: if epoch == 0 { 1.0 } else { each },
            },
        }
    });
    parts.collect()
}

/// Returns the first epoch, and others at equal distances.
fn chosen_epochs(run: &Run) -> Vec<usize> {
    let epochs = run.epochs().len();
    let count = epochs.min(EPOCHS);
    (0..count)
        .map(|k| k * (epochs - 1) / (count - 1).max(1))
        .collect()
}

/// Returns segments with about `most` of `len` tasks in total, including the first tasks.
fn stretches(len: usize, most: usize, window: usize) -> Vec<(usize, usize)> {
    let least = WINDOWS.saturating_mul(window).min(len).max(1);
    let count = (most / least).clamp(1, STRETCHES);
    let each = (most / count).max(least);
    if each.saturating_mul(count) >= len {
        return vec![(0, len)];
    }
    // Each of `count` equal sections contains one segment at a pseudorandom place, so that periodic effects are not missed. The first
    // segment is at the start.
    let of = len / count;
    let place = |k: usize| (number::uniform(k as u64) * (of - each + 1) as f64) as usize;
    (0..count)
        .map(|k| k * of + if k == 0 { 0 } else { place(k) })
        .map(|start| (start, start + each))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_do_not_overlap_and_have_the_requested_length() {
        assert_eq!(stretches(100, 200, 4), [(0, 100)]);
        let two = stretches(1_000, 64, 4);
        assert!(two[0] == (0, 32) && (500..=968).contains(&two[1].0));
        let many = stretches(1_000_000, 8_192, 4);
        assert_eq!(many.len(), STRETCHES);
        assert!(many.iter().all(|(start, end)| end - start == 32));
        assert!(many.windows(2).all(|w| w[0].1 <= w[1].0));
        let last = many[STRETCHES - 1].1;
        assert!(last <= 1_000_000 && last > 995_000, "{last}");
        // The window is larger than the epoch.
        assert_eq!(stretches(1_000, 10, 5_000), [(0, 1_000)]);
        assert_eq!(stretches(0, 0, 1), [(0, 0)]);
    }
}
