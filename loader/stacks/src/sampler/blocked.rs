//! The system call in which the main thread of a process waits.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use crate::system::{Memory, blocking_call};

/// Reader of the system call of a main thread.
pub struct Blocked {
    pid: u32,
    /// `/proc/PID/task/PID/syscall`. `None` if the kernel has no such file.
    file: Option<File>,
}

impl Blocked {
    pub fn new(pid: u32) -> Self {
        Self {
            pid,
            file: File::open(format!("/proc/{pid}/task/{pid}/syscall")).ok(),
        }
    }

    /// Returns the name of the system call and the object of its wait. Returns `None` for a thread that runs or waits for a core.
    pub fn call(&self, memory: &Memory) -> Option<(String, &'static str)> {
        let mut bytes = [0; 256];
        let count = self.file.as_ref()?.read_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(bytes.get(..count)?).ok()?;
        blocking_call(self.pid, text, memory)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    /// Waits until the main thread of a child is in a system call.
    fn wait_of(child: &Child) -> (String, &'static str) {
        let memory = Memory::open(child.id()).expect("its memory");
        let blocked = Blocked::new(child.id());
        let start = Instant::now();
        let mut last = None;
        while start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
            let now = blocked.call(&memory);
            // The start of a program has calls, too.
            if now.is_some() && now == last {
                break;
            }
            last = now;
        }
        last.expect("a system call")
    }

    fn ended(mut child: Child) {
        let _ = child.kill();
        let _ = child.wait();
    }

    #[test]
    fn a_wait_has_its_system_call_and_its_object() {
        let sleep = Command::new("sleep").arg("60").spawn().expect("it starts");
        assert_eq!(wait_of(&sleep).1, "sleep");
        ended(sleep);
        let piped = Command::new("cat").stdin(Stdio::piped()).spawn();
        let piped = piped.expect("it starts");
        assert_eq!(wait_of(&piped), ("read".to_owned(), "pipe"));
        ended(piped);
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let socket = TcpStream::connect(server.local_addr().expect("its address"));
        let socket = std::os::fd::OwnedFd::from(socket.expect("a connection"));
        let reader = Command::new("cat").stdin(socket).spawn();
        let reader = reader.expect("it starts");
        assert_eq!(wait_of(&reader), ("read".to_owned(), "socket"));
        ended(reader);
    }

    #[test]
    fn a_thread_that_runs_has_no_system_call() {
        let child = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .expect("it starts");
        let memory = Memory::open(child.id()).expect("its memory");
        let blocked = Blocked::new(child.id());
        std::thread::sleep(Duration::from_millis(200));
        let waits = (0..20).filter(|_| {
            std::thread::sleep(Duration::from_millis(1));
            blocked.call(&memory).is_some()
        });
        assert!(waits.count() < 10);
        ended(child);
    }
}
