//! Outputs that are not a new file: devices, pipes, links, folders, and the input itself.

use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::disk::{WRITERS, Writer};
use crate::faults::case::Case;
use crate::faults::launch::{Ended, Stream};
use crate::faults::sandbox::{Sandbox, Skipped};

impl Writer {
    /// Runs the command with another output.
    fn onto(&self, sandbox: &Sandbox, output: &Path, force: bool, out: Stream) -> Result<Ended> {
        self.launch_onto(sandbox, output, force)?.output(out).run()
    }
}

/// Creates a device of the same kind in the folder of the case, so that a replaced device harms nothing else.
fn device(sandbox: &Sandbox, name: &str, minor: u32) -> Result<PathBuf> {
    let path = sandbox.at(name);
    let text = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: mknod reads the name, which lives through the call.
    let made = unsafe {
        libc::mknod(
            text.as_ptr(),
            libc::S_IFCHR | 0o666,
            libc::makedev(1, minor),
        )
    };
    let works = made == 0 && File::options().write(true).open(&path).is_ok();
    match (works, sandbox.shared.is_root) {
        (true, _) => Ok(path),
        // Only root could replace the real device.
        (false, false) => Ok(Path::new("/dev").join(name)),
        (false, true) => Err(Skipped("no device can be made here".to_owned()).into()),
    }
}

fn pipe(sandbox: &Sandbox) -> Result<PathBuf> {
    let path = sandbox.at("pipe");
    let text = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: mkfifo reads the name, which lives through the call.
    let made = unsafe { libc::mkfifo(text.as_ptr(), 0o600) };
    ensure!(made == 0, "no pipe can be made");
    Ok(path)
}

/// Fails if the device was replaced.
fn is_still(path: &Path, before: &fs::Metadata) -> Result<()> {
    let now = fs::symlink_metadata(path).with_context(|| format!("{} is lost", path.display()))?;
    let same = now.rdev() == before.rdev()
        && now.ino() == before.ino()
        && now.file_type() == before.file_type();
    ensure!(same, "{} was replaced", path.display());
    Ok(())
}

/// Fails unless the command ended well or refused. A recorded program that was started must have ended with its own exit code.
fn ended_somehow(sandbox: &Sandbox, writer: &Writer, ended: &Ended) -> Result<()> {
    let started = sandbox.sent() > 0;
    match (writer.is_of_program(), started) {
        (true, true) => ended.code(7),
        _ if ended.code == Some(0) => ended.code(0),
        _ => ended.check_refused(&[]),
    }
}

fn null(sandbox: &Sandbox, writer: &Writer, linked: bool) -> Result<()> {
    let path = device(sandbox, "null", 3)?;
    let before = fs::symlink_metadata(&path)?;
    let link = sandbox.at("link");
    symlink(&path, &link)?;
    for force in [false, true] {
        let output = if linked { &link } else { &path };
        let ended = writer.onto(sandbox, output, force, Stream::Kept)?;
        ended_somehow(sandbox, writer, &ended)?;
        is_still(&path, &before)?;
        let _ = fs::remove_file(sandbox.notes());
    }
    sandbox.check_no_leftovers()
}

/// Checks that a failing write is reported.
fn full(sandbox: &Sandbox, writer: &Writer) -> Result<()> {
    let path = device(sandbox, "full", 7)?;
    let before = fs::symlink_metadata(&path)?;
    let ended = writer.onto(sandbox, &path, false, Stream::Kept)?;
    match writer.is_of_program() && sandbox.notes().exists() {
        true => ended.code(7)?,
        false => ended.check_refused(&[])?,
    }
    ended.check_error_message(&[])?;
    is_still(&path, &before)?;
    sandbox.check_no_leftovers()
}

/// Writes to `/dev/stdout`, redirected to a file or a pipe. Restores the link if it was replaced.
fn own_output(sandbox: &Sandbox, writer: &Writer, piped: bool) -> Result<()> {
    let name = Path::new("/dev/stdout");
    let Ok(before) = fs::read_link(name) else {
        return Err(Skipped("there is no /dev/stdout here".to_owned()).into());
    };
    let into = sandbox.at("into");
    File::create(&into)?;
    let out = match piped {
        true => Stream::Stuck(Duration::ZERO),
        false => Stream::File(into.clone()),
    };
    let ended = writer.onto(sandbox, name, false, out)?;
    if fs::read_link(name).ok().as_ref() != Some(&before) {
        let _ = fs::remove_file(name);
        let _ = symlink(&before, name);
        ended.require(false, "/dev/stdout was replaced")?;
    }
    ended_somehow(sandbox, writer, &ended)?;
    let written = match piped {
        true => ended.out.trim().len() as u64,
        false => fs::metadata(&into)?.len(),
    };
    ended.require(
        written > 0 || ended.code == Some(2),
        "nothing was written, and nothing said",
    )?;
    sandbox.check_no_leftovers()
}

