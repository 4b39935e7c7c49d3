//! Standard streams of a command.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::faults::sandbox::Sandbox;

/// Standard stream of a command.
#[derive(Clone, Debug)]
pub enum Stream {
    /// `/dev/null`.
    Nothing,
    /// A file that the case reads afterwards.
    Kept,
    /// A closed descriptor.
    Closed,
    /// A pipe whose other end is closed.
    Broken,
    /// A full pipe that is read after this time.
    Stuck(Duration),
    /// The file at this path.
    File(PathBuf),
}

/// Resources that the streams of a command need while it runs.
#[derive(Default)]
pub(super) struct Streams {
    pub closed: Vec<i32>,
    pub captured: [Option<PathBuf>; 3],
    stuck: Vec<(OwnedFd, Duration, PathBuf)>,
}

impl Streams {
    pub fn make(&mut self, stream: &Stream, number: usize, sandbox: &Sandbox) -> Result<Stdio> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let kept = || {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            sandbox.output_folder().join(format!("{count}-{number}"))
        };
        Ok(match stream {
            Stream::Nothing => Stdio::null(),
            Stream::Closed => {
                self.closed.push(number as i32);
                Stdio::null()
            }
            Stream::Kept => {
                let path = kept();
                let file = File::create(&path)?;
                self.captured[number] = Some(path);
                file.into()
            }
            Stream::File(path) => {
                let mut options = File::options();
                options.read(number == 0).write(number != 0);
                let file = options.open(path);
                file.with_context(|| path.display().to_string())?.into()
            }
            Stream::Broken => pipe()?.1.into(),
            Stream::Stuck(time) => {
                let (ours, theirs) = pipe()?;
                fill(&theirs)?;
                let path = kept();
                self.captured[number] = Some(path.clone());
                self.stuck.push((ours, *time, path));
                theirs.into()
            }
        })
    }

    /// Starts threads that read the full pipes after their delay.
    pub fn attend(&mut self) -> Result<Vec<JoinHandle<()>>> {
        let mut readers = Vec::new();
        for (pipe, time, path) in self.stuck.drain(..) {
            let mut kept = File::create(path)?;
            let attend = move || {
                std::thread::sleep(time);
                let _ = io::copy(&mut File::from(pipe), &mut kept);
            };
            let reader = std::thread::Builder::new().name("reader".to_owned());
            readers.push(reader.spawn(attend)?);
        }
        Ok(readers)
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the system writes two descriptors, which nothing else owns.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            bail!(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Fills a pipe completely.
fn fill(pipe: &OwnedFd) -> Result<()> {
    let set = |flags: libc::c_int| {
        // SAFETY: fcntl with this command accesses no memory of this process.
        unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, flags) }
    };
    set(libc::O_NONBLOCK);
    let mut file = File::from(pipe.try_clone()?);
    while io::Write::write(&mut file, b"\n").is_ok() {}
    set(0);
    Ok(())
}
