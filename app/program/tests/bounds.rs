//! Limits of arguments. Exceeding one ends soon with an error message, and without exhausting the memory of the host.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use loadscope_plan::limits;
use loadscope_trace::count;

use crate::support::{finished, make_pipe, program, signal};

#[path = "bounds/orders.rs"]
mod orders;
#[path = "bounds/runs.rs"]
mod runs;

/// Address space for a command, bytes. libtorch alone needs more than 1 GB.
const USUAL: u64 = 3 << 30;

/// Returns the program with a limited address space, bytes.
#[expect(unsafe_code, reason = "a limit for the program that is started")]
fn command(args: &[&str], space: u64) -> Command {
    let mut command = program();
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let limit = move || {
        let limit = libc::rlimit {
            rlim_cur: space,
            rlim_max: space,
        };
        // SAFETY: `setrlimit` only reads the limit, which outlives the call. It may be called between fork and exec.
        match unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: the closure allocates nothing and makes one system call.
    unsafe { command.pre_exec(limit) };
    command
}

fn run_in(args: &[&str], space: u64) -> Output {
    let child = command(args, space).spawn().expect("the executable starts");
    finished(child, Duration::from_secs(60))
}

/// Runs a command that must be refused. Returns the error.
fn refused(args: &[&str]) -> String {
    refused_in(args, USUAL)
}

fn refused_in(args: &[&str], space: u64) -> String {
    let output = run_in(args, space);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    // The command must not end by a signal or a panic.
    assert_eq!(
        output.status.code(),
        Some(2),
        "{args:?}: {:?} {text}",
        output.status
    );
    assert!(output.stdout.is_empty(), "{args:?}");
    assert!(!text.contains("panicked") && text.len() < 2_000, "{text}");
    text
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn every_argument_has_a_limit() {
    let cases = [
        (
            "run --epochs 4294967295",
            "at most 1,000,000, but got epochs=4294967295",
        ),
        (
            "run --epochs 99999999999999999999999999",
            "at most 1,000,000",
        ),
        ("run --epochs 1000000 --batch-size 1", "20,000,000 batches"),
        (
            "run --batch-size 18446744073709551616",
            "at most 10,000,000",
        ),
        (
            "run --num-workers 65535",
            "at most 1,024, but got num_workers=65535. Use fewer workers",
        ),
        ("run --num-workers 4000000000", "Use fewer workers."),
        (
            "run --num-workers 2 --prefetch-factor 10001",
            "at most 10,000",
        ),
        (
            "run --num-workers 1000 --prefetch-factor 10000",
            "the limit is 1,000,000",
        ),
        (
            "run --num-workers 2 --timeout=1e308",
            "at most 1,000,000,000 s, but got timeout=1e+308",
        ),
        ("run --num-workers 2 --timeout=nan", "a number from 0 to"),
        (
            "run --num-workers 2 --timeout=-1",
            "timeout option should be non-negative",
        ),
        ("run --step-ms 1e300", "3,600,000 (one hour)"),
        ("run --step-ms nan", "3,600,000 (one hour)"),
        ("run --image-size 4097", "between 1 and 4,096"),
        ("run --world=0", "at least 1, but got world_size=0"),
        (
            "run --dataset synthetic:len=1000000001",
            "from 0 to 1000000000",
        ),
        (
            "run --dataset synthetic:len=1000000000,cost_ms=0",
            "20,000,000 batches",
        ),
        (
            "run --dataset synthetic:len=100,shape=16000x16000 --batch-size 100",
            "of memory",
        ),
        (
            "order --len 5 --world=0 --sampler distributed",
            "Invalid rank 0",
        ),
        (
            "order --len 5 --world=2 --rank 2 --sampler distributed",
            "interval [0, 1]",
        ),
        (
            "order --len 5 --world=1000001 --sampler distributed",
            "at most 1,000,000",
        ),
        (
            "order --len 5 --rank=4294967296 --sampler distributed",
            "at most 999,999",
        ),
        (
            "order --len 1000000001",
            "at most 1,000,000,000, but got len=1000000001",
        ),
        (
            "order --len 5 --sampler random --num-samples 18446744073709551615",
            "at most 1,000,000,000",
        ),
        (
            "order --len 5 --iterable=whole --num-workers 4000000000",
            "Use fewer workers.",
        ),
        ("order --len 5 --epochs 4294967295", "Choose fewer epochs."),
        // A random order of this length needs 4 GB, more than this process may allocate.
        (
            "order --len 1000000000 --shuffle",
            "takes 4.0\u{2009}GB of memory, but this program may use only 3.2\u{2009}GB",
        ),
        (
            "what-if nothing.jsonl --workers 0..99999999",
            "at most 1,024, but got num_workers=99999999",
        ),
        (
            "what-if nothing.jsonl --prefetch 1..10001",
            "at most 10,000",
        ),
        ("what-if nothing.jsonl --workers 8..0", "as in 0..8"),
    ];
    for (args, says) in cases {
        let args: Vec<&str> = args.split_whitespace().collect();
        let text = refused(&args);
        assert!(text.contains(says), "{args:?}: {text}");
    }
}

#[test]
fn the_help_states_the_limits() {
    let help = |command: &str| {
        let output = run_in(&[command, "--help"], USUAL);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let of = |limit: u64, words: &str| words.replace("{}", &count(limit));
    let loader = [
        of(limits::BATCH_SIZE as u64, "Samples per batch, at most {}"),
        of(limits::SAMPLES, "from random samplers, at most {}"),
        of(limits::RANKS.into(), "(num_replicas), 1 to {}"),
        of(limits::WORKERS as u64, "Number of workers, at most {}"),
        of(limits::EPOCHS.into(), "Passes over the dataset, at most {}"),
        of(
            limits::SAMPLER_BYTES / 1_000_000_000,
            "A file has at most {} GB",
        ),
        of(limits::SAMPLER_ENTRIES as u64, "{} entries"),
        of(limits::CLASSES as u64, "and {} different labels"),
        "0 to 2^64 - 1".to_owned(),
    ];
    let run = [
        of(limits::PREFETCH as u64, "in flight per worker, at most {}"),
        of(
            limits::WINDOW as u64,
            "All workers together have at most {} batches",
        ),
        of(limits::IMAGE_SIZE.into(), "are resized, 1 to {}"),
        of(limits::TIMEOUT as u64, "At most {} seconds"),
        of(limits::STEP_MS as u64, "0 to {} ms"),
        of(limits::CONFIG_BYTES / 1_000_000, "TOML file, at most {} MB"),
        of(limits::SAMPLES, "len (at most {})"),
        of(limits::BATCHES, "at most {} batches"),
    ];
    let order = [of(limits::SAMPLES, "Number of samples, at most {}")];
    let what_if = [
        of(
            limits::WORKERS as u64,
            "Numbers of workers to forecast, at most {}",
        ),
        of(
            limits::PREFETCH as u64,
            "Values of prefetch_factor to forecast, at most {}",
        ),
        "At most 10,000 settings".to_owned(),
    ];
    for (command, limits) in [
        ("run", [&loader[..], &run].concat()),
        ("order", [&loader[..], &order].concat()),
        ("what-if", what_if.to_vec()),
    ] {
        let text = help(command);
        for limit in limits {
            assert!(
                text.contains(&limit),
                "{command} --help does not say {limit:?}: {text}"
            );
        }
    }
}

#[test]
fn files_of_options_and_samplers_are_bounded_and_may_be_pipes() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let text = refused(&["run", "--config=/dev/zero"]);
    assert!(
        text.contains("/dev/zero is larger than 1 MB, the limit for options"),
        "{text}"
    );
    let text = refused(&["run", "--config", &at("")]);
    assert!(text.contains("is a folder"), "{text}");
    std::fs::write(at("long"), format!("a={}", "[".repeat(900_000))).expect("room");
    let text = refused(&["run", "--config", &at("long")]);
    assert!(text.contains("long:1: ") && text.len() < 2000, "{text}");
    for kind in ["weighted", "subset", "equi"] {
        for device in ["/dev/zero", "/dev/full", "/dev/urandom"] {
            let sampler = format!("{kind}:{device}");
            let text = refused(&[
                "order",
                "--len",
                "9",
                "--batch-size",
                "2",
                "--sampler",
                &sampler,
            ]);
            assert!(text.contains(device), "{text}");
        }
    }
    // A sparse file takes no room on the disk. It is never read.
    let file = std::fs::File::create(at("huge")).expect("room");
    file.set_len(limits::SAMPLER_BYTES + 1).expect("room");
    let text = refused(&[
        "order",
        "--len",
        "9",
        "--sampler",
        &format!("weighted:{}", at("huge")),
    ]);
    assert!(
        text.contains("is larger than 1000 MB, the limit for weights"),
        "{text}"
    );
    // A pipe with a writer is read to its end.
    make_pipe(Path::new(&at("pipe")));
    let sampler = format!("subset:{}", at("pipe"));
    let args = ["order", "--len", "9", "--sampler", &sampler, "--seed", "1"];
    let child = command(&args, USUAL)
        .spawn()
        .expect("the executable starts");
    let mut writer = std::fs::OpenOptions::new()
        .write(true)
        .open(at("pipe"))
        .expect("a reader");
    writer.write_all(b"4 2 ").expect("a reader");
    std::thread::sleep(Duration::from_millis(100));
    writer.write_all(b"7\n").expect("a reader");
    drop(writer);
    let output = finished(child, Duration::from_secs(30));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.starts_with("epoch 0: 3 batches\n"), "{text}");
}

#[test]
fn more_settings_than_can_be_forecast_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("run.jsonl");
    let path = path.to_str().expect("UTF-8");
    let args = "run --dataset synthetic:len=40,cost_ms=1 --batch-size 2 --num-workers 2 --record";
    let args: Vec<&str> = args.split(' ').chain([path]).collect();
    assert!(run_in(&args, USUAL).status.success());
    for (workers, prefetch, says) in [
        (
            "1..1000",
            "1..11",
            "11,000 settings, but at most 10,000 are forecast",
        ),
        ("0..1024", "1..10000", "10,250,000 settings"),
    ] {
        let text = refused(&[
            "what-if",
            path,
            "--workers",
            workers,
            "--prefetch",
            prefetch,
        ]);
        assert!(text.contains(says), "{text}");
    }
}

/// A pipe without a writer is reported.
#[test]
fn a_pipe_without_a_writer_is_refused_after_10_s() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("pipe");
    make_pipe(&path);
    let text = refused(&["run", "--config", path.to_str().expect("UTF-8")]);
    assert!(text.contains("no data for 10 s"), "{text}");
}
