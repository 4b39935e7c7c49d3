//! The order of the lines of a log.

/// True if many lines are before an earlier one. A few are so where the clock was set back: there the order of the file is right.
pub(super) fn is_shuffled<T>(lines: &[T], time: impl Fn(&T) -> i64) -> bool {
    const FEW: usize = 100;
    let descents = lines.windows(2).filter(|two| match two {
        [before, after] => time(after) < time(before),
        _ => false,
    });
    descents.count() > lines.len() / FEW
}
