//! Statistics of repeated measurements.

/// Median with minimum and maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub least: f64,
    pub most: f64,
}

impl Spread {
    /// Returns the median, minimum and maximum. Returns `None` if `values` is empty.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        Some(Self {
            median: quantile(&values, 0.5)?,
            least: quantile(&values, 0.0)?,
            most: quantile(&values, 1.0)?,
        })
    }

    /// Returns the distance from minimum to maximum, as a share of the median.
    pub fn width(self) -> f64 {
        (self.most - self.least) / self.median
    }

    /// Formats the median with minimum and maximum in parentheses.
    pub fn format(self, show: impl Fn(f64) -> String) -> String {
        format!(
            "{} ({} – {})",
            show(self.median),
            show(self.least),
            show(self.most)
        )
    }
}

/// Returns the quantile `share`, interpolated linearly. Returns `None` if `values` is empty.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    let part = place - place.floor();
    Some(sorted[below] * (1.0 - part) + sorted[above] * part)
}
