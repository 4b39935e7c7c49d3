//! Gauges of lanes, of the whole program, and of the parts of other pipelines.

use super::Run;
use crate::event::Gauge;
use crate::{GaugeKind, Lane, Nanos, Series};
use loadscope_column::Column;

/// Maximum number of parts. A pipeline has a few. More indicate a faulty source.
const MAX_PARTS: usize = 1024;

impl Run {
    pub(super) fn apply_gauge(&mut self, at: Nanos, gauge: &Gauge) {
        let series = match &gauge.part {
            None => self.gauges.entry((gauge.lane, gauge.what)).or_default(),
            Some(name) => {
                let known = self.parts.iter().position(|p| p == name);
                if known.is_none() && self.parts.len() >= MAX_PARTS {
                    self.inconsistent += 1;
                    return;
                }
                let part = known.unwrap_or_else(|| {
                    self.parts.push(name.clone());
                    self.parts.len() - 1
                });
                let key = (part as u16, gauge.what);
                self.part_gauges.entry(key).or_default()
            }
        };
        series.push(at, gauge.value);
    }

    /// Returns all gauges of lanes and of the whole program (`None`).
    pub fn gauges(&self) -> impl Iterator<Item = (Option<Lane>, GaugeKind, &Series)> + '_ {
        let gauges = self.gauges.iter();
        let gauges = gauges.filter(|(_, series)| !series.points().is_empty());
        gauges.map(|((lane, what), series)| (*lane, *what, series))
    }

    /// Returns a gauge of `lane` or of the whole program (`None`).
    pub fn gauge(&self, lane: Option<Lane>, what: GaugeKind) -> Option<&Series> {
        let series = self.gauges.get(&(lane, what))?;
        (!series.points().is_empty()).then_some(series)
    }

    /// Returns the mean number of cores that other programs used. Returns `None` if not measured or within the noise.
    pub fn taken_cores(&self) -> Option<f64> {
        /// Share of a core that the system itself can use.
        const NOISE: f64 = 0.25;
        let points = self.gauge(None, GaugeKind::OtherCpu)?.points();
        let known = points.iter().map(|(_, value)| *value);
        let (sum, count) = known
            .filter(|v| v.is_finite())
            .fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
        let mean = if count > 0.0 { sum / count } else { 0.0 };
        (mean >= NOISE).then_some(mean)
    }

    /// Returns the parts of a pipeline other than a `DataLoader`, in order of appearance.
    pub fn parts(&self) -> &Column<String> {
        &self.parts
    }

    /// Returns true if the source reports such parts and no batch.
    pub fn has_only_parts(&self) -> bool {
        self.batches.is_empty() && self.epochs.is_empty() && !self.parts.is_empty()
    }

    /// Returns all gauges of these parts, each with its position in [`Run::parts`].
    pub fn part_gauges(&self) -> impl Iterator<Item = (u16, GaugeKind, &Series)> + '_ {
        let gauges = self.part_gauges.iter();
        let gauges = gauges.filter(|(_, series)| !series.points().is_empty());
        gauges.map(|((part, what), series)| (*part, *what, series))
    }

    /// Returns a gauge of the part at a position in [`Run::parts`].
    pub fn part_gauge(&self, part: u16, what: GaugeKind) -> Option<&Series> {
        let series = self.part_gauges.get(&(part, what))?;
        (!series.points().is_empty()).then_some(series)
    }
}
