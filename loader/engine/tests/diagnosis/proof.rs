//! One slow sample: 24 samples of 50 ms, with 1 s for sample 4, and training steps of 20 ms.

use std::time::Duration;

use loadscope_diagnose::{Blame, Cause, Diagnosis, Evidence, FetchBlame, Severity, Survey};
use loadscope_engine::forecast::{Recorded, Setting, prospects};
use loadscope_engine::run::{RunControl, start};
use loadscope_engine::simulate::simulate;
use loadscope_engine::{ContentPolicy, LoaderError};
use loadscope_trace::{Event, EventKind, Nanos, Run, RunOptions, Stage};

fn options(num_workers: usize, in_order: bool) -> RunOptions {
    RunOptions {
        dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
        batch_size: Some(1),
        num_workers,
        in_order,
        step_ms: 20.0,
        ..RunOptions::default()
    }
}

fn simulated(num_workers: usize, in_order: bool) -> Run {
    let mut run = Run::default();
    let events = simulate(&options(num_workers, in_order)).expect("sound options");
    events.iter().for_each(|e| run.apply(e));
    run
}

fn plain(text: &str) -> String {
    text.replace('\u{2009}', " ")
}

#[test]
fn the_verdict_names_the_slow_sample_and_its_remedies() {
    let run = simulated(2, true);
    assert_eq!(run.end(), Nanos::from_millis(1_590));
    let blame = Blame::whole(&run);
    assert_eq!(blame.waited, Nanos::from_millis(1_110));
    let longest = blame.longest.map(|k| run.waits()[k]).expect("it waits");
    assert_eq!(longest.end - longest.start, Nanos::from_millis(960));
    assert_eq!(blame.main().map(|(cause, _)| cause), Some(Cause::Fetching));
    let sum = blame.iter().fold(Nanos::ZERO, |sum, (_, t)| sum + t);
    assert_eq!(sum, blame.waited);

    let prospects = prospects(&run, &|_| true).expect("sound").expect("wanted");
    let diagnosis = Diagnosis::of(&run, Some(&prospects), Vec::new());
    assert_eq!(
        plain(&diagnosis.verdict.text()),
        "The trainer waited 1.11 s of 1.59 s (70 %), 0.96 s of it for batch 4: sample 4 took 1.00 s in worker 0 while \
         batches 5 and 7 were already finished. in_order=False would take 1.17 s, and num_workers=3 would take 1.45 s."
    );
    let verdict = &diagnosis.verdict;
    assert_eq!(
        (verdict.id.as_str(), verdict.severity),
        ("head_of_line", Severity::Critical)
    );
    assert!(matches!(verdict.evidence, Evidence::Sample(id, 0, Some(4)) if id.idx == 4));
    assert!(
        diagnosis.findings[0]
            .remedy
            .starts_with("Use in_order=False: ")
    );
    assert_eq!(Survey::of(&run).needed_workers(), Some(3));
}

/// Tests the total time that finished batches were held while batch 4 was awaited.
#[test]
fn time_of_held_finished_batches_is_counted() {
    let run = simulated(2, true);
    let ready = Blame::whole(&run)
        .ready_batches
        .expect("the simulation tells");
    let held = run.batches().iter().enumerate().filter(|(_, b)| b.was_held);
    let walked = held.flat_map(|(row, _)| run.path(row)).filter_map(|step| {
        let is_held = step.stage == Stage::Held;
        is_held.then(|| step.end.unwrap_or(run.end()) - step.start)
    });
    assert_eq!(ready, walked.fold(Nanos::ZERO, |sum, t| sum + t));
    assert!(ready > Nanos::from_millis(1_800), "{ready}");
}

#[test]
fn waits_of_two_ranges_add_up_to_the_run() {
    let run = simulated(2, true);
    let middle = Nanos::from_millis(500);
    let (a, b) = (
        Blame::between(&run, Nanos::ZERO, middle),
        Blame::between(&run, middle, Nanos::MAX),
    );
    assert_eq!(a.waited + b.waited, run.waited());
    let fetching = FetchBlame::between(&run, Nanos::ZERO, Nanos::MAX);
    assert_eq!(fetching.samples[0].index, Some(4));
    assert_eq!(fetching.samples[0].wall, Nanos::from_millis(1_000));
}

