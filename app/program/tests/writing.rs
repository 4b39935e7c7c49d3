//! What is written where: nothing that exists is lost by it.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn loadscope(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadscope"));
    command
        .args(args)
        .current_dir(folder)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    command.output().expect("the executable starts")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with a short recording in it.
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
    dir
}

/// Every way to write to a file, with the file as the last argument.
const WRITERS: [&[&str]; 5] = [
    &["export", "run.jsonl", "--to", "chrome", "-o"],
    &["export", "run.jsonl", "--to", "csv", "-o"],
    &["report", "run.jsonl", "--html"],
    &["run", "--dataset", "synthetic:len=4", "--record"],
    &["record", "-o"],
];

/// The arguments of a writer that writes to `out`.
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
        // Of tables the file that is in the way has the name of a table.
        let (out, kept) = match writer.contains(&"csv") {
            true => ("mine.csv", "mine.batches.csv"),
            false => ("mine", "mine"),
        };
        fs::write(dir.path().join(kept), "mine").expect("room");
        let refused = loadscope(dir.path(), &writing(writer, out, false));
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
fn with_force_it_is_replaced_by_a_whole_one() {
    let dir = recorded();
    for writer in &WRITERS[..4] {
        let (out, kept) = match writer.contains(&"csv") {
            true => ("old.csv", "old.batches.csv"),
            false => ("old", "old"),
        };
        fs::write(dir.path().join(kept), "old").expect("room");
        let written = loadscope(dir.path(), &writing(writer, out, true));
        assert!(written.status.success(), "{writer:?}: {}", errors(&written));
        let size = fs::metadata(dir.path().join(kept))
            .expect("it is there")
            .len();
        assert!(size > 100, "{writer:?}: {size} bytes");
    }
    let left: Vec<_> = fs::read_dir(dir.path())
        .expect("a folder")
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.contains("part") || name.contains("unfinished"))
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn the_input_is_never_the_output() {
    let dir = recorded();
    let input = dir.path().join("run.jsonl");
    let before = fs::read(&input).expect("it is there");
    fs::hard_link(&input, dir.path().join("hard")).expect("links");
    std::os::unix::fs::symlink("run.jsonl", dir.path().join("soft")).expect("links");
    for name in ["run.jsonl", "./run.jsonl", "hard", "soft"] {
        for writer in [WRITERS[0], WRITERS[2]] {
            let refused = loadscope(dir.path(), &writing(writer, name, true));
            let said = errors(&refused);
            assert_eq!(refused.status.code(), Some(2), "{writer:?} {name}: {said}");
            assert!(said.contains("is the input"), "{said}");
        }
    }
    assert_eq!(fs::read(&input).expect("it is there"), before);
}

#[test]
fn devices_and_pipes_are_written_into() {
    let dir = recorded();
    for writer in [WRITERS[0], WRITERS[2], WRITERS[3]] {
        let to_null = loadscope(dir.path(), &writing(writer, "/dev/null", false));
        assert!(to_null.status.success(), "{writer:?}: {}", errors(&to_null));
        let to_full = loadscope(dir.path(), &writing(writer, "/dev/full", false));
        assert_eq!(to_full.status.code(), Some(2), "{writer:?}");
        assert!(
            errors(&to_full).contains("No space left"),
            "{}",
            errors(&to_full)
        );
    }
    for device in ["/dev/null", "/dev/full"] {
        let kind = fs::metadata(device).expect("a device").file_type();
        assert!(kind.is_char_device(), "{device}");
    }
    let piped = loadscope(dir.path(), &writing(WRITERS[0], "/dev/stdout", false));
    let text = String::from_utf8_lossy(&piped.stdout).into_owned();
    assert!(
        text.starts_with('{') && text.contains("traceEvents"),
        "{text:.100}"
    );
    // A shell that directs standard output to a file has made that file.
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
fn links_are_replaced_and_what_they_lead_to_is_not() {
    let dir = recorded();
    fs::write(dir.path().join("precious"), "precious").expect("room");
    std::os::unix::fs::symlink("precious", dir.path().join("link")).expect("links");
    for writer in &WRITERS[..4] {
        if writer.contains(&"csv") {
            continue;
        }
        let written = loadscope(dir.path(), &writing(writer, "link", true));
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
