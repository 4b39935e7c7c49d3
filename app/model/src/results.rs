//! Results of background calculations.

use std::sync::Arc;

use loadscope_insight::code::CodeProfile;
use loadscope_insight::diagnose::compared::Compared;
use loadscope_insight::diagnose::run_analysis::RunAnalysis;
use loadscope_insight::diagnose::what_if::WhatIf;
use loadscope_insight::sampling::analysis;

/// Results for the run that is shown.
#[derive(Clone, Debug, Default)]
pub struct BackgroundResults {
    /// Results for the Diagnose workspace.
    pub diagnosis: DiagnosisResults,
    /// Results for the Sampling workspace.
    pub sampling: SamplingResults,
    /// Result for the code panel.
    pub code: CodeResults,
}

/// Result for the code panel.
#[derive(Clone, Debug, Default)]
pub struct CodeResults {
    /// Code of the selection, or of the previous one while it is being computed.
    pub profile: Option<Arc<CodeProfile>>,
    /// Reason why there is no result.
    pub refusal: Option<String>,
}

/// Results for the Diagnose workspace.
#[derive(Clone, Debug, Default)]
pub struct DiagnosisResults {
    /// Findings about the run.
    pub look: Option<Arc<RunAnalysis>>,
    /// Forecasts for other settings.
    pub what_if: Option<Arc<WhatIf>>,
    /// Reason why there is no forecast.
    pub refusal: Option<String>,
    /// Progress of the forecast, 0 to 1. `None` if none is being computed.
    pub share: Option<f32>,
    /// Comparison with the other run.
    pub compared: Option<Arc<Compared>>,
}

/// Results for the Sampling workspace.
#[derive(Clone, Debug, Default)]
pub struct SamplingResults {
    /// Latest result about the sample order.
    pub answers: Option<Arc<analysis::OrderAnalysis>>,
    /// Reason why there is no result.
    pub refusal: Option<String>,
    /// Progress of the next result, 0 to 1. `None` if none is being computed.
    pub share: Option<f32>,
}

impl BackgroundResults {
    /// Returns true if both contain the same results, compared by pointer.
    pub fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.diagnosis, &other.diagnosis);
        let (x, y) = (&self.sampling, &other.sampling);
        is_same(&a.look, &b.look)
            && is_same(&a.what_if, &b.what_if)
            && is_same(&a.compared, &b.compared)
            && is_same(&x.answers, &y.answers)
            && (a.share, x.share) == (b.share, y.share)
            && is_same(&self.code.profile, &other.code.profile)
            && self.code.refusal == other.code.refusal
            && (&a.refusal, &x.refusal) == (&b.refusal, &y.refusal)
    }
}

fn is_same<T>(a: &Option<Arc<T>>, b: &Option<Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}
