//! What a table of SPDL's statistics holds.

use loadscope_trace::GaugeKind;

/// What was measured from one instant until another.
pub(super) struct Row {
    /// Seconds since 1970.
    pub start: Option<f64>,
    pub end: f64,
    pub name: String,
    pub values: Vec<(GaugeKind, f64)>,
}
