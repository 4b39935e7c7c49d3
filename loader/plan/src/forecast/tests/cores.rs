//! Forecasts with shared cores.

use loadscope_trace::{Gauge, GaugeKind, StageTiming};

use super::*;

/// Returns a recording of samples that wait for `off` and compute for `cpu`, ms, with `workers` workers on `cores` cores.
pub(super) fn computing(samples: usize, workers: usize, off: i64, cpu: i64, cores: u32) -> Run {
    let case = Case {
        costs: vec![(off + cpu) * 1_000_000; samples],
        options: RunOptions {
            num_workers: workers,
            batch_size: Some(1),
            ..RunOptions::default()
        },
        ..proof()
    };
    let mut run = Run::default();
    for mut event in events(&case) {
        match &mut event.kind {
            EventKind::Fetched(fetched) => {
                let cpu = Some(Nanos::from_millis(cpu));
                fetched.samples.iter_mut().for_each(|s| s.cpu = cpu);
            }
            EventKind::RunStarted(info) => {
                info.origin = Origin::Engine;
                info.cores = cores;
            }
            _ => {}
        }
        run.apply(&event);
    }
    run
}

fn events(case: &Case) -> Vec<Event> {
    let simulation = Simulation {
        info: RunInfo {
            options: case.options.clone(),
            ..RunInfo::default()
        },
        work: case.work(),
        collate: Nanos::ZERO,
        pin: None,
        step: Nanos::ZERO,
    };
    simulation.run(|i| Nanos(case.costs[i as usize]))
}

#[test]
fn computing_samples_share_cores_and_waiting_ones_do_not() {
    let seconds = |run: &Run, change: &str| {
        let recorded = Recorded::of(run).expect("it was recorded");
        with(&recorded, &[change]).time.as_secs_f64()
    };
    // 80 samples compute for 10 ms each: two cores take 0.4 s, with any number of workers.
    let computes = computing(80, 1, 0, 10, 2);
    assert!((seconds(&computes, "num_workers=2") - 0.4).abs() < 0.01);
    assert!((seconds(&computes, "num_workers=8") - 0.4).abs() < 0.01);
    let waits = computing(80, 1, 10, 0, 2);
    assert!((seconds(&waits, "num_workers=8") - 0.1).abs() < 0.01);
    // Samples that wait for half of their time: eight synchronized workers keep two cores busy four fifths of the time.
    let both = computing(80, 1, 5, 5, 2);
    assert!((seconds(&both, "num_workers=8") - 0.25).abs() < 0.01);
}

#[test]
fn forecasts_remove_core_contention_of_the_recording() {
    // 8 workers on 2 cores: samples that compute for 10 ms took 40 ms.
    let run = computing(80, 8, 30, 10, 2);
    let recorded = Recorded::of(&run).expect("it was recorded");
    assert!(recorded.queueing > 2.9, "{}", recorded.queueing);
    assert!((with(&recorded, &[]).time.as_secs_f64() - 0.4).abs() < 0.01);
    assert!((with(&recorded, &["num_workers=1"]).time.as_secs_f64() - 0.8).abs() < 0.02);
    assert!((with(&recorded, &["cores=8"]).time.as_secs_f64() - 0.1).abs() < 0.01);
}

/// Regression test: forecasts used all cores of the host.
#[test]
fn forecasts_exclude_cores_used_by_other_programs() {
    let mut run = computing(80, 1, 0, 10, 2);
    let seconds = |run: &Run, changes: &[&str]| {
        let recorded = Recorded::of(run).expect("it was recorded");
        with(&recorded, changes).time.as_secs_f64()
    };
    assert!((seconds(&run, &["num_workers=2"]) - 0.4).abs() < 0.01);
    let at = run.end();
    let gauge = Gauge {
        lane: None,
        part: None,
        what: GaugeKind::OtherCpu,
        value: 1.0,
    };
    run.apply(&Event {
        at,
        run: RunId(0),
        kind: EventKind::Gauge(Box::new(gauge)),
    });
    assert!((seconds(&run, &["num_workers=2"]) - 0.8).abs() < 0.02);
    // Cores that the user names are free.
    assert!((seconds(&run, &["num_workers=2", "cores=2"]) - 0.4).abs() < 0.01);
    let recorded = Recorded::of(&run).expect("it was recorded");
    let says = "Other programs used 1.0 of 2 cores";
    let notes = recorded.notes();
    assert!(notes.iter().any(|note| note.contains(says)), "{notes:?}");
}

#[test]
fn a_recording_with_too_many_workers_is_refused() {
    for num_workers in [1025, 4_000_000_000, usize::MAX] {
        let mut run = Run::default();
        for mut event in events(&proof()) {
            if let EventKind::RunStarted(info) = &mut event.kind {
                (info.origin, info.cores) = (Origin::Engine, 2);
                info.options.num_workers = num_workers;
                info.options.prefetch_factor = Some(usize::MAX);
            }
            run.apply(&event);
        }
        let recorded = Recorded::of(&run).expect("its samples were recorded");
        let text = recorded
            .forecast(&recorded.setting())
            .expect_err("too many")
            .to_string();
        assert!(
            text.contains("num_workers should be at most 1,024"),
            "{text}"
        );
        assert!(prospects(&run, &|_| true).is_err());
    }
}

/// Returns 40 samples of 8 ms from one worker. One of its stages takes `decode` ms.
fn staged(decode: Option<i64>) -> Recorded {
    let case = Case {
        costs: vec![8_000_000; 40],
        options: RunOptions {
            num_workers: 1,
            batch_size: Some(1),
            ..RunOptions::default()
        },
        ..proof()
    };
    let mut run = Run::default();
    for mut event in events(&case) {
        if let EventKind::Fetched(fetched) = &mut event.kind {
            let count = fetched.samples.len();
            let stage = |ms| StageTiming {
                name: "decode".to_owned(),
                walls: vec![Nanos::from_millis(ms); count],
            };
            fetched.stages = decode.map(stage).into_iter().collect();
        }
        run.apply(&event);
    }
    Recorded::of(&run).expect("it was recorded")
}

#[test]
fn fetch_time_outside_all_stages_can_be_reduced() {
    let share = |recorded: &Recorded, change: &str| {
        let all = with(recorded, &[]).time.as_secs_f64();
        with(recorded, &[change]).time.as_secs_f64() / all
    };
    let recorded = staged(Some(2));
    for (change, expected) in [("faster=decode:2", 7.0 / 8.0), ("faster=rest:2", 5.0 / 8.0)] {
        let found = share(&recorded, change);
        assert!((found - expected).abs() < 0.01, "{change}: {found}");
    }
    let whole = share(&staged(None), "faster=rest:2");
    assert!((whole - 0.5).abs() < 0.01, "{whole}");
    let mut setting = recorded.setting();
    setting.set("faster=resize:2").expect("it is understood");
    let refused = recorded.forecast(&setting).expect_err("no such stage");
    assert!(
        refused.0.ends_with("Its stages are decode, rest."),
        "{refused}"
    );
}
