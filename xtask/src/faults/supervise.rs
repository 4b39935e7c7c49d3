//! Intercepts system calls of a process with seccomp user notifications, and answers some of them itself.
//!
//! Unlike a preloaded library, the interception sees every call, including direct system calls, and needs no code in the process. The
//! interception affects only the process itself, not the programs that it starts.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};

use libc::{c_int, c_long, seccomp_notif, seccomp_notif_resp};

use super::rule::{Act, Call, On, Rule, When};

mod inspect;
mod install;

use inspect::{matches_call, path_of, write_half};
use install::{filter, install, receive, send};

/// Process whose calls are intercepted.
pub struct Supervised {
    state: Arc<State>,
    thread: JoinHandle<io::Result<()>>,
}

struct State {
    /// Rules with the number of matching calls and of effects.
    rules: Vec<(Rule, AtomicU64, AtomicU64)>,
}

impl Supervised {
    /// Applies the rules to the process that `command` will start. The command must be started before [`Supervised::end`].
    pub fn prepare(command: &mut Command, rules: Vec<Rule>) -> io::Result<Self> {
        let mut numbers: Vec<c_long> = rules.iter().flat_map(|rule| rule.call.numbers()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut filter = filter(&numbers);
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let theirs = OwnedFd::from(theirs);
        // SAFETY: between fork and exec, the closure only makes system calls. All memory was allocated before.
        unsafe {
            command.pre_exec(move || {
                let listener = install(&mut filter)?;
                send(theirs.as_raw_fd(), listener)
            });
        }
        let rules = rules.into_iter();
        let state = Arc::new(State {
            rules: rules
                .map(|rule| (rule, AtomicU64::new(0), AtomicU64::new(0)))
                .collect(),
        });
        let shared = Arc::clone(&state);
        let thread = Builder::new()
            .name("supervisor".to_owned())
            .spawn(move || supervise(&ours.into(), &shared))?;
        Ok(Self { state, thread })
    }

    /// Returns the number of matching calls and of effects, per rule.
    pub fn counts(&self) -> Vec<(u64, u64)> {
        let rules = self.state.rules.iter();
        let counts = rules
            .map(|(_, seen, done)| (seen.load(Ordering::Acquire), done.load(Ordering::Acquire)));
        counts.collect()
    }

    /// Waits until all supervised processes have ended.
    pub fn end(self) -> io::Result<()> {
        match self.thread.join() {
            Ok(ended) => ended,
            Err(_) => Err(io::Error::other("the supervisor panicked")),
        }
    }
}

/// Returns true if this system supports the supervision of a process.
pub fn is_possible() -> bool {
    let mut command = Command::new("/bin/true");
    let rule = Rule::new(Call::Open, On::Anything, When::From(1), Act::Count);
    let Ok(supervised) = Supervised::prepare(&mut command, vec![rule]) else {
        return false;
    };
    let ended = command.status().is_ok_and(|status| status.success());
    drop(command);
    ended && supervised.end().is_ok()
}

/// Answers the calls of the process until it has ended.
fn supervise(socket: &OwnedFd, state: &Arc<State>) -> io::Result<()> {
    let (listener, process) = receive(socket)?;
    let supervisor = Supervisor {
        listener: Arc::new(listener),
        state: Arc::clone(state),
        process,
    };
    loop {
        let mut asked = libc::pollfd {
            fd: supervisor.listener.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: poll accesses one pollfd, which outlives the call.
        let count = unsafe { libc::poll(&raw mut asked, 1, -1) };
        if count < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            continue;
        }
        if asked.revents & libc::POLLIN == 0 {
            return Ok(());
        }
        supervisor.handle_call()?;
    }
}

struct Supervisor {
    listener: Arc<OwnedFd>,
    state: Arc<State>,
    /// ID of the started process.
    process: c_int,
}

impl Supervisor {
    fn handle_call(&self) -> io::Result<()> {
        // SAFETY: all-zero is valid, because the structure contains only numbers.
        let mut notification: seccomp_notif = unsafe { mem::zeroed() };
        // SAFETY: the system writes one such structure, which outlives the call.
        let got = unsafe { libc::ioctl(self.listener.as_raw_fd(), RECEIVE, &raw mut notification) };
        if got != 0 {
            return match io::Error::last_os_error() {
                // The calling thread is gone.
                e if e.raw_os_error() == Some(libc::ENOENT) => Ok(()),
                e if e.kind() == io::ErrorKind::Interrupted => Ok(()),
                e => Err(e),
            };
        }
        let (process, thread) = (self.process, notification.pid as c_int);
        let is_its =
            thread == process || Path::new(&format!("/proc/{process}/task/{thread}")).exists();
        let act = is_its.then(|| self.act(process, &notification)).flatten();
        self.respond(process, &notification, act);
        Ok(())
    }

    /// Returns the effect on a call.
    fn act(&self, process: c_int, notification: &seccomp_notif) -> Option<Act> {
        let mut path = None;
        let mut found = None;
        for (rule, seen, done) in &self.state.rules {
            if !matches_call(rule.call, process, &notification.data) {
                continue;
            }
            let path = path.get_or_insert_with(|| path_of(process, &notification.data));
            if !rule.on.matches(path.as_deref()) {
                continue;
            }
            let number = seen.fetch_add(1, Ordering::AcqRel) + 1;
            if found.is_none() && rule.when.matches(number) {
                done.fetch_add(1, Ordering::AcqRel);
                found = Some(rule.act.clone());
            }
        }
        found
    }

