//! The loader with real threads: order, errors, pausing, stepping, early ends.

use crate::support;
#[path = "variables/mod.rs"]
mod variables;

use std::sync::Arc;
use std::time::{Duration, Instant};

use loadscope_engine::dataset::{Dataset, SampleClock, SampleError};
use loadscope_engine::rng::shared_generator;
use loadscope_engine::sampler::{
    BatchSampler, RandomSampler, RandomSource, Sampler, SequentialSampler,
};
use loadscope_engine::{
    Clock, ContentPolicy, DataLoader, Gate, LoaderError, LoaderOptions, MapFetcher, Probe,
};
use loadscope_trace::{Event, EventKind, Nanos, Stage};
use support::{fold, within};

/// A dataset whose samples are their own index. Sample `slow` takes a while, `bad` fails, `panics` panics.
struct Numbers {
    len: usize,
    slow: Option<(usize, Duration)>,
    bad: Option<usize>,
    panics: Option<usize>,
    alive: Arc<()>,
}

impl Numbers {
    fn new(len: usize) -> Self {
        Self {
            len,
            slow: None,
            bad: None,
            panics: None,
            alive: Arc::default(),
        }
    }
}

impl Dataset for Numbers {
    type Sample = usize;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<usize, SampleError> {
        if let Some((slow, takes)) = self.slow
            && slow == index
        {
            std::thread::sleep(takes);
        }
        if self.bad == Some(index) {
            return Err(SampleError::new("ValueError", "boom"));
        }
        assert_ne!(self.panics, Some(index), "sample {index} is too much");
        Ok(index)
    }
}

fn list(samples: Vec<usize>) -> Result<Vec<usize>, LoaderError> {
    Ok(samples)
}

type ListFetcher = MapFetcher<Numbers, fn(Vec<usize>) -> Result<Vec<usize>, LoaderError>>;

fn loader(
    data: Numbers,
    batch_size: i64,
    shuffle: bool,
    options: LoaderOptions,
) -> DataLoader<ListFetcher> {
    let generator = shared_generator(42);
    let sampler: Arc<dyn Sampler> = if shuffle {
        let source = RandomSource::Generator(Arc::clone(&generator));
        Arc::new(RandomSampler::new(data.len, false, None, source).expect("a plain sampler"))
    } else {
        Arc::new(SequentialSampler::new(data.len))
    };
    let batches = BatchSampler::new(sampler, batch_size, false).expect("a positive size");
    let fetcher = ListFetcher::new(Arc::new(data), list);
    DataLoader::new(fetcher, Arc::new(batches), options, generator).expect("sound options")
}

fn workers(num_workers: usize) -> LoaderOptions {
    LoaderOptions {
        num_workers,
        ..LoaderOptions::default()
    }
}

fn epoch(loader: &mut DataLoader<ListFetcher>) -> Vec<Result<Vec<usize>, String>> {
    let iter = loader.iter().expect("threads start");
    iter.map(|b| b.map(|b| b.into_batch()).map_err(|e| e.to_string()))
        .collect()
}

#[test]
fn errors_and_panics_name_worker_and_sample() {
    within(60, || {
        for num_workers in [0, 2] {
            let data = Numbers {
                bad: Some(3),
                panics: Some(8),
                ..Numbers::new(12)
            };
            let got = epoch(&mut loader(data, 2, false, workers(num_workers)));
            assert_eq!(got.len(), 6);
            let bad = got[1].as_ref().expect_err("sample 3 fails");
            let panicked = got[4].as_ref().expect_err("sample 8 panics");
            let place = |w: usize| match num_workers {
                0 => "main process".to_owned(),
                _ => format!("worker {w}"),
            };
            assert!(
                bad.contains("boom") && bad.contains("ValueError") && bad.contains("sample 3"),
                "{bad}"
            );
            assert!(bad.contains(&place(1)), "{bad}");
            assert!(
                panicked.contains("too much") && panicked.contains("sample 8"),
                "{panicked}"
            );
            assert!(panicked.contains(&place(0)), "{panicked}");
            assert_eq!(got[5], Ok(vec![10, 11]));
        }
    });
}

