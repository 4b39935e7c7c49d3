//! Hostile files and arguments. Nothing is executed, nothing hangs, and no text controls the terminal.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use crate::support::{make_pipe, program, run};

fn loadscope(args: &[&Path]) -> Output {
    run(program().args(args).stdout(Stdio::piped()))
}

/// Runs `info`. Returns its output and its errors.
fn run_info(path: &Path) -> (bool, String, String) {
    let output = loadscope(&[Path::new("info"), path]);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(!err.contains("panicked"), "{err}");
    (output.status.success(), out, err)
}

fn refused(path: &Path) -> String {
    let (success, out, err) = run_info(path);
    assert!(!success && out.is_empty(), "{out}");
    assert!(err.starts_with("loadscope: "), "{err}");
    // Names are printed without control characters.
    let folder = path.parent().expect("a folder").display().to_string();
    assert!(err.contains(&folder), "{err}");
    err
}

#[test]
fn pipes_devices_folders_and_loops_are_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    make_pipe(&at("pipe.jsonl"));
    symlink(at("b"), at("a")).expect("a link");
    symlink(at("a"), at("b")).expect("a link");
    symlink("nowhere", at("dangling")).expect("a link");
    std::fs::create_dir(at("empty")).expect("a folder");
    let socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
    for (path, word) in [
        (at("pipe.jsonl"), "is not a regular file"),
        (PathBuf::from("/dev/zero"), "is not a regular file"),
        (PathBuf::from("/dev/full"), "is not a regular file"),
        (at("socket"), "is not a regular file"),
        (at("empty"), "is empty"),
        (at("a"), "ymbolic link"),
        (at("dangling"), "not found. Check the path."),
    ] {
        let text = refused(&path);
        assert!(text.contains(word), "{}: {text}", path.display());
    }
    drop(socket);
    // One pipe is named like a stream, and one like a log of LotusTrace.
    for name in ["1-1.stream.jsonl", "lotustrace_main_pid_1"] {
        make_pipe(&at("empty").join(name));
    }
    assert!(refused(&at("empty")).contains("contains no recordings"));
}

/// Characters that clear the screen, set its title, overwrite text, and reverse the direction of the rest.
const COMMANDS: &str =
    "\\u001b[2J\\u001b]0;title\\u0007\\r\\b\\u009b31m\\u007f\\u202egpj\\u2066\\u0000";

/// Returns true if the text cannot control a terminal.
fn is_tame(text: &str) -> bool {
    let is_command = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t')) || ('\u{202a}'..='\u{202e}').contains(&c)
    };
    !text.contains(is_command) && !text.contains(['\u{2066}', '\u{200f}'])
}

#[test]
fn texts_of_a_recording_cannot_control_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let text = format!(
        "{{\"loadscope\":1}}\n\
         {{\"t\":0,\"e\":\"run_started\",\"info\":{{\"dataset\":\"{COMMANDS}\",\"origin\":{{\"import\":\"{COMMANDS}\"}},\"classes\":[\"{COMMANDS}\"]}}}}\n\
         {{\"t\":0,\"e\":\"epoch_started\",\"epoch\":0}}\n\
         {{\"t\":1,\"e\":\"dispatched\",\"epoch\":0,\"batch\":0,\"worker\":0,\"indices\":[1]}}\n\
         {{\"t\":2,\"e\":\"message\",\"level\":\"error\",\"text\":\"{COMMANDS}\"}}\n\
         {{\"t\":3,\"e\":\"gauge\",\"part\":\"{COMMANDS}\",\"what\":\"occupancy\",\"value\":0.5}}\n\
         {{\"t\":4,\"e\":\"run_ended\"}}\n"
    );
    std::fs::write(&path, text).expect("there is room");
    let page = folder.path().join("page.html");
    let all: [&[&Path]; 6] = [
        &[Path::new("info"), &path],
        &[Path::new("info"), &path, Path::new("--json")],
        &[Path::new("report"), &path],
        &[Path::new("report"), &path, Path::new("--json")],
        &[Path::new("report"), &path, Path::new("--html"), &page],
        &[Path::new("compare"), &path, &path],
    ];
    for args in all {
        let output = loadscope(args);
        for bytes in [&output.stdout, &output.stderr] {
            let text = std::str::from_utf8(bytes).expect("UTF-8");
            assert!(is_tame(text), "{args:?}: {text:?}");
        }
    }
    assert!(is_tame(&std::fs::read_to_string(&page).expect("written")));
    let (_, out, _) = run_info(&path);
    assert!(out.contains("\\u001b[2J"), "it is shown: {out}");
    let json = loadscope(&[Path::new("info"), &path, Path::new("--json")]);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert!(value.to_string().contains("gpj"), "{value}");
}

