//! Which part of a long recording is looked at: stretches of neighbouring batches all over it. What is found out about an
//! epoch of them is reported for the whole epoch.

use loadscope_trace::Run;

use crate::forecast::number;

/// Stretches of an epoch: what happens in some part of it only is not overlooked.
const STRETCHES: usize = 256;
/// A stretch holds so many windows of batches at least, so that its ends do not matter.
const WINDOWS: usize = 8;
/// Epochs that are looked at.
const EPOCHS: usize = 16;

/// A part of an epoch.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Position of the epoch in the run.
    pub epoch: usize,
    /// Positions of its tasks: from the first until the second.
    pub tasks: Vec<(usize, usize)>,
    /// For how much it stands.
    pub weight: Weight,
}

/// For how much of a recording a part of it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Weight {
    /// Batches of the epoch for each that is looked at.
    pub batches: f64,
    /// Epochs for each that is looked at.
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

/// Everything.
pub(super) fn whole(run: &Run) -> Vec<Part> {
    let epochs = run.epochs().iter().enumerate();
    let parts = epochs.map(|(epoch, e)| Part {
        epoch,
        tasks: vec![(0, e.rows.len())],
        weight: Weight::default(),
    });
    parts.collect()
}

/// At most `most` batches, or a little more; everything, if that is not more.
pub(super) fn of_at_most(run: &Run, most: usize) -> Vec<Part> {
    let all: usize = run.epochs().iter().map(|e| e.rows.len()).sum();
    if all <= most {
        return whole(run);
    }
    let chosen = chosen_epochs(run);
    let few: usize = chosen.iter().map(|e| run.epochs()[*e].rows.len()).sum();
    let share = (most as f64 / few.max(1) as f64).min(1.0);
    // The first epoch stands for itself, since workers start in it; the others for the rest.
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

/// The first epoch, and others evenly chosen.
fn chosen_epochs(run: &Run) -> Vec<usize> {
    let epochs = run.epochs().len();
    let count = epochs.min(EPOCHS);
    (0..count)
        .map(|k| k * (epochs - 1) / (count - 1).max(1))
        .collect()
}

/// About `most` of `len` tasks, the first ones among them.
fn stretches(len: usize, most: usize, window: usize) -> Vec<(usize, usize)> {
    let least = WINDOWS.saturating_mul(window).min(len).max(1);
    let count = (most / least).clamp(1, STRETCHES);
    let each = (most / count).max(least);
    if each.saturating_mul(count) >= len {
        return vec![(0, len)];
    }
    // One somewhere in each of as many equal parts, since what is repeated regularly must not fall between them; the
    // beginning is always among them.
    let of = len / count;
    let place = |k: usize| (number::chance(k as u64) * (of - each + 1) as f64) as usize;
    (0..count)
        .map(|k| k * of + if k == 0 { 0 } else { place(k) })
        .map(|start| (start, start + each))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_apart_and_of_the_asked_length() {
        assert_eq!(stretches(100, 200, 4), [(0, 100)]);
        let two = stretches(1_000, 64, 4);
        assert!(two[0] == (0, 32) && (500..=968).contains(&two[1].0));
        let many = stretches(1_000_000, 8_192, 4);
        assert_eq!(many.len(), STRETCHES);
        assert!(many.iter().all(|(start, end)| end - start == 32));
        assert!(many.windows(2).all(|w| w[0].1 <= w[1].0));
        let last = many[STRETCHES - 1].1;
        assert!(last <= 1_000_000 && last > 995_000, "{last}");
        // A window that is larger than everything.
        assert_eq!(stretches(1_000, 10, 5_000), [(0, 1_000)]);
        assert_eq!(stretches(0, 0, 1), [(0, 0)]);
    }
}
