//! A training step as it is played.

/// A training step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StepLoad {
    /// How long it takes where it never waits for a core.
    pub alone: f64,
    /// What all threads compute in it.
    pub cpu: f64,
}
