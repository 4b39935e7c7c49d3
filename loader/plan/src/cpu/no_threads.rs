//! Stands in the place of threads where there are none: in a browser.

/// The one that this runs on.
pub fn processors() -> usize {
    1
}

/// Does `work` here.
pub(crate) fn together(_most: usize, work: impl Fn() + Sync) {
    work();
}
