//! Reads the source code of sampled functions on a thread, because a file system can block.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::Path;
use std::thread::Builder;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use loadscope_files::open_regular;
use loadscope_trace::{Fact, RunId, is_user_file};

/// Size limit of the recorded source code of a file, bytes.
const MAX_SOURCE: u64 = 64 << 10;

/// Size limit of the recorded source code of a program, bytes.
const MAX_SOURCES: usize = 512 << 10;

/// Maximum number of files that wait for the thread.
const MAX_WAITING: usize = 1024;

/// Reader of source code.
pub(super) struct Sources {
    wanted: Sender<(RunId, u64, String)>,
    found: Receiver<(RunId, Fact)>,
    /// Requested files.
    known: HashSet<(RunId, String)>,
    /// Number of requests without an answer.
    waiting: usize,
    answers: Receiver<()>,
}

impl Sources {
    /// Starts the thread. Returns `None` if the system refuses it.
    pub fn start() -> Option<Self> {
        let (wanted, requests) = bounded::<(RunId, u64, String)>(MAX_WAITING);
        let (send, found) = unbounded();
        let (done, answers) = unbounded();
        let read = move || {
            let mut bytes = 0;
            for (run, pid, file) in requests {
                let text = read(pid, &file).filter(|text| bytes + text.len() <= MAX_SOURCES);
                if let Some(text) = text {
                    bytes += text.len();
                    let _ = send.send((run, Fact::Source { file, text }));
                }
                let _ = done.send(());
            }
        };
        let thread = Builder::new().name("sources".to_owned()).spawn(read);
        thread.ok().map(|_| Self {
            wanted,
            found,
            known: HashSet::new(),
            waiting: 0,
            answers,
        })
    }

    /// Requests a file of the user at its first use. `pid` is a process that executes it.
    pub fn request(&mut self, run: RunId, pid: u64, file: &str) {
        let key = (run, file.to_owned());
        if is_user_file(file) && !file.starts_with('<') && self.known.insert(key) {
            let request = (run, pid, file.to_owned());
            self.waiting += usize::from(self.wanted.try_send(request).is_ok());
        }
    }

    /// Returns the files that were read since the last call. At the end, it waits `time` for the rest.
    pub fn take(&mut self, time: Duration) -> Vec<(RunId, Fact)> {
        while self.waiting > 0 && self.answers.recv_timeout(time).is_ok() {
            self.waiting -= 1;
        }
        self.found.try_iter().collect()
    }
}

/// Reads a file as the process sees it, which can have another root or working directory.
fn read(pid: u64, file: &str) -> Option<String> {
    let path = match file.starts_with('/') {
        true => format!("/proc/{pid}/root{file}"),
        false => format!("/proc/{pid}/cwd/{file}"),
    };
    let mut bytes = Vec::new();
    let opened = open_regular(Path::new(&path)).ok()?;
    opened.take(MAX_SOURCE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_the_user_is_read_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("train.py");
        std::fs::write(&file, "x = 1\n").expect("it is new");
        let name = file.to_string_lossy().into_owned();
        let pid = u64::from(std::process::id());
        let mut sources = Sources::start().expect("a thread starts");
        for one in [
            &*name,
            &*name,
            "<string>",
            "/usr/lib/python3.11/queue.py",
            "/missing.py",
        ] {
            sources.request(RunId(0), pid, one);
        }
        let found = sources.take(Duration::from_secs(60));
        let text = "x = 1\n".to_owned();
        assert_eq!(found, [(RunId(0), Fact::Source { file: name, text })]);
        assert!(sources.take(Duration::ZERO).is_empty());
    }
}
