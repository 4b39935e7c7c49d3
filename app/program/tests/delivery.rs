//! Every signal to a recorder reaches its program once. The program starts with the signal dispositions that the recorder inherited.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
#![allow(unsafe_code, reason = "signals")]

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{ends, program};

#[path = "delivery/inherited.rs"]
mod inherited;
#[path = "delivery/program.rs"]
mod program;
#[path = "delivery/terminal.rs"]
mod terminal;

use program::{END, NOTES, STOPS, all};

/// Timeout of each wait.
const DEADLINE: Duration = Duration::from_secs(30);

/// Time in which a signal that is forwarded twice would arrive.
const REST: Duration = Duration::from_millis(500);

fn loadscope() -> Command {
    let mut command = program();
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Recorder that leads a process group, with a program that logs its signals.
struct Recorded {
    recorder: Child,
    folder: tempfile::TempDir,
}

impl Recorded {
    fn start(change: impl FnOnce(&mut Command)) -> Self {
        Self::start_in(|command| {
            command.process_group(0);
            change(command);
        })
    }

    /// Starts a recorder. `change` sets its process group.
    fn start_in(change: impl FnOnce(&mut Command)) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let own = std::env::current_exe().expect("this program");
        let mut command = loadscope();
        command
            .args(["record", "-o"])
            .arg(folder.path().join("run.jsonl"))
            .arg("--")
            .arg(own)
            .args([
                "--exact",
                "delivery::program::notes_its_signals",
                "--nocapture",
            ])
            .env(NOTES, folder.path().join("notes"))
            .env(END, folder.path().join("end"));
        change(&mut command);
        let recorder = command.spawn().expect("it starts");
        let recorded = Self { recorder, folder };
        recorded.until("the program starts", |counts| counts[0] == 1);
        recorded
    }

    fn id(&self) -> libc::pid_t {
        libc::pid_t::try_from(self.recorder.id()).expect("a process id")
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the number of signals that the program received, by signal number. Number 0 is its start.
    fn counts(&self) -> [u32; 65] {
        let mut counts = [0; 65];
        for number in fs::read(self.at("notes")).unwrap_or_default() {
            counts[usize::from(number)] += 1;
        }
        counts
    }

    fn until(&self, what: &str, is_so: impl Fn(&[u32; 65]) -> bool) {
        let began = Instant::now();
        while !is_so(&self.counts()) {
            assert!(began.elapsed() < DEADLINE, "{what}: {:?}", self.counts());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends the program. The recorder must end with the same exit code.
    fn end(&mut self) {
        let running = self.recorder.try_wait().expect("it is our child");
        assert_eq!(running, None, "the recorder ended before its program");
        fs::write(self.at("end"), "").expect("written");
        ends(&mut self.recorder, DEADLINE);
        let status = self.recorder.wait().expect("it has ended");
        assert_eq!(status.code(), Some(7));
    }
}

/// A failed test leaves no process.
impl Drop for Recorded {
    fn drop(&mut self) {
        // SAFETY: `kill` reads no memory of this process. The recorder leads a group.
        unsafe { libc::kill(-self.id(), libc::SIGKILL) };
        let _ = self.recorder.wait();
    }
}

/// Sends a signal to a process, or to a group if the id is negative.
fn send(process: libc::pid_t, number: i32) {
    // SAFETY: `kill` reads no memory of this process.
    assert_eq!(unsafe { libc::kill(process, number) }, 0, "signal {number}");
}

fn place(number: i32) -> usize {
    usize::try_from(number).expect("a signal")
}

fn each_signal_arrives_once(to_group: bool) {
    let mut recorded = Recorded::start(|_| {});
    let to = if to_group {
        -recorded.id()
    } else {
        recorded.id()
    };
    for number in all() {
        send(to, number);
        let what = format!("signal {number} arrives");
        recorded.until(&what, |counts| counts[place(number)] > 0);
    }
    std::thread::sleep(REST);
    let counts = recorded.counts();
    let expected: Vec<(i32, u32)> = all().map(|number| (number, 1)).collect();
    let found: Vec<(i32, u32)> = all().map(|n| (n, counts[place(n)])).collect();
    assert_eq!(found, expected);
    recorded.end();
}

#[test]
fn every_signal_to_the_recorder_reaches_the_program_once() {
    each_signal_arrives_once(false);
}

#[test]
fn every_signal_to_the_process_group_reaches_the_program_once() {
    each_signal_arrives_once(true);
}

/// Job schedulers send a signal to each process of a job, one after another.
#[test]
fn a_signal_to_every_process_reaches_the_program_once() {
    let mut recorded = Recorded::start(|_| {});
    let members = group(recorded.id());
    assert!(members.len() >= 2, "{members:?}");
    for number in [libc::SIGUSR1, libc::SIGTERM, libc::SIGRTMIN()] {
        members.iter().for_each(|process| send(*process, number));
    }
    std::thread::sleep(REST);
    let counts = recorded.counts();
    let found = [libc::SIGUSR1, libc::SIGTERM, libc::SIGRTMIN()].map(|n| counts[place(n)]);
    assert_eq!(found, [1, 1, 1]);
    recorded.end();
}

/// The system queues real-time signals.
#[test]
fn real_time_signals_arrive_as_often_as_sent() {
    let mut recorded = Recorded::start(|_| {});
    let number = libc::SIGRTMIN() + 3;
    for (round, to) in [recorded.id(), -recorded.id()].into_iter().enumerate() {
        (0..50).for_each(|_| send(to, number));
        let expected = 50 * (u32::try_from(round).expect("small") + 1);
        recorded.until("all arrive", |counts| counts[place(number)] >= expected);
        std::thread::sleep(REST);
        assert_eq!(recorded.counts()[place(number)], expected);
    }
    recorded.end();
}

/// Sets a timeout that survives `exec`, like `perl -e 'alarm 60; exec @ARGV'`.
#[test]
fn a_timer_set_before_the_start_reaches_the_program() {
    let mut recorded = Recorded::start(|command| {
        let set = || {
            // SAFETY: `alarm` reads no memory of this process.
            unsafe { libc::alarm(2) };
            Ok(())
        };
        // SAFETY: the function makes one system call that is allowed after a fork.
        unsafe { command.pre_exec(set) };
    });
    recorded.until("the timer", |counts| counts[place(libc::SIGALRM)] == 1);
    recorded.end();
}

#[test]
fn the_recorder_stops_and_continues_with_its_program() {
    let mut recorded = Recorded::start(|command| {
        command.env(STOPS, "1");
    });
    let program = the_program(&recorded);
    let mut continued = 0;
    for number in [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU] {
        for to in [recorded.id(), -recorded.id()] {
            send(to, number);
            assert_eq!(changed(recorded.id(), libc::WSTOPPED), number);
            assert_eq!(state(program), Some('T'), "signal {number} to {to}");
            send(to, libc::SIGCONT);
            changed(recorded.id(), libc::WCONTINUED);
            continued += 1;
            let count = place(libc::SIGCONT);
            recorded.until("the program continues", |counts| counts[count] >= continued);
        }
    }
    std::thread::sleep(REST);
    assert_eq!(recorded.counts()[place(libc::SIGCONT)], continued);
    assert_ne!(state(program), Some('T'));
    recorded.end();
}

/// A daemon keeps the standard streams of its parent open.
#[test]
fn a_recorder_does_not_wait_for_a_daemon() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = loadscope();
    command
        .args(["record", "-o"])
        .arg(folder.path().join("run.jsonl"))
        .args(["--", "sh", "-c", "sleep 60 & exit 7"])
        .stdout(Stdio::piped())
        .process_group(0);
    let mut recorder = command.spawn().expect("it starts");
    let id = libc::pid_t::try_from(recorder.id()).expect("a process id");
    ends(&mut recorder, Duration::from_secs(20));
    let left = group(id);
    send(-id, libc::SIGKILL);
    assert_eq!(recorder.wait().expect("it has ended").code(), Some(7));
    assert_eq!(left.len(), 1, "the daemon runs on, and nothing else");
}

#[test]
fn a_killed_recorder_leaves_only_its_program_running() {
    let mut recorded = Recorded::start(|_| {});
    let program = the_program(&recorded);
    recorded.recorder.kill().expect("it runs");
    recorded.recorder.wait().expect("it has ended");
    let began = Instant::now();
    while group(recorded.id()) != [program] {
        assert!(began.elapsed() < DEADLINE, "{:?}", group(recorded.id()));
        std::thread::sleep(Duration::from_millis(5));
    }
    fs::write(recorded.at("end"), "").expect("written");
    while !group(recorded.id()).is_empty() {
        assert!(began.elapsed() < DEADLINE, "the program runs on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a child changes its state. Returns the signal.
fn changed(child: libc::pid_t, how: i32) -> i32 {
    let began = Instant::now();
    loop {
        // SAFETY: an all-zero `siginfo_t` is valid, and the system fills it in.
        let found = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let id = libc::id_t::try_from(child).expect("a process id");
            let asked = libc::waitid(libc::P_PID, id, &raw mut info, how | libc::WNOHANG);
            assert_eq!(asked, 0);
            (info.si_pid() != 0).then(|| info.si_status())
        };
        if let Some(signal) = found {
            return signal;
        }
        assert!(began.elapsed() < DEADLINE, "the recorder does not change");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the state (`S`, `T`, `Z`) and the process group of a process.
fn stat(process: libc::pid_t) -> Option<(char, libc::pid_t)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(1)?.parse().ok()?))
}

fn state(process: libc::pid_t) -> Option<char> {
    stat(process).map(|(state, _)| state)
}

/// Returns the living processes of a group, in order of their ids.
fn group(leader: libc::pid_t) -> Vec<libc::pid_t> {
    let entries = fs::read_dir("/proc").expect("Linux").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut members: Vec<libc::pid_t> = ids
        .filter(|id| stat(*id).is_some_and(|(state, group)| group == leader && state != 'Z'))
        .collect();
    members.sort_unstable();
    members
}

/// Returns the process that logs its signals.
fn the_program(recorded: &Recorded) -> libc::pid_t {
    let own = std::env::current_exe().ok();
    let is_program = |id: &libc::pid_t| fs::read_link(format!("/proc/{id}/exe")).ok() == own;
    let members = group(recorded.id());
    members.into_iter().find(is_program).expect("it runs")
}
