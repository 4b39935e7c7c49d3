//! `loadscope record` and `probe`, run as a user runs them.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn loadscope() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadscope"));
    // Cargo's path to our libtorch must not become the one of the PyTorch that is recorded.
    command
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    command
}

fn record(log: &Path, program: &[&str]) -> Output {
    let mut command = loadscope();
    command
        .arg("record")
        .arg("-o")
        .arg(log)
        .arg("--")
        .args(program);
    command.output().expect("the executable starts")
}

fn python() -> Option<PathBuf> {
    let names = ["python3", "python"];
    let works = |name: &&str| {
        Command::new(name)
            .arg("-c")
            .arg("pass")
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    };
    names.into_iter().find(works).map(PathBuf::from)
}

/// A Python that has PyTorch: the one that `LOADSCOPE_PROBE_PYTHON` names, or the one that `cargo xtask setup --pytorch` made. Clean
/// clones have none, and are not made to download gigabytes.
fn pytorch() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("LOADSCOPE_PROBE_PYTHON") {
        return Some(own.into());
    }
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = folder("LOADSCOPE_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("loadscope")))
        .or_else(|| Some(folder("HOME")?.join(".cache/loadscope")))?;
    let python = cache.join("peers/venv/bin/python");
    let mut asked = Command::new(&python);
    asked
        .args(["-c", "import torch"])
        .env_remove("LD_LIBRARY_PATH")
        .stderr(Stdio::null());
    asked.status().is_ok_and(|s| s.success()).then_some(python)
}

fn words(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_program_keeps_its_output_and_its_end() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let log = dir.path().join("run.jsonl");
    let ended = record(&log, &["sh", "-c", "echo out; echo err >&2; exit 7"]);
    let (out, err) = words(&ended);
    assert_eq!((ended.status.code(), out.as_str()), (Some(7), "out\n"));
    assert!(
        err.starts_with("err\n") && err.contains("No DataLoader was seen"),
        "{err}"
    );
    assert!(
        err.contains("Nothing was written") && !log.exists(),
        "{err}"
    );
    // By a signal it ends as its program does.
    let ended = record(&log, &["sh", "-c", "kill -TERM $$"]);
    assert_eq!(ended.status.signal(), Some(15));
}

#[test]
fn an_existing_recording_is_kept_unless_force_is_given_and_there_is_a_new_one() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let log = dir.path().join("run.jsonl");
    std::fs::write(&log, "mine").expect("written");
    let ended = record(&log, &["sh", "-c", "echo out"]);
    let (out, err) = words(&ended);
    assert_eq!((ended.status.code(), out.as_str()), (Some(2), ""), "{err}");
    assert!(
        err.contains("already exists") && err.contains("--force"),
        "{err}"
    );
    let ended = loadscope()
        .args(["record", "--force", "-o"])
        .arg(&log)
        .args(["--", "sh", "-c", "echo out"])
        .output()
        .expect("it starts");
    assert_eq!(words(&ended).0, "out\n");
    assert_eq!(std::fs::read_to_string(&log).ok().as_deref(), Some("mine"));
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1);
}

#[test]
fn a_recorder_without_standard_error_ends_as_its_program_does() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let log = dir.path().join("run.jsonl");
    for redirection in [
        "2>&-",
        "2>/dev/full",
        ">&- 2>&-",
        "</dev/null 2>/dev/full >/dev/full",
    ] {
        let script = format!(r#""$1" record -o "$2" -- sh -c 'exit 7' {redirection}"#);
        let ended = Command::new("sh")
            .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_loadscope")])
            .arg(&log)
            .status()
            .expect("a shell");
        assert_eq!(ended.code(), Some(7), "{redirection}");
    }
    // A pipe that is full, and that no one reads: what is written to it waits, but not without end.
    let script = r#"mkfifo pipe; sleep 30 <pipe & reader=$!; exec 2>pipe
        dd if=/dev/zero bs=65536 count=1 >&2 2>/dev/null; "$1" record -o "$2" -- sh -c 'exit 7'; code=$?; kill $reader; exit $code"#;
    let before = std::time::Instant::now();
    let ended = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_loadscope")])
        .arg(&log)
        .current_dir(dir.path())
        .status()
        .expect("a shell");
    assert_eq!(ended.code(), Some(7));
    assert!(before.elapsed().as_secs() < 15, "{:?}", before.elapsed());
}

#[test]
fn a_recorder_that_is_asked_to_end_leaves_no_temporary_folder() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let temporary = dir.path().join("tmp");
    std::fs::create_dir(&temporary).expect("room");
    let ended = loadscope()
        .env("TMPDIR", &temporary)
        .args(["record", "-o"])
        .arg(dir.path().join("run.jsonl"))
        .args(["--", "sh", "-c", "kill -TERM $PPID; sleep 20"])
        .output()
        .expect("it starts");
    assert_eq!(ended.status.signal(), Some(15));
    assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 0);
}

