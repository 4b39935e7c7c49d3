//! Damaged recordings on the command line: the error names the remedy, and the repaired file opens.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::fs;
use std::path::{Path, PathBuf};

use loadscope_files::{Existing, GrowingFile};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{command_error, info, json, loadscope, stdout_of, text};

/// Creates a folder with a recording of this name.
fn recorded(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    let run = "run --dataset digits --batch-size 32 --num-workers 2 --epochs 3 --json --record";
    let mut args: Vec<&str> = run.split(' ').collect();
    args.push(text(&path));
    json(&loadscope(&args));
    (folder, path)
}

#[test]
fn a_damaged_middle_line_is_refused_repaired_and_opened() {
    let (_folder, path) = recorded("run.jsonl");
    let before = info(&path);
    let whole = fs::read_to_string(&path).expect("just written");
    let lines: Vec<&str> = whole.lines().collect();
    let middle = (lines.len() / 2..).find(|k| lines[*k].contains("\"stage\":\"collating\""));
    let middle = middle.expect("batches are collated");
    let damaged = lines[middle].replace("\"stage\"", "\"stag\u{7}\"");
    let mut all = lines.clone();
    all[middle] = &damaged;
    let harmed = all.join("\n") + "\n";
    fs::write(&path, &harmed).expect("there is room");
    for command in ["info", "report"] {
        let refused = command_error(&[command, text(&path)]);
        let line = format!("line {} of the recording is damaged", middle + 1);
        assert!(refused.contains(&line), "{refused}");
        let command = format!("`loadscope repair {}`", path.display());
        assert!(refused.contains(&command), "{refused}");
    }
    let report = stdout_of(&["repair", text(&path)]);
    assert!(report.contains("is damaged\n1 line is lost"), "{report}");
    let place = format!(
        "  line {} · bytes ",
        loadscope_trace::count(middle as u64 + 1)
    );
    assert!(report.contains(&place), "{report}");
    let repaired = path.with_file_name("run.repaired.jsonl.zst");
    let after = info(&repaired);
    for same in [
        "epochs",
        "batches",
        "samples",
        "waited_seconds",
        "seconds",
        "dropped",
        "cut",
    ] {
        assert_eq!(before[same], after[same], "{same}");
    }
    let events = |info: &Value| info["events"].as_u64().expect("a number");
    assert_eq!(events(&after), events(&before) - 1);
    // The recording itself is unchanged, and the repaired one is intact.
    assert_eq!(fs::read_to_string(&path).expect("still there"), harmed);
    assert!(stdout_of(&["repair", text(&repaired)]).contains("is intact"));
    assert_eq!(
        fs::read_dir(path.parent().expect("a folder"))
            .expect("a folder")
            .count(),
        2
    );
}

#[test]
fn damaged_compressed_data_is_refused_repaired_and_opened() {
    let (_folder, path) = recorded("run.jsonl.zst");
    let before = info(&path);
    let mut bytes = fs::read(&path).expect("just written");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0xA5);
    fs::write(&path, &bytes).expect("there is room");
    let refused = command_error(&["info", text(&path)]);
    // The damaged data may still decompress. Then a line is invalid.
    let places = [
        "the compressed recording is damaged after ",
        "of the recording is damaged",
    ];
    assert!(
        places.iter().any(|place| refused.contains(place))
            && refused.contains(&format!("`loadscope repair {}`", path.display())),
        "{refused}"
    );
    let report = json(&loadscope(&["repair", text(&path), "--json"]));
    let number = |name: &str| report[name].as_u64().expect("a number");
    assert_eq!(
        (&report["sound"], &report["compressed"]),
        (&false.into(), &true.into())
    );
    assert_eq!(
        (number("unconfirmed_events"), &report["cut"]),
        (0, &false.into()),
        "{report}"
    );
    let (kept, lost) = (number("kept_events"), number("lost_lines"));
    assert!(kept > 100 && lost > 0, "{report}");
    assert_eq!(Some(kept + lost), before["events"].as_u64());
    let gap = &report["gaps"][0];
    assert!(gap["lines"][0].as_u64() > Some(100) && gap["after_seconds"].as_f64() > Some(0.0));
    // The header is a separate frame, and the rest is one frame.
    let header = gap["bytes"][0].as_u64().expect("a number");
    assert!((1..200).contains(&header), "{report}");
    let repaired = PathBuf::from(report["output"].as_str().expect("a path"));
    let after = info(&repaired);
    assert_eq!(
        (&after["events"], &after["cut"]),
        (&kept.into(), &false.into())
    );
}

