//! What may be asked for has limits: each ends with a sentence, soon, and without taking the host's memory.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::ffi::CString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use loadscope_plan::limits;
use loadscope_trace::count;

/// Bytes of address space that a command needs before it does anything, generously: libtorch alone takes more than one.
const USUAL: u64 = 3 << 30;

/// The program with at most so many bytes of address space.
#[expect(unsafe_code, reason = "a limit for the program that is started")]
fn command(args: &[&str], space: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadscope"));
    command
        .args(args)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let limit = move || {
        let limit = libc::rlimit {
            rlim_cur: space,
            rlim_max: space,
        };
        // SAFETY: the call only reads the limit, which lives through it, and may be made between fork and exec.
        match unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: the closure allocates nothing and makes one system call.
    unsafe { command.pre_exec(limit) };
    command
}

/// Waits until it ends by itself; kills it if that takes too long.
fn ends(mut child: Child, within: Duration) -> Output {
    let start = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if start.elapsed() > within {
            let _ = child.kill();
            panic!("it does not end within {within:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("it has ended")
}

fn run_in(args: &[&str], space: u64) -> Output {
    let child = command(args, space).spawn().expect("the executable starts");
    ends(child, Duration::from_secs(60))
}

/// Runs what must be refused, and returns the sentence.
fn refused(args: &[&str]) -> String {
    refused_in(args, USUAL)
}

fn refused_in(args: &[&str], space: u64) -> String {
    let output = run_in(args, space);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    // Neither by a signal nor by a panic.
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

#[expect(unsafe_code, reason = "a pipe")]
fn make_pipe(path: &Path) {
    let name = CString::new(path.as_os_str().as_bytes()).expect("no zero");
    // SAFETY: the name ends with a zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
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
            "at most 1,024, but got num_workers=65535; use fewer workers",
        ),
        ("run --num-workers 4000000000", "use fewer workers"),
        (
            "run --num-workers 2 --prefetch-factor 10001",
            "at most 10,000",
        ),
        (
            "run --num-workers 1000 --prefetch-factor 10000",
            "at most 1,000,000 are possible",
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
        ("run --step-ms 1e300", "3,600,000 (an hour)"),
        ("run --step-ms nan", "3,600,000 (an hour)"),
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
            "use fewer workers",
        ),
        ("order --len 5 --epochs 4294967295", "choose fewer"),
        // A random order of so many takes four gigabytes, which this process may not have.
        (
            "order --len 1000000000 --shuffle",
            "takes 4.0\u{2009}GB of memory, but this program may use 3.2\u{2009}GB",
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
        of(limits::SAMPLES, "draw an epoch, at most {}"),
        of(limits::RANKS.into(), "(num_replicas), 1 to {}"),
        of(limits::WORKERS as u64, "Worker threads, at most {}"),
        of(limits::PREFETCH as u64, "in flight per worker, at most {}"),
        of(limits::WINDOW as u64, "and {} of all workers"),
        of(limits::EPOCHS.into(), "at most {} times"),
        of(
            limits::SAMPLER_BYTES / 1_000_000_000,
            "a file has at most {} GB",
        ),
        of(limits::SAMPLER_ENTRIES as u64, "{} entries"),
        of(limits::CLASSES as u64, "and {} different labels"),
        "0 to 18446744073709551615".to_owned(),
    ];
    let run = [
        of(limits::IMAGE_SIZE.into(), "are resized, 1 to {}"),
        of(limits::TIMEOUT as u64, "0 (no limit) to {} seconds"),
        of(limits::STEP_MS as u64, "0 to {} ms"),
        of(
            limits::CONFIG_BYTES / 1_000_000,
            "TOML file of at most {} MB",
        ),
        of(limits::SAMPLES, "len of at most {}"),
        of(limits::BATCHES, "{} batches in all epochs"),
    ];
    let order = [of(limits::SAMPLES, "Number of samples, at most {}")];
    let what_if = [
        of(limits::WORKERS as u64, "Numbers of workers, at most {}"),
        of(
            limits::PREFETCH as u64,
            "Values of prefetch_factor, at most {}",
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
        text.contains("/dev/zero has more than 1 MB, the limit for options"),
        "{text}"
    );
    let text = refused(&["run", "--config", &at("")]);
    assert!(text.contains("is a folder"), "{text}");
    std::fs::write(at("long"), format!("a={}", "[".repeat(900_000))).expect("room");
    let text = refused(&["run", "--config", &at("long")]);
    assert!(text.contains("line 1 of the options"), "{text}");
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
    // Sparse: it takes no room on the disk, and nothing of it is read.
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
        text.contains("has more than 1000 MB, the limit for weights"),
        "{text}"
    );
    // A pipe that is written to is read to its end.
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
    let output = ends(child, Duration::from_secs(30));
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

/// It has no writer: that is noticed and reported.
#[test]
fn a_silent_pipe_is_not_waited_for_for_ever() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("pipe");
    make_pipe(&path);
    let text = refused(&["run", "--config", path.to_str().expect("UTF-8")]);
    assert!(text.contains("nothing came for 10 s"), "{text}");
}

/// Reads a little of a command that has much to say; what it takes of memory meanwhile, kB, if the system tells.
fn begun(args: &[&str], bytes: usize) -> (Child, String, Option<u64>) {
    let mut child = command(args, USUAL).spawn().expect("the executable starts");
    let mut out = child.stdout.take().expect("it is piped");
    let mut text = vec![0; bytes];
    out.read_exact(&mut text).expect("it says so much");
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let peak = status.ok().and_then(|status| {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.split_whitespace().next()?.parse().ok()
    });
    // The reader goes away with the end of this function.
    (child, String::from_utf8(text).expect("UTF-8"), peak)
}

#[test]
fn an_order_is_written_as_it_is_made_and_ends_with_its_reader() {
    for args in [
        "order --len 1000000000 --epochs 1000000",
        "order --len 1000 --shuffle --epochs 1000000 --seed 1 --num-workers 1000",
        "order --len 1000000000 --iterable=whole --num-workers 1000 --global-seed 1 --json",
        "order --len 1000 --sampler random --num-samples 1000000000 --seed 1 --json",
        "order --len 5000000 --shuffle --epochs 1000 --seed 1 --batch-size 100 --json",
    ] {
        let args: Vec<&str> = args.split_whitespace().collect();
        let (child, text, peak) = begun(&args, 40_000_000);
        assert!(
            text.starts_with("epoch 0: ") || text.starts_with("{\"len\":"),
            "{args:?}"
        );
        // libtorch alone takes a hundred megabytes.
        assert!(peak.is_none_or(|kb| kb < 350_000), "{args:?}: {peak:?} kB");
        let output = ends(child, Duration::from_secs(20));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && said.is_empty(),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn an_order_ends_with_ctrl_c() {
    let args = ["order", "--len", "1000000000", "--json"];
    let mut child = command(&args, USUAL)
        .spawn()
        .expect("the executable starts");
    let mut out = child.stdout.take().expect("it is piped");
    let reader = std::thread::Builder::new()
        .spawn(move || std::io::copy(&mut out, &mut std::io::sink()))
        .expect("a thread");
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, libc::SIGINT);
    let output = ends(child, Duration::from_secs(10));
    assert_eq!(output.status.signal(), Some(libc::SIGINT));
    assert!(reader.join().expect("it ends").is_ok());
}

#[expect(unsafe_code, reason = "a signal")]
fn signal(child: &Child, number: libc::c_int) {
    // SAFETY: the child was not waited for, so its number is no one else's.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, number) }, 0);
}

/// Before, the program was ended by a signal once the system had no more memory for threads.
#[cfg(target_os = "linux")]
#[test]
fn workers_that_cannot_be_started_are_refused() {
    let text = refused_in(&["run", "--num-workers", "1000"], 2 << 30);
    assert!(
        text.contains(
            "num_workers=1000 is more than can be started here: the limit of the address space"
        ) && text.ends_with("use fewer workers\n"),
        "{text}"
    );
    // As many as the sentence calls possible are possible.
    let allowed = text
        .split_once("allows ")
        .and_then(|(_, rest)| rest.split(' ').next());
    let allowed = allowed.expect("it says how many").replace(',', "");
    let args = [
        "run",
        "--num-workers",
        &allowed,
        "--dataset",
        "synthetic:len=300,cost_ms=0",
        "--json",
    ];
    let output = run_in(&args, 2 << 30);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{allowed}: {:?} {said}",
        output.status
    );
}

#[test]
fn pictures_that_are_no_files_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let class = dir.path().join("class");
    std::fs::create_dir(&class).expect("room");
    symlink("/dev/zero", class.join("zero.jpg")).expect("a link");
    make_pipe(&class.join("pipe.png"));
    std::fs::File::create(class.join("huge.png"))
        .and_then(|file| file.set_len(1 << 42))
        .expect("room");
    let dataset = format!("folder:{}", dir.path().display());
    let args = [
        "run",
        "--dataset",
        &dataset,
        "--batch-size",
        "1",
        "--on-error",
        "continue",
    ];
    for workers in ["0", "2"] {
        let output = run_in(&[&args[..], &["--num-workers", workers]].concat(), USUAL);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        for says in [
            "zero.jpg is a device, not a regular file",
            "pipe.png is a pipe, not a regular file",
            "huge.png has more than 1073741824 bytes",
        ] {
            assert!(text.contains(says), "{text}");
        }
    }
    let pipe = class.join("pipe.png").display().to_string();
    for command in ["run", "order"] {
        let text = refused(&[command, "--dataset", &format!("tokens:{pipe}")]);
        assert!(text.contains("is a pipe, not a regular file"), "{text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn folders_of_the_kernel_are_refused() {
    for args in [
        &["info", "/proc"][..],
        &["open", "/proc"],
        &["report", "/sys"],
        &["info", "/proc/self/fd"],
        &["compare", "/proc", "/proc"],
    ] {
        let text = refused(args);
        assert!(
            text.contains("holds what the system tells about itself"),
            "{args:?}: {text}"
        );
    }
    for folder in ["/proc", "/sys", "/dev"] {
        let text = refused(&["run", "--dataset", &format!("folder:{folder}")]);
        assert!(text.contains(folder), "{text}");
    }
    // The messages of the kernel, which it waits for.
    let text = refused(&["info", "/proc/kmsg"]);
    assert!(text.contains("/proc/kmsg"), "{text}");
    // A link to it among other things is no reason to go there.
    let dir = tempfile::tempdir().expect("a folder");
    symlink("/proc", dir.path().join("link")).expect("a link");
    let text = refused(&["info", dir.path().to_str().expect("UTF-8")]);
    assert!(text.contains("link belongs to the system"), "{text}");
}

#[test]
fn an_interrupted_run_says_so_and_its_recording_is_whole() {
    for (number, code) in [
        (libc::SIGINT, 130),
        (libc::SIGTERM, 143),
        (libc::SIGHUP, 129),
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("run.jsonl");
        let record = path.to_str().expect("UTF-8");
        let args =
            "run --dataset synthetic:len=100000,cost_ms=2 --batch-size 1 --num-workers 2 --record";
        let args: Vec<&str> = args.split(' ').chain([record]).collect();
        let child = command(&args, USUAL)
            .spawn()
            .expect("the executable starts");
        let since = Instant::now();
        let has_begun = || {
            let file = std::fs::File::open(&path).ok()?;
            BufReader::new(file)
                .lines()
                .map_while(Result::ok)
                .find(|l| l.contains("\"training\""))
        };
        while has_begun().is_none() {
            assert!(
                since.elapsed() < Duration::from_secs(60),
                "it does not begin"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        signal(&child, number);
        let output = ends(child, Duration::from_secs(20));
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(code), "{said}");
        let batches = said
            .split_once("Interrupted after ")
            .and_then(|(_, rest)| rest.split_once(" batch"));
        let batches = batches.expect("it says how many").0.replace(',', "");
        assert!(said.contains(record), "{said}");
        let info = run_in(&["info", "--json", record], USUAL);
        let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
        assert_eq!(info["batches"].to_string(), batches, "{info}");
        assert_eq!(info["cut"], false);
    }
}

#[test]
fn a_second_signal_ends_a_run_at_once() {
    // A sample that computes is not stopped, and this one would compute for a day.
    let args = "run --dataset synthetic:len=9,cost_ms=86400000,cpu=true --batch-size 1";
    let args: Vec<&str> = args.split(' ').collect();
    let child = command(&args, USUAL)
        .spawn()
        .expect("the executable starts");
    std::thread::sleep(Duration::from_secs(2));
    for _ in 0..2 {
        signal(&child, libc::SIGINT);
        std::thread::sleep(Duration::from_millis(100));
    }
    let output = ends(child, Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn a_missing_display_names_no_path_of_another_host() {
    let text = refused(&[]);
    assert!(
        text.starts_with("loadscope: cannot open a window: "),
        "{text}"
    );
    assert!(
        !text.contains(".rs") && !text.contains("/src/") && !text.contains("cargo"),
        "{text}"
    );
}

/// Each of these loaders lost as many events as can be counted.
#[test]
fn counts_of_several_loaders_are_added_up_to_the_largest_number() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("lost.jsonl");
    let mut lines = vec!["{\"loadscope\":1}".to_owned()];
    for run in 0..3 {
        lines.push(format!(
            "{{\"t\":{run},\"run\":{run},\"e\":\"run_started\",\"info\":{{}}}}"
        ));
        for _ in 0..2 {
            let count = u64::MAX;
            lines.push(format!(
                "{{\"t\":9,\"run\":{run},\"e\":\"dropped\",\"count\":{count}}}"
            ));
        }
    }
    std::fs::write(&path, lines.join("\n") + "\n").expect("room");
    let path = path.to_str().expect("UTF-8");
    let output = run_in(&["info", "--json", path], USUAL);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let info: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(info["dropped"].as_u64(), Some(u64::MAX), "{info}");
    assert_eq!(info["loaders"].as_array().map(Vec::len), Some(3));
    let output = run_in(&["info", path], USUAL);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains(" 18,446,744,073,709,551,615"),
        "{text}"
    );
}

/// A recording may claim any number of workers, ranks and epochs.
#[test]
fn options_of_a_recording_are_not_believed() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("run.jsonl");
    let path = path.to_str().expect("UTF-8");
    let args = "run --dataset synthetic:len=40,cost_ms=1 --batch-size 2 --num-workers 2 --record";
    let args: Vec<&str> = args.split(' ').chain([path]).collect();
    assert!(run_in(&args, USUAL).status.success());
    let text = std::fs::read_to_string(path).expect("written");
    for (from, to) in [
        ("\"num_workers\":2", "\"num_workers\":18446744073709551615"),
        ("\"num_workers\":2", "\"num_workers\":4000000000"),
        (
            "\"prefetch_factor\":null",
            "\"prefetch_factor\":18446744073709551615",
        ),
        ("\"batch_size\":2", "\"batch_size\":18446744073709551615"),
        ("\"epochs\":1", "\"epochs\":4294967295"),
        ("\"world_size\":1", "\"world_size\":4294967295"),
        (
            "\"batches_per_epoch\":20",
            "\"batches_per_epoch\":18446744073709551615",
        ),
        ("\"dataset_len\":40", "\"dataset_len\":18446744073709551615"),
    ] {
        assert!(text.contains(from), "{from}");
        std::fs::write(path, text.replacen(from, to, 1)).expect("room");
        for args in [
            &["info", path][..],
            &["info", "--json", path],
            &["report", path],
            &["report", "--json", path],
            &["compare", path, path],
            &["what-if", "--workers", "0..2", path],
        ] {
            let output = run_in(args, USUAL);
            let said = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(
                matches!(code, Some(0 | 2)) && !said.contains("panicked"),
                "{to} {args:?}: {code:?} {said}"
            );
        }
    }
}
