//! Causes in snapshots that tests write down.

use loadscope_stacks::{
    Analysis, Cause, Descriptor, Direction, Ending, Frame, Process, Python, Resource, Role,
    SharedMemory, Snapshot, State, Thread, ThreadRole, Wait, wait_text,
};

#[path = "causes/ranks.rs"]
mod ranks;

const MAIN: u32 = 1;
const WORKER: u32 = 2;
const DEAD: u32 = 3;
const SIGBUS: u8 = 7;

/// Returns a Python process with one thread.
fn process(pid: u32, parent: u32, wait: Wait) -> Process {
    let thread = Thread {
        tid: pid,
        name: "MainThread".to_owned(),
        role: ThreadRole::Main,
        state: State::Sleeping,
        holds_gil: false,
        is_active: false,
        wait,
        frames: Vec::new(),
    };
    Process {
        pid,
        parent,
        command: "python train.py".to_owned(),
        name: "python".to_owned(),
        role: if pid == MAIN { Role::Main } else { Role::Child },
        state: State::Sleeping,
        python: Python::Version("3.12".to_owned()),
        is_forked: pid != MAIN,
        ended: None,
        threads: vec![thread],
    }
}

/// Returns an ended child process of the main process.
fn dead(name: &str, ending: Ending, is_forked: bool) -> Process {
    Process {
        name: name.to_owned(),
        command: format!("[{name}]"),
        role: Role::Other,
        state: State::Zombie,
        python: Python::Absent,
        is_forked,
        ended: Some(ending),
        threads: Vec::new(),
        ..process(DEAD, MAIN, Wait::Running)
    }
}

fn io(fd: u64, direction: Direction, resource: Resource) -> Wait {
    let fd = Some(fd);
    Wait::Io {
        call: "call".to_owned(),
        on: vec![Descriptor {
            fd,
            direction,
            resource,
        }],
        timed: false,
    }
}

fn pipe(peers: &[u32]) -> Resource {
    let (id, peers) = ("pipe:[7]".to_owned(), peers.to_vec());
    Resource::Pipe { id, peers }
}

fn fifo() -> Wait {
    let (path, peers) = ("/tmp/fifo".to_owned(), Vec::new());
    io(4, Direction::Read, Resource::Fifo { path, peers })
}

fn reading(peer: u32) -> Wait {
    io(5, Direction::Read, pipe(&[peer]))
}

/// Adds a frame of `multiprocessing` and one of the program.
fn get(mut of: Process) -> Process {
    let get = "/lib/python3.11/multiprocessing/queues.py";
    let frames = [("get", get), ("work", "train.py")];
    let frame = |(f, file): (&str, &str)| Frame::new(f.to_owned(), file.to_owned(), 7);
    of.threads[0].frames = frames.map(frame).to_vec();
    of
}

fn snapshot(processes: Vec<Process>) -> Snapshot {
    Snapshot {
        root: MAIN,
        processes,
        shared_memory: None,
    }
}

fn conclusion(processes: Vec<Process>) -> Option<Cause> {
    let snapshot = snapshot(processes);
    let analysis = Analysis::of(&snapshot);
    let found = analysis.conclusion(&snapshot);
    found.map(|finding| finding.cause.clone())
}