/// Runs the options in the real engine.
fn executed(options: &RunOptions) -> Result<Run, LoaderError> {
    let mut handle = start(options, ContentPolicy::Off, RunControl::default())?;
    let ended = |e: &Event| matches!(e.kind, EventKind::RunEnded);
    let mut events = Vec::new();
    while !events.last().is_some_and(ended) {
        std::thread::sleep(Duration::from_millis(1));
        events.extend(handle.events.try_iter());
    }
    handle.join()?;
    events.extend(handle.events.try_iter());
    events.sort_by_key(|e| e.at);
    let mut run = Run::default();
    events.iter().for_each(|e| run.apply(e));
    Ok(run)
}

/// Compares several runs with the expected times. Only one must be near them, because the host may be busy.
#[test]
fn engine_times_match_the_algorithm() {
    const NEAR: f64 = 0.03;
    const TRIES: usize = 6;
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let run = executed(&options(2, true)).expect("sound options");
        let diagnosis = Diagnosis::of(&run, None, Vec::new());
        let survey = Survey::of(&run);
        let sum = survey.blame.iter().fold(Nanos::ZERO, |sum, (_, t)| sum + t);
        assert_eq!(sum, run.waited());
        assert_eq!(diagnosis.verdict.id.as_str(), "head_of_line");
        let is_near = |time: Nanos, ms: f64| (time.as_millis_f64() / ms - 1.0).abs() <= NEAR;
        let longest = survey.blame.longest.map(|k| run.waits()[k]);
        let longest = longest.map_or(Nanos::ZERO, |w| w.end - w.start);
        let times = (survey.total(), survey.blame.waited, longest);
        let text = plain(&diagnosis.verdict.text());
        if is_near(times.0, 1590.0) && is_near(times.1, 1110.0) && is_near(times.2, 960.0) {
            assert!(text.contains("for batch 4: sample 4 took 1.0"), "{text}");
            assert!(
                text.ends_with("in worker 0 while batches 5 and 7 were already finished"),
                "{text}"
            );
            return;
        }
        seen.push(times);
    }
    panic!("none of {TRIES} runs came near: {seen:?}");
}

/// Forecasts the times of the same run, of one without order and of one with three workers, from one recording. Then runs all of them.
///
/// Workers that finish at the same instant may come in either order, but batch 4 is the last but one.
#[test]
fn forecasts_from_a_real_run_match_new_runs() {
    const NEAR: f64 = 0.03;
    const TRIES: usize = 6;
    const SETTINGS: [(usize, bool); 3] = [(2, true), (2, false), (3, true)];
    let mut is_near = [false; SETTINGS.len()];
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let recorded = executed(&options(2, true)).expect("sound options");
        let recorded = Recorded::of(&recorded).expect("it tells everything");
        for (k, (num_workers, in_order)) in SETTINGS.into_iter().enumerate() {
            let setting = Setting {
                num_workers,
                in_order,
                ..recorded.setting()
            };
            let forecast = recorded.forecast(&setting).expect("it makes sense");
            let run = executed(&options(num_workers, in_order)).expect("sound options");
            let took = Survey::of(&run).total();
            is_near[k] |= (forecast.time.as_secs_f64() / took.as_secs_f64() - 1.0).abs() <= NEAR;
            seen.push(format!("{} for {took}", forecast.time));
            let predicted = recorded.order(&setting, 0).expect("it makes sense");
            for order in [predicted, order_of(&run)] {
                let place = order.iter().position(|idx| *idx == 4);
                assert_eq!(place, Some(if in_order { 4 } else { 22 }), "{order:?}");
            }
        }
        if is_near.iter().all(|near| *near) {
            return;
        }
    }
    panic!("not all of {SETTINGS:?} came near in {TRIES} tries: {seen:?}");
}

/// Returns the task indices in the order in which the consumer received their batches.
fn order_of(run: &Run) -> Vec<u32> {
    let rows = 0..run.batches().len();
    let got = rows.filter_map(|row| Some((run.entered(row, Stage::Training)?, row)));
    let mut got: Vec<(Nanos, usize)> = got.collect();
    got.sort_unstable();
    got.iter()
        .map(|(_, row)| run.batches()[*row].id.idx)
        .collect()
}
