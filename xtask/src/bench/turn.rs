//! What one program said once.

/// What one program said once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    /// In the unit of the work.
    pub value: f64,
    /// What was loaded, if the program tells: the sum of all labels, and the same with positions.
    pub same: Option<(u64, u64)>,
    /// Events that were lost.
    pub lost: u64,
}
