//! Rows of SPDL's statistics.

use loadscope_trace::GaugeKind;

/// Measurements of an interval.
pub(super) struct Row {
    /// Times in seconds since 1970.
    pub start: Option<f64>,
    pub end: f64,
    pub name: String,
    pub values: Vec<(GaugeKind, f64)>,
}
