//! Recordings of Python and PyTorch programs.

use super::*;

#[test]
fn a_recorded_python_program_has_the_same_environment() {
    let Some(python) = needed_python() else {
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
    let Some(python) = needed_python() else {
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join("loadscope_probe.py"), text).expect("written");
    // Without PyTorch, the probe does nothing and prints nothing.
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

/// Runs PyTorch programs with and without recording, as `cargo xtask probe-matrix --fast`.
// This test takes minutes, and the recorder is the same without the embedded loader.
#[cfg(feature = "engine")]
#[test]
fn pytorch_programs_run_the_same_and_are_recorded_whole() {
    let Some(python) = needed_pytorch() else {
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

/// A program that imports the probe, without a listener, writes a folder that opens like a recording.
#[test]
fn a_program_that_imports_the_probe_writes_a_folder_that_opens() {
    let Some(python) = needed_pytorch() else {
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

/// The start method and the time of imports are known without workers.
#[test]
fn a_recording_without_workers_has_the_start_method_of_the_program() {
    let Some(python) = needed_pytorch() else {
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    for method in ["default", "fork", "spawn", "forkserver"] {
        // The recorder chooses no method for the program, which can still choose one.
        let (before, after) = match method {
            "default" => (
                String::new(),
                "assert multiprocessing.get_start_method(allow_none=True) is None; multiprocessing.set_start_method('spawn')",
            ),
            _ => (format!("multiprocessing.set_start_method({method:?})"), ""),
        };
        let program = format!(
            "import multiprocessing, torch, torch.utils.data as data\n{before}\n\
             for batch in data.DataLoader(range(20)): pass\n{after}\n"
        );
        let script = dir.path().join("train.py");
        let log = dir.path().join(format!("{method}.jsonl"));
        std::fs::write(&script, program).expect("written");
        let script = script.to_str().expect("text");
        let ended = record(&log, &[python.to_str().expect("text"), script]);
        assert!(ended.status.success(), "{:?}", words(&ended));
        let events = std::fs::read_to_string(&log).expect("a recording");
        let started = events.lines().find(|line| line.contains("run_started"));
        let started: serde_json::Value =
            serde_json::from_str(started.expect("a loader")).expect("an event");
        let methods = match method {
            "default" => ["fork", "forkserver"],
            one => [one, one],
        };
        let found = started["info"]["start_method"].as_str().expect("a method");
        assert!(methods.contains(&found), "{started}");
        let import = started["info"]["import_ns"].as_u64().expect("measured");
        assert!((50_000_000..60_000_000_000).contains(&import), "{import}");
    }
}

/// Programs create a new loader for every validation. These loaders count as one loader with many epochs.
#[test]
fn a_recreated_loader_continues_the_earlier_one() {
    let Some(python) = needed_pytorch() else {
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
    // Loaders of one line that are iterated at the same time are separate. Loaders iterated one after another are one.
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

/// The program behaves the same, and only the selected batches are recorded.
#[test]
fn only_selected_batches_and_epochs_are_recorded() {
    let Some(python) = needed_pytorch() else {
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let program = "import torch.utils.data as data\n\
                   def main():\n\
                   \x20   loader = data.DataLoader(range(40), batch_size=4, num_workers=2)\n\
                   \x20   print([sum(b.tolist()) for _ in range(4) for b in loader])\n\
                   if __name__ == '__main__': main()\n";
    let script = dir.path().join("train.py");
    std::fs::write(&script, program).expect("written");
    let of = |name: &str, select: &[&str]| {
        let log = dir.path().join(name);
        let mut command = loadscope();
        command.args(["record", "-o"]).arg(&log).args(select);
        command.arg("--").arg(&python).arg(&script);
        let ended = command.output().expect("it starts");
        assert!(ended.status.success(), "{:?}", words(&ended));
        let info = loadscope().arg("info").arg(&log).arg("--json").output();
        let info = info.expect("it starts").stdout;
        let info: serde_json::Value = serde_json::from_slice(&info).expect("one object");
        let count = |what: &str| info[what].as_u64().expect("a number");
        (
            ended.stdout,
            count("batches"),
            count("epochs"),
            count("dropped"),
        )
    };
    let (printed, batches, epochs, _) = of("all.jsonl.zst", &[]);
    assert_eq!((batches, epochs), (40, 4));
    for (name, select, batches, epochs) in [
        ("skipped.jsonl.zst", &["--skip-first", "13"][..], 27, 3),
        ("chosen.jsonl.zst", &["--epochs", "1,3"], 20, 2),
        ("both.jsonl", &["--epochs", "2-9", "--skip-first=5"], 15, 2),
        (
            "limited.jsonl.zst",
            &["--skip-first", "25", "--max-size", "5MB"],
            15,
            2,
        ),
    ] {
        let found = of(name, select);
        assert_eq!(found, (printed.clone(), batches, epochs, 0), "{name}");
    }
}