#[test]
fn a_sound_recording_is_not_written_again() {
    let (folder, path) = recorded("run.jsonl.zst");
    let report = stdout_of(&["repair", text(&path)]);
    assert!(
        report.contains("is intact: ") && report.contains("No file was written"),
        "{report}"
    );
    let report = json(&loadscope(&["repair", text(&path), "--json"]));
    assert_eq!(
        (&report["sound"], &report["output"]),
        (&true.into(), &Value::Null)
    );
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn existing_files_are_kept_without_force() {
    let (_folder, path) = recorded("run.jsonl");
    let whole = fs::read(&path).expect("just written");
    fs::write(&path, &whole[..whole.len() - 30]).expect("there is room");
    let output = path.with_file_name("run.repaired.jsonl.zst");
    fs::write(&output, "something else").expect("there is room");
    assert!(command_error(&["repair", text(&path)]).contains("--force"));
    assert_eq!(fs::read(&output).expect("still there"), b"something else");
    let same = command_error(&["repair", text(&path), "-o", text(&path), "--force"]);
    assert!(same.contains("is the input"), "{same}");
    let report = stdout_of(&["repair", text(&path), "--force"]);
    assert!(report.contains("is truncated"), "{report}");
    assert_eq!(info(&output)["cut"], false);
    // The extension of the output sets its compression.
    let plain = path.with_file_name("plain.jsonl");
    stdout_of(&["repair", text(&path), "-o", text(&plain)]);
    assert!(
        fs::read(&plain)
            .expect("written")
            .starts_with(b"{\"loadscope\":3")
    );
    assert_eq!(
        fs::read(&path).expect("still there").len(),
        whole.len() - 30
    );
}

#[test]
fn files_that_are_not_recordings_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("there is room");
        text(&path).to_owned()
    };
    let trace =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/profiler/workers.json.gz");
    for (path, word) in [
        (file("a.jsonl", b""), "is empty"),
        (file("b.jsonl", b"\x89PNG\r\n\x1a\n0123"), "is a PNG image"),
        (
            file("c.jsonl", b"one\ntwo\n"),
            "is a text file, not a recording",
        ),
        (
            file(
                "d.jsonl",
                b"{\"loadscope\":9}\n{\"t\":1,\"e\":\"run_ended\"}\n",
            ),
            "version 9",
        ),
        (
            text(&trace).to_owned(),
            "it contains no line of a recording",
        ),
        (text(folder.path()).to_owned(), "is a folder"),
        (
            file("e.jsonl", b"") + ".missing",
            "not found. Check the path.",
        ),
    ] {
        let refused = command_error(&["repair", &path]);
        assert!(refused.contains(word), "{path}: {refused}");
    }
    #[cfg(unix)]
    assert!(command_error(&["repair", "/dev/zero"]).contains("is a device"));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 5);
}

#[test]
fn an_active_recording_is_not_repaired() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");
    let mut growing = GrowingFile::create(&path, Existing::Keep, b"").expect("a free name");
    let begun = b"{\"loadscope\":1}\n{\"t\":1,\"e\":\"run_ended\"}\n{\"t\":";
    std::io::Write::write_all(&mut growing, begun).expect("there is room");
    assert!(command_error(&["repair", text(&path)]).contains("is being recorded"));
    growing.finish().expect("there is room");
    assert!(stdout_of(&["repair", text(&path)]).contains("Wrote 1 event"));
}

#[cfg(unix)]
#[test]
fn standard_output_contains_only_the_recording() {
    let (_folder, path) = recorded("run.jsonl");
    let whole = fs::read(&path).expect("just written");
    fs::write(&path, &whole[..whole.len() - 30]).expect("there is room");
    let output = loadscope(&["repair", text(&path), "-o", "/dev/stdout"]);
    assert!(output.status.success());
    let copy = String::from_utf8(output.stdout).expect("text");
    assert!(copy.ends_with("}\n") && copy.starts_with("{\"loadscope\":3"));
    assert!(whole.starts_with(copy.as_bytes()));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is damaged"));
}