#[test]
fn refusals_are_short_and_escape_control_characters() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("line\u{1b}[2J.jsonl");
    let raw = COMMANDS
        .replace("\\u001b", "\u{1b}")
        .replace("\\u009b", "\u{9b}");
    for line in [
        format!("{{\"t\":1,\"e\":\"{COMMANDS}\"}}"),
        format!("{{\"t\":1,\"e\":\"run_ended\",\"{COMMANDS}\":1}}"),
        format!("{{\"t\":\"{}\",\"e\":\"run_ended\"}}", "x".repeat(1 << 20)),
        raw,
        "{\"t\":1,\"e\":\"gauge\",\"what\":\"rss\",\"value\":1e999}".to_owned(),
    ] {
        let more = "{\"t\":2,\"e\":\"run_ended\"}";
        std::fs::write(&path, format!("{{\"loadscope\":1}}\n{line}\n{more}\n"))
            .expect("there is room");
        let text = refused(&path);
        assert!(
            text.contains("line 2") && is_tame(&text) && text.len() < 2_000,
            "{text}"
        );
    }
}

/// File name that clears the screen, sets its title, colors the rest and reverses its direction.
const NAME: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}gpj";

/// Runs a command, and returns its output. The output must show the escaped name, and must not control the terminal.
fn names_tamely(args: &[&Path]) -> (Option<i32>, String) {
    let output = loadscope(args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let said = text(output.stdout) + &text(output.stderr);
    assert!(is_tame(&said), "{args:?}: {said:?}");
    // Errors in arguments omit complete terminal sequences.
    let is_shown = ["\\u202egpj", "\\u{202e}gpj"].map(|name| said.contains(name));
    assert!(is_shown.contains(&true), "{args:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    (output.status.code(), said)
}

/// The report of a folder names damaged, truncated and unreadable files.
#[test]
fn file_names_in_a_folder_cannot_control_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = "{\"loadscope\":1}\n{\"t\":0,\"e\":\"run_started\",\"info\":{}}\n";
    let at = |what: &str| folder.path().join(format!("{what}{NAME}.jsonl"));
    for (what, more) in [
        ("sound", "{\"t\":1,\"e\":\"run_ended\"}\n"),
        ("damaged", "?\n{\"t\":1,\"e\":\"run_ended\"}\n"),
        ("cut", "{\"t\":1"),
    ] {
        std::fs::write(at(what), format!("{header}{more}")).expect("there is room");
    }
    std::fs::write(at("foreign"), "neither").expect("there is room");
    symlink("nowhere", at("dangling")).expect("a link");
    make_pipe(&at("pipe"));
    let out = folder.path().join("out.json");
    let whole = folder.path();
    let (info, report, to) = (Path::new("info"), Path::new("report"), Path::new("--to"));
    let (export, chrome) = (Path::new("export"), Path::new("chrome"));
    for args in [
        &[info, whole][..],
        &[info, whole, Path::new("--json")],
        &[report, whole],
        &[Path::new("compare"), whole, whole],
        &[export, whole, to, chrome, Path::new("-o"), &out],
    ] {
        let (_, said) = names_tamely(args);
        assert!(
            said.contains("damaged\\u001b") && said.contains("cut\\u001b"),
            "{said}"
        );
    }
}

#[cfg(feature = "engine")]
#[test]
fn output_names_cannot_control_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |ending: &str| folder.path().join(format!("{NAME}.{ending}"));
    let run = at("jsonl");
    let word = |word: &'static str| Path::new(word);
    let record = [
        word("run"),
        word("--dataset"),
        word("synthetic:len=4"),
        word("--record"),
        &run,
    ];
    assert_eq!(loadscope(&record).status.code(), Some(0));
    let (code, said) = names_tamely(&record);
    assert!(code == Some(2) && said.contains("already exists"), "{said}");
    // Messages name new files, and files that already exist.
    for (format, out) in [
        ("chrome", at("json")),
        ("csv", at("csv")),
        ("parquet", at("parquet")),
    ] {
        let export = [
            word("export"),
            &run,
            word("--to"),
            word(format),
            word("-o"),
            &out,
        ];
        assert_eq!(names_tamely(&export).0, Some(0));
        let (code, said) = names_tamely(&export);
        assert!(code == Some(2) && said.contains("already exists"), "{said}");
    }
    let onto_itself = [word("report"), &run, word("--html"), &run];
    assert!(names_tamely(&onto_itself).1.contains("is the input"));
    assert!(
        names_tamely(&[word("repair"), &run])
            .1
            .contains("is intact")
    );
    let text = std::fs::read_to_string(&run).expect("it is there");
    let text = text.replacen("\"e\":\"dispatched\"", "\"e\":?", 1);
    std::fs::write(&run, text).expect("there is room");
    for code in [0, 2] {
        let (ended, said) = names_tamely(&[word("repair"), &run]);
        assert_eq!(ended, Some(code), "{said}");
    }
    let program = [word("record"), word("-o"), &run, word("--"), word("true")];
    assert_eq!(names_tamely(&program).0, Some(2));
    let missing = at("missing");
    let new = folder.path().join("new.jsonl");
    let program = [word("record"), word("-o"), &new, word("--"), &missing];
    assert_eq!(names_tamely(&program).0, Some(127));
}

