//! Limits of the system: workers, images, folders, signals, recordings.

use super::*;

/// Regression test: a signal ended the program when the system had no more memory for threads.
#[cfg(target_os = "linux")]
#[test]
fn workers_that_cannot_be_started_are_refused() {
    let text = refused_in(&["run", "--num-workers", "1000"], 2 << 30);
    assert!(
        text.contains(
            "num_workers=1000 is more than this host can start: the limit of the address space"
        ) && text.ends_with("Use fewer workers.\n"),
        "{text}"
    );
    // The number in the error can really be started.
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
fn pictures_that_are_not_regular_files_are_named() {
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
        assert!(text.contains("belongs to the system"), "{args:?}: {text}");
    }
    for folder in ["/proc", "/sys", "/dev"] {
        let text = refused(&["run", "--dataset", &format!("folder:{folder}")]);
        assert!(text.contains(folder), "{text}");
    }
    // Reading the kernel's messages blocks until there are some.
    let text = refused(&["info", "/proc/kmsg"]);
    assert!(text.contains("/proc/kmsg"), "{text}");
    // A link to this file in a folder is not followed.
    let dir = tempfile::tempdir().expect("a folder");
    symlink("/proc", dir.path().join("link")).expect("a link");
    let text = refused(&["info", dir.path().to_str().expect("UTF-8")]);
    assert!(text.contains("link belongs to the system"), "{text}");
}

#[test]
fn an_interrupted_run_reports_it_and_keeps_its_recording() {
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
        signal(child.id(), number);
        let output = finished(child, Duration::from_secs(20));
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
    // A sample that computes cannot be interrupted. This one would compute for a day.
    let args = "run --dataset synthetic:len=9,cost_ms=86400000,cpu=true --batch-size 1";
    let args: Vec<&str> = args.split(' ').collect();
    let child = command(&args, USUAL)
        .spawn()
        .expect("the executable starts");
    std::thread::sleep(Duration::from_secs(2));
    for _ in 0..2 {
        signal(child.id(), libc::SIGINT);
        std::thread::sleep(Duration::from_millis(100));
    }
    let output = finished(child, Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn a_missing_display_names_no_path_of_another_host() {
    let text = refused(&[]);
    assert!(
        text.starts_with("loadscope: cannot open a window, because neither DISPLAY"),
        "{text}"
    );
    assert!(
        !text.contains(".rs") && !text.contains("/src/") && !text.contains("cargo"),
        "{text}"
    );
}

/// Each of these loaders has dropped the maximum number of events.
#[test]
fn added_counts_saturate_at_the_largest_number() {
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
fn absurd_options_of_a_recording_cause_no_panic() {
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
