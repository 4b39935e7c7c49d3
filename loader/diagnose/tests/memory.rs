//! Findings about memory in synthetic runs.

use loadscope_diagnose::{Diagnosis, Finding, Severity};
use loadscope_trace::{
    Event, EventKind, Fact, Gauge, GaugeKind, Lane, Nanos, Run, RunId, RunInfo, RunOptions,
};

const MB: f64 = 1e6;

/// Returns a run of one minute with these gauges per second: of worker 0, of the program, and of free memory.
fn run(of_second: impl Fn(f64) -> Vec<(Option<Lane>, GaugeKind, f64)>) -> Run {
    let mut run = Run::new(RunInfo {
        options: RunOptions {
            num_workers: 2,
            batch_size: Some(1),
            ..RunOptions::default()
        },
        ..RunInfo::default()
    });
    let mut tell = |at: f64, kind| {
        run.apply(&Event {
            at: Nanos::from_secs_f64(at),
            run: RunId(0),
            kind,
        });
    };
    tell(0.0, EventKind::EpochStarted { epoch: 0 });
    for second in 0..60 {
        let at = f64::from(second);
        for (lane, what, value) in of_second(at) {
            let part = None;
            let gauge = Gauge {
                lane,
                part,
                what,
                value,
            };
            tell(at, EventKind::Gauge(Box::new(gauge)));
        }
    }
    tell(60.0, EventKind::EpochEnded { epoch: 0 });
    run
}

fn found(run: &Run, id: &str) -> Option<Finding> {
    let findings = Diagnosis::of(run, None, Vec::new()).findings;
    findings.into_iter().find(|f| f.id.as_str() == id)
}

const WORKER: Option<Lane> = Some(Lane::Worker(0));

#[test]
fn copy_on_write_and_memory_growth_are_separate_findings() {
    // USS grows from 20 to 315 MB while RSS stays at 500 MB: shared pages become private.
    let copying = |t: f64| {
        vec![
            (WORKER, GaugeKind::Rss, 500.0 * MB),
            (WORKER, GaugeKind::Uss, (20.0 + 5.0 * t) * MB),
            (None, GaugeKind::Pss, 900.0 * MB),
        ]
    };
    let finding = found(&run(copying), "copy_on_write").expect("it is found");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.text.contains("295"), "{}", finding.text);
    assert!(finding.remedy.contains("NumPy"), "{}", finding.remedy);
    assert_eq!(found(&run(copying), "memory_growth"), None);
    let mut with_objects = run(copying);
    let fact = Fact::Objects {
        attribute: "samples".to_owned(),
        objects: 1_200_000,
    };
    with_objects.apply(&Event {
        at: Nanos::from_secs_f64(60.0),
        run: RunId(0),
        kind: EventKind::Fact(Box::new(fact)),
    });
    let finding = found(&with_objects, "copy_on_write").expect("it is found");
    let named = "Most Python objects of the dataset are in its attribute `samples`: about 1";
    assert!(finding.text.contains(named), "{}", finding.text);
    // USS and RSS grow equally: the new pages were never shared.
    let leaking = |t: f64| {
        vec![
            (WORKER, GaugeKind::Rss, (500.0 + 5.0 * t) * MB),
            (WORKER, GaugeKind::Uss, (20.0 + 5.0 * t) * MB),
            (None, GaugeKind::MemoryLeft, (3_000.0 - 5.0 * t) * MB),
        ]
    };
    let leak = run(leaking);
    assert_eq!(found(&leak, "copy_on_write"), None);
    let finding = found(&leak, "memory_growth").expect("it is found");
    // At 300 MB per minute, the free memory lasts nine minutes.
    assert!(
        finding.text.contains("worker 0") && finding.text.contains("300"),
        "{}",
        finding.text
    );
    assert!(finding.text.contains("541"), "{}", finding.text);
    assert!(finding.remedy.contains("__getitem__"), "{}", finding.remedy);
    let trainer = |t: f64| {
        let lane = Some(Lane::Trainer);
        let grown = 40.0 * t.max(1.0) * MB;
        vec![(lane, GaugeKind::Rss, grown), (lane, GaugeKind::Uss, grown)]
    };
    let finding = found(&run(trainer), "memory_growth").expect("it is found");
    assert!(finding.remedy.contains("detach"), "{}", finding.remedy);
}

#[test]
fn usual_worker_memory_is_no_finding() {
    // The worker fills its buffers in the first ten seconds. In the next epoch, another process does the same.
    let usual = |t: f64| {
        let life = t % 30.0;
        let own = (20.0 + 30.0 * life.min(10.0)) * MB;
        vec![
            (WORKER, GaugeKind::Rss, 400.0 * MB + own),
            (WORKER, GaugeKind::Uss, own),
            (None, GaugeKind::Pss, 900.0 * MB),
            (None, GaugeKind::MemoryLeft, 9_000.0 * MB),
        ]
    };
    for id in ["copy_on_write", "memory_growth", "memory"] {
        assert_eq!(found(&run(usual), id), None);
    }
    // The other workers end, so pages that worker 0 shared only with them become its own. Its RSS does not grow.
    let alone = |t: f64| {
        let own = if t < 30.0 { 20.0 } else { 40.0 };
        vec![
            (WORKER, GaugeKind::Rss, 500.0 * MB),
            (WORKER, GaugeKind::Uss, own * MB),
        ]
    };
    assert_eq!(found(&run(alone), "copy_on_write"), None);
}

#[test]
fn nearly_full_memory_is_reported_with_a_workers_share() {
    let full = |t: f64| {
        vec![
            (WORKER, GaugeKind::Rss, 2_100.0 * MB),
            (WORKER, GaugeKind::Uss, 2_000.0 * MB),
            (None, GaugeKind::Pss, 14_000.0 * MB),
            (None, GaugeKind::MemoryLeft, (6_000.0 - 99.0 * t) * MB),
        ]
    };
    let finding = found(&run(full), "memory").expect("it is found");
    assert!(finding.text.contains("159"), "{}", finding.text);
    assert!(
        finding.text.contains("14.0") && finding.remedy.contains("2.00"),
        "{finding:?}"
    );
}

#[test]
fn shared_memory_is_reported_only_if_little_is_free() {
    let with = |left: f64| {
        run(move |_| {
            vec![
                (None, GaugeKind::Shm, 60.0 * MB),
                (None, GaugeKind::ShmLeft, left * MB),
            ]
        })
    };
    let finding = found(&with(4.0), "shared_memory").expect("it is found");
    assert!(finding.text.contains("4.00"), "{}", finding.text);
    // The use of shared memory is the same, but much space is free, so the limit is not Docker's 64 MiB.
    assert_eq!(found(&with(8_000.0), "shared_memory"), None);
}
