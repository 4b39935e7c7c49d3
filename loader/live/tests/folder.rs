//! Tests of stream files: many files, order by time, and files that are not streams.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

use std::fs::{self, File};
use std::path::Path;

use loadscope_live::folder;
use loadscope_trace::{Event, EventKind};

fn introduction(pid: u64, at: i64) -> String {
    format!(
        "{{\"loadscope_stream\":1,\"pid\":{pid},\"monotonic\":{at},\"realtime\":{at},\"host\":\"h\",\"boot\":\"b\"}}\n"
    )
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(format!("{name}.stream.jsonl")), text).expect("written");
}

fn read(folder: &Path) -> std::io::Result<(Vec<Event>, bool)> {
    let mut events = Vec::new();
    let cut = folder::read(folder, |event| {
        events.push(event);
        true
    })?;
    Ok((events, cut))
}

#[test]
fn open_files_do_not_exceed_concurrent_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut main = introduction(1, 0) + "[\"loader\",1,0,{\"dataset\":\"D\"}]\n";
    for epoch in 0..300 {
        let at = 100 * (epoch + 1);
        let pid = 10 + epoch;
        main += &format!(
            "[\"epoch\",{at},0,{epoch},{epoch}]\n[\"workers\",{at},{epoch},[[{pid},1]]]\n"
        );
        main += &format!("[\"dispatch\",{at},{epoch},{epoch},0,0,0,\"\"]\n");
        let after = at + 80;
        main += &format!("[\"end\",{after},{epoch},{epoch}]\n[\"left\",{after},{epoch},[[0,0]]]\n");
        let begin = at + 10;
        let worker = introduction(pid as u64, begin)
            + &format!("[\"fetcher\",{begin},0]\n[\"begin\",{begin},null,0,0]\n");
        write(folder.path(), &format!("{pid}-{begin}"), &worker);
    }
    write(folder.path(), "1-0", &(main + "[\"bye\",99999,0]\n"));
    let mut most = 0;
    let mut fetching = 0;
    folder::read(folder.path(), |event| {
        let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        most = most.max(open);
        fetching += u32::from(matches!(event.kind, EventKind::Entered { .. }));
        true
    })
    .expect("sound");
    assert_eq!(fetching, 300);
    assert!(most < 100, "{most} files were open");
}

#[test]
fn a_file_that_is_not_a_stream_is_named_in_the_error() {
    let version = introduction(1, 0).replace("stream\":1", "stream\":2");
    for (text, says) in [
        (version.as_str(), "version 2"),
        ("hello\n", "does not begin"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "1-0", &introduction(1, 0));
        write(folder.path(), "2-0", text);
        let error = read(folder.path()).expect_err("no stream").to_string();
        assert!(
            error.contains("2-0.stream.jsonl") && error.contains(says),
            "{error}"
        );
    }
}

#[test]
fn an_empty_stream_file_counts_as_truncated() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "1-0", &introduction(1, 0));
    File::create(folder.path().join("2-0.stream.jsonl")).expect("made");
    assert!(read(folder.path()).expect("sound").1);
}

#[test]
fn late_events_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = introduction(1, 0)
        + "[\"loader\",1,0,{\"dataset\":\"D\"}]\n[\"epoch\",50000000000,0,0,0]\n[\"epoch\",90000000000,0,1,1]\n\
           [\"wait\",2,0]\n[\"wait\",95000000000,0]\n";
    write(folder.path(), "1-0", &text);
    let (events, _) = read(folder.path()).expect("sound");
    let is_reported = |e: &Event| matches!(&e.kind, EventKind::Message(m) if m.text.contains("1 event came too late"));
    assert!(events.iter().any(is_reported), "{events:#?}");
}

/// Opening a pipe blocks until it has a writer.
#[cfg(unix)]
#[test]
#[expect(unsafe_code, reason = "a pipe")]
fn pipes_and_folders_are_not_read_as_streams() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("1-1.stream.jsonl");
    let name = std::ffi::CString::new(pipe.as_os_str().as_bytes()).expect("no zero");
    // SAFETY: the name is NUL-terminated.
    let made = unsafe { libc::mkfifo(name.as_ptr(), 0o600) };
    assert_eq!(made, 0);
    fs::create_dir(folder.path().join("2-1.stream.jsonl")).expect("a folder");
    let itself = folder.path().join("3-1.stream.jsonl");
    std::os::unix::fs::symlink(&itself, &itself).expect("a link");
    assert!(folder::streams(folder.path()).is_empty());
    write(folder.path(), "4-1", &introduction(4, 0));
    assert_eq!(folder::streams(folder.path()).len(), 1);
    assert!(read(folder.path()).is_ok());
}