    fn respond(&self, process: c_int, notification: &seccomp_notif, act: Option<Act>) {
        let go_on = Response::GoOn;
        let answer = match act {
            None | Some(Act::Count) => go_on,
            Some(Act::Fail(number)) => Response::Error(number),
            Some(Act::Short) => {
                write_half(process, &notification.data).map_or(go_on, Response::Value)
            }
            Some(Act::First(what)) => {
                what();
                go_on
            }
            Some(Act::Kill) => {
                // SAFETY: kill accesses no memory. The process waits for the answer, so its ID is not reused.
                unsafe { libc::kill(process, libc::SIGKILL) };
                return;
            }
            Some(Act::Late(by)) => {
                let (listener, id) = (Arc::clone(&self.listener), notification.id);
                let later = Builder::new().name("late".to_owned()).spawn(move || {
                    std::thread::sleep(by);
                    go_on.send(&listener, id);
                });
                if later.is_ok() {
                    return;
                }
                go_on
            }
        };
        answer.send(&self.listener, notification.id);
    }
}

#[derive(Clone, Copy)]
enum Response {
    GoOn,
    Error(c_int),
    Value(i64),
}

impl Response {
    fn send(self, listener: &OwnedFd, id: u64) {
        let mut answer = seccomp_notif_resp {
            id,
            val: 0,
            error: 0,
            flags: 0,
        };
        match self {
            Self::GoOn => answer.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
            Self::Error(number) => answer.error = -number,
            Self::Value(value) => answer.val = value,
        }
        // An error means that the process is gone, and is ignored.
        // SAFETY: the system reads the answer, which outlives the call.
        unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw mut answer) };
    }
}

const RECEIVE: libc::Ioctl = libc::SECCOMP_IOCTL_NOTIF_RECV;
const SEND: libc::Ioctl = libc::SECCOMP_IOCTL_NOTIF_SEND;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Runs a shell script in a temporary folder, under rules. Returns its exit code, the counts, and the content of `out`.
    fn shell(
        script: &str,
        rules: impl Fn(&Path) -> Vec<Rule>,
    ) -> (Option<i32>, Vec<(u64, u64)>, String) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).current_dir(dir.path());
        let supervised =
            Supervised::prepare(&mut command, rules(dir.path())).expect("a supervisor");
        let status = command.status().expect("a shell");
        drop(command);
        let counts = supervised.counts();
        supervised.end().expect("it ends with the program");
        let out = fs::read_to_string(dir.path().join("out")).unwrap_or_default();
        (status.code(), counts, out)
    }

    fn in_folder(call: Call, when: When, act: Act) -> impl Fn(&Path) -> Vec<Rule> {
        move |folder| {
            vec![Rule::new(
                call,
                On::Within(folder.to_owned()),
                when,
                act.clone(),
            )]
        }
    }

    #[test]
    fn only_the_chosen_writes_fail() {
        if !is_possible() {
            eprintln!("Calls of a program cannot be answered here, so this was not tested");
            return;
        }
        let script = "exec 3> out; echo a >&3; echo b >&3; echo c >&3; echo said >&2; exit 5";
        let rule = in_folder(Call::Write, When::From(2), Act::Fail(libc::ENOSPC));
        assert_eq!(
            shell(script, rule),
            (Some(5), vec![(3, 2)], "a\n".to_owned())
        );
        let rule = in_folder(Call::Write, When::Only(2), Act::Fail(libc::ENOSPC));
        assert_eq!(
            shell(script, rule),
            (Some(5), vec![(3, 1)], "a\nc\n".to_owned())
        );
        let rule = in_folder(Call::Create, When::From(1), Act::Fail(libc::EROFS));
        let (_, counts, out) = shell("echo a > out", rule);
        assert_eq!((counts, out.as_str()), (vec![(1, 1)], ""));
    }

    #[test]
    fn a_short_write_writes_half_of_the_bytes() {
        if !is_possible() {
            return;
        }
        // The shell does not complete a short write. The next write continues at its end.
        let rule = in_folder(Call::Write, When::Only(1), Act::Short);
        let (code, counts, out) = shell(
            "exec 3> out; printf abcdef >&3; printf gh >&3; exit 0",
            rule,
        );
        assert_eq!((code, counts[0].1), (Some(0), 1));
        assert!(out.starts_with("abc") && out.ends_with("gh"), "{out}");
    }

    #[test]
    fn child_programs_are_not_affected() {
        if !is_possible() {
            return;
        }
        let rule = in_folder(Call::Write, When::From(1), Act::Fail(libc::EIO));
        let script = "/bin/sh -c 'echo child > out'; echo own >> out";
        assert_eq!(shell(script, rule).2, "child\n");
    }

    #[test]
    fn a_kill_or_action_occurs_before_the_call() {
        if !is_possible() {
            return;
        }
        let script = "exec 3> out; echo a >&3; echo b >&3";
        let rule = in_folder(Call::Write, When::Only(2), Act::Kill);
        let (code, _, out) = shell(script, rule);
        assert_eq!((code, out.as_str()), (None, "a\n"));
        let moved = |folder: &Path| {
            let (from, to) = (folder.join("out"), folder.join("moved"));
            let act = move || drop(fs::rename(&from, &to));
            let act = Act::First(Arc::new(act));
            vec![Rule::new(
                Call::Write,
                On::Within(folder.to_owned()),
                When::Only(2),
                act,
            )]
        };
        let (code, counts, out) = shell(&format!("{script}; cat moved > out"), moved);
        assert_eq!((code, counts[0].1, out.as_str()), (Some(0), 1, "a\nb\n"));
    }
}
