//! The order of the lines of a log.

/// Returns true if many lines have an earlier time than the previous line. If the clock was set back, only a few lines do, and their order
/// in the file is correct.
pub(super) fn is_shuffled<T>(lines: &[T], time: impl Fn(&T) -> i64) -> bool {
    const FEW: usize = 100;
    let descents = lines.windows(2).filter(|two| match two {
        [before, after] => time(after) < time(before),
        _ => false,
    });
    descents.count() > lines.len() / FEW
}