/// In an untrusted folder, `loadscope info *` has two arguments. The second is one too many, and the error quotes it.
#[test]
fn refused_arguments_cannot_control_the_terminal() {
    let hostile = Path::new(NAME);
    let option = format!("--{NAME}");
    let value = format!("--num-workers={NAME}");
    let word = |word: &'static str| Path::new(word);
    for args in [
        &[hostile][..],
        &[word("info"), word("a"), hostile],
        &[word("info"), Path::new(&option)],
        &[word("run"), Path::new(&value)],
        &[word("export"), word("a"), word("--to"), hostile],
        &[word("report"), word("a"), word("--fail-on"), hostile],
        &[word("run"), word("--dataset"), hostile],
        &[word("run"), word("--sampler"), hostile],
        &[word("what-if"), word("a"), word("--workers"), hostile],
    ] {
        let (code, _) = names_tamely(args);
        assert_eq!(code, Some(2), "{args:?}");
    }
    // An error in the arguments still has several lines.
    let output = loadscope(&[word("info"), word("a"), word("b")]);
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(
        said.starts_with("error: unexpected argument 'b' found\n"),
        "{said}"
    );
    assert!(said.contains("\nUsage: loadscope info"), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_file_changed_while_being_read_is_still_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("changing.jsonl");
    let line = b"{\"t\":1,\"e\":\"consumer\",\"waiting\":true}\n";
    let whole = [&b"{\"loadscope\":1}\n"[..], &line.repeat(200_000)].concat();
    for grows in [true, false] {
        std::fs::write(&path, &whole).expect("there is room");
        let changing = path.clone();
        let changes = std::thread::Builder::new()
            .name("changes".to_owned())
            .spawn(move || {
                for k in 0..40u64 {
                    let file = File::options().append(true).open(&changing);
                    let mut file = file.expect("there");
                    let done = match grows {
                        true => file.write_all(&line.repeat(100)),
                        false => file.set_len((200_000 - 5_000 * k) * line.len() as u64),
                    };
                    done.expect("there is room");
                    std::thread::sleep(Duration::from_millis(2));
                }
            })
            .expect("a thread");
        for _ in 0..3 {
            let (success, out, err) = run_info(&path);
            // The readable part is reported, even if the last line is truncated.
            assert!(success && !out.is_empty(), "{err}");
        }
        changes.join().expect("there is room");
    }
}
