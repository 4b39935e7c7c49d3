//! The executions of a target.

/// Executions of a target, and their CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FuzzStats {
    pub executions: u64,
    pub seconds: f64,
}
