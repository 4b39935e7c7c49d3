//! The reason for a missing forecast.

/// Reason for a missing forecast, as a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ForecastError(pub String);
