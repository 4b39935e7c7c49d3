use loadscope_diagnose::Change;
use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, OnError, Origin, PinMemory, Run, RunId, RunInfo,
    RunOptions, SampleTiming, Stage, Summary,
};
use proptest::prelude::*;

use super::*;
use crate::simulate::{Simulation, Work};

mod cores;
mod device;
mod measured;
mod processes;
mod properties;
mod streams;

/// Parameters of a simulated recording.
#[derive(Clone, Debug)]
struct Case {
    options: RunOptions,
    costs: Vec<i64>,
    collate: i64,
    pin: Option<i64>,
    step: i64,
    fails: Vec<u64>,
    streams: bool,
}

impl Case {
    fn work(&self) -> Work {
        let samples: Vec<u64> = (0..self.costs.len() as u64).collect();
        let size = self.options.batch_size.unwrap_or(1).max(1);
        match self.streams {
            false => {
                let batches = samples.chunks(size).map(<[u64]>::to_vec);
                Work::Batches(batches.collect())
            }
            true => {
                let workers = self.options.num_workers.max(1);
                let stream = |w| samples.iter().copied().skip(w).step_by(workers).collect();
                Work::Streams {
                    streams: (0..workers).map(stream).collect(),
                    batch_size: size,
                    drop_last: self.options.drop_last,
                }
            }
        }
    }

    fn run(&self) -> Run {
        let simulation = Simulation {
            info: RunInfo {
                options: self.options.clone(),
                origin: Origin::Simulation,
                ..RunInfo::default()
            },
            work: self.work(),
            collate: Nanos(self.collate),
            pin: self.pin.map(Nanos),
            step: Nanos(self.step),
        };
        let cost = |i: u64| Nanos(self.costs[i as usize]);
        let mut run = Run::default();
        for event in simulation.run_with_failures(cost, |i| self.fails.contains(&i)) {
            run.apply(&event);
        }
        run
    }
}

/// Returns the case of the proof: two workers load 24 samples of 50 ms, but sample 4 takes 1 s. A training step takes 20 ms.
fn proof() -> Case {
    Case {
        options: RunOptions {
            num_workers: 2,
            batch_size: Some(1),
            step_ms: 20.0,
            ..RunOptions::default()
        },
        costs: (0..24)
            .map(|i| if i == 4 { 1_000_000_000 } else { 50_000_000 })
            .collect(),
        collate: 0,
        pin: None,
        step: 20_000_000,
        fails: Vec::new(),
        streams: false,
    }
}

fn recorded(case: &Case) -> Recorded {
    Recorded::of(&case.run()).expect("it was recorded")
}

fn with(recorded: &Recorded, changes: &[&str]) -> Forecast {
    let mut setting = recorded.setting();
    for change in changes {
        setting.set(change).expect("it is understood");
    }
    recorded.forecast(&setting).expect("it makes sense")
}

/// Expected times follow from the algorithm: 1.590 s with 1.110 s waited, unordered 1.170 s with 0.690 s waited, three workers 1.450 s.
#[test]
fn one_recording_forecasts_the_remedies_of_a_slow_sample() {
    let recorded = recorded(&proof());
    let ms = |f: &Forecast| (f.time.0 / 1_000_000, f.waited.0 / 1_000_000);
    assert_eq!(ms(&with(&recorded, &[])), (1590, 1110));
    let unordered = with(&recorded, &["in_order=false"]);
    assert_eq!(ms(&unordered), (1170, 690));
    let order = recorded
        .order(&unordered.setting, 0)
        .expect("it makes sense");
    let expected: Vec<u32> = [0, 1, 2, 3, 5]
        .into_iter()
        .chain(7..24)
        .chain([4, 6])
        .collect();
    assert_eq!(order, expected);
    assert_eq!(
        with(&recorded, &["num_workers=3"]).time,
        Nanos::from_millis(1450)
    );
    let headroom = recorded.headroom(&recorded.setting());
    assert_eq!(headroom, Ok(Nanos::from_millis(480)));
    let prospects = recorded
        .prospects(&|_| true)
        .expect("sound")
        .expect("wanted");
    assert_eq!(
        (prospects.recorded, prospects.error()),
        (Nanos::from_millis(1590), 0.0)
    );
    assert_eq!(prospects.headroom, Nanos::from_millis(480));
    let took = |change| {
        prospects
            .changes
            .iter()
            .find(|f| f.change == change)
            .map(|f| f.took)
    };
    assert_eq!(took(Change::InOrder(false)), Some(Nanos::from_millis(1170)));
    assert_eq!(took(Change::NumWorkers(3)), Some(Nanos::from_millis(1450)));
    assert_eq!(
        prospects.recommended(2).map(|f| f.change),
        Some(Change::InOrder(false))
    );
    assert_eq!(recorded.prospects(&|share| share < 0.5), Ok(None));
}

