//! Findings about native threads, storage and the page cache.

use loadscope_trace::{Fact, Gauge, GaugeKind, Lane, Part, ProcessorTime, ThreadPool};

use super::*;

const MB: f64 = 1e6;
const WORKER: Option<Lane> = Some(Lane::Worker(0));

fn gauge(lane: Option<Lane>, what: GaugeKind, value: f64) -> EventKind {
    EventKind::Gauge(Box::new(Gauge {
        lane,
        part: None,
        what,
        value,
    }))
}

fn fact(fact: Fact) -> EventKind {
    EventKind::Fact(Box::new(fact))
}

/// Returns `PROGRAM` on two cores with these additional events.
fn run_with(program: &Program, more: Vec<(i64, EventKind)>) -> Run {
    let mut events = program.events();
    let last = events.last().map_or(0, |(at, _)| *at);
    events.extend(more);
    events.push((last, ENDED));
    events.sort_by_key(|(at, _)| *at);
    let info = RunInfo {
        cores: 2,
        ..program.run(Vec::new()).info.clone()
    };
    let events = events.into_iter();
    run_of(
        info,
        events.map(|(at, kind)| (at * 1_000_000, kind)).collect(),
    )
}

fn found(run: &Run, id: &str) -> Option<(String, String)> {
    let all = diagnosis(run).findings;
    let found = all.into_iter().find(|f| f.id.as_str() == id)?;
    Some((found.text.replace('\u{2009}', " "), found.remedy))
}

/// Returns a run whose worker has this number of busy threads and waits for a core for `core_wait` ms of each fetch of 41 ms.
fn with_threads(threads: f64, core_wait: i64, pools: Vec<ThreadPool>) -> Run {
    let mut more = vec![(1500, fact(Fact::ThreadPools { libraries: pools }))];
    for second in 1..=2 {
        let busy = gauge(WORKER, GaugeKind::BusyThreads, threads);
        more.push((second * 1000, busy));
    }
    for idx in 0..40 {
        let time = ProcessorTime {
            batch: BatchId { epoch: 0, idx },
            part: Part::Fetch,
            cpu: Nanos::from_millis(10),
            core_wait: Some(Nanos::from_millis(core_wait)),
            other_threads: None,
        };
        let at = i64::from(idx) * 51 + 41;
        more.push((at, EventKind::Processor(Box::new(time))));
    }
    run_with(&PROGRAM, more)
}

#[test]
fn threads_that_wait_for_cores_are_a_finding_with_the_settings_of_their_libraries() {
    let pools = vec![ThreadPool::OpenBlas, ThreadPool::OpenCv];
    let run = with_threads(8.0, 30, pools.clone());
    let (text, remedy) = found(&run, "native_threads").expect("the threads wait");
    assert!(
        text.starts_with("The worker runs 8 threads on 2 cores: 1.20 s of waiting (59 % of the"),
        "{text}"
    );
    assert!(
        text.ends_with("waits for a core for 73 % of its time."),
        "{text}"
    );
    for setting in ["OPENBLAS_NUM_THREADS=1", "cv2.setNumThreads(0)"] {
        assert!(remedy.contains(setting), "{remedy}");
    }
    assert!(!remedy.contains("TOKENIZERS"), "{remedy}");
    // More workers would also share the cores.
    assert_eq!(found(&run, "starved_workers"), None);
    for (threads, core_wait) in [(1.0, 30), (2.0, 30), (8.0, 2)] {
        let run = with_threads(threads, core_wait, pools.clone());
        assert_eq!(found(&run, "native_threads"), None, "{threads} {core_wait}");
    }
}

/// Returns a run whose worker reads `read` bytes and is blocked on I/O for `blocked` s.
fn reading(read: f64, blocked: f64, more: Vec<(i64, EventKind)>) -> Run {
    let mut all = vec![
        (100, gauge(WORKER, GaugeKind::StorageRead, read / 2.0)),
        (1900, gauge(WORKER, GaugeKind::StorageRead, read)),
        (1900, gauge(WORKER, GaugeKind::IoBlocked, blocked)),
        (1900, gauge(WORKER, GaugeKind::MajorFaults, 7.0)),
    ];
    all.extend(more);
    run_with(&PROGRAM, all)
}

#[test]
fn loading_that_is_blocked_on_storage_names_the_file_system_and_the_page_cache() {
    let place = |system: &str| {
        let storage = Fact::Storage {
            file_system: system.to_owned(),
            folder: "/data/train".to_owned(),
        };
        (500, fact(storage))
    };
    let free = |free: f64| (1000, gauge(None, GaugeKind::MemoryLeft, free));
    let run = reading(600.0 * MB, 1.23, vec![place("ext4"), free(900.0 * MB)]);
    let (text, remedy) = found(&run, "slow_storage").expect("it is blocked");
    assert!(
        text.starts_with("1 worker read 600 MB (294 MB/s) from /data/train (ext4), blocked on I/O for 75 % of the loading time: 1.23 s of waiting"),
        "{text}"
    );
    assert!(
        text.ends_with(
            "The page cache can keep these files for the next epoch, because 900 MB of memory is free."
        ),
        "{text}"
    );
    assert!(remedy.contains("first epoch only"), "{remedy}");
    // The cause precedes the advice about workers.
    let first = diagnosis(&run).findings.first().map(|f| f.id);
    assert_eq!(first, Some(FindingId::SlowStorage));
    let run = reading(600.0 * MB, 1.23, vec![place("nfs4"), free(100.0 * MB)]);
    let (text, remedy) = found(&run, "slow_storage").expect("it is blocked");
    let mut ranks = reading(600.0 * MB, 1.23, vec![free(900.0 * MB)]);
    ranks.info.world_size = 8;
    let (of_a_rank, _) = found(&ranks, "slow_storage").expect("it is blocked");
    assert!(!of_a_rank.contains("page cache"), "{of_a_rank}");
    assert!(
        text.contains("the next epoch reads at least 500 MB again"),
        "{text}"
    );
    assert!(
        remedy.starts_with("Copy the data to a local disk"),
        "{remedy}"
    );
    let (text, _) = found(&reading(600.0 * MB, 1.23, Vec::new()), "slow_storage").expect("blocked");
    assert!(text.contains("from storage, blocked"), "{text}");
    for (read, blocked) in [(600.0, 0.05), (1.0, 1.23)] {
        let run = reading(read * MB, blocked, Vec::new());
        assert_eq!(found(&run, "slow_storage"), None, "{read} {blocked}");
    }
}

#[test]
fn the_page_cache_of_a_second_epoch_is_measured() {
    // The worker of the second epoch is another process, whose counters begin at 0.
    let second = |read: f64| {
        vec![
            (2039, gauge(WORKER, GaugeKind::StorageRead, f64::NAN)),
            (2040, EventKind::EpochStarted { epoch: 1 }),
            (2050, gauge(WORKER, GaugeKind::StorageRead, read)),
            (2060, EventKind::EpochEnded { epoch: 1 }),
        ]
    };
    let text = |read: f64| {
        let run = reading(600.0 * MB, 1.23, second(read));
        found(&run, "slow_storage").expect("it is blocked").0
    };
    let held = text(20.0 * MB);
    assert!(
        held.contains("The first epoch read 600 MB, later epochs 20.0 MB each"),
        "{held}"
    );
    let again = text(590.0 * MB);
    assert!(again.contains("1 worker read 1.19 GB"), "{again}");
    assert!(
        again.ends_with("Later epochs read 590 MB each again."),
        "{again}"
    );
}
