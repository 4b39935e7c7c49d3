//! Programs without a cause of a hang.

use std::time::{Duration, Instant};

use loadscope_stacks::{Analysis, Snapshot};

use crate::program::{Program, pytorch};

/// Programs, and the parts of their texts.
const CASES: [(&str, [&str; 4]); 5] = [
    (
        "
lock = threading.Lock()
def hold():
    with lock: time.sleep(1000)
def beat():
    while True: time.sleep(0.3)
def work():
    threading.Thread(target=beat, name='heartbeat', daemon=True).start()
    with lock: pass
threading.Thread(target=hold, daemon=True).start()
time.sleep(0.2)
child = ctx.Process(target=work)
child.start()
child.join()",
        [
            "the child process ",
            " waits for a lock in work (<string>:",
            "ended by the thread heartbeat, which sleeps in beat (<string>:",
            "a thread of the parent may have held the lock",
        ],
    ),
    (
        "
def monitor():
    while True: sum(range(1000))
def work():
    threading.Thread(target=monitor, daemon=True).start()
    threading.Event().wait()
child = ctx.Process(target=work)
child.start()
child.join()",
        [
            "the child process ",
            " waits for an event in work (<string>:",
            "ended by the thread ",
            " in monitor (<string>:",
        ],
    ),
    (
        "
import concurrent.futures, queue
def started():
    threading.Thread(target=queue.Queue().get, daemon=True).start()
pool = concurrent.futures.ProcessPoolExecutor(2, ctx, started)
tasks = [pool.submit(time.sleep, seconds) for seconds in (0.1, 1000)]
tasks[1].result()",
        [
            "No cause of a hang found: ",
            "the child process ",
            " sleeps in ",
            "_process_worker (process.py:",
        ],
    ),
    (
        "
threading.Thread(target=lambda: os.read(os.pipe()[0], 1), daemon=True).start()
end, other = multiprocessing.get_context('forkserver').Pipe()
multiprocessing.get_context('forkserver').Process(target=time.sleep, args=(1000,)).start()
end.recv()",
        [
            "No cause of a hang found: ",
            "the child process ",
            " sleeps in ",
            "BaseProcess.run (process.py:",
        ],
    ),
    (
        "
import pty
os.read(pty.openpty()[1], 1)",
        [
            "No cause of a hang found: ",
            "the main process ",
            " waits for input from the terminal (read) in ",
            "<module> (<string>:",
        ],
    ),
];

/// The text names the thread at the end of the chain, and other threads only as possible ends of its wait.
#[test]
fn a_wait_without_a_cause() {
    for (source, parts) in CASES {
        let Some(program) = Program::start(source) else {
            return;
        };
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let snapshot = Snapshot::take(program.pid());
            let text = snapshot.map(|snapshot| Analysis::of(&snapshot).text(&snapshot));
            let text = text.unwrap_or_else(|e| e.to_string());
            if parts.iter().all(|part| text.contains(part)) {
                break;
            }
            assert!(Instant::now() < end, "{text}");
        }
    }
}

#[test]
fn a_program_that_works_has_no_cause() {
    let source = "
queue, tasks = ctx.Queue(4), ctx.Queue()
def work():
    while True:
        time.sleep(0.05)
        queue.put(bytes(1000))
for _ in range(2):
    ctx.Process(target=work, daemon=True).start()
ctx.Process(target=tasks.get, daemon=True).start()
while True:
    queue.get()
    sum(range(100000))";
    let Some(program) = Program::start(source) else {
        return;
    };
    std::thread::sleep(Duration::from_secs(2));
    for _ in 0..3 {
        let snapshot = Snapshot::take(program.pid()).expect("it is readable");
        let analysis = Analysis::of(&snapshot);
        let found = analysis.conclusion(&snapshot);
        assert!(found.is_none(), "{analysis:#?}\n{snapshot:#?}");
    }
}

/// A worker that sleeps in a sample is named, without a cause.
#[test]
fn a_slow_sample_of_pytorch_is_no_cause() {
    let Some(python) = pytorch() else {
        return;
    };
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/train.py");
    let command = [
        python.as_os_str(),
        file.as_ref(),
        "fork".as_ref(),
        "slow".as_ref(),
    ];
    let program = Program::run(&command).expect("it starts");
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < end, "the worker was not named");
        let Ok(snapshot) = Snapshot::take(program.pid()) else {
            continue;
        };
        let analysis = Analysis::of(&snapshot);
        assert_eq!(analysis.conclusion(&snapshot), None, "{snapshot:#?}");
        let text = analysis.text(&snapshot);
        if text.contains(" sleeps in ") && text.contains("__getitem__ (train.py:") {
            assert!(text.contains("orker 1 (process"), "{text}");
            return;
        }
    }
}
