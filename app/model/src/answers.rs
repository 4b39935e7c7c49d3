//! What long calculations have said so far.

use std::sync::Arc;

use loadscope_insight::diagnose::compared::Compared;
use loadscope_insight::diagnose::look::Look;
use loadscope_insight::diagnose::what_if::WhatIf;
use loadscope_insight::sampling::analysis;

/// What they have said about the run that is shown.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// For the Diagnose workspace.
    pub diagnosis: OfDiagnosis,
    /// For the Sampling workspace.
    pub sampling: OfSampling,
}

/// Why training waits, and what would help.
#[derive(Clone, Debug, Default)]
pub struct OfDiagnosis {
    /// What was found out about the run.
    pub look: Option<Arc<Look>>,
    /// What other settings would bring.
    pub what_if: Option<Arc<WhatIf>>,
    /// Why that is not known.
    pub refusal: Option<String>,
    /// How far the forecast is, 0 to 1, if one is on its way.
    pub share: Option<f32>,
    /// The run beside the other one.
    pub compared: Option<Arc<Compared>>,
}

/// The order of the samples.
#[derive(Clone, Debug, Default)]
pub struct OfSampling {
    /// The last answer.
    pub answers: Option<Arc<analysis::Answers>>,
    /// Why there is none.
    pub refusal: Option<String>,
    /// How far the next answer is, 0 to 1, if one is on its way.
    pub share: Option<f32>,
}

impl Answers {
    /// True if these are the very same.
    pub fn is(&self, other: &Self) -> bool {
        let (a, b) = (&self.diagnosis, &other.diagnosis);
        let (x, y) = (&self.sampling, &other.sampling);
        is(&a.look, &b.look)
            && is(&a.what_if, &b.what_if)
            && is(&a.compared, &b.compared)
            && is(&x.answers, &y.answers)
            && (a.share, x.share) == (b.share, y.share)
            && (&a.refusal, &x.refusal) == (&b.refusal, &y.refusal)
    }
}

fn is<T>(a: &Option<Arc<T>>, b: &Option<Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}
