//! Python programs that hang in known ways. Each cause must be named, and no program may be stopped.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::print_stdout, reason = "a test says what it did not run")]

#[path = "hangs/no_cause.rs"]
mod no_cause;
mod program;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loadscope_stacks::{Analysis, Cause, Ending, Process, Role, Snapshot, StacksError, State};
use program::{Program, pytorch};

/// Takes snapshots until a conclusion is the wanted cause. Each must take less than five seconds.
fn expect(program: &Program, wanted: impl Fn(&Cause) -> bool) -> (Snapshot, Analysis) {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let started = Instant::now();
        let taken = Snapshot::take(program.pid());
        assert!(started.elapsed() < Duration::from_secs(5));
        let last = match taken {
            Ok(snapshot) => {
                let analysis = Analysis::of(&snapshot);
                let found = analysis.conclusion(&snapshot);
                if let Some(found) = found.filter(|found| wanted(&found.cause)) {
                    println!("{}\n→ {}", found.text(&snapshot), found.remedy());
                    return (snapshot, analysis);
                }
                format!("{analysis:#?}\n{snapshot:#?}")
            }
            Err(e) => e.to_string(),
        };
        assert!(Instant::now() < end, "the cause was not found: {last}");
    }
}

/// Defines a test for each program: the innermost function of the chain of waits, the source, and the cause.
macro_rules! hangs {
    ($($name:ident, $function:literal, $source:literal, $cause:pat,)*) => {
        $(#[test]
        fn $name() {
            let Some(program) = Program::start($source) else { return };
            let (snapshot, analysis) = expect(&program, |cause| matches!(cause, $cause));
            let last = analysis.chain.last().expect("a chain");
            let frame = snapshot.thread(*last).and_then(|thread| thread.user_frame());
            let function = frame.map(|frame| frame.function.rsplit('.').next());
            assert_eq!(function.flatten().unwrap_or_default(), $function);
        })*
    };
}

