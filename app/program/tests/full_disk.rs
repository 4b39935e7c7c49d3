//! Recordings on a full or nearly full disk.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{needed_python, program, run};

/// Block size of the file system, bytes.
const PAGE: usize = 4096;

/// Program that sends one loader as the probe does, with incompressible indices.
const PROGRAM: &str = r#"
import base64, json, os, socket, time
path = os.environ["LOADSCOPE_PROBE_TO"].partition(":")[2]
there = socket.socket(socket.AF_UNIX); there.connect(path)
now = time.monotonic_ns
def say(*line): there.sendall((json.dumps(line[0] if len(line) == 1 else line) + "\n").encode())
say({"loadscope_stream": 1, "token": os.environ["LOADSCOPE_PROBE_TOKEN"], "pid": os.getpid(), "parent": os.getppid(),
     "monotonic": now(), "realtime": time.time_ns(), "host": "here", "boot": "now", "torch": "2.13.0", "program": "p.py"})
say("loader", now(), 0, {"dataset": "D", "batch_size": 16, "num_workers": 1})
say("epoch", now(), 0, 0, 0)
for batch in range(200):
    indices = b"".join(os.urandom(5) + bytes(3) for _ in range(16))
    say("wait", now(), 0)
    say("dispatch", now(), 0, 0, batch, None, batch, base64.b64encode(indices).decode())
    begin = now(); say("begin", begin, 0, 0, batch)
    say("fetch", begin, 0, 0, batch, now(), now(), 0, "", "", [])
    say("yield", now(), 0, 0, batch)
    time.sleep(0.002)
say("end", now(), 0, 0); say("bye", now(), 0)
"#;

/// Small file system. It is unmounted when it is dropped.
struct Disk(tempfile::TempDir);

impl Disk {
    /// Returns `None` if this process may not mount a file system.
    fn new(pages: usize) -> Option<Self> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut mount = Command::new("mount");
        mount
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("size={}", pages * PAGE),
                "tmpfs",
            ])
            .arg(dir.path())
            .stderr(Stdio::null());
        let is_mounted = mount.status().is_ok_and(|status| status.success());
        is_mounted.then_some(Self(dir))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

fn loadscope(arguments: &[&str], folder: &Path) -> Output {
    let mut command = program();
    command.args(arguments).current_dir(folder);
    run(command.stdout(Stdio::null()))
}

/// Everything that the recorder could write is readable, and its message reports the rest.
#[test]
#[allow(clippy::print_stderr, reason = "a test says what it did not run")]
fn a_recording_on_a_full_disk_is_readable_or_absent() {
    let Some(python) = needed_python() else {
        return;
    };
    let programs = tempfile::tempdir().expect("a temporary folder");
    let program = programs.path().join("p.py");
    fs::write(&program, PROGRAM).expect("written");
    let (python, program) = (python.display().to_string(), program.display().to_string());
    let (mut stopped, mut whole) = (0, 0);
    for pages in (0..8).chain([12, 16, 64]) {
        // One page is for the filler, because a file system of size 0 would have no limit.
        let Some(disk) = Disk::new(pages + 1) else {
            eprintln!("NOT RUN: this process may not mount a file system");
            return;
        };
        fs::write(disk.path().join("filler"), [0; PAGE]).expect("room for one page");
        for limit in [&[][..], &["--max-size", "1MB"]] {
            let mut arguments = vec!["record", "--force", "-o", "run.jsonl.zst"];
            arguments.extend(limit);
            arguments.extend(["--", &python, &program]);
            let recorded = loadscope(&arguments, disk.path());
            let text = String::from_utf8_lossy(&recorded.stderr).into_owned();
            let shown = format!("{pages} pages, {limit:?}: {text}");
            let is_there = disk.path().join("run.jsonl.zst").exists();
            assert!(matches!(recorded.status.code(), Some(0 | 2)), "{shown}");
            if text.contains("contains everything before") || text.contains("is incomplete") {
                stopped += 1;
                assert!(is_there, "{shown}");
            }
            whole += u32::from(text.contains("200 batches in run.jsonl.zst"));
            for command in ["info", "report"] {
                let read = loadscope(&[command, "run.jsonl.zst"], disk.path());
                let why = String::from_utf8_lossy(&read.stderr).into_owned();
                assert_eq!(read.status.success(), is_there, "{shown}\n{command}: {why}");
            }
            let left = fs::read_dir(disk.path()).expect("a folder").flatten();
            let names: Vec<_> = left.map(|entry| entry.file_name()).collect();
            assert!(is_there || names == ["filler"], "{shown}\n{names:?}");
            for name in names.iter().filter(|name| *name != "filler") {
                let path = disk.path().join(name);
                let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
            }
        }
    }
    assert!(stopped > 2 && whole > 1, "{stopped} stopped, {whole} whole");
}
