//! Time and memory of exporting a long run.

use std::time::Instant;

use loadscope_exchange::{Format, export};
use loadscope_files::Existing;
use loadscope_trace::{BatchId, Event, EventKind, Fetched, Nanos, Run, RunId, SampleTiming, Stage};

fn apply(run: &mut Run, at: i64, kind: EventKind) {
    run.apply(&Event {
        at: Nanos(at),
        run: RunId(0),
        kind,
    });
}

/// Run it with `cargo test -p loadscope-exchange --test exports_large -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes; it measures"]
fn exports_of_a_million_batches_are_measured() {
    let memory = |field: &str| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status
            .lines()
            .find_map(|l| l.strip_prefix(field).map(str::to_owned));
        let kib: u64 = line
            .and_then(|l| l.trim().trim_end_matches(" kB").parse().ok())
            .unwrap_or(0);
        kib >> 10
    };
    let mut run = Run::default();
    apply(&mut run, 0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..1_000_000u32 {
        let (batch, at) = (BatchId { epoch: 0, idx }, i64::from(idx) * 1_000);
        let indices: Vec<u64> = (0..10).map(|k| u64::from(idx) * 10 + k).collect();
        apply(
            &mut run,
            at,
            EventKind::dispatched(batch, Some((idx % 8) as u16), indices),
        );
        apply(&mut run, at, EventKind::Consumer { waiting: true });
        let samples = (0..10).map(|k| SampleTiming {
            start: Nanos(at + 10 + 70 * k),
            wall: Nanos(70),
            cpu: Some(Nanos(60)),
        });
        for (after, stage) in [
            (10, Stage::Fetching),
            (710, Stage::Collating),
            (800, Stage::Returning),
            (850, Stage::Training),
            (1_000, Stage::Done),
        ] {
            if stage == Stage::Collating {
                let fetched = Fetched {
                    batch,
                    samples: samples.clone().collect(),
                    stages: Vec::new(),
                };
                apply(&mut run, at + after, EventKind::Fetched(Box::new(fetched)));
            }
            apply(&mut run, at + after, EventKind::Entered { batch, stage });
        }
    }
    apply(&mut run, 1_000_000_000, EventKind::RunEnded);
    let folder = tempfile::tempdir().expect("a folder");
    println!("the run: {} MiB", memory("VmRSS:"));
    for (format, name) in [
        (Format::Parquet, "t"),
        (Format::Csv, "t"),
        (Format::Chrome, "t.json.gz"),
        (Format::Chrome, "t.json"),
    ] {
        let (before, start) = (memory("VmRSS:"), Instant::now());
        let files = export(
            &[(RunId(0), &run)],
            format,
            &folder.path().join(name),
            Existing::Keep,
            |_| true,
        )
        .expect("there is room");
        let took = start.elapsed();
        let size: u64 = files
            .iter()
            .map(|f| std::fs::metadata(f).expect("there").len())
            .sum();
        println!(
            "{name} {format:?}: {took:.1?}, {} MiB written, {} MiB more memory at the most",
            size >> 20,
            memory("VmHWM:").saturating_sub(before)
        );
        files
            .iter()
            .for_each(|f| std::fs::remove_file(f).expect("ours"));
    }
}