/// Writes into a pipe, with and without a reader.
fn into_pipe(sandbox: &Sandbox, writer: &Writer, read: bool) -> Result<()> {
    let path = pipe(sandbox)?;
    let reader = read.then(|| {
        let path = path.clone();
        std::thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || {
                let mut bytes = Vec::new();
                let read = File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
                read.map(|_| bytes)
            })
    });
    let ended = writer.onto(sandbox, &path, false, Stream::Kept)?;
    ensure!(
        fs::symlink_metadata(&path)?.file_type().is_fifo(),
        "the pipe was replaced"
    );
    match reader {
        Some(reader) => {
            ended_somehow(sandbox, writer, &ended)?;
            // The reader still waits if the writer refused before opening the pipe.
            if ended.code == Some(2) {
                let _ = File::options().read(true).write(true).open(&path);
                return Ok(());
            }
            let bytes = reader?
                .join()
                .map_err(|_| anyhow::anyhow!("the reader panicked"))??;
            ended.require(!bytes.is_empty(), "nothing came through the pipe")?;
        }
        None => {
            ended.check_refused(&["pipe"])?;
            ensure!(!sandbox.notes().exists(), "the program was started");
            ended.require(
                ended.took < Duration::from_secs(20),
                "it was expected to give up soon",
            )?;
        }
    }
    sandbox.check_no_leftovers()
}

/// Checks that neither the link nor its target is overwritten.
fn link(sandbox: &Sandbox, writer: &Writer) -> Result<()> {
    let (victim, bytes) = sandbox.old("victim")?;
    let name = writer.name_of_output("link");
    let path = sandbox.at(&name);
    symlink(&victim, &path)?;
    let ended = writer.onto(sandbox, &path, false, Stream::Kept)?;
    ended.check_refused(&[&name, "--force"])?;
    sandbox.check_unchanged(&victim, &bytes)?;
    ensure!(!sandbox.notes().exists(), "the program was started");
    // With `--force`, the link is replaced, never its target.
    let ended = writer.onto(sandbox, &path, true, Stream::Kept)?;
    writer.ended_well(&ended)?;
    sandbox.check_unchanged(&victim, &bytes)?;
    ensure!(
        fs::symlink_metadata(&path)?.is_file(),
        "the link was not replaced"
    );
    sandbox.check_no_leftovers()
}

/// Writes to dangling links, link loops, folders, sockets and names that are too long.
fn refused(sandbox: &Sandbox, writer: &Writer) -> Result<()> {
    let (dangling, a, b) = (sandbox.at("dangling"), sandbox.at("a"), sandbox.at("b"));
    symlink(sandbox.at("nothing"), &dangling)?;
    symlink(&a, &b)?;
    symlink(&b, &a)?;
    let socket = sandbox.at("socket");
    let _listener = UnixListener::bind(&socket)?;
    let long = sandbox.at("x".repeat(300));
    let missing = sandbox.at("missing/run.jsonl");
    let below_a_file = sandbox.old("old")?.0.join("run.jsonl");
    let before = sandbox.names()?;
    for path in [
        dangling,
        a,
        b,
        socket,
        sandbox.work(),
        long,
        missing,
        below_a_file,
        PathBuf::new(),
    ] {
        let ended = writer.onto(sandbox, &path, false, Stream::Kept)?;
        ended.check_refused(&[])?;
        ensure!(!sandbox.notes().exists(), "the program was started");
    }
    let mut after = sandbox.names()?;
    after.retain(|name| !name.starts_with("sample") && !name.starts_with("damaged"));
    ensure!(after == before, "{before:?} became {after:?}");
    sandbox.check_no_leftovers()
}

