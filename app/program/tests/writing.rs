//! Output files. Writing one never loses an existing file.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::program;

#[path = "writing/input.rs"]
mod input;

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = program();
    command.args(args).current_dir(folder);
    command
}

fn loadscope(folder: &Path, args: &[&str]) -> Output {
    command(folder, args)
        .output()
        .expect("the executable starts")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Creates a folder with a short recording.
fn recorded() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let made = loadscope(
        dir.path(),
        &[
            "run",
            "--dataset",
            "synthetic:len=8,cost_ms=1",
            "--batch-size",
            "2",
            "--record",
            "run.jsonl",
        ],
    );
    assert!(made.status.success(), "{}", errors(&made));
    let whole = fs::read_to_string(dir.path().join("run.jsonl")).expect("it is there");
    let mut lines: Vec<&str> = whole.lines().collect();
    let middle = lines.len() / 2;
    lines[middle] = "{\"t\":";
    let damaged = dir.path().join("damaged.jsonl");
    fs::write(damaged, lines.join("\n") + "\n").expect("room");
    dir
}

/// Commands that write a file. The file is the last argument.
const WRITERS: [&[&str]; 6] = [
    &["export", "run.jsonl", "--to", "chrome", "-o"],
    &["export", "run.jsonl", "--to", "csv", "-o"],
    &["report", "run.jsonl", "--html"],
    &["run", "--dataset", "synthetic:len=4", "--record"],
    &["repair", "damaged.jsonl", "-o"],
    // The only command without output here, because its program loads nothing.
    &["record", "-o"],
];

/// Returns the commands that write something.
fn writers() -> impl Iterator<Item = &'static [&'static str]> {
    WRITERS.into_iter().filter(|writer| writer[0] != "record")
}

/// Returns the argument of a command, and a file that it creates. A recording and a table have the extension of their kind.
fn output(writer: &[&str], name: &str) -> (String, String) {
    match writer {
        _ if writer.contains(&"csv") => (format!("{name}.csv"), format!("{name}.batches.csv")),
        ["run" | "record", ..] => (format!("{name}.jsonl"), format!("{name}.jsonl")),
        _ => (name.to_owned(), name.to_owned()),
    }
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|e| name(e.expect("an entry"))).collect();
    names.sort();
    names
}

/// Returns the arguments of a command that writes to `out`.
fn writing<'a>(writer: &[&'a str], out: &'a str, force: bool) -> Vec<&'a str> {
    let mut args = writer.to_vec();
    args.push(out);
    args.extend(force.then_some("--force"));
    if writer[0] == "record" {
        args.extend(["--", "true"]);
    }
    args
}

#[test]
fn an_existing_file_is_kept_without_force() {
    let dir = recorded();
    for writer in WRITERS {
        let (out, kept) = output(writer, "mine");
        fs::write(dir.path().join(&kept), "mine").expect("room");
        let refused = loadscope(dir.path(), &writing(writer, &out, false));
        let said = errors(&refused);
        assert_eq!(refused.status.code(), Some(2), "{writer:?}: {said}");
        assert!(
            said.contains("already exists") && said.contains("--force"),
            "{said}"
        );
        let text = fs::read_to_string(dir.path().join(kept)).expect("it is there");
        assert_eq!(text, "mine", "{writer:?}");
    }
}

#[test]
fn an_existing_file_is_replaced_with_force() {
    let dir = recorded();
    for writer in writers() {
        let (out, kept) = output(writer, "old");
        fs::write(dir.path().join(&kept), "old").expect("room");
        let written = loadscope(dir.path(), &writing(writer, &out, true));
        assert!(written.status.success(), "{writer:?}: {}", errors(&written));
        let size = fs::metadata(dir.path().join(kept))
            .expect("it is there")
            .len();
        assert!(size > 100, "{writer:?}: {size} bytes");
    }
    let mut left = names(dir.path());
    left.retain(|name| name.contains("part") || name.contains("unfinished"));
    assert_eq!(left, [""; 0]);
}

