//! Memory measurements.

use loadscope_trace::{GaugeKind, Lane, Nanos, Run};

use super::delays::median;
use crate::forecast::number::float;

/// Memory of the recorded program, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Memory {
    /// Peak of all processes together. `None`: not measured.
    pub peak: Option<f64>,
    /// Peak private memory of a worker: the median of all workers.
    pub worker: Option<f64>,
}

impl Memory {
    pub fn of(run: &Run) -> Self {
        let highest = |lane, what| {
            let series = run.gauge(lane, what)?;
            series.highest(Nanos(i64::MIN), Nanos::MAX)
        };
        let workers = run.gauges().filter_map(|(lane, what, _)| match lane {
            Some(Lane::Worker(_)) if what == GaugeKind::Uss => highest(lane, what),
            _ => None,
        });
        let mut workers: Vec<Nanos> = workers.map(|bytes| Nanos(bytes as i64)).collect();
        Self {
            peak: highest(None, GaugeKind::Pss),
            worker: (!workers.is_empty()).then(|| float(median(&mut workers))),
        }
    }
}