#[test]
fn a_dead_child_is_the_cause_if_an_item_can_be_lost_with_it() {
    let failed = Ending::Code(1);
    let killed = Ending::Signal(9);
    let died = |ending| Some(Cause::Died { ending });
    let blocked = || {
        let (path, peers) = ("/tmp/fifo".to_owned(), Vec::new());
        Some(Cause::Fifo { path, peers })
    };
    let cases = [
        (Wait::Sleep, dead("false", failed, false), None),
        (Wait::Sleep, dead("false", killed, false), died(killed)),
        (Wait::Sleep, dead("python", Ending::Code(0), true), None),
        (Wait::Sleep, dead("python", failed, false), died(failed)),
        (
            Wait::Sleep,
            dead("pt_data_worker", failed, false),
            died(failed),
        ),
        (Wait::Sleep, dead("renamed", failed, true), died(failed)),
        (fifo(), dead("false", failed, false), blocked()),
        (fifo(), dead("python", failed, true), blocked()),
        (fifo(), dead("python", killed, true), died(killed)),
    ];
    for (wait, dead, wanted) in cases {
        let text = format!("{wait:?} {} {:?}", dead.name, dead.ended);
        let main = process(MAIN, 0, io(5, Direction::Read, pipe(&[WORKER])));
        let found = conclusion(vec![main, process(WORKER, MAIN, wait), dead]);
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn an_item_is_possibly_lost_in_a_small_shared_memory() {
    let (small, large) = (64 << 20, 1 << 30);
    let lost = |size| Some(("shared_memory_small", size));
    let killed = || dead("python", Ending::Signal(SIGBUS), true);
    let idle = || get(process(WORKER, MAIN, reading(MAIN)));
    let asleep = || process(WORKER, MAIN, Wait::Sleep);
    let active = || {
        let mut worker = asleep();
        worker.threads[0].is_active = true;
        worker
    };
    let cases = [
        (small, small, vec![asleep()], lost(small)),
        (small, small, vec![idle()], lost(small)),
        (small, small, vec![active()], None),
        (large, large, vec![asleep()], None),
        (large, large, vec![idle()], Some(("cycle", 0))),
        (small, small, vec![asleep(), killed()], lost(small)),
        (
            small,
            1 << 20,
            vec![killed()],
            Some(("shared_memory_full", 0)),
        ),
        (
            large,
            1 << 20,
            vec![killed()],
            Some(("shared_memory_full", 0)),
        ),
        (large, large, vec![killed()], Some(("died", 0))),
    ];
    for (size, free, children, wanted) in cases {
        let text = format!("{size} {free} {children:?}");
        let peers: Vec<u32> = children.iter().map(|child| child.pid).collect();
        let main = get(process(MAIN, 0, io(5, Direction::Read, pipe(&peers))));
        let mut snapshot = snapshot([vec![main], children].concat());
        snapshot.shared_memory = Some(SharedMemory { size, free });
        let analysis = Analysis::of(&snapshot);
        let found = analysis
            .conclusion(&snapshot)
            .map(|found| match &found.cause {
                Cause::SharedMemorySmall { size, .. } => ("shared_memory_small", *size),
                Cause::SharedMemoryFull { .. } => ("shared_memory_full", 0),
                Cause::Died { .. } => ("died", 0),
                Cause::Cycle { .. } => ("cycle", 0),
                other => panic!("{other:?}"),
            });
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn a_fork_server_represents_its_children() {
    const SERVER: u32 = 8;
    let mut server = process(SERVER, MAIN, Wait::Sleep);
    server.role = Role::ForkServer;
    let socket = || io(3, Direction::Read, Resource::Socket { remote: None });
    let receive = |mut of: Process| {
        let file = "/lib/python3.11/multiprocessing/connection.py";
        of.threads[0].frames = vec![Frame::new("_recv".to_owned(), file.to_owned(), 1)];
        of
    };
    let (path, peers) = ("/tmp/fifo".to_owned(), Vec::new());
    let wanted = Some(Cause::Fifo { path, peers });
    // The main process waits for the end of a child, or for an item. A child waits for an item of the main process.
    let cases = [
        (io(8, Direction::Read, pipe(&[SERVER])), fifo()),
        (socket(), fifo()),
        (fifo(), socket()),
    ];
    for (main, child) in cases {
        let text = format!("{main:?}");
        let main = receive(process(MAIN, 0, main));
        let child = receive(process(WORKER, SERVER, child));
        let snapshot = snapshot(vec![main, server.clone(), child]);
        let analysis = Analysis::of(&snapshot);
        let found = analysis.conclusion(&snapshot).expect("a cause");
        assert_eq!(Some(found.cause.clone()), wanted, "{text}");
        let at_child = found.at.pid == WORKER;
        assert_eq!(analysis.chain.len(), if at_child { 2 } else { 1 });
    }
}

#[test]
fn processes_that_wait_for_one_another_need_no_thread_that_wakes() {
    let heartbeat = "/lib/python3.11/site-packages/tqdm/_monitor.py";
    let cases = [
        (None, true),
        (Some("train.py"), false),
        (Some(heartbeat), true),
    ];
    for (file, is_cycle) in cases {
        let mut main = get(process(MAIN, 0, reading(WORKER)));
        if let Some(file) = file {
            let mut thread = main.threads[0].clone();
            (thread.tid, thread.role, thread.wait) = (9, ThreadRole::Python, Wait::Sleep);
            thread.frames = vec![Frame::new("run".to_owned(), file.to_owned(), 3)];
            main.threads.push(thread);
        }
        let found = conclusion(vec![main, get(process(WORKER, MAIN, reading(MAIN)))]);
        let wanted = Cause::Cycle {
            pids: vec![MAIN, WORKER],
        };
        assert_eq!(found, is_cycle.then_some(wanted), "{file:?}");
    }
}

#[test]
fn a_failed_command_is_no_cause_while_the_program_waits_for_no_process() {
    let failed = dead("false", Ending::Code(1), false);
    assert_eq!(
        conclusion(vec![process(MAIN, 0, Wait::Sleep), failed]),
        None
    );
    let killed = dead("worker", Ending::Signal(9), true);
    let ending = Ending::Signal(9);
    let found = conclusion(vec![process(MAIN, 0, Wait::Sleep), killed]);
    assert_eq!(found, Some(Cause::Died { ending }));
}

#[test]
fn a_full_pipe_is_a_cause_if_no_process_can_read_it() {
    const OUTSIDE: u32 = 90;
    let full = |peers: &[u32]| {
        let peers = peers.to_vec();
        Some(Cause::FullPipe { peers })
    };
    let output = |peers: &[u32]| {
        let peers = peers.to_vec();
        Some(Cause::FullOutput { peers })
    };
    let cases: [(u64, &[u32], Option<Cause>); 8] = [
        (5, &[WORKER], full(&[WORKER])),
        (5, &[], full(&[])),
        (5, &[OUTSIDE], None),
        (5, &[WORKER, OUTSIDE], None),
        (1, &[OUTSIDE], output(&[OUTSIDE])),
        (2, &[], output(&[])),
        (1, &[WORKER], full(&[WORKER])),
        (1, &[WORKER, OUTSIDE], None),
    ];
    for (fd, peers, wanted) in cases {
        let main = || process(MAIN, 0, io(fd, Direction::Write, pipe(peers)));
        let worker = process(WORKER, MAIN, Wait::Sleep);
        assert_eq!(conclusion(vec![main(), worker]), wanted, "{fd} {peers:?}");
        // A worker that reads the pipe, and one that did not answer.
        let mut reader = process(WORKER, MAIN, io(8, Direction::Read, pipe(&[MAIN])));
        for thread in &mut reader.threads {
            thread.is_active = true;
        }
        let mut unanswered = process(WORKER, MAIN, Wait::Sleep);
        unanswered.threads.clear();
        let unread = wanted.filter(|_| !peers.contains(&WORKER));
        assert_eq!(conclusion(vec![main(), reader]), unread);
        assert_eq!(conclusion(vec![main(), unanswered]), unread);
    }
}

#[test]
fn a_wait_names_each_object_once() {
    let socket = |remote: Option<&str>| Resource::Socket {
        remote: remote.map(str::to_owned),
    };
    let cases = [
        (vec![pipe(&[])], "data in a pipe"),
        (
            vec![pipe(&[WORKER]), pipe(&[WORKER]), pipe(&[DEAD])],
            "data in a pipe from process 2, process 3",
        ),
        (vec![socket(None), socket(None)], "a socket"),
        (vec![socket(None), socket(Some("a:1"))], "a socket to a:1"),
    ];
    for (resources, wanted) in cases {
        let descriptor = |resource| Descriptor {
            fd: None,
            direction: Direction::Read,
            resource,
        };
        let wait = Wait::Io {
            call: "poll".to_owned(),
            on: resources.into_iter().map(descriptor).collect(),
            timed: false,
        };
        let main = process(MAIN, 0, wait);
        let text = wait_text(&snapshot(Vec::new()), &main.threads[0]);
        assert_eq!(text, format!("waits for {wanted} (poll)"));
    }
}
