//! Explains missing forecasts.

/// Error message for the user: the reason for a missing forecast.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ForecastError(pub String);