#[test]
fn dropping_the_iterator_anywhere_joins_all_threads() {
    within(120, || {
        for persistent_workers in [false, true] {
            for taken in 0..6 {
                let data = Numbers {
                    slow: Some((1, Duration::from_millis(30))),
                    ..Numbers::new(20)
                };
                let alive = Arc::downgrade(&data.alive);
                let options = LoaderOptions {
                    persistent_workers,
                    ..workers(3)
                };
                let mut loader = loader(data, 1, false, options);
                let taken: Vec<_> = loader.iter().expect("threads start").take(taken).collect();
                assert!(taken.iter().all(Result::is_ok));
                drop(taken);
                // A second epoch after one that was stopped early is complete.
                assert_eq!(epoch(&mut loader).len(), 20);
                drop(loader);
                // The threads hold the dataset, so it is dropped only when all have ended.
                assert_eq!(alive.strong_count(), 0);
            }
        }
    });
}

#[test]
fn dropping_a_paused_loader_does_not_hang() {
    within(60, || {
        let gate = Gate::default();
        let (probe, _events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 12);
        let mut loader =
            loader(Numbers::new(50), 1, false, workers(3)).observed(probe.with_gate(gate.clone()));
        let mut iter = loader.iter().expect("threads start");
        assert!(iter.next().is_some());
        gate.pause();
        drop(iter);
    });
}

#[test]
fn each_step_allows_one_transition_and_loses_no_batch() {
    within(120, || {
        let gate = Gate::default();
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 12);
        gate.pause();
        let mut loader =
            loader(Numbers::new(9), 2, false, workers(2)).observed(probe.with_gate(gate.clone()));
        let consumer = std::thread::Builder::new()
            .spawn(move || epoch(&mut loader))
            .expect("a thread");
        let mut all = Vec::new();
        let transitions = |all: &[Event]| {
            let counts =
                |e: &&Event| matches!(e.kind, EventKind::Entered { .. } | EventKind::Dispatched(_));
            all.iter().filter(counts).count()
        };
        for steps in 1..=20 {
            gate.step();
            let deadline = Instant::now() + Duration::from_secs(20);
            while transitions(&all) < steps {
                all.extend(events.try_iter());
                assert!(Instant::now() < deadline, "step {steps} did not happen");
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(2));
            all.extend(events.try_iter());
            assert_eq!(transitions(&all), steps, "one at a time");
        }
        gate.resume();
        let got = consumer.join().expect("no panic");
        assert_eq!(
            got.iter().flatten().flatten().copied().collect::<Vec<_>>(),
            (0..9).collect::<Vec<_>>()
        );
        all.extend(events.try_iter());
        let run = fold(all);
        assert_eq!(run.anomalies(), (0, 0));
        assert!(run.batches().iter().all(|b| b.stage == Stage::Done));
    });
}

