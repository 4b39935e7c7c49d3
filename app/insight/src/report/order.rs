//! Findings about the sample order for the report.

use std::collections::HashSet;

use loadscope_diagnose::{Evidence, Finding, Severity};
use loadscope_trace::Run;

use crate::Datasets;
use crate::background::Progress;
use crate::platform::Budget;
use crate::sampling::analysis::{Question, answer};
use crate::sampling::of_run::question;
use crate::sampling::order::OrderCollector;

/// Number of analyzed epochs, from the first. A finding of several epochs is reported once.
const EPOCHS: usize = 4;

/// Returns the findings of the Sampling workspace for the first `EPOCHS` epochs of a run.
pub fn findings(run: &Run, datasets: Datasets) -> Vec<Finding> {
    let mut said = HashSet::new();
    let mut out = Vec::new();
    for epoch in 0..run.epochs().len().min(EPOCHS) {
        let mut gathered = OrderCollector::default();
        while gathered.update(0, run, epoch, &Budget::none()) {}
        let asked = question(run, &gathered, datasets);
        let number = asked.epoch;
        let new = of_epoch(&asked).into_iter().filter(|f| said.insert(f.id));
        out.extend(new.map(|f| Finding {
            id: f.id,
            text: f.says,
            severity: if f.is_problem {
                Severity::Warning
            } else {
                Severity::Note
            },
            evidence: match f.position {
                Some(position) => Evidence::Position(number, position),
                None => Evidence::Run,
            },
            remedy: f.remedy,
            cost: None,
        }));
    }
    out
}

fn of_epoch(asked: &Question) -> Vec<crate::sampling::findings::Finding> {
    let answers = answer(asked, &Progress::default());
    // No findings if the engine cannot predict the order.
    answers
        .ok()
        .and_then(Result::ok)
        .map_or(Vec::new(), |a| a.findings)
}
