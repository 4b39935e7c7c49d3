//! Files from other tools, compared with the measurements of the programs that wrote them.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use crate::support;

use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use loadscope_diagnose::{Blame, Cause};
use loadscope_exchange::read;
use loadscope_trace::{Event, GaugeKind, Level, Nanos, Origin, Run, Stage};
use serde_json::Value;
use support::{data, opened};

fn truth(folder: &str) -> Value {
    let text = std::fs::read_to_string(data(&format!("{folder}/truth.json"))).expect("there");
    serde_json::from_str(&text).expect("JSON")
}

fn profiled(name: &str) -> Run {
    opened(&data(&format!("profiler/{name}.json.gz"))).0
}

/// Returns the number of yielded batches per epoch.
fn epochs(run: &Run) -> Vec<u64> {
    let epochs = run.epochs().iter();
    epochs.map(|e| e.rows.len() as u64).collect()
}

fn list(value: &Value) -> Vec<i64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|v| v.as_i64().expect("a number")).collect()
}

#[test]
fn torch_profiler_traces_give_waits_and_steps() {
    let truth = truth("profiler");
    for (name, truth) in truth.as_object().expect("an object") {
        let run = profiled(name);
        assert_eq!(run.anomalies(), (0, 0), "{name}");
        let counted = list(&truth["epochs"]).into_iter().map(|n| n as u64);
        assert_eq!(epochs(&run), counted.collect::<Vec<_>>(), "{name}");
        let measured = list(&truth["waits_ns"]);
        // The program's first wait includes creating the iterator, the profiler's does not.
        let waits = run.waits();
        assert_eq!(waits.len(), measured.len(), "{name}");
        let mut far = 0;
        for (wait, measured) in waits.iter().zip(measured) {
            let off = measured - (wait.end - wait.start).0;
            far += usize::from(!(-50_000..3_000_000).contains(&off));
        }
        assert!(far <= 1, "{name}: {far} waits differ");
        assert!(run.has_ended());
        assert_eq!(run.info.origin, Origin::Import("torch.profiler".to_owned()));
    }
}

/// Returns the events of a trace.
fn events_of(trace: &str) -> Vec<Event> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    std::fs::write(&path, trace).expect("there is room");
    events_at(&path)
}

/// Returns the events of a file or a folder.
fn events_at(path: &Path) -> Vec<Event> {
    let mut events = Vec::new();
    let outcome = read(path, |event, _| {
        events.extend(event);
        true
    });
    assert!(!outcome.expect("sound").cut);
    events
}

/// Shuffles items. The same seed results in the same order.
fn shuffle(items: &mut [&str], seed: u64) {
    let mut state = seed;
    for k in (1..items.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        items.swap(k, (state >> 33) as usize % (k + 1));
    }
}

#[test]
fn event_order_in_a_trace_does_not_matter() {
    const BEGIN: &str = "\"traceEvents\": [";
    const BETWEEN: &str = "\n  },";
    const END: &str = "\n  }\n  ]";
    for name in ["two_loaders", "persistent", "stopped_early", "rank"] {
        let packed = std::fs::File::open(data(&format!("profiler/{name}.json.gz")));
        let mut trace = String::new();
        GzDecoder::new(packed.expect("there"))
            .read_to_string(&mut trace)
            .expect("text");
        let (head, rest) = trace.split_once(BEGIN).expect("a list of events");
        let (list, tail) = rest.split_once(END).expect("the end of the list");
        let mut items: Vec<&str> = list.split(BETWEEN).collect();
        assert!(items.len() > 100, "{name}: {} events", items.len());
        let expected = events_of(&trace);
        let again = |how: &str, items: &[&str]| {
            let trace = [head, BEGIN, &items.join(BETWEEN), END, tail].concat();
            assert!(events_of(&trace) == expected, "{name}, {how}");
        };
        items.reverse();
        again("from the end", &items);
        items.sort_unstable();
        again("by name", &items);
        for seed in 0..4 {
            shuffle(&mut items, seed);
            again(&format!("shuffled with {seed}"), &items);
        }
    }
}