/// Compares the control sequence of the real loader.
///
/// 12 samples of 0.1 s, with 0.6 s for sample 3, batch size 1, 3 workers, prefetch 2. Times are scaled down, and racing
/// arrivals are not compared.
#[test]
fn the_control_sequence_matches_pytorch() {
    within(60, || {
        struct Slow;
        impl Dataset for Slow {
            type Sample = usize;
            fn len(&self) -> usize {
                12
            }
            fn get(&self, index: usize, _: &mut SampleClock) -> Result<usize, SampleError> {
                std::thread::sleep(Duration::from_millis(if index == 3 { 120 } else { 20 }));
                Ok(index)
            }
        }
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 12);
        let batches = BatchSampler::new(Arc::new(SequentialSampler::new(12)), 1, false)
            .expect("a positive size");
        let fetcher = MapFetcher::new(Arc::new(Slow), list);
        let mut loader =
            DataLoader::new(fetcher, Arc::new(batches), workers(3), shared_generator(0))
                .expect("sound options")
                .observed(probe);
        for batch in loader.iter().expect("threads start") {
            batch.expect("no sample fails");
            std::thread::sleep(Duration::from_millis(4));
        }
        let run = fold(events.try_iter());
        assert_eq!(run.anomalies(), (0, 0));
        let steps: Vec<String> = run
            .transitions()
            .iter()
            .filter_map(|t| {
                let n = run.batches()[t.batch as usize].id.idx;
                match t.stage {
                    Stage::Queued => Some(format!("d{n}>{}", n % 3)),
                    // 0, 1, 2 and 9, 10, 11 are ready at the same time and race.
                    Stage::Held if (3..9).contains(&n) => Some(format!("h{n}")),
                    Stage::Training => Some(format!("y{n}")),
                    _ => None,
                }
            })
            .collect();
        let text = steps.join(" ");
        let start = "d0>0 d1>1 d2>2 d3>0 d4>1 d5>2 d6>0 y0 d7>1 y1 d8>2 y2 ";
        assert!(text.starts_with(start), "{text}");
        let mut held: Vec<&String> = steps
            .iter()
            .filter(|s| ["h4", "h5", "h7", "h8"].contains(&s.as_str()))
            .collect();
        held.sort();
        assert_eq!(held, ["h4", "h5", "h7", "h8"], "{text}");
        assert!(text.contains(" d9>0 y3 d10>1 y4 d11>2 y5 "), "{text}");
        let yields: Vec<&String> = steps.iter().filter(|s| s.starts_with('y')).collect();
        assert_eq!(yields.len(), 12);
        assert!(run.waited() >= Nanos::from_millis(100));
    });
}

#[test]
fn recording_keeps_results_and_counts_dropped_events() {
    within(60, || {
        let quiet = epoch(&mut loader(Numbers::new(300), 3, true, workers(3)));
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 64);
        let mut observed = loader(Numbers::new(300), 3, true, workers(3)).observed(probe.clone());
        assert_eq!(epoch(&mut observed), quiet);
        drop(observed);
        let kept = events.try_iter().count() as u64;
        assert!(
            kept <= 65 && probe.dropped() > 500,
            "{kept} {}",
            probe.dropped()
        );
    });
}

#[test]
fn recording_batch_contents_changes_no_tensor() {
    use loadscope_engine::value::Value;
    use loadscope_engine::{DefaultCollate, dataset::Digits};
    within(60, || {
        let batches = |probe: Probe| -> Vec<Value> {
            let generator = shared_generator(5);
            let source = RandomSource::Generator(Arc::clone(&generator));
            let sampler = RandomSampler::new(1797, false, None, source).expect("a plain sampler");
            let batches = BatchSampler::new(Arc::new(sampler), 64, false).expect("a positive size");
            let digits = Arc::new(Digits::new().expect("they are built in"));
            let fetcher = MapFetcher::new(digits, DefaultCollate);
            let loader = DataLoader::new(fetcher, Arc::new(batches), workers(3), generator);
            let mut loader = loader.expect("sound options").observed(probe);
            let all = loader.iter().expect("threads start");
            all.map(|b| b.expect("no sample fails").into_batch())
                .collect()
        };
        let quiet = batches(Probe::off());
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Share(1.0), 1 << 14);
        let watched = batches(probe);
        assert!(quiet.iter().zip(&watched).all(|(a, b)| a.same(b)));
        assert_eq!((quiet.len(), watched.len()), (29, 29));
        let looked = events
            .try_iter()
            .filter(|e| matches!(e.kind, EventKind::Content(_)));
        assert_eq!(looked.count(), 29);
    });
}

#[test]
fn an_interrupted_loader_ends_during_an_hour_long_sample() {
    use loadscope_engine::{RunControl, start};
    use loadscope_trace::RunOptions;
    within(20, || {
        for num_workers in [0, 2] {
            let options = RunOptions {
                dataset: "synthetic:len=8,cost_ms=3600000".to_owned(),
                num_workers,
                ..RunOptions::default()
            };
            let control = RunControl::default();
            let mut run =
                start(&options, ContentPolicy::Off, control.clone()).expect("sound options");
            std::thread::sleep(Duration::from_millis(50));
            control.stop();
            assert_eq!(run.join(), Ok(()));
            let run = fold(run.events.try_iter());
            assert!(run.has_ended() && run.batches().iter().all(|b| b.stage.is_final()));
        }
    });
}
