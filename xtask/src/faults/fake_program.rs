//! A fake PyTorch program. It sends the events of one loader at a configurable pace, in the format of `loader/live/WIRE.md`. A file
//! receives a note with the time of each batch.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use clap::Args;

/// Options of the fake program.
#[derive(Args, Clone, Debug)]
pub struct FakeProgramOptions {
    /// File for a note per batch, with the time
    pub notes: PathBuf,
    /// Number of batches. 0: endless
    #[arg(long, default_value_t = 20)]
    pub batches: u64,
    /// Microseconds between two batches
    #[arg(long, default_value_t = 2000)]
    pub every: u64,
    /// Exit code
    #[arg(long, default_value_t = 0)]
    pub code: u8,
    /// On Ctrl-C and SIGTERM, end normally with the exit code
    #[arg(long)]
    pub heeds: bool,
}

/// Number of a batch, and its send time on the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentBatch {
    pub batch: u64,
    pub at: Duration,
}

/// Reads the notes that a program has written.
pub fn notes(path: &Path) -> Vec<SentBatch> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    // The last line may be incomplete.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let told = whole.lines().filter_map(|line| {
        let (batch, at) = line.split_once(' ')?;
        Some(SentBatch {
            batch: batch.parse().ok()?,
            at: Duration::from_nanos(at.parse().ok()?),
        })
    });
    told.collect()
}

/// Returns the time of the monotonic clock, which all processes share.
pub fn now() -> Duration {
    // SAFETY: the system writes the timespec, which outlives the call.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
        time
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

static END_REQUESTED: AtomicBool = AtomicBool::new(false);

extern "C" fn request_end(_: libc::c_int) {
    END_REQUESTED.store(true, Ordering::Relaxed);
}

/// Runs the program and returns its exit code.
pub fn run(fake_program: &FakeProgramOptions) -> Result<u8> {
    if fake_program.heeds {
        for number in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
            // SAFETY: the handler only stores to an atomic.
            unsafe { libc::signal(number, request_end as *const () as libc::sighandler_t) };
        }
    }
    let notes = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&fake_program.notes);
    let notes = notes.with_context(|| fake_program.notes.display().to_string())?;
    let mut stream = ProbeStream::new(notes);
    stream.begin();
    let mut batch = 0;
    while fake_program.batches == 0 || batch < fake_program.batches {
        if END_REQUESTED.load(Ordering::Relaxed) {
            break;
        }
        stream.batch(batch)?;
        batch += 1;
        std::thread::sleep(Duration::from_micros(fake_program.every));
    }
    stream.end();
    Ok(fake_program.code)
}

/// Stream to the recorder. Without a recorder, it sends nothing.
struct ProbeStream {
    socket: Option<UnixStream>,
    waiting: Vec<u8>,
    notes: File,
}

impl ProbeStream {
    fn new(notes: File) -> Self {
        // The path may not be UTF-8.
        let to = std::env::var_os("LOADSCOPE_PROBE_TO").unwrap_or_default();
        let socket = to.as_bytes().strip_prefix(b"unix:").and_then(|path| {
            let socket = UnixStream::connect(OsStr::from_bytes(path)).ok()?;
            socket.set_nonblocking(true).ok()?;
            Some(socket)
        });
        Self {
            socket,
            waiting: Vec::new(),
            notes,
        }
    }

    fn begin(&mut self) {
        let token = std::env::var("LOADSCOPE_PROBE_TOKEN").unwrap_or_default();
        let (at, real) = (now().as_nanos(), SystemTime::now());
        let real = real.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (pid, parent) = (std::process::id(), std::os::unix::process::parent_id());
        self.queue_line(&format!(
            r#"{{"loadscope_stream":1,"token":"{token}","pid":{pid},"parent":{parent},"monotonic":{at},"realtime":{},"host":"here","boot":"now","python":"3.12","torch":"2.13.0","program":"spoken"}}"#,
            real.as_nanos()
        ));
        self.queue_line(&format!(
            r#"["loader",{at},0,{{"dataset":"Spoken","num_workers":0,"batch_size":2,"in_order":true}}]"#
        ));
        self.queue_line(&format!(r#"["epoch",{at},0,0,0]"#));
    }

    /// Sends the events of a batch without workers, and notes it.
    fn batch(&mut self, batch: u64) -> io::Result<()> {
        /// The indices 0 and 1 as Base64 of big-endian 64-bit numbers.
        const INDICES: &str = "AAAAAAAAAAABAAAAAAAAAA==";
        let at = now();
        let t = |after: u32| at.as_nanos() + u128::from(after);
        let lines = [
            format!(r#"["wait",{},0]"#, t(0)),
            format!(
                r#"["dispatch",{},0,0,{batch},null,{batch},"{INDICES}"]"#,
                t(1)
            ),
            format!(r#"["begin",{},0,0,{batch}]"#, t(2)),
            format!(
                r#"["fetch",{},0,0,{batch},{},{},0,"","",[]]"#,
                t(2),
                t(1000),
                t(2000)
            ),
            format!(r#"["yield",{},0,0,{batch}]"#, t(3000)),
        ];
        for line in lines {
            self.queue_line(&line);
        }
        self.flush();
        // One write per line, so that a kill leaves complete lines.
        writeln_at_once(&mut self.notes, &format!("{batch} {}", at.as_nanos()))
    }

    fn end(&mut self) {
        let at = now().as_nanos();
        self.queue_line(&format!(r#"["end",{at},0,0]"#));
        self.queue_line(&format!(r#"["bye",{at},0]"#));
        for _ in 0..100 {
            self.flush();
            if self.waiting.is_empty() || self.socket.is_none() {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn queue_line(&mut self, line: &str) {
        self.waiting.extend_from_slice(line.as_bytes());
        self.waiting.push(b'\n');
    }

    /// Sends as many bytes as the socket accepts, without blocking.
    fn flush(&mut self) {
        let Some(socket) = &mut self.socket else {
            self.waiting.clear();
            return;
        };
        while !self.waiting.is_empty() {
            match socket.write(&self.waiting) {
                Ok(sent) => drop(self.waiting.drain(..sent)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.socket = None;
                    return;
                }
            }
        }
    }
}

fn writeln_at_once(file: &mut File, line: &str) -> io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_line_of_notes_is_skipped() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("notes");
        let fake_program = FakeProgramOptions {
            notes: path.clone(),
            batches: 3,
            every: 1,
            code: 7,
            heeds: false,
        };
        assert_eq!(run(&fake_program).expect("room"), 7);
        let mut file = OpenOptions::new()
            .append(true)
            .open(&path)
            .expect("it is there");
        file.write_all(b"3 17").expect("room");
        let told = notes(&path);
        let batches: Vec<u64> = told.iter().map(|t| t.batch).collect();
        assert_eq!(batches, [0, 1, 2]);
        assert!(told.is_sorted_by_key(|t| t.at) && told[2].at <= now());
    }
}