#[test]
fn odd_places_for_temporary_files_do_not_stop_a_recorder() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for name in [
        "x".repeat(200),
        "a:b".to_owned(),
        "missing/folder".to_owned(),
    ] {
        let temporary = dir.path().join(&name);
        if !name.starts_with("missing") {
            std::fs::create_dir(&temporary).expect("room");
        }
        let ended = loadscope()
            .env("TMPDIR", &temporary)
            .args(["record", "-o"])
            .arg(dir.path().join("run.jsonl"))
            .args(["--", "sh", "-c", "exit 7"])
            .output()
            .expect("it starts");
        assert_eq!(ended.status.code(), Some(7), "{name}: {}", words(&ended).1);
    }
}

#[test]
fn what_cannot_be_started_says_so() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let ended = record(
        &dir.path().join("run.jsonl"),
        &["./there-is-no-such-program"],
    );
    let (_, err) = words(&ended);
    assert_eq!(ended.status.code(), Some(127));
    assert!(
        err.starts_with("loadscope: cannot start ./there-is-no-such-program"),
        "{err}"
    );
    let nothing = loadscope().arg("record").output().expect("it starts");
    assert_eq!(nothing.status.code(), Some(2));
}

#[test]
fn where_nothing_can_be_written_the_program_is_not_started() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for place in [Path::new("/nowhere/run.jsonl"), dir.path()] {
        let ended = record(place, &["sh", "-c", "echo out"]);
        let (out, err) = words(&ended);
        assert_eq!((ended.status.code(), out.as_str()), (Some(2), ""));
        let place = place.display().to_string();
        assert!(
            err.contains("was not started") && err.contains(&place),
            "{err}"
        );
    }
}

#[test]
fn a_signal_for_the_recorder_is_one_for_the_program() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let log = dir.path().join("run.jsonl");
    let script = "trap 'exit 5' INT; echo ready; while :; do sleep 0.05; done";
    let mut recorder = loadscope();
    recorder
        .arg("record")
        .arg("-o")
        .arg(&log)
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::piped());
    let mut recorder = recorder.spawn().expect("it starts");
    let mut out = std::io::BufReader::new(recorder.stdout.take().expect("it is piped"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut out, &mut line).expect("a line");
    assert_eq!(line, "ready\n");
    let kill = Command::new("kill")
        .arg("-INT")
        .arg(recorder.id().to_string())
        .status();
    assert!(kill.is_ok_and(|s| s.success()));
    let ended = recorder.wait().expect("it ends");
    assert_eq!(ended.code(), Some(5));
}

#[test]
fn python_programs_find_what_they_found_without_us() {
    let Some(python) = python() else {
        eprintln!("There is no Python here, so this was not tested");
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join("sitecustomize.py"), "print('the own one')").expect("written");
    std::fs::write(
        dir.path().join("program.py"),
        "import os, subprocess, sys, sitecustomize\n\
         print(sitecustomize.__file__, sys.path, sys.flags, [m for m in sys.modules if 'loadscope' in m])\n\
         print(subprocess.run([sys.executable, '-c', 'pass'], capture_output=True, text=True))\n\
         sys.exit(4)\n",
    )
    .expect("written");
    let program = dir.path().join("program.py");
    let log = dir.path().join("run.jsonl");
    let (python, program) = (
        python.to_str().expect("text"),
        program.to_str().expect("text"),
    );
    let path = dir.path().to_str().expect("text");
    let bare = Command::new(python)
        .arg(program)
        .env("PYTHONPATH", path)
        .output()
        .expect("it starts");
    let mut recorded = loadscope();
    recorded
        .arg("record")
        .arg("-o")
        .arg(&log)
        .arg("--")
        .arg(python)
        .arg(program);
    let recorded = recorded
        .env("PYTHONPATH", path)
        .output()
        .expect("it starts");
    assert_eq!(words(&bare).0, words(&recorded).0);
    assert!(words(&bare).0.contains("the own one"), "{bare:?}");
    assert_eq!(
        (bare.status.code(), recorded.status.code()),
        (Some(4), Some(4))
    );
}

#[test]
fn the_probe_is_a_python_module() {
    let probe = loadscope().arg("probe").output().expect("it starts");
    let (text, _) = words(&probe);
    assert!(
        text.starts_with("\"\"\"Loadscope's probe"),
        "{}",
        &text[..60]
    );
    let Some(python) = python() else {
        eprintln!("There is no Python here, so this was not tested");
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join("loadscope_probe.py"), text).expect("written");
    // Without PyTorch it does nothing, and says nothing.
    let mut alone = Command::new(python);
    alone
        .args(["-c", "import loadscope_probe"])
        .current_dir(dir.path())
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let alone = alone.output().expect("it starts");
    assert_eq!(words(&alone), (String::new(), String::new()));
    let files = std::fs::read_dir(dir.path()).expect("the folder").count();
    assert_eq!(
        files, 1,
        "nothing is written before there is something to tell"
    );
}

