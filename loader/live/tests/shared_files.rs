//! Open files of a forking Python program, whose position its workers share or not.

#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use loadscope_live::{Process, SharedFiles};
use loadscope_trace::{Event, EventKind, Fact, Nanos, RunId};

/// Program with three workers and a file of 1 MiB. `kind` is the way in which the processes read it.
const PROGRAM: &str = r#"
import os, random, sys, tempfile, time

kind, main = sys.argv[1], os.getpid()
path = tempfile.NamedTemporaryFile(delete=False).name
os.truncate(path, 1 << 20)
file = open(path, "rb")

def read(file):
    file.seek(random.randrange(1 << 20))
    file.read(100)

def work(worker):
    own = file
    if kind == "reopened":
        file.close()
        own = open(path, "rb")
        assert own.fileno() == file_number
    while os.getppid() == main:
        if kind == "pread":
            os.pread(own.fileno(), 100, random.randrange(1 << 20))
        elif kind in ("shared", "reopened"):
            read(own)
        time.sleep(0.002)
    os._exit(0)

file_number = file.fileno()
pids = []
for worker in range(3):
    pid = os.fork()
    if pid == 0:
        random.seed(worker)
        work(worker)
    pids.append(pid)
print(path, file_number, main, *pids, flush=True)
while kind == "main":
    read(file)
    time.sleep(0.002)
sys.stdin.read()
os.unlink(path)
"#;

/// Running program. Its workers end with it.
struct Running {
    child: Child,
    path: String,
    descriptor: u32,
    processes: Vec<Process>,
}

impl Running {
    fn start(kind: &str) -> Self {
        let mut child = Command::new("python3")
            .args(["-c", PROGRAM, kind])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        let [path, descriptor, pids @ ..] = words.as_slice() else {
            panic!("{line:?}");
        };
        let workers = [None, Some(0), Some(1), Some(2)];
        let processes = pids.iter().zip(workers).map(|(pid, worker)| Process {
            pid: pid.parse().expect("a number"),
            run: RunId(3),
            worker,
        });
        Self {
            child,
            path: (*path).to_owned(),
            descriptor: descriptor.parse().expect("a number"),
            processes: processes.collect(),
        }
    }

    /// Searches until a file is found, at most for `limit`.
    fn search(&self, limit: Duration) -> Vec<Event> {
        let (mut search, mut found) = (SharedFiles::default(), Vec::new());
        let start = Instant::now();
        while found.is_empty() && start.elapsed() < limit {
            std::thread::sleep(Duration::from_millis(4));
            search.find(&self.processes, Nanos(5), &mut found);
        }
        found
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}

#[test]
fn a_file_that_workers_inherited_and_read_is_found() {
    let program = Running::start("shared");
    let found = program.search(Duration::from_secs(60));
    let fact = Fact::SharedFile {
        file: program.path.clone(),
        descriptor: program.descriptor,
        workers: vec![0, 1, 2],
    };
    let event = Event {
        at: Nanos(5),
        run: RunId(3),
        kind: EventKind::Fact(Box::new(fact)),
    };
    assert_eq!(found, [event]);
}

#[test]
fn a_file_that_only_one_worker_has_is_not_found() {
    let mut program = Running::start("shared");
    program.processes.truncate(2);
    assert_eq!(program.search(Duration::from_millis(500)), []);
}

#[test]
fn workers_that_open_the_file_again_share_no_position() {
    let program = Running::start("reopened");
    assert_eq!(program.search(Duration::from_secs(1)), []);
}

#[test]
fn workers_that_use_pread_share_no_position() {
    let program = Running::start("pread");
    assert_eq!(program.search(Duration::from_secs(1)), []);
}

#[test]
fn a_file_that_only_the_main_process_reads_is_not_found() {
    let program = Running::start("main");
    assert_eq!(program.search(Duration::from_secs(1)), []);
}
