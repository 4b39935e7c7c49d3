use super::*;
use crate::bench::measurement::{Cost, Measurement};
use crate::bench::programs::{Program, Task};
use crate::bench::workload::{Goal, Unit};
use crate::bench::workloads::WORKLOADS;

fn measured(id: &str, value: impl Fn(&Task) -> f64) -> Option<Measured> {
    let mut measured = Measured::new(WORKLOADS.iter().find(|workload| workload.id == id)?);
    for (task, measurements) in &mut measured.measurements {
        let measurement = Measurement {
            value: value(task),
            checksums: Some((1, 2)),
            lost: 0,
            cost: (task.recording != "off").then(|| Cost {
                slower: 100.0 / value(task) - 0.8,
                batch: 1.5,
                loading: 2.0,
                recorded_loading: 2.25,
                listening: 0.5,
                events: 8.0,
            }),
        };
        *measurements = vec![measurement; 3];
    }
    Some(measured)
}

#[test]
fn spreads_have_median_and_extremes() {
    let spread = |median, least, most| {
        Some(Spread {
            median,
            least,
            most,
        })
    };
    assert_eq!(Spread::of([3.0, 1.0, 2.0]), spread(2.0, 1.0, 3.0));
    assert_eq!(Spread::of([4.0, 1.0]), spread(2.5, 1.0, 4.0));
    assert_eq!(Spread::of([]), None);
}

#[test]
fn goals_compare_the_best_worker_counts() {
    let value = |task: &Task| match (task.program, task.workers, task.recording) {
        (Program::Loadscope, 1, "off") => 120.0,
        (Program::Loadscope, 2, "events") => 100.0,
        (Program::Loadscope, ..) => 10.0,
        (Program::Pytorch, 0, _) => 100.0,
        (Program::DataloaderRs | Program::DataloaderRsMimalloc, 2, _) => 240.0,
        _ => 1.0,
    };
    let judged = |goal| measured("w1", value)?.check_goal(goal);
    let said = |goal| judged(goal).map(|(_, shown, met)| (shown, met));
    let row = |text: &str, met| Some((text.to_owned(), met));
    assert_eq!(
        said(Goal::TimesPytorch(1.0)),
        row("1.20× (1.20× – 1.20×)", true)
    );
    assert_eq!(
        said(Goal::TimesDataloaderRs(1.0)),
        row(
            "0.50× (0.50× – 0.50×); 0.50× with mimalloc there, too",
            false
        )
    );
    assert_eq!(
        said(Goal::Events(0.05, 2)),
        row("20.0 % (20.0 % – 20.0 %)", false)
    );
}

#[test]
fn recording_costs_have_their_own_table() {
    let text = measured("w1", |_| 100.0)
        .map(|one| written(&[one], 3))
        .unwrap_or_default();
    let row = "| w1 | 2 | log | 20.0 % | 1.50 | 2.00 | 2.25 | 0.50 | 8.0 | 62 |";
    assert!(text.contains(row), "{text}");
    let text = measured("w5-fresh", |_| 1.0)
        .map(|one| written(&[one], 3))
        .unwrap_or_default();
    assert!(!text.contains("What recording needs"), "{text}");
}

#[test]
fn only_a_missed_goal_has_a_reason() {
    let value = |task: &Task| match (task.workload, task.program) {
        ("w1-copy", _) => 125.0,
        (_, Program::Loadscope) => 100.0,
        (_, Program::DataloaderRsMimalloc) => 110.0,
        _ => 1.0,
    };
    let all: Vec<Measured> = ["w1", "w1-copy"]
        .iter()
        .filter_map(|id| measured(id, value))
        .collect();
    let text = written(&all, 3);
    for line in [
        "- **w1**, at least 1.1× dataloader-rs + mimalloc: that would be 121 /s. Copying alone, with no loader, comes to 125 /s; \
         Loadscope comes to 100 /s, 80 % of it.",
        "- **w1**, hearing events costs at most 5 %, 0 workers: a batch takes 1.50 µs, so that would be 0.08 µs. Its 8.0 events \
         take the loader's threads 0.25 µs more (31 ns each) and the recorder 0.50 µs (62 ns each)",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("**w1**, at least 1× PyTorch:"), "{text}");
}

#[test]
fn goals_limited_by_the_host_have_a_comparison() {
    for workload in WORKLOADS {
        let needs_one =
            |goal: &Goal| matches!(goal, Goal::TimesDataloaderRsMimalloc(_) | Goal::AtLeast(_));
        if workload.goals.iter().any(needs_one) {
            let part = reasons::PARTS.iter().find(|part| part.of == workload.id);
            let alone =
                part.and_then(|part| WORKLOADS.iter().find(|other| other.id == part.workload));
            assert!(alone.is_some(), "{}", workload.id);
        }
    }
}

#[test]
fn a_time_below_the_goal_is_met() {
    let value = |task: &Task| {
        if task.program == Program::Loadscope {
            0.2
        } else {
            2.0
        }
    };
    let one = measured("w5-fresh", value);
    assert_eq!(
        one.as_ref()
            .and_then(|one| one.times(Program::Pytorch))
            .map(|s| s.median),
        Some(10.0)
    );
    let text = one.map(|one| written(&[one], 3)).unwrap_or_default();
    assert!(
        text.contains("| w5-fresh | at most 0.300 ms | 0.200 ms (0.200 ms – 0.200 ms) | met |"),
        "{text}"
    );
}

#[test]
fn different_work_is_reported() {
    let mut one = measured("w1", |_| 1.0);
    if let Some(one) = &mut one {
        for (task, measurements) in &mut one.measurements {
            match (task.program, task.workers) {
                (Program::Pytorch, 2) => measurements[0].checksums = Some((1, 3)),
                (Program::DataloaderRs, 0) => measurements[0].checksums = Some((1, 3)),
                (Program::DataloaderRs, 1) => measurements[0].checksums = Some((5, 2)),
                _ => {}
            }
        }
        one.compare_work();
    }
    let told = one.map(|one| one.differences).unwrap_or_default();
    assert_eq!(
        told,
        [
            "PyTorch w1, 2 workers had another order.",
            "dataloader-rs w1, 1 workers loaded other samples."
        ]
    );
}

#[test]
fn figures_have_three_digits() {
    let shown = |value| figure(Unit::ItemsPerSecond, value);
    assert_eq!(shown(81_349.0), "81.3 k/s");
    assert_eq!(shown(2_460_000.0), "2.46 M/s");
    assert_eq!(shown(759.4), "759 /s");
    assert_eq!(figure(Unit::Milliseconds, 0.0123), "0.012 ms");
}
