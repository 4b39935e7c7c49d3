//! Time that recording adds to a program.

/// Time that recording adds, ns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordingOverhead {
    /// Per batch, in its worker.
    pub batch: f64,
    /// Per sample.
    pub sample: f64,
    /// Per training step.
    pub step: f64,
    /// Per received batch, in the main process.
    pub receive: f64,
}

impl RecordingOverhead {
    /// Overhead of the probe, measured on idle hosts with two cores.
    pub const MEASURED: Self = Self {
        batch: 30_000.0,
        sample: 350.0,
        step: 25_000.0,
        receive: 25_000.0,
    };
}