hangs! {
    a_lock_that_was_held_during_the_fork, "work", "
lock = threading.Lock()
threading.Thread(target=lambda: (lock.acquire(), time.sleep(1000)), daemon=True).start()
time.sleep(0.2)
def work():
    with lock:
        pass
child = ctx.Process(target=work)
child.start()
child.join()", Cause::UnreleasedLock { is_event: false, is_forked: true },

    a_lock_in_a_child_of_a_fork_server, "<module>", "
source = 'import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()'
child = multiprocessing.get_context('forkserver').Process(target=exec, args=(source,))
child.start()
child.join()", Cause::UnreleasedLock { is_event: false, is_forked: false },

    a_lock_that_was_held_during_the_fork_behind_a_join, "load", "
lock = threading.Lock()
threading.Thread(target=lambda: (lock.acquire(), time.sleep(1000)), daemon=True).start()
time.sleep(0.2)
def load():
    with lock:
        pass
def work():
    thread = threading.Thread(target=load)
    thread.start()
    thread.join()
child = ctx.Process(target=work)
child.start()
child.join()", Cause::UnreleasedLock { is_event: false, is_forked: true },

    a_lock_that_was_held_during_the_fork_behind_a_future, "load", "
import concurrent.futures
lock = threading.Lock()
threading.Thread(target=lambda: (lock.acquire(), time.sleep(1000)), daemon=True).start()
time.sleep(0.2)
def load():
    with lock:
        pass
def work():
    concurrent.futures.ThreadPoolExecutor(1).submit(load).result()
child = ctx.Process(target=work)
child.start()
child.join()", Cause::UnreleasedLock { is_event: false, is_forked: true },

    an_event_that_is_set_in_another_process, "work", "
event = threading.Event()
def work():
    event.wait()
child = ctx.Process(target=work)
child.start()
event.set()
child.join()", Cause::UnreleasedLock { is_event: true, is_forked: true },

    an_item_that_is_not_taken_before_join, "", "
queue = ctx.Queue()
def work():
    queue.put(bytes(1 << 20))
child = ctx.Process(target=work)
child.start()
child.join()", Cause::FullPipe { .. },

    a_full_queue, "<module>", "
queue = ctx.Queue(1)
child = ctx.Process(target=time.sleep, args=(1000,), daemon=True)
child.start()
queue.put(1)
queue.put(2)", Cause::FullQueue,

    a_stopped_child, "work", "
queue = ctx.Queue()
def work():
    os.kill(os.getpid(), signal.SIGSTOP)
child = ctx.Process(target=work, daemon=True)
child.start()
queue.get()", Cause::Stopped { by_debugger: false },

    a_stopped_child_at_the_other_end_of_a_socket, "work", "
here, there = ctx.Pipe()
def work():
    os.kill(os.getpid(), signal.SIGSTOP)
child = ctx.Process(target=work, daemon=True)
child.start()
here.recv()", Cause::Stopped { .. },

    a_named_pipe_without_a_writer, "work", "
queue = ctx.Queue()
def work():
    open(fifo()).read()
ctx.Process(target=work, daemon=True).start()
queue.get()", Cause::Fifo { .. },

    a_named_pipe_whose_writer_does_not_write, "<module>", "
os.read(os.open(fifo(), os.O_RDWR), 1)", Cause::Fifo { .. },

    the_interpreter_lock_held_by_a_function_in_c, "work", "
import ctypes
def work():
    ctypes.PyDLL(None).sleep(1000)
threading.Thread(target=work, daemon=True).start()
while True:
    time.sleep(0.01)", Cause::GilHeld { waiting: 1 },

    a_child_that_was_killed, "", "
queue = ctx.Queue()
child = ctx.Process(target=lambda: os.kill(os.getpid(), signal.SIGKILL))
child.start()
queue.get()", Cause::Died { ending: Ending::Signal(9) },

    a_child_that_failed, "", "
queue = ctx.Queue()
child = ctx.Process(target=lambda: os._exit(3))
child.start()
queue.get()", Cause::Died { ending: Ending::Code(3) },

    a_command_that_failed_before_the_cause, "work", "
import subprocess
command = subprocess.Popen(['false'])
queue = ctx.Queue()
def work():
    open(fifo()).read()
ctx.Process(target=work, daemon=True).start()
queue.get()", Cause::Fifo { .. },

    a_pipe_without_another_process, "<module>", "
queue = ctx.Queue()
child = ctx.Process(target=print)
child.start()
child.join()
queue.get()", Cause::NoWriter,

    a_lock_that_is_acquired_twice, "<module>", "
lock = threading.Lock()
lock.acquire()
lock.acquire()", Cause::UnreleasedLock { is_event: false, is_forked: false },

    two_locks_in_different_orders, "work", "
first, second = threading.Lock(), threading.Lock()
def work(one, other):
    with one:
        time.sleep(0.3)
        with other:
            pass
threading.Thread(target=work, args=(first, second)).start()
work(second, first)", Cause::Deadlock { .. },

    two_locks_and_a_thread_in_a_timed_wait, "work", "
def monitor():
    while not threading.Event().wait(10): pass
first, second = threading.Lock(), threading.Lock()
def work(one, other):
    with one:
        time.sleep(0.3)
        with other:
            pass
threading.Thread(target=monitor).start()
threading.Thread(target=work, args=(first, second)).start()
work(second, first)", Cause::Deadlock { .. },

    processes_that_wait_for_each_other, "work", "
there, back = ctx.Queue(), ctx.Queue()
def work():
    back.put(there.get())
child = ctx.Process(target=work, daemon=True)
child.start()
back.get()", Cause::Cycle { .. },

    a_remote_host_that_does_not_answer, "<module>", "
import socket
server = socket.create_server(('127.0.0.1', 0))
socket.create_connection(server.getsockname()).recv(1)", Cause::Network { .. },

    a_file_that_another_process_has_locked, "work", "
import fcntl
path = tempfile.mkstemp()[1]
def work():
    file = open(path)
    fcntl.flock(file, fcntl.LOCK_EX)
    time.sleep(1000)
child = ctx.Process(target=work, daemon=True)
child.start()
time.sleep(0.5)
work()", Cause::FileLocked { holder: Some(_), .. },
}

#[test]
fn shared_memory_that_is_full() {
    let source = "
import mmap
queue = ctx.Queue()
def work():
    file = os.open('/dev/shm/batch', os.O_CREAT | os.O_RDWR)
    os.ftruncate(file, 1 << 20)
    mmap.mmap(file, 1 << 20)[:] = bytes(1 << 20)
ctx.Process(target=work).start()
queue.get()";
    // A small /dev/shm of its own needs a mount namespace.
    let mount = "mount -t tmpfs -o size=128k tmpfs /dev/shm && exec \"$0\" \"$@\"";
    let Some(program) = Program::start_in(&["unshare", "-m", "sh", "-c", mount], source) else {
        return;
    };
    match program.has_ended_soon() {
        true => println!("NOT RUN: no mount namespace"),
        false => drop(expect(&program, |c| {
            matches!(c, Cause::SharedMemoryFull { .. })
        })),
    }
}

