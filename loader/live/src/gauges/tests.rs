use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

fn looked(gauges: &mut Gauges, processes: &[Process]) -> Vec<(RunId, Option<Lane>, f64)> {
    std::thread::sleep(EVERY);
    let mut out = Vec::new();
    gauges.measure(processes, Nanos(1), &mut out);
    let cpu = out.into_iter().filter_map(|event| match event.kind {
        EventKind::Gauge(g) if g.what == GaugeKind::Cpu => Some((event.run, g.lane, g.value)),
        _ => None,
    });
    cpu.collect()
}

#[test]
fn memory_measurements_take_half_a_percent_of_a_core() {
    let start = Instant::now();
    let mut budget = MemoryBudget::from(start);
    let mut many = 0;
    for step in 1..6000u64 {
        let now = start + Duration::from_millis(100 * step);
        if budget.may_measure(now) && now >= budget.next {
            budget.next = now + MEMORY_EVERY;
            budget.took += Duration::from_millis(30);
            many += 1;
        }
        if step == 40 {
            assert_eq!(many, 3, "one per second at first");
        }
    }
    // The simulated measurements cover ten minutes.
    let took = budget.took.as_millis();
    assert!((2800..=3260).contains(&took), "{took} ms, {many} times");
}

#[test]
fn a_new_worker_is_measured_before_the_next_measurement_of_all_processes() {
    let mut child = Command::new("sleep").arg("60").spawn().expect("it starts");
    let process = |worker, pid| Process {
        pid,
        run: RunId(0),
        worker,
    };
    let main = process(None, u64::from(std::process::id()));
    let worker = process(Some(0), u64::from(child.id()));
    let mut gauges = Gauges::default();
    let mut measured = |processes: &[Process]| {
        std::thread::sleep(EVERY);
        let mut out = Vec::new();
        gauges.measure(processes, Nanos(1), &mut out);
        let lanes = out.into_iter().filter_map(|event| match event.kind {
            EventKind::Gauge(g) if g.what == GaugeKind::Pss => Some(g.lane),
            _ => None,
        });
        lanes.collect::<Vec<_>>()
    };
    assert_eq!(measured(&[main, worker]), []);
    assert_eq!(measured(&[main, worker]), [Some(Lane::Worker(0))]);
    assert_eq!(measured(&[main, worker]), []);
    std::thread::sleep(MEMORY_AFTER);
    let mut all = measured(&[main, worker]);
    all.sort_unstable();
    let mut expected = [None, Some(Lane::Trainer), Some(Lane::Worker(0))];
    expected.sort_unstable();
    assert_eq!(all, expected);
    child.kill().expect("it is killed");
    child.wait().expect("it has ended");
}

#[test]
fn memory_gauges_include_rss_pss_uss_and_memory_left() {
    let pid = u64::from(std::process::id());
    let process = Process {
        pid,
        run: RunId(0),
        worker: None,
    };
    let mut out = Vec::new();
    let mut gauges = Gauges::default();
    gauges.measure(&[process], Nanos(1), &mut out);
    assert!(out.iter().all(|event| match &event.kind {
        EventKind::Gauge(gauge) => gauge.what != GaugeKind::Pss,
        _ => true,
    }));
    std::thread::sleep(MEMORY_AFTER);
    gauges.measure(&[process], Nanos(2), &mut out);
    let value = |what| {
        let found = out.iter().rev().find_map(|event| match &event.kind {
            EventKind::Gauge(g) if g.what == what => Some(g.value),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no {what:?}"))
    };
    let (rss, pss, uss) = (
        value(GaugeKind::Rss),
        value(GaugeKind::Pss),
        value(GaugeKind::Uss),
    );
    assert!(uss > 0.0 && uss <= pss && pss <= rss, "{uss} {pss} {rss}");
    assert!(value(GaugeKind::MemoryLeft) > 0.0);
}

#[test]
fn a_program_that_reads_uncached_files_has_bytes_read_and_a_folder() {
    const SIZE: usize = 32 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("1.bin");
    let mut file = std::fs::File::create_new(&path).expect("a new file");
    std::io::Write::write_all(&mut file, &vec![1; SIZE]).expect("room");
    file.sync_all().expect("it is written");
    let mut file = std::fs::File::open(&path).expect("it exists");
    let pid = u64::from(std::process::id());
    let folders = files::folders(pid);
    let own = folder.path().to_str().expect("a plain path");
    let found = folders.iter().find(|(_, folder)| folder == own);
    let (file_system, _) = found.expect("the file is open");
    if file_system == "tmpfs" {
        return;
    }
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("advice");
    let process = Process {
        pid,
        run: RunId(0),
        worker: Some(0),
    };
    let (mut gauges, mut out) = (Gauges::default(), Vec::new());
    gauges.measure(&[process], Nanos(1), &mut out);
    std::io::Read::read_to_end(&mut file, &mut Vec::new()).expect("it is read");
    std::thread::sleep(EVERY);
    gauges.measure(&[process], Nanos(2), &mut out);
    let read = out.iter().filter_map(|event| match &event.kind {
        EventKind::Gauge(g) if g.what == GaugeKind::StorageRead => Some((g.lane, g.value)),
        _ => None,
    });
    let read: Vec<_> = read.collect();
    let [(Some(Lane::Worker(0)), before), (_, after)] = read[..] else {
        panic!("{read:?}")
    };
    assert!(after - before >= SIZE as f64 / 2.0, "{read:?}");
}

#[test]
fn busy_threads_are_counted() {
    let pid = u64::from(std::process::id());
    let mut threads = threads::Threads::default();
    assert_eq!(threads.busy(pid), None);
    let done = AtomicBool::new(false);
    let spin = || {
        while !done.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    };
    let start = Instant::now();
    let found = std::thread::scope(|scope| {
        scope.spawn(spin);
        scope.spawn(spin);
        // On a busy host, a thread can wait long for a core.
        let mut found = false;
        while !found && start.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(EVERY);
            found = threads.busy(pid) >= Some(2.0);
        }
        done.store(true, Ordering::Relaxed);
        found
    });
    assert!(found);
}

/// Regression test: counting files found nothing, because PyTorch unlinks its files after mapping.
#[test]
fn shared_memory_of_unlinked_files_is_counted() {
    const SIZE: usize = 8 << 20;
    let Some((before, _)) = proc::shared() else {
        return;
    };
    let mut file = tempfile::tempfile_in("/dev/shm").expect("a file without a name");
    std::io::Write::write_all(&mut file, &vec![1; SIZE]).expect("room");
    let (used, _) = proc::shared().expect("it was there before");
    // Other tests can use and free shared memory.
    assert!(used > before + SIZE as f64 / 2.0, "{before} {used}");
}

#[test]
fn gauges_of_an_ended_process_are_nan() {
    let mut child = Command::new("sleep").arg("60").spawn().expect("it starts");
    let process = |run, worker| Process {
        pid: u64::from(child.id()),
        run: RunId(run),
        worker,
    };
    let worker = Some(0);
    let both = [process(0, worker), process(1, worker)];
    let mut gauges = Gauges::default();
    looked(&mut gauges, &both);
    let told = looked(&mut gauges, &both);
    // Two gauges per loader: its worker and all its processes.
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told.iter().all(|(_, _, value)| value.is_finite()));
    child.kill().expect("it is killed");
    child.wait().expect("it has ended");
    let told = looked(&mut gauges, &both);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told.iter().all(|(_, _, value)| value.is_nan()));
    assert_eq!(looked(&mut gauges, &[]), []);
}
