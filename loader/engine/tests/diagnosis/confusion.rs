//! Which cause was put in, and which one the verdict names. `cargo test -p loadscope-engine --test diagnosis -- confusion
//! --nocapture` prints the table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use loadscope_trace::{Diagnosis, Finding, Nanos, Severity};

use super::scenario::{Cause, Scenario};

/// Runs of each cause alone.
const ALONE: u64 = 4;
/// Runs of each pair.
const PAIRED: u64 = 3;
/// Runs without any.
const HEALTHY: u64 = 24;

/// Causes that have their effects side by side: neither is a part of what the other one does.
const PAIRS: [(Cause, Cause); 8] = [
    (Cause::HeadOfLine, Cause::SlowFirstBatch),
    (Cause::Starved, Cause::SlowFirstBatch),
    (Cause::Starved, Cause::HeadOfLine),
    (Cause::Starved, Cause::EpochRefill),
    (Cause::HeavyTail, Cause::SharedMemory),
    (Cause::Starved, Cause::Descriptors),
    (Cause::Starved, Cause::DeadWorker),
    (Cause::HeavyTail, Cause::SlowFirstBatch),
];

/// Workers that are too few, seen from two sides.
fn is_named(cause: Cause, id: &str) -> bool {
    match cause {
        Cause::Starved | Cause::Sawtooth => ["starved_workers", "sawtooth"].contains(&id),
        _ => cause.id() == id,
    }
}

fn diagnose(scenario: &Scenario) -> Diagnosis {
    let run = scenario.run();
    assert_eq!(run.anomalies(), (0, 0), "{scenario:?}");
    let blame = run.blame();
    let sum = blame.iter().fold(Nanos::ZERO, |sum, (_, t)| sum + t);
    assert_eq!((sum, blame.waited), (run.waited(), run.waited()));
    Diagnosis::of(&run, None, Vec::new())
}

fn weighty(diagnosis: &Diagnosis) -> impl Iterator<Item = &Finding> {
    let findings = diagnosis.findings.iter();
    findings.filter(|f| f.severity > Severity::Note)
}

#[test]
fn the_verdict_names_the_cause() {
    let mut table: BTreeMap<(String, &str), u32> = BTreeMap::new();
    let (mut all, mut named) = (0, 0);
    let mut wrong = String::new();
    let mut note = |put: String, is_named: bool, d: &Diagnosis, scenario: &Scenario| {
        all += 1;
        named += u32::from(is_named);
        if !is_named {
            let found: Vec<_> = weighty(d)
                .map(|f| (f.id, f.cost.map(|c| c.to_string())))
                .collect();
            let _ = writeln!(
                wrong,
                "{put}: {found:?}\n    {}\n    {scenario:?}",
                d.verdict.text()
            );
        }
        *table.entry((put, d.verdict.id)).or_default() += 1;
    };
    for cause in Cause::ALL {
        for seed in 0..ALONE {
            let scenario = Scenario::healthy(1_000 + seed).with(cause);
            let d = diagnose(&scenario);
            let is_found = weighty(&d).any(|f| f.id == cause.id());
            note(
                cause.id().to_owned(),
                is_found && is_named(cause, d.verdict.id),
                &d,
                &scenario,
            );
        }
    }
    for (a, b) in PAIRS {
        for seed in 0..PAIRED {
            let scenario = Scenario::healthy(2_000 + seed).with(a).with(b);
            let d = diagnose(&scenario);
            let finds = |cause| weighty(&d).any(|f| is_named(cause, f.id));
            let is_first = is_named(a, d.verdict.id) || is_named(b, d.verdict.id);
            let put = format!("{} + {}", a.id(), b.id());
            note(put, finds(a) && finds(b) && is_first, &d, &scenario);
        }
    }
    println!("{:<36}{:<20}{:>5}", "put in", "the verdict says", "runs");
    for ((put, verdict), runs) in &table {
        println!("{put:<36}{verdict:<20}{runs:>5}");
    }
    println!("{named} of {all} named\n{wrong}");
    assert!(all >= 60);
    assert!(
        f64::from(named) >= 0.95 * f64::from(all),
        "{named} of {all}\n{wrong}"
    );
}

#[test]
fn healthy_runs_are_left_alone() {
    for seed in 0..HEALTHY {
        let scenario = Scenario::healthy(seed);
        let d = diagnose(&scenario);
        let warned: Vec<&str> = weighty(&d).map(|f| f.text.as_str()).collect();
        assert!(warned.is_empty(), "{warned:?} {scenario:?}");
        assert_eq!(d.verdict.id, "fine", "{}", d.verdict.text());
        assert!(d.findings.iter().any(|f| f.id == "training_bound"));
    }
}