/// The program writes to a pipe of this test, which is no process of its tree.
#[test]
fn output_to_a_program_that_does_not_read() {
    let Some(program) = Program::start_with_output("print('a' * (1 << 20), flush=True)") else {
        return;
    };
    let own = std::process::id();
    let (_, analysis) = expect(
        &program,
        |cause| matches!(cause, Cause::FullOutput { peers } if *peers == [own]),
    );
    assert_eq!(analysis.chain.len(), 1);
}

#[test]
fn the_program_is_never_stopped() {
    let Some(program) = Program::start("while True:\n    time.sleep(0.001)") else {
        return;
    };
    let status = format!("/proc/{}/status", program.pid());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut seen = 0;
            while !is_over.load(Ordering::Relaxed) {
                let text = std::fs::read_to_string(&status).expect("it runs");
                assert!(text.contains("TracerPid:\t0\n"), "{text}");
                assert!(!text.contains("\nState:\tT") && !text.contains("\nState:\tt"));
                seen += 1;
            }
            seen
        });
        std::thread::sleep(Duration::from_secs(1));
        let taken: Vec<_> = (0..3).map(|_| Snapshot::take(program.pid())).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(taken.iter().all(Result::is_ok), "{taken:?}");
        assert!(watch.join().expect("it was never stopped") > 1000);
    });
}

#[test]
fn a_worker_of_pytorch_that_is_stopped() {
    let Some(python) = pytorch() else {
        return;
    };
    for (pin, method) in [(false, "fork"), (true, "fork"), (false, "forkserver")] {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/train.py");
        let pin = if pin { "pin" } else { "" };
        let command = [
            python.as_os_str(),
            file.as_ref(),
            method.as_ref(),
            pin.as_ref(),
        ];
        let program = Program::run(&command).expect("it starts");
        let is_stopped = |cause: &Cause| matches!(cause, Cause::Stopped { .. });
        let (snapshot, analysis) = expect(&program, is_stopped);
        let last = analysis.chain.last().expect("a chain");
        let stopped = snapshot.process(last.pid).expect("a process");
        assert_eq!(stopped.role, Role::Worker(Some(1)), "{snapshot:#?}");
        assert_eq!(stopped.state, State::Stopped);
        // Workers of a fork server can still be starting.
        let is_worker = |process: &&Process| matches!(process.role, Role::Worker(Some(_)));
        let workers = snapshot.processes.iter().filter(is_worker).count();
        assert!(workers == 3 || method == "forkserver", "{snapshot:#?}");
    }
}

/// Rank 0 has one batch more, and waits for the gradients of rank 1.
#[test]
fn a_rank_of_pytorch_that_has_fewer_batches() {
    let Some(python) = pytorch() else {
        return;
    };
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/ranks.py");
    let program = Program::run(&[python.as_os_str(), file.as_ref()]).expect("it starts");
    let is_collective = |cause: &Cause| matches!(cause, Cause::Collective { function, missing } if function == "backward" && missing.len() == 1);
    let (snapshot, analysis) = expect(&program, is_collective);
    let last = analysis.chain.last().expect("a chain");
    let missing = snapshot.process(last.pid).expect("a process");
    assert_eq!(missing.role, Role::Rank(1), "{snapshot:#?}");
}

#[test]
fn the_id_of_a_thread_names_its_process() {
    let Some(program) = Program::start("threading.Thread(target=time.sleep, args=(1000,)).start()")
    else {
        return;
    };
    let pid = program.pid();
    let (last, snapshot) = (0..600)
        .find_map(|_| {
            std::thread::sleep(Duration::from_millis(100));
            let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
            let names = tasks.flatten().map(|entry| entry.file_name());
            let tids = names.filter_map(|name| name.to_str()?.parse().ok());
            let tid: u32 = tids.max().filter(|tid| *tid != pid)?;
            Some((tid, Snapshot::take(tid).ok()?))
        })
        .expect("a thread");
    assert_eq!(snapshot.root, pid, "{last}");
}

#[test]
fn errors_name_the_process() {
    let pid = u32::MAX >> 1;
    let error = Snapshot::take(pid).expect_err("there is none");
    assert_eq!(error, StacksError::NoProcess(pid));
    let program = Program::run(&["true"]).expect("it starts");
    assert!(program.has_ended_soon());
    let error = Snapshot::take(program.pid()).expect_err("it has ended");
    assert_eq!(error, StacksError::HasEnded(program.pid()));
    let program = Program::run(&["sleep", "1000"]).expect("it starts");
    let error = Snapshot::take(program.pid()).expect_err("it is not Python");
    assert_eq!(error, StacksError::NotPython(program.pid()));
}