/// A folder as the output is refused, and nothing is written into it.
#[test]
fn a_folder_is_refused_as_the_output() {
    let dir = recorded();
    fs::create_dir(dir.path().join("folder")).expect("room");
    let before = names(dir.path());
    for writer in WRITERS {
        for (out, force) in [
            (".", true),
            ("./folder/", false),
            ("folder", true),
            ("", true),
        ] {
            // Tables are written into a folder.
            if writer.contains(&"csv") && !out.is_empty() {
                continue;
            }
            let refused = loadscope(dir.path(), &writing(writer, out, force));
            let said = errors(&refused);
            assert_eq!(refused.status.code(), Some(2), "{writer:?} {out:?}: {said}");
            assert!(!said.contains("panicked"), "{said}");
        }
    }
    assert_eq!(names(dir.path()), before);
    assert_eq!(names(&dir.path().join("folder")), [""; 0]);
}

/// Links under former names of unfinished files are not followed. Otherwise another user of the folder could redirect the output.
#[test]
fn links_under_the_names_of_unfinished_files_are_not_followed() {
    let dir = recorded();
    let precious = dir.path().join("precious");
    fs::write(&precious, "precious").expect("room");
    for (k, writer) in writers().enumerate() {
        let (out, made) = output(writer, &format!("new{k}"));
        let mut planted = Vec::new();
        for name in [&out, &made] {
            for link in [
                format!("{name}.part"),
                format!(".{name}.part"),
                format!(".{name}.abcdef.part"),
                format!("{name}.tmp"),
                format!("{name}.unfinished"),
            ] {
                let link = dir.path().join(link);
                if fs::symlink_metadata(&link).is_err() {
                    symlink(&precious, &link).expect("links");
                    planted.push(link);
                }
            }
        }
        for force in [false, true] {
            let written = loadscope(dir.path(), &writing(writer, &out, force));
            assert!(written.status.success(), "{writer:?}: {}", errors(&written));
            let text = fs::read_to_string(&precious).expect("it is there");
            assert_eq!(text, "precious", "{writer:?}");
        }
        for link in planted {
            let still = fs::read_link(&link).expect("untouched by others");
            assert_eq!(still, precious, "{}", link.display());
        }
    }
}

/// A limit for file sizes simulates a full disk. The old file stays, and no partial new file remains.
#[expect(unsafe_code, reason = "a limit for the program that is started")]
#[test]
fn the_old_file_stays_if_the_disk_is_full() {
    let dir = recorded();
    for writer in writers() {
        let (out, kept) = output(writer, "old");
        fs::write(dir.path().join(&kept), "old").expect("room");
        let before = names(dir.path());
        let mut command = command(dir.path(), &writing(writer, &out, true));
        let limit = || {
            let limit = libc::rlimit {
                rlim_cur: 100,
                rlim_max: 100,
            };
            // SAFETY: `setrlimit` only reads the limit, which outlives the call. It may be called between fork and exec.
            match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: the closure allocates nothing and makes one system call.
        unsafe { command.pre_exec(limit) };
        let refused = command.output().expect("the executable starts");
        let said = errors(&refused);
        assert_eq!(refused.status.code(), Some(2), "{writer:?}: {said}");
        for part in ["the limit for file sizes is reached", "ulimit -f"] {
            assert!(said.contains(part), "{writer:?}: {said}");
        }
        assert!(!said.contains(".part"), "{writer:?}: {said}");
        let text = fs::read_to_string(dir.path().join(&kept)).expect("it is there");
        assert_eq!(text, "old", "{writer:?}");
        let mut after = names(dir.path());
        // The readable part of the recording is kept and reported.
        after.retain(|name| !name.contains("unfinished") || !said.contains(name.as_str()));
        assert_eq!(after, before, "{writer:?}");
    }
}

/// Creates a device of the same kind in a temporary folder, so that a bug cannot replace the real one. Returns `None` if root, which could
/// replace the real one, cannot create it.
#[expect(unsafe_code, reason = "a device to write into")]
fn device(folder: &Path, name: &str, minor: u32) -> Option<PathBuf> {
    let path = folder.join(name);
    let text = CString::new(path.as_os_str().as_bytes()).expect("no zero");
    let mode = libc::S_IFCHR | 0o666;
    // SAFETY: `mknod` reads the name, which outlives the call.
    let made = unsafe { libc::mknod(text.as_ptr(), mode, libc::makedev(1, minor)) };
    let works = made == 0 && fs::File::options().write(true).open(&path).is_ok();
    // SAFETY: `geteuid` has no arguments and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    match (works, is_root) {
        (true, _) => Some(path),
        (false, false) => Some(Path::new("/dev").join(name)),
        (false, true) => None,
    }
}