#[test]
fn a_grid_finds_the_best_and_the_cheapest_good_setting() {
    let recorded = recorded(&proof());
    let settings = grid(&recorded.setting(), 0..=8, &[1, 2, 3, 4]);
    assert_eq!(settings.len(), 33);
    let outlook = explore(&recorded, &settings, &|_| true);
    let outlook = outlook.expect("sound").expect("wanted");
    let best = &outlook.configurations[outlook.best];
    let cheapest = &outlook.configurations[outlook.cheapest];
    assert!(outlook.configurations.iter().all(|f| f.time >= best.time));
    assert!(cheapest.time.as_secs_f64() <= best.time.as_secs_f64() * 1.02);
    assert!(cheapest.setting.num_workers <= best.setting.num_workers);
    for f in &outlook.configurations {
        assert!(f.low <= f.time && f.time <= f.high);
        assert!(f.time >= outlook.headroom && f.waited <= f.time);
    }
    assert_eq!(outlook.recorded.time, recorded.time());
    let stopped = explore(&recorded, &settings, &|share| share < 0.2);
    assert_eq!(stopped, Ok(None));
}

#[test]
fn costs_can_be_removed_and_invalid_changes_are_refused() {
    let recorded = recorded(&proof());
    assert_eq!(with(&recorded, &["step_ms=0"]).batches, 24);
    let free = with(&recorded, &["cache=100%"]);
    assert_eq!(
        (free.time, free.waited),
        (Nanos::from_millis(480), Nanos::ZERO)
    );
    assert!(with(&recorded, &["cache=0.5"]).time <= with(&recorded, &[]).time);
    for (change, says) in [
        ("faster=decode:2", "no stage decode"),
        ("pin_memory=true", "Record a run with"),
        ("prefetch_factor=0", "greater than 0"),
        ("cores=0", "at least 1"),
        ("num_workers=5000", "at most"),
    ] {
        let mut setting = recorded.setting();
        setting.set(change).expect("it is understood");
        let refused = recorded.forecast(&setting).expect_err("it makes no sense");
        assert!(refused.0.contains(says), "{refused}");
    }
    let mut setting = recorded.setting();
    for wrong in [
        "workers",
        "color=red",
        "cache=2",
        "num_workers=-1",
        "faster=2",
        "in_order=maybe",
    ] {
        assert!(setting.set(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn differences_include_the_cpu_share_of_a_step() {
    let recorded = recorded(&proof());
    let mut setting = recorded.setting();
    setting.set("trainer_cpu=0.5").expect("it is understood");
    let differences = setting.differences(&recorded.setting());
    assert_eq!(differences, ["50\u{2009}% of a step on a CPU core"]);
}

fn case() -> impl Strategy<Value = Case> {
    let options = (
        0usize..5,
        1usize..4,
        1usize..5,
        any::<bool>(),
        any::<bool>(),
    );
    let costs = prop::collection::vec(prop_oneof![4 => 1i64..60, 1 => 200i64..900], 0..60);
    let rest = (0i64..5, prop::option::of(0i64..8), 0i64..40);
    let fails = prop::collection::vec(0u64..60, 0..3);
    (options, costs, rest, fails, any::<bool>()).prop_map(
        |(
            (workers, prefetch, batch, in_order, go_on),
            costs,
            (collate, pin, step),
            fails,
            streams,
        )| {
            let options = RunOptions {
                num_workers: workers,
                prefetch_factor: Some(prefetch),
                batch_size: Some(batch),
                in_order,
                on_error: if go_on {
                    OnError::Continue
                } else {
                    OnError::Stop
                },
                pin_memory: if pin.is_some() {
                    PinMemory::Mlock
                } else {
                    PinMemory::Off
                },
                ..RunOptions::default()
            };
            // The samples of a stream after an error are unknown.
            let fails = if streams && !go_on { Vec::new() } else { fails };
            // All end times differ, because the order of simultaneous events is arbitrary.
            let costs = costs.iter().enumerate();
            let costs = costs.map(|(k, c)| c * 1_000_000 + 7 * (1 << (k % 18)) + k as i64);
            Case {
                options,
                costs: costs.collect(),
                collate: collate * 100_003,
                pin: pin.map(|p| p * 100_019),
                step: step * 1_000_000 + 11,
                fails,
                streams,
            }
        },
    )
}

/// Two batches are finished at the same time. The second one waits until the first is pinned, which is not a transport delay.
#[test]
fn waits_for_a_busy_pin_thread_are_no_transport_delay() {
    let case = Case {
        options: RunOptions {
            num_workers: 2,
            prefetch_factor: Some(1),
            batch_size: Some(1),
            in_order: false,
            pin_memory: PinMemory::Mlock,
            ..RunOptions::default()
        },
        costs: vec![23_000_007, 23_000_015],
        pin: Some(100_019),
        step: 11,
        ..proof()
    };
    let forecast = with(&recorded(&case), &[]);
    assert_eq!((forecast.time, forecast.waited), took(&case.run()));
}

fn took(run: &Run) -> (Nanos, Nanos) {
    let summary = Summary::of(run);
    let nanos = Nanos::from_secs_f64;
    (nanos(summary.seconds), nanos(summary.waited_seconds))
}

/// A forecast from part of a long recording differs by less than 1 % from the forecast from all of it.
#[test]
fn a_forecast_from_a_part_equals_that_of_the_whole() {
    let samples = 40_000;
    let case = Case {
        costs: (0..samples)
            .map(|i| 20_000_000 + i * 7_919_317 % 15_000_017)
            .collect(),
        options: RunOptions {
            num_workers: 2,
            batch_size: Some(1),
            ..proof().options
        },
        ..proof()
    };
    let run = case.run();
    let (whole, part) = (
        Recorded::of(&run).expect("sound"),
        Recorded::of_part(&run).expect("sound"),
    );
    assert!(part.tasks() * 2 < whole.tasks(), "{}", part.tasks());
    assert!(
        part.notes().iter().any(|n| n.contains("of 40,000 batches")),
        "{:?}",
        part.notes()
    );
    for change in [
        &[][..],
        &["num_workers=1"],
        &["num_workers=4"],
        &["batch_size=4"],
        &["in_order=false"],
    ] {
        let (whole, part) = (with(&whole, change), with(&part, change));
        let near = |a: Nanos, b: Nanos| (a.as_secs_f64() / b.as_secs_f64() - 1.0).abs() < 0.01;
        assert!(near(part.time, whole.time), "{change:?} {part:?} {whole:?}");
        assert!(
            near(part.waited + whole.time, whole.waited + whole.time),
            "{change:?}"
        );
        assert_eq!(part.samples, whole.samples, "{change:?}");
        assert!((part.high - part.low).0 <= 2 * (whole.high - whole.low).0 + 1_000_000);
    }
}
