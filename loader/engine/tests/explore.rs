//! The loader's threads in thousands of interleavings: random ones, and those with few but well-placed preemptions.
//!
//! The explorer itself finds deadlocks, leftover threads and panics, and prints the failing schedule, an input of `shuttle::replay`.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

#[path = "exploring/mod.rs"]
mod exploring;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use exploring::{
    LoaderConfig, Numbers, Streams, all, any, any_below, check_events, epoch, explore, is_gone,
};
use loadscope_engine::{Clock, ContentPolicy, Gate, LoaderBuilder, Probe};
use shuttle::sync::atomic::AtomicBool;

#[test]
fn batches_and_errors_arrive_in_order() {
    explore(|| {
        let data = Numbers {
            bad: Some(2),
            ..Numbers::new(5)
        };
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 10);
        let config = LoaderConfig {
            pinned: any(),
            prefetch: 1 + any_below(2),
            ..LoaderConfig::default()
        };
        let mut loader = config.build_loader(&data).observed(probe);
        let got = epoch(&mut loader);
        drop(loader);
        is_gone(&data);
        let bad = got[2].as_ref().expect_err("sample 2 fails");
        assert!(bad.contains("boom"), "{bad}");
        assert_eq!(
            [&got[..2], &got[3..]].concat(),
            [Ok(0), Ok(1), Ok(3), Ok(4)]
        );
        check_events(events.try_iter());
    });
}

#[test]
fn every_batch_arrives_once_without_in_order() {
    explore(|| {
        let data = Numbers::new(6);
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 10);
        let config = LoaderConfig {
            in_order: false,
            pinned: any(),
            ..LoaderConfig::default()
        };
        let mut loader = config.build_loader(&data).observed(probe);
        let mut got = epoch(&mut loader);
        drop(loader);
        is_gone(&data);
        got.sort();
        assert_eq!(got, all(6));
        check_events(events.try_iter());
    });
}

#[test]
fn streams_of_unequal_length_yield_all_batches() {
    explore(|| {
        let in_order = any();
        let config = LoaderConfig {
            in_order,
            persistent: any(),
            pinned: any(),
            ..LoaderConfig::default()
        };
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 10);
        let builder = LoaderBuilder::iterable(Arc::new(Streams(&[1, 4])));
        let loader = config.apply(builder).build();
        let mut loader = loader.expect("sound arguments").observed(probe);
        for _ in 0..2 {
            let mut got = epoch(&mut loader);
            if !in_order {
                got.sort();
            }
            assert_eq!(got, [0, 100, 101, 102, 103].map(Ok));
        }
        drop(loader);
        check_events(events.try_iter());
    });
}

#[test]
fn a_dead_worker_loses_only_its_own_batches() {
    explore(|| {
        let data = Numbers {
            deadly: Some(1),
            ..Numbers::new(6)
        };
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 10);
        let config = LoaderConfig {
            pinned: any(),
            in_order: any(),
            persistent: any(),
            ..LoaderConfig::default()
        };
        let (persistent, in_order) = (config.persistent, config.in_order);
        let mut loader = config.build_loader(&data).observed(probe);
        let got = epoch(&mut loader);
        let deaths = got.iter().filter_map(|b| b.as_ref().err());
        assert!(deaths.clone().all(|e| e.contains("exit code 7")));
        assert!(deaths.count() <= 1, "{got:?}");
        let came: Vec<usize> = got.iter().flatten().copied().collect();
        assert!(!came.contains(&1));
        // The worker had at most two tasks, and one more that was sent before its death was known.
        assert!(came.len() >= 3, "{got:?}");
        assert!(!in_order || came.is_sorted(), "{got:?}");
        if persistent {
            let error = loader.iter().err().expect("a worker is missing");
            assert!(error.to_string().contains("exit code 7"), "{error}");
        }
        drop(loader);
        is_gone(&data);
        check_events(events.try_iter());
    });
}