/// Programs of PyTorch, with and without: what `cargo xtask probe-matrix --fast` does.
// It takes minutes, and the recorder is the same without the embedded loader.
#[cfg(feature = "engine")]
#[test]
fn pytorch_programs_run_the_same_and_are_recorded_whole() {
    let Some(python) = pytorch() else {
        eprintln!(
            "There is no PyTorch here, so this was not tested; `cargo xtask setup --pytorch` gets one"
        );
        return;
    };
    let matrix = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/pytorch/matrix.py");
    let mut command = Command::new(&python);
    command
        .arg(matrix)
        .args(["--loadscope", env!("CARGO_BIN_EXE_loadscope"), "--fast"])
        .arg(&python)
        .env_remove("LD_LIBRARY_PATH");
    let ended = command.output().expect("it starts");
    let (out, err) = words(&ended);
    assert!(ended.status.success(), "{out}\n{err}");
}

/// A program that imports the probe itself, without a listener, writes a folder that opens like a recording.
#[test]
fn a_program_that_imports_the_probe_writes_a_folder_that_opens() {
    let Some(python) = pytorch() else {
        eprintln!(
            "There is no PyTorch here, so this was not tested; `cargo xtask setup --pytorch` gets one"
        );
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let probe = loadscope().arg("probe").output().expect("it starts");
    std::fs::write(dir.path().join("loadscope_probe.py"), probe.stdout).expect("written");
    let program = "import loadscope_probe\n\
                   import torch.utils.data as data\n\
                   def main():\n\
                   \x20   for _ in range(2):\n\
                   \x20       for batch in data.DataLoader(range(20), batch_size=4, num_workers=2, multiprocessing_context='spawn'): pass\n\
                   if __name__ == '__main__': main()\n";
    std::fs::write(dir.path().join("train.py"), program).expect("written");
    let mut train = Command::new(python);
    train
        .arg("train.py")
        .current_dir(dir.path())
        .env_remove("LD_LIBRARY_PATH");
    let ended = train.output().expect("it starts");
    assert!(ended.status.success(), "{:?}", words(&ended));
    let entries = std::fs::read_dir(dir.path()).expect("the folder").flatten();
    let folders: Vec<PathBuf> = entries
        .map(|e| e.path())
        .filter(|p| {
            p.is_dir()
                && p.file_name()
                    .is_some_and(|n| n.to_string_lossy().starts_with("loadscope-"))
        })
        .collect();
    let [folder] = folders.as_slice() else {
        panic!("{folders:?}");
    };
    let info = loadscope()
        .arg("info")
        .arg(folder)
        .arg("--json")
        .output()
        .expect("it starts");
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("one object");
    assert_eq!(
        (&info["batches"], &info["samples"], &info["dropped"]),
        (&10.into(), &40.into(), &0.into()),
        "{info}"
    );
}

/// Programs make a new loader for every validation. That is one loader with many epochs, however many there are.
#[test]
fn a_loader_that_is_made_anew_goes_on_as_the_one_before() {
    let Some(python) = pytorch() else {
        eprintln!(
            "There is no PyTorch here, so this was not tested; `cargo xtask setup --pytorch` gets one"
        );
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let program = "import torch, torch.utils.data as data\n\
                   class D(data.Dataset):\n\
                   \x20   def __len__(self): return 4\n\
                   \x20   def __getitem__(self, i): return i\n\
                   train, check = D(), D()\n\
                   loader = data.DataLoader(train, shuffle=True, batch_size=2)\n\
                   for epoch in range(300):\n\
                   \x20   for _ in loader: pass\n\
                   \x20   for _ in data.DataLoader(check, batch_size=4): pass\n\
                   \x20   for _ in zip(data.DataLoader(check), data.DataLoader(check)): break\n\
                   for seed in range(3):\n\
                   \x20   for _ in data.DataLoader(train, shuffle=True, generator=torch.Generator().manual_seed(seed)): pass\n";
    let (script, log) = (dir.path().join("train.py"), dir.path().join("run.jsonl"));
    std::fs::write(&script, program).expect("written");
    let ended = record(
        &log,
        &[
            python.to_str().expect("text"),
            script.to_str().expect("text"),
        ],
    );
    assert!(ended.status.success(), "{:?}", words(&ended));
    let info = loadscope()
        .arg("info")
        .arg(&log)
        .arg("--json")
        .output()
        .expect("it starts");
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("one object");
    let epochs = info["loaders"].as_array().expect("a list").iter();
    let epochs: Vec<u64> = epochs.filter_map(|l| l["epochs"].as_u64()).collect();
    // Two that are iterated at the same time are two, though one line makes them; those that come one after the other are one.
    assert_eq!(epochs, [300, 300, 300, 300, 3], "{info}");
    let loaders = info["loaders"].as_array().expect("a list").iter();
    let names: Vec<&str> = loaders.filter_map(|l| l["name"].as_str()).collect();
    let expected = [
        "train.py:6",
        "train.py:9",
        "train.py:10 · loader 2",
        "train.py:10 · loader 3",
        "train.py:12",
    ];
    assert_eq!(names, expected);
    assert_eq!(
        (&info["dropped"], &info["epochs"]),
        (&0.into(), &1203.into())
    );
}