#[test]
fn devices_and_pipes_are_valid_outputs() {
    let dir = recorded();
    let made = (device(dir.path(), "null", 3), device(dir.path(), "full", 7));
    if let (Some(null), Some(full)) = made {
        let number = |path: &Path| fs::symlink_metadata(path).map(|found| found.rdev()).ok();
        let before = [&null, &full].map(|path| number(path));
        let path = |path: &'_ PathBuf| path.to_str().expect("plain letters").to_owned();
        for writer in writers().filter(|writer| !writer.contains(&"csv")) {
            for force in [false, true] {
                let to_null = loadscope(dir.path(), &writing(writer, &path(&null), force));
                assert!(to_null.status.success(), "{writer:?}: {}", errors(&to_null));
                let to_full = loadscope(dir.path(), &writing(writer, &path(&full), force));
                assert_eq!(to_full.status.code(), Some(2), "{writer:?}");
                let said = errors(&to_full);
                assert!(said.to_lowercase().contains("no space left"), "{said}");
            }
        }
        assert_eq!([&null, &full].map(|path| number(path)), before);
        for device in [null, full] {
            let kind = fs::symlink_metadata(&device).expect("a device").file_type();
            assert!(kind.is_char_device(), "{}", device.display());
        }
    } else {
        eprintln!("No device can be made here, so they were not tested");
    }
    let piped = loadscope(dir.path(), &writing(WRITERS[0], "/dev/stdout", false));
    let text = String::from_utf8_lossy(&piped.stdout).into_owned();
    assert!(
        text.starts_with('{') && text.contains("traceEvents"),
        "{text:.100}"
    );
    // A shell that redirects standard output to a file has created that file.
    let script = format!(
        "{} export run.jsonl --to chrome -o /dev/stdout > out.json",
        env!("CARGO_BIN_EXE_loadscope")
    );
    let shell = Command::new("sh")
        .args(["-c", &script])
        .current_dir(dir.path())
        .output();
    assert!(shell.expect("a shell").status.success());
    let text = fs::read_to_string(dir.path().join("out.json")).expect("it is there");
    assert!(text.contains("traceEvents"));
}

#[test]
fn links_are_replaced_and_their_targets_are_kept() {
    let dir = recorded();
    fs::write(dir.path().join("precious"), "precious").expect("room");
    for writer in writers().filter(|writer| !writer.contains(&"csv")) {
        let (link, made) = output(writer, "link");
        drop(fs::remove_file(dir.path().join(&made)));
        symlink("precious", dir.path().join(made)).expect("links");
        let written = loadscope(dir.path(), &writing(writer, &link, true));
        assert!(written.status.success(), "{writer:?}: {}", errors(&written));
        let text = fs::read_to_string(dir.path().join("precious")).expect("it is there");
        assert_eq!(text, "precious", "{writer:?}");
    }
}

#[test]
fn options_that_are_refused_leave_no_recording_behind() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for dataset in ["nonsense", "folder:/nowhere"] {
        let refused = loadscope(
            dir.path(),
            &["run", "--dataset", dataset, "--record", "run.jsonl"],
        );
        assert_eq!(refused.status.code(), Some(2));
        assert_eq!(
            fs::read_dir(dir.path()).expect("a folder").count(),
            0,
            "{dataset}"
        );
    }
}