/// The CUDA calls of a thread are after all of its other events in this trace.
#[test]
fn cuda_calls_are_assigned_to_the_step_they_ran_in() {
    let event = |name: &str, start: u32, took: u32| {
        format!(r#"{{"ph":"X","name":"{name}","pid":1,"tid":1,"ts":{start},"dur":{took}}},"#)
    };
    let next = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    let (mut operators, mut launches) = (String::new(), String::new());
    // Two epochs of three batches, each with a final call that finds no batch.
    for k in 0..8 {
        operators += &event(next, 100 * k, 10);
        if k % 4 != 3 {
            launches += &event("cudaLaunchKernel", 100 * k + 50, 5);
        }
    }
    let trace = format!(r#"{{"traceEvents":[{operators}{launches}]}}"#);
    let (run, _) = support::try_bytes("cuda.json", trace.as_bytes()).expect("sound");
    assert_eq!(epochs(&run), [3, 3]);
}

#[test]
fn unmeasured_times_of_a_profile_stay_unknown() {
    let run = profiled("workers");
    let blame = Blame::whole(&run);
    assert_eq!(blame.time_of(Cause::Fetching), None);
    assert_eq!(blame.time_of(Cause::Held), None);
    let known = blame.time_of(Cause::NotMeasured).expect("waits")
        + blame.time_of(Cause::End).unwrap_or_default();
    assert_eq!(known, run.waited());
    assert!(run.waited() > Nanos::ZERO);
    // Without workers, the call itself is the fetching.
    let run = profiled("single");
    let blame = Blame::whole(&run);
    assert!(blame.time_of(Cause::Fetching).expect("measured") > Nanos(100_000_000));
    assert_eq!(blame.time_of(Cause::Collating), None);
}

#[test]
fn a_rank_is_read_from_the_trace() {
    let run = profiled("rank");
    assert_eq!((run.info.rank, run.info.world_size), (1, 2));
    assert!(
        run.messages()
            .iter()
            .any(|(_, m)| m.text.contains("rank 1 of 2"))
    );
    assert_eq!(epochs(&run), [2]);
    // The start time of the run is that of the trace, 2026-10-01.
    assert!(run.info.started_unix_ns > 1_790_000_000_000_000_000);
}

#[test]
fn lotus_folders_give_the_work_of_each_worker() {
    for (branch, truth) in truth("lotus").as_object().expect("an object") {
        let (run, cut) = opened(&data(&format!("lotus/{branch}")));
        assert!(!cut && run.has_ended());
        assert_eq!(run.anomalies(), (0, 0), "{branch}: {:?}", run.messages());
        assert_eq!(epochs(&run), [10, 10]);
        let order = run
            .transitions()
            .iter()
            .filter(|t| t.stage == Stage::Training);
        let order: Vec<i64> = order
            .map(|t| i64::from(run.batches()[t.batch as usize].id.idx))
            .collect();
        assert_eq!(order, list(&truth["consumed"]));
        let waited = truth["waited_ns"].as_i64().expect("a number");
        // A wait ends when the batch is yielded, but the log contains the time of its arrival.
        let off = run.waited().0 - waited;
        assert!((0..20_000_000).contains(&off), "{branch}: {off}");
        let held = run.batches().iter().filter(|b| b.was_held).count() as u64;
        assert_eq!(Some(held), truth["out_of_order"].as_u64());
        for (row, batch) in run.batches().iter().enumerate() {
            assert_eq!(batch.samples(), 2);
            assert_eq!(batch.worker, Some((batch.id.idx % 2) as u16));
            let stages = run.sample_stages(row).expect("transforms");
            assert_eq!(stages.names, ["Loader", "Flip"]);
            assert!(stages.wall(0, 1) >= Nanos(1_000_000));
            let path: Vec<Stage> = run.path(row).iter().map(|s| s.stage).collect();
            assert!(path.starts_with(&[Stage::Queued, Stage::Fetching, Stage::Collating]));
        }
        assert_eq!(run.measures(Stage::Queued), branch == "newer");
        assert_eq!(run.info.options.num_workers, 2);
        assert!(run.workers().is_empty(), "their seeds are not known");
    }
}

#[test]
fn line_order_in_a_lotus_log_does_not_matter() {
    for branch in ["older", "newer"] {
        let folder = data(&format!("lotus/{branch}"));
        let expected = events_at(&folder);
        for seed in 0..4 {
            let other = tempfile::tempdir().expect("a folder");
            for log in std::fs::read_dir(&folder).expect("there") {
                let log = log.expect("there");
                let text = std::fs::read_to_string(log.path()).expect("text");
                let mut lines: Vec<&str> = text.lines().collect();
                shuffle(&mut lines, seed);
                let shuffled = lines.join("\n") + "\n";
                let copy = other.path().join(log.file_name());
                std::fs::write(copy, shuffled).expect("there is room");
            }
            assert!(events_at(other.path()) == expected, "{branch}, {seed}");
        }
    }
}

#[test]
fn opening_one_lotus_log_opens_its_folder() {
    let folder = data("lotus/older");
    let logs = std::fs::read_dir(&folder).expect("there");
    for log in logs.map(|e| e.expect("there").path()) {
        let (run, _) = opened(&log);
        assert_eq!(epochs(&run), [10, 10], "{}", log.display());
    }
}

#[test]
fn spdl_statistics_become_gauges_of_its_parts() {
    let truth = truth("spdl");
    let (run, _) = opened(&data("spdl/pipeline.sqlite"));
    assert!(run.batches().is_empty() && run.epochs().is_empty());
    let part = |name: &str| run.parts().iter().position(|p| p == name).expect(name) as u16;
    let seconds = truth["seconds"].as_f64().expect("a number");
    assert!((run.end().as_secs_f64() - seconds).abs() < 0.3);
    let mean = |name: &str, what| {
        let points = run.part_gauge(part(name), what).expect("measured").points();
        let pairs = points.pairs().filter(|w| w[0].1.is_finite());
        let (area, time) = pairs.fold((0.0, 0.0), |(area, time), w| {
            let took = (w[1].0 - w[0].0).as_secs_f64();
            (area + w[0].1 * took, time + took)
        });
        (area / time, area)
    };
    let (share, _) = mean("0:3:sink queue", GaugeKind::WaitingToGet);
    let measured = truth["waited_share"].as_f64().expect("a number");
    // The loop's share includes the communication between its thread and that of the queue.
    assert!(
        (0.0..0.12).contains(&(measured - share)),
        "{share} {measured}"
    );
    let (_, items) = mean("0:3:sink queue", GaugeKind::Throughput);
    // SPDL does not log the last interval.
    let all = truth["items"].as_f64().expect("a number");
    assert!((0.8 * all..=all).contains(&items), "{items}");
    let (decode, _) = mean("0:2:decode[2]", GaugeKind::TaskTime);
    assert!((0.02..0.03).contains(&decode), "{decode}");
    let said = |word: &str| run.messages().iter().any(|(_, m)| m.text.contains(word));
    assert!(said("SPDL event: gc") && said("not measured"));
    assert!(said("the training loop waited 6"), "{:?}", run.messages());
    // The end of the run has only the messages about the whole run.
    let of_all = run.messages().iter().filter(|(at, _)| *at >= run.end());
    let of_all: Vec<&str> = of_all.map(|(_, m)| &*m.text).collect();
    assert!(!of_all.is_empty() && of_all.iter().all(|text| !text.contains("SPDL event")));
    assert!(run.messages().iter().all(|(_, m)| m.level == Level::Info));
}

#[test]
fn each_thread_of_a_trace_is_a_loader() {
    let next = |tid: u32, start: u32, took: u32| {
        format!(
            r#"{{"ph":"X","name":"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__","pid":1,"tid":{tid},"ts":{start},"dur":{took}}},"#
        )
    };
    let op = |tid: u32, start: u32| {
        format!(r#"{{"ph":"X","name":"aten::mm","pid":1,"tid":{tid},"ts":{start},"dur":5}},"#)
    };
    let mut text = String::from(r#"{"baseTimeNanoseconds":5000,"traceEvents":["#);
    for k in 0..4 {
        // One thread has a long call, during which the other thread calls twice.
        text += &next(7, 100 * k, 60);
        text += &next(8, 100 * k + 10, 5);
        text += &op(8, 100 * k + 20);
        text += &next(8, 100 * k + 30, 5);
        text += &op(8, 100 * k + 40);
        text += &op(7, 100 * k + 70);
    }
    text += "]}";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.json");
    std::fs::write(&path, text).expect("there is room");
    let (fleet, cut) = support::try_fleet(&path).expect("sound");
    assert!(!cut);
    let runs: Vec<(&Run, usize)> = fleet
        .runs()
        .map(|(_, run)| (run, run.batches().len()))
        .collect();
    let counts: Vec<usize> = runs.iter().map(|(_, n)| *n).collect();
    assert_eq!(counts, [4, 8]);
    assert_eq!(runs[0].0.waited(), Nanos(4 * 60_000));
    assert_eq!(runs[1].0.waited(), Nanos(8 * 5_000));
    assert!(
        runs.iter()
            .all(|(run, _)| run.anomalies() == (0, 0) && run.has_ended())
    );
    assert!(runs[1].0.info.dataset.contains("thread 8"));
    assert_eq!(runs[0].0.info.started_unix_ns, 5_000);
}