/// Uses the input as the output, under several names.
fn input(sandbox: &Sandbox, line: &'static str) -> Result<()> {
    sandbox.inputs(line)?;
    let name = line.split(' ').nth(1).unwrap_or_default();
    let log = sandbox.at(name);
    let bytes = fs::read(&log)?;
    fs::hard_link(&log, sandbox.at("hard"))?;
    symlink(&log, sandbox.at("soft"))?;
    fs::create_dir(sandbox.at("folder"))?;
    let names: [(OsString, bool); 6] = [
        (name.into(), false),
        (name.into(), true),
        (format!("./{name}").into(), true),
        (format!("folder/../{name}").into(), false),
        ("hard".into(), true),
        ("soft".into(), true),
    ];
    for (name, force) in names {
        let word = |word: &str| match word {
            "OUT" => name.clone(),
            word => word.into(),
        };
        let mut words: Vec<OsString> = line.split(' ').map(word).collect();
        if force {
            words.push("--force".into());
        }
        let ended = sandbox.loadscope(&words).run()?;
        ended.check_refused(&["input"])?;
        sandbox.check_unchanged(&log, &bytes)?;
    }
    sandbox.check_no_leftovers()
}

/// Exports into a folder of recordings, so that a table would overwrite one of them.
fn inside_input(sandbox: &Sandbox) -> Result<()> {
    fs::create_dir(sandbox.at("runs"))?;
    let log = sandbox.at("runs/batches.csv");
    fs::copy(&sandbox.shared.plain_recording, sandbox.at("runs/a.jsonl"))?;
    fs::copy(&sandbox.shared.plain_recording, &log)?;
    let bytes = fs::read(&log)?;
    for force in [false, true] {
        let mut words = vec!["export", "runs", "--to", "csv", "-o", "runs"];
        if force {
            words.push("--force");
        }
        sandbox.loadscope(&words).run()?.check_refused(&[])?;
        sandbox.check_unchanged(&log, &bytes)?;
    }
    sandbox.check_no_leftovers()
}

type Check = fn(&Sandbox, &Writer) -> Result<()>;

#[rustfmt::skip]
const OUTPUTS: &[(&str, &str, &str, Check, bool)] = &[
    ("/dev/null", "the output is a device that takes everything", "it is still that device", |sandbox, writer| null(sandbox, writer,
        false), true),
    ("a link to /dev/null", "the output is a symbolic link to a device", "it is still that device", |sandbox, writer| null(sandbox, writer,
        true), false),
    ("/dev/full", "the output is a device that takes nothing", "a sentence; it is still that device", full, true),
    ("/dev/stdout", "the output is /dev/stdout, directed to a file", "it is written into, and /dev/stdout is still a link", |sandbox,
        writer| own_output(sandbox, writer, false), true),
    ("/dev/stdout, a pipe", "the output is /dev/stdout, directed to a pipe", "it is written into, and /dev/stdout is still a link",
        |sandbox, writer| own_output(sandbox, writer, true), false),
    ("a pipe", "the output is a pipe that another process reads", "everything comes through it", |sandbox, writer| into_pipe(sandbox,
        writer, true), true),
    ("a pipe without a reader", "the output is a pipe that no process reads", "refused after a few seconds", |sandbox,
        writer| into_pipe(sandbox, writer, false), true),
    ("a link to a file", "the output is a symbolic link to a file that is to be kept",
        "refused; with --force the link is replaced and the file stays", link, true),
    ("impossible names", "the output is a folder, a socket, a link to nothing, in a circle, too long, below a file, empty",
        "refused with a sentence, nothing changed", refused, true),
];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let writers = WRITERS.iter().filter(|writer| writer.has_one_output());
    for (k, writer) in writers.enumerate() {
        for (n, (name, injected, holds, check, fast)) in OUTPUTS.iter().enumerate() {
            let title = format!("{} into {name}", writer.name);
            let case = Case::new("outputs", title, *injected, *holds, |sandbox: &Sandbox| {
                check(sandbox, writer)
            });
            // CI runs every second combination, so that it covers each output and each writer.
            cases.push(case.fast_if(*fast && (k + n) % 2 == 0));
        }
    }
    let holds = "refused, with --force as well; the input is untouched";
    for line in [
        "report sample.jsonl.zst --html OUT",
        "export sample.jsonl.zst --to chrome -o OUT",
        "repair damaged.jsonl -o OUT",
    ] {
        let name = format!(
            "{} onto its input",
            line.split(' ').next().unwrap_or_default()
        );
        let injected =
            "the output is the input, by its name, a hard or symbolic link, or another path";
        let case = Case::new(
            "outputs",
            name,
            injected,
            holds,
            move |sandbox: &Sandbox| input(sandbox, line),
        );
        cases.push(case.fast());
    }
    let injected = "tables are to be written over a recording of the folder that is read";
    let name = "export into the folder that it reads";
    cases.push(Case::new("outputs", name, injected, holds, inside_input).fast());
    cases
}
