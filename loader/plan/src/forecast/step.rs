//! Training step of a simulation.

/// Training step of a simulation. Times are ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StepLoad {
    /// Time of the step if it never waits for a core.
    pub alone: f64,
    /// CPU time of all threads during the step.
    pub cpu: f64,
}
