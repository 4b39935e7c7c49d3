//! Findings and remedies of a report without repeated sentences.

use std::borrow::Cow;
use std::collections::BTreeSet;

use loadscope_words::say;

use super::Report;

/// Returns the remedies of all findings in their order, with their effects on training.
///
/// A repeated remedy becomes a reference. A repeated effect is omitted.
pub fn remedies<'a>(report: &'a Report) -> Vec<Cow<'a, str>> {
    let mut printed = BTreeSet::new();
    let findings = report.diagnosis.findings.iter();
    let all = findings.zip(plain(report));
    let all = all.map(|(finding, remedy)| {
        let effects = report.diagnosis.effects.get(&finding.id);
        let effects = effects
            .into_iter()
            .flatten()
            .filter(|e| printed.insert(**e));
        let effects: Vec<String> = effects.map(|e| e.sentence(report.survey.run)).collect();
        with(remedy, &effects)
    });
    all.collect()
}

impl Report<'_> {
    /// Returns the remedy of one finding with all its effects.
    pub(super) fn whole_remedy<'a>(
        &self,
        finding: &'a loadscope_diagnose::Finding,
    ) -> Cow<'a, str> {
        let effects = self.diagnosis.effects.get(&finding.id);
        let effects = effects.into_iter().flatten();
        let effects: Vec<String> = effects.map(|e| e.sentence(self.survey.run)).collect();
        with(Cow::from(finding.remedy.as_str()), &effects)
    }
}

/// Appends each effect to the remedy as a sentence.
fn with<'a>(remedy: Cow<'a, str>, effects: &[String]) -> Cow<'a, str> {
    effects.iter().fold(remedy, |text, effect| {
        let text = text.trim_end_matches(['.', '。']).to_owned();
        say!("{text}. {effect}.").into()
    })
}

fn plain<'a>(report: &'a Report) -> Vec<Cow<'a, str>> {
    let best = best(report);
    let findings = &report.diagnosis.findings;
    let remedy = |(at, finding): (usize, &'a loadscope_diagnose::Finding)| {
        let remedy = finding.remedy.as_str();
        let mut before = findings[..at].iter();
        if let Some(same) = before.position(|f| f.remedy == remedy) {
            return say!("The same remedy as for {}", same + 1).into();
        }
        // The verdict contains the forecast, so the remedy omits it.
        let more = best.as_ref().and_then(|(text, change)| {
            let more = remedy.strip_prefix(text.as_str())?;
            Some(format!("{change}{more}"))
        });
        more.map_or(remedy.into(), Cow::from)
    };
    findings.iter().enumerate().map(remedy).collect()
}

/// Returns the texts of all findings in their order. A text that the verdict contains becomes a reference.
pub fn texts(report: &Report) -> Vec<String> {
    let repeated = repeated(report);
    let findings = report.diagnosis.findings.iter().enumerate();
    let text = |(at, finding): (usize, &loadscope_diagnose::Finding)| match repeated {
        Some((same, label)) if same == at => {
            say!("{} (see {label} above)", finding.id.title())
        }
        _ => finding.text.clone(),
    };
    findings.map(text).collect()
}

/// Returns the position of the finding whose text the verdict contains, and the verdict's label.
fn repeated(report: &Report) -> Option<(usize, &'static str)> {
    let facts = super::verdict::facts(report);
    let findings = report.diagnosis.findings.iter().enumerate();
    let mut labels = findings.filter_map(|(at, finding)| {
        let fact = facts.iter().find(|fact| fact.text == finding.text)?;
        Some((at, fact.label))
    });
    labels.next()
}

/// Returns the label of `text` in the verdict. Returns `None` if no finding refers to it.
pub fn label(report: &Report, text: &str) -> Option<&'static str> {
    let (at, label) = repeated(report)?;
    (report.diagnosis.findings[at].text == text).then_some(label)
}

/// Returns the verdict's best change as a remedy with its forecast, and without. Returns `None` if the verdict names no change.
fn best(report: &Report) -> Option<(String, String)> {
    let prospects = report.prospects.as_ref()?.as_ref().ok()?;
    let is_named = report.diagnosis.verdict.outlook.is_some() && prospects.fits();
    let first = prospects.recommended(report.survey.workers)?;
    is_named.then(|| (prospects.remedy(&first), say!("Use {}", first.change)))
}

#[cfg(test)]
mod tests {
    use loadscope_diagnose::Finding;
    use loadscope_trace::RunOptions;

    use super::*;
    use crate::Datasets;
    use crate::report::{html, markdown, text};
    use crate::simulated;

    /// Returns options with too few workers: verdict and finding have the same remedy.
    fn options() -> RunOptions {
        RunOptions {
            dataset: "synthetic:len=400,cost_ms=10".to_owned(),
            batch_size: Some(2),
            num_workers: 1,
            step_ms: 8.0,
            ..RunOptions::default()
        }
    }

    fn forms(report: &Report) -> [String; 3] {
        [text(report), markdown(report), html(report)]
    }

    #[test]
    fn a_remedy_in_the_verdict_is_not_repeated() {
        let run = simulated(&options());
        let report = Report::with_prospects(&run, false, Datasets::default());
        let (remedy, change) = best(&report).expect("more workers help");
        let has_it = |f: &Finding| f.remedy == remedy;
        assert!(report.diagnosis.findings.iter().any(has_it), "{remedy}");
        for form in forms(&report) {
            let plain = form.replace('\\', "");
            assert!(!plain.contains(remedy.as_str()), "{form}");
            assert!(plain.contains(&change), "{form}");
            assert!(plain.contains(&format!("→ {change}")), "{form}");
            assert!(!plain.contains("The same remedy"), "{form}");
        }
    }

    #[test]
    fn a_remedy_of_two_findings_is_printed_once() {
        let run = simulated(&options());
        let mut report = Report::of(&run, false, Datasets::default());
        let mut second = report.diagnosis.findings[0].clone();
        second.text = "Another finding".to_owned();
        report.diagnosis.findings.insert(1, second);
        let remedy = report.diagnosis.findings[0].remedy.clone();
        for form in forms(&report) {
            let plain = form.replace('\\', "");
            assert_eq!(plain.matches(remedy.as_str()).count(), 1, "{form}");
            assert!(plain.contains("→ The same remedy as for 1"), "{form}");
        }
    }
}
