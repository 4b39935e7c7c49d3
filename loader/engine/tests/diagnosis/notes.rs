//! Tests of findings that cost no time.

use loadscope_diagnose::{Diagnosis, Severity};

use super::scenario::Scenario;

/// Tests a healthy run whose window is many times larger than needed.
#[test]
fn oversized_prefetch_window_suggests_smaller_equivalent() {
    for seed in 0..20 {
        let run = Scenario::healthy(seed).of_prefetch(8).run();
        let d = Diagnosis::of(&run, None, Vec::new());
        let found = d
            .findings
            .iter()
            .find(|f| f.id.as_str() == "window_too_large");
        let found = found.unwrap_or_else(|| panic!("seed {seed}: {}", d.verdict.text()));
        assert_eq!(found.severity, Severity::Note);
        let factor = found.remedy.strip_prefix("Use prefetch_factor=");
        let factor = factor.and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
        let factor = factor.expect("it names one");
        assert!((2..8).contains(&factor), "{factor}");
        // The advised window is not worse, and is not called too large in turn.
        let smaller = Scenario::healthy(seed).of_prefetch(factor).run();
        assert!(smaller.waited().0 - run.waited().0 <= run.end().0 / 100);
        let d = Diagnosis::of(&smaller, None, Vec::new());
        assert!(d.findings.iter().all(|f| f.severity == Severity::Note));
    }
}
