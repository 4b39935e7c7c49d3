//! What was done of a target.

/// What was done of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Done {
    pub executions: u64,
    pub seconds: f64,
}
