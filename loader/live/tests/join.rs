//! Tests of merging streams in the probe's format.

use crate::stream;

use loadscope_live::{Effects, Introduction, Join, Record};
use loadscope_trace::{
    BatchId, Difference, Event, EventKind, Fact, Level, Nanos, RunId, Sent, SentAttribute, Stage,
    StartMethod,
};
use stream::{
    MAIN, WORKER, dispatch, fetch, folded, from_main, from_worker, introduction, loader, packed,
};

#[test]
fn the_kth_fetch_of_a_worker_is_its_kth_task() {
    let mut join = Join::default();
    loader(&mut join);
    dispatch(&mut join, 0, 0, 1020);
    dispatch(&mut join, 1, 1, 1021);
    join.open(WORKER, introduction(20));
    from_worker(&mut join, r#"["fetcher",1015,0,{"numpy":7,"python":8}]"#);
    fetch(&mut join, 0, 0, 1100);
    fetch(&mut join, 0, 1, 1200);
    let run = folded(&mut join);
    for (batch, start) in [(0, 100), (1, 200)] {
        let row = run
            .row(BatchId {
                epoch: 0,
                idx: batch,
            })
            .expect("it was dispatched");
        let samples: Vec<_> = run
            .samples(row)
            .map(|s| (s.index, s.start.0, s.wall.0))
            .collect();
        let first = u64::from(batch) * 2;
        assert_eq!(
            samples,
            [(Some(first), start, 10), (Some(first + 1), start + 10, 20)]
        );
    }
    assert_eq!(run.info.origin.label(), "PyTorch 2.13.0");
    assert_eq!(run.workers()[0].info.os_id, Some(20));
    let generators = run.workers()[0].generators.expect("the worker told");
    assert_eq!((generators.numpy, generators.python), (Some(7), Some(8)));
}

#[test]
fn unknown_worker_seeds_are_none_instead_of_zero() {
    let mut join = Join::default();
    loader(&mut join);
    from_main(&mut join, r#"["workers",1010,0,[[20,77,1004],[21,null]]]"#);
    let run = folded(&mut join);
    let seeds: Vec<_> = run.workers().iter().map(|w| w.info.seed).collect();
    assert_eq!(seeds, [Some(77), Some(77), None]);
    // The start times of forked workers are known.
    let mut starts: Vec<_> = run.workers().iter().map(|w| w.start).collect();
    starts.sort_unstable();
    assert_eq!(starts, [Nanos(4), Nanos(10), Nanos(10)]);
}

#[test]
fn a_worker_may_connect_before_its_main_process() {
    let mut join = Join::default();
    join.open(WORKER, introduction(20));
    from_worker(&mut join, r#"["fetcher",1015,0]"#);
    fetch(&mut join, 0, 0, 1100);
    join.close(WORKER);
    loader(&mut join);
    assert!(
        join.events()
            .all(|e| !matches!(e.kind, EventKind::Fetched(_)))
    );
    dispatch(&mut join, 0, 0, 1020);
    let fetched = join
        .events()
        .filter(|e| matches!(e.kind, EventKind::Fetched(_)));
    assert_eq!(fetched.count(), 1);
}

#[test]
fn a_persistent_worker_finishes_old_tasks_first() {
    let mut join = Join::default();
    loader(&mut join);
    join.open(WORKER, introduction(20));
    from_worker(&mut join, r#"["fetcher",1015,0]"#);
    dispatch(&mut join, 0, 0, 1020);
    from_main(&mut join, r#"["end",1100,0,0]"#);
    from_main(&mut join, r#"["epoch",1100,0,0,1]"#);
    let indices = packed(&[5, 6]);
    fetch(&mut join, 0, 0, 1110);
    from_worker(&mut join, r#"["fetcher",1190,1]"#);
    from_main(
        &mut join,
        &format!(r#"["dispatch",1195,0,1,0,0,0,"{indices}"]"#),
    );
    fetch(&mut join, 1, 0, 1200);
    let run = folded(&mut join);
    let left = run.row(BatchId { epoch: 0, idx: 0 }).expect("dispatched");
    assert_eq!(run.batches()[left].stage, Stage::Discarded);
    let next = run.row(BatchId { epoch: 1, idx: 0 }).expect("dispatched");
    let indices: Vec<_> = run.samples(next).map(|s| s.index).collect();
    assert_eq!(indices, [Some(5), Some(6)]);
}

#[test]
fn a_host_with_another_clock_is_aligned_by_its_wall_clock() {
    let mut join = Join::default();
    loader(&mut join);
    let other = r#"{"loadscope_stream":1,"pid":10,"monotonic":900000,"realtime":5000,"host":"other","boot":"c"}"#;
    join.open(
        WORKER,
        Introduction::parse(other.as_bytes()).expect("sound"),
    );
    from_worker(&mut join, r#"["loader",900100,0,{"dataset":"D"}]"#);
    let starts: Vec<i64> = join
        .events()
        .filter(|e| matches!(e.kind, EventKind::RunStarted(_)))
        .map(|e| e.at.0)
        .collect();
    assert_eq!(starts, [0, 100]);
}

#[test]
fn invalid_fields_are_ignored_and_the_record_is_kept() {
    let line = r#"{"loadscope_stream":1,"pid":7,"monotonic":1,"realtime":2,"rank":-1,"world_size":1e9,"host":5,"cores":[[]],"local_rank":"x"}"#;
    let who = Introduction::parse(line.as_bytes()).expect("it says enough");
    assert_eq!((who.pid, who.rank, who.host.as_str()), (7, None, ""));
    let mut join = Join::default();
    join.open(MAIN, who);
    from_main(
        &mut join,
        r#"["loader",1000,0,{"dataset":"D","num_workers":"2","batch_size":-1,"seed":-5,"global_seed":184467440737095516160,
           "timeout":null,"in_order":1,"classes":["a",1,null,"b"],"batches":{"a":[1]},"prefetch_factor":3,"sampler":[]}]"#,
    );
    let run = folded(&mut join);
    assert_eq!(run.info.classes, ["a", "", "", "b"]);
    let options = &run.info.options;
    assert_eq!(
        (options.batch_size, options.seed, options.prefetch_factor),
        (None, None, Some(3))
    );
}

#[test]
fn a_negative_index_is_counted_as_dropped() {
    let mut join = Join::default();
    loader(&mut join);
    let indices = packed(&[3, -1]);
    from_main(
        &mut join,
        &format!(r#"["dispatch",1020,0,0,0,0,0,"{indices}"]"#),
    );
    let dropped = |e: Event| matches!(e.kind, EventKind::Dropped { count: 1 });
    assert_eq!(join.events().map(dropped).filter(|d| *d).count(), 1);
}

#[test]
fn pending_records_are_limited_in_bytes() {
    let mut join = Join::default();
    join.open(WORKER, introduction(20));
    let times = packed(&vec![1100; 1 << 20]);
    let line = format!(r#"["fetch",1100,null,0,0,0,1200,0,"{times}","",[]]"#);
    // Each record has 8 MiB, and its process was never announced.
    for _ in 0..40 {
        from_worker(&mut join, &line);
    }
    loader(&mut join);
    dispatch(&mut join, 0, 0, 1020);
    join.finish();
    let (mut placed, mut lost) = (0, 0);
    for event in join.events() {
        match event.kind {
            EventKind::Entered {
                stage: Stage::Returning,
                ..
            } => placed += 1,
            EventKind::Dropped { count } => lost += count,
            _ => {}
        }
    }
    assert!(placed < 32 && placed + lost == 40, "{placed}, {lost}");
}

#[test]
fn invalid_lines_are_refused() {
    for line in [
        "",
        "[]",
        "{}",
        r#"["wait"]"#,
        r#"["wait",1,-1]"#,
        r#"["wait",1e30,0]"#,
        r#"["nothing",1]"#,
        r#"["dispatch",1,0,0,0,0,0,"AAA"]"#,
        r#"["fetch",1,null,0,0,0,1,9,"","",[]]"#,
        r#"["begin",1,0,0,99999999999]"#,
        "\u{7f}",
    ] {
        assert!(Record::parse(line.as_bytes()).is_err(), "{line}");
    }
    let deep = format!(r#"["loader",1,0,{}"#, "[".repeat(1 << 20));
    assert!(Record::parse(deep.as_bytes()).is_err());
}

#[test]
fn applied_settings_and_the_stop_reason_are_recorded() {
    let mut join = Join::default();
    join.open(MAIN, introduction(10));
    from_main(
        &mut join,
        r#"["loader",1000,0,{"dataset":"D","num_workers":0,"set":"num_workers=0 (it was 2)"}]"#,
    );
    from_main(&mut join, r#"["epoch",1000,0,0,0]"#);
    from_main(&mut join, r#"["stop",1500,0,0]"#);
    from_main(&mut join, r#"["end",1500,0,0]"#);
    from_main(
        &mut join,
        r#"["loader",1600,1,{"dataset":"E","not_set":"ValueError: no"}]"#,
    );
    let events: Vec<Event> = join.events().collect();
    let texts = events.iter().filter_map(|event| match &event.kind {
        EventKind::Message(message) => Some((event.run.0, message.level, message.text.clone())),
        _ => None,
    });
    let texts: Vec<_> = texts.collect();
    let set = "Loadscope set num_workers=0 (it was 2)".to_owned();
    assert_eq!(texts[0], (0, Level::Info, set));
    assert_eq!((texts[1].0, texts[1].1), (0, Level::Info));
    assert!(texts[1].2.contains("SystemExit"), "{texts:?}");
    assert_eq!((texts[2].0, texts[2].1), (1, Level::Warning));
    assert!(
        texts[2]
            .2
            .ends_with("rejected the new ones: ValueError: no"),
        "{texts:?}"
    );
    assert_eq!(texts.len(), 3);
}

/// Effects are stored as values. Messages of the program with the same text do not change them.
#[test]
fn effects_of_a_request_do_not_depend_on_texts() {
    let mut join = Join::default();
    join.open(MAIN, introduction(10));
    let loader = r#"["loader",1000,0,{"dataset":"D","num_workers":0}]"#;
    from_main(&mut join, loader);
    from_main(&mut join, r#"["epoch",1000,0,0,0]"#);
    for text in [
        "Loadscope ends the program here: it raises SystemExit",
        "Loadscope set num_workers=0 (it was 2)",
        "This loader keeps the arguments of the program, because DataLoader rejected the new ones: no",
    ] {
        let fail = format!(r#"["fail",1100,0,0,null,"{text}"]"#);
        from_main(&mut join, &fail);
    }
    let is_message = |event: &Event| matches!(event.kind, EventKind::Message(_));
    assert_eq!(join.events().filter(is_message).count(), 3);
    assert_eq!(*join.effects(), Effects::default());
    let refused = r#"["loader",1200,1,{"dataset":"E","set":"a","not_set":"ValueError: no\nmore"}]"#;
    from_main(&mut join, refused);
    from_main(&mut join, r#"["stop",1500,0,0]"#);
    let effects = Effects {
        stopped: true,
        was_set: true,
        refused: [(RunId(1), "ValueError: no".to_owned())].into(),
    };
    assert_eq!(*join.effects(), effects);
}

/// Returns the facts of a run in order of time.
fn facts(join: &mut Join) -> Vec<Fact> {
    let run = folded(join);
    run.facts().iter().map(|(_, fact)| fact.clone()).collect()
}

#[test]
fn facts_of_loader_and_workers_are_in_the_run() {
    let mut join = Join::default();
    loader(&mut join);
    join.open(WORKER, introduction(20));
    from_main(&mut join, r#"["earlier",1011,0,2]"#);
    from_main(&mut join, r#"["length",1012,0,20]"#);
    from_main(&mut join, r#"["changed",1013,0,["epoch","seed"]]"#);
    from_worker(&mut join, r#"["undivided",1014,0]"#);
    from_main(
        &mut join,
        r#"["sent",1014,0,1004,2,"spawn",5000,3,"images",4000]"#,
    );
    from_main(&mut join, r#"["objects",1014,0,"dataset.samples",200000]"#);
    // The loader of this record is unknown.
    from_main(&mut join, r#"["length",1015,7,20]"#);
    let attributes = vec!["epoch".to_owned(), "seed".to_owned()];
    let images = SentAttribute {
        name: "images".to_owned(),
        bytes: 4000,
    };
    let sent = Sent {
        workers: 2,
        method: StartMethod::Spawn,
        bytes: 5000,
        took: Nanos(10),
        pickling: Nanos(3),
        attribute: Some(images),
    };
    assert_eq!(
        facts(&mut join),
        [
            Fact::EarlierWorkers { workers: 2 },
            Fact::Length { batches: 20 },
            Fact::DatasetChanged { attributes },
            Fact::UndividedStream { worker: 0 },
            Fact::Sent(sent),
            Fact::Objects {
                attribute: "dataset.samples".to_owned(),
                objects: 200_000
            },
        ]
    );
}

#[test]
fn workers_older_than_the_recording_are_marked() {
    let mut join = Join::default();
    loader(&mut join);
    assert!(folded(&mut join).workers()[0].is_recorded);
    let mut join = Join::default();
    loader(&mut join);
    from_main(&mut join, r#"["earlier",1011,0,1]"#);
    assert!(!folded(&mut join).workers()[0].is_recorded);
}

#[test]
fn misfit_samples_and_sample_files_are_named() {
    let mut join = Join::default();
    loader(&mut join);
    join.open(WORKER, introduction(20));
    from_worker(&mut join, r#"["fetcher",1015,0]"#);
    dispatch(&mut join, 0, 0, 1020);
    dispatch(&mut join, 1, 1, 1021);
    fetch(&mut join, 0, 0, 1100);
    // The probe reports the file after the fetch.
    from_worker(&mut join, r#"["file",1141,null,0,0,1,"cats/1.png"]"#);
    from_worker(&mut join, r#"["begin",1150,null,0,1]"#);
    from_worker(
        &mut join,
        r#"["misfit",1170,null,0,1,1,"[0]","shape","[1, 8, 8]","[3, 8, 8]",1]"#,
    );
    let times = packed(&[1150, 1155, 1160]);
    from_worker(
        &mut join,
        &format!(r#"["fetch",1150,null,0,1,0,1171,1,"{times}","",[]]"#),
    );
    from_main(&mut join, r#"["wait",1172,0]"#);
    from_main(&mut join, r#"["fail",1180,0,0,1,"RuntimeError: stack"]"#);
    let run = folded(&mut join);
    let batch = BatchId { epoch: 0, idx: 1 };
    let misfit = run.misfit(batch).expect("it was reported");
    assert_eq!((misfit.position, misfit.by), (1, Difference::Shape));
    assert_eq!(run.file_of(1), Some("cats/1.png"));
    assert_eq!(run.file_of(0), None);
    let (_, error) = run.failure().expect("it failed");
    assert_eq!((error.sample, error.worker), (Some(3), Some(0)));
}

#[test]
fn stop_iteration_of_a_sample_does_not_end_the_run() {
    let mut join = Join::default();
    loader(&mut join);
    dispatch(&mut join, 0, 0, 1020);
    from_main(&mut join, r#"["wait",1030,0]"#);
    from_main(&mut join, r#"["fail",1040,0,0,0,"StopIteration"]"#);
    from_main(&mut join, r#"["end",1041,0,0]"#);
    // The worker could still report the sample. Without its report, the error is delayed until the end.
    join.finish();
    let run = folded(&mut join);
    assert!(run.failure().is_none());
    let ended = run.messages().iter().filter(|(_, m)| m.ends_epoch());
    assert_eq!(ended.count(), 1);
}