#[test]
fn a_dropped_iterator_leaves_the_next_epoch_complete() {
    explore(|| {
        let data = Numbers::new(4);
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 10);
        let config = LoaderConfig {
            persistent: any(),
            pinned: any(),
            ..LoaderConfig::default()
        };
        let mut loader = config.build_loader(&data).observed(probe);
        let taken = any_below(5);
        let mut iter = loader.iter().expect("threads start");
        let got: Vec<usize> = iter.by_ref().take(taken).flatten().map(|b| b[0]).collect();
        assert!(got.into_iter().eq(0..taken));
        drop(iter);
        if any() {
            assert_eq!(epoch(&mut loader), all(4));
        }
        drop(loader);
        is_gone(&data);
        check_events(events.try_iter());
    });
}

#[test]
fn a_resumed_loader_yields_the_remaining_batches() {
    explore(|| {
        let data = Numbers::new(5);
        let in_order = any();
        let persistent = any();
        let new = || {
            let config = LoaderConfig {
                in_order,
                persistent,
                ..LoaderConfig::default()
            };
            config.build_loader(&data)
        };
        let mut stopped = new();
        let mut iter = stopped.iter().expect("threads start");
        let taken = iter.by_ref().take(any_below(6)).flatten();
        let mut got: Vec<_> = taken.map(|b| Ok(b[0])).collect();
        let state = iter.state_dict();
        drop(iter);
        let mut resumed = new();
        resumed.load_state_dict(state).expect("it fits");
        got.extend(epoch(&mut resumed));
        if !in_order {
            got.sort();
        }
        assert_eq!(got, all(5));
    });
}

#[test]
fn a_timeout_loses_no_batch() {
    explore(|| {
        let data = Numbers::new(4);
        let config = LoaderConfig {
            timeout: 1e-9,
            pinned: any(),
            ..LoaderConfig::default()
        };
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 12);
        let mut loader = config.build_loader(&data).observed(probe);
        let mut got = epoch(&mut loader);
        got.retain(|b| !b.as_ref().is_err_and(|e| e.contains("timed out after")));
        assert_eq!(got, all(4));
        drop(loader);
        is_gone(&data);
        check_events(events.try_iter());
    });
}

#[test]
fn an_interruption_ends_the_epoch() {
    explore(|| {
        let data = Numbers::new(4);
        let interrupt = Arc::new(AtomicBool::new(false));
        let config = LoaderConfig {
            pinned: any(),
            ..LoaderConfig::default()
        };
        let mut loader = config
            .build_loader(&data)
            .interruptible(Arc::clone(&interrupt));
        let user = shuttle::thread::spawn(move || interrupt.store(true, Ordering::Release));
        let mut got = epoch(&mut loader);
        if got
            .last()
            .is_some_and(|b| b.as_ref().is_err_and(|e| e == "interrupted"))
        {
            got.pop();
        }
        assert_eq!(got, all(got.len()));
        user.join().expect("it only sets a flag");
        drop(loader);
        is_gone(&data);
    });
}

#[test]
fn closing_and_stepping_the_gate_loses_no_batch() {
    explore(|| {
        let data = Numbers::new(3);
        let gate = Gate::default();
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 10);
        let config = LoaderConfig {
            pinned: any(),
            prefetch: 1,
            ..LoaderConfig::default()
        };
        let mut loader = config
            .build_loader(&data)
            .observed(probe.with_gate(gate.clone()));
        let user = shuttle::thread::spawn(move || {
            gate.pause();
            (0..any_below(4)).for_each(|_| gate.step());
            gate.resume();
        });
        assert_eq!(epoch(&mut loader), all(3));
        user.join().expect("it only steps");
        drop(loader);
        is_gone(&data);
        check_events(events.try_iter());
    });
}

#[test]
fn a_loader_that_is_dropped_while_paused_does_not_hang() {
    explore(|| {
        let data = Numbers::new(4);
        let gate = Gate::default();
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 10);
        let config = LoaderConfig {
            pinned: any(),
            ..LoaderConfig::default()
        };
        let mut loader = config
            .build_loader(&data)
            .observed(probe.with_gate(gate.clone()));
        let mut iter = loader.iter().expect("threads start");
        let taken = iter.by_ref().take(any_below(3)).filter(Result::is_ok);
        assert!(taken.count() < 3);
        gate.pause();
        drop(iter);
        drop(loader);
        is_gone(&data);
        check_events(events.try_iter());
    });
}
