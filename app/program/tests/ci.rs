//! Features for CI: Markdown, test reports, rules for two recordings, exit codes.

use std::path::Path;

use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_plan::simulate::simulate;
use loadscope_trace::{LogWriter, RunOptions};

use crate::support::{command_error, loadscope};

/// Writes a recording of a simulated run.
fn recording(folder: &Path, num_workers: usize) -> String {
    let options = RunOptions {
        dataset: "synthetic:len=400,cost_ms=10,jitter=0.5".to_owned(),
        batch_size: Some(2),
        num_workers,
        step_ms: 8.0,
        ..RunOptions::default()
    };
    let path = folder.join(format!("workers-{num_workers}.jsonl.zst"));
    let mut log = LogWriter::create(&path).expect("the folder is writable");
    for event in simulate(&options, &SyntheticCatalog).expect("sound options") {
        log.write(&event).expect("there is room");
    }
    log.finish().expect("there is room");
    path.to_string_lossy().into_owned()
}

fn code(args: &[&str]) -> (Option<i32>, String) {
    let output = loadscope(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

#[test]
fn a_report_is_printed_as_markdown_and_written_as_junit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = recording(folder.path(), 1);
    let output = loadscope(&["report", &path, "--markdown"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.starts_with("**"), "{text}");
    assert!(text.contains("| Waits by cause |"), "{text}");
    let junit = folder.path().join("tests.xml");
    let file = junit.to_string_lossy();
    let rules = ["--fail-on", "wait>1%", "--fail-on", "errors>0"];
    let args = [&["report", &path, "--junit", &file][..], &rules].concat();
    let (ended, said) = code(&args);
    assert_eq!(ended, Some(1), "{said}");
    assert!(said.contains("failed: wait>1% (measured: "), "{said}");
    let xml = std::fs::read_to_string(&junit).expect("it is written");
    assert!(
        xml.contains("<testsuites tests=\"2\" failures=\"1\">"),
        "{xml}"
    );
    // An existing test report is not overwritten without `--force`, and the recording never is.
    assert!(command_error(&args).contains("--force"), "{args:?}");
    assert_eq!(code(&[&args[..], &["--force"]].concat()).0, Some(1));
    let onto = command_error(&["report", &path, "--junit", &path, "--force"]);
    assert!(onto.contains("is the input"), "{onto}");
}

#[test]
fn a_comparison_with_longer_waits_fails() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (few, many) = (recording(folder.path(), 1), recording(folder.path(), 4));
    let worse = ["compare", &many, &few, "--fail-on", "wait>+5%"];
    let (ended, said) = code(&worse);
    assert_eq!(ended, Some(1), "{said}");
    assert!(
        said.contains("failed: wait>+5%: share waited changed from"),
        "{said}"
    );
    let (ended, said) = code(&["compare", &few, &many, "--fail-on", "wait>+5%"]);
    assert_eq!((ended, &*said), (Some(0), ""));
    let junit = folder.path().join("tests.xml");
    let file = junit.to_string_lossy();
    assert_eq!(code(&[&worse[..], &["--junit", &file]].concat()).0, Some(1));
    let xml = std::fs::read_to_string(&junit).expect("it is written");
    assert!(xml.contains("name=\"wait&gt;+5%\""), "{xml}");
    let text = loadscope(&["compare", &many, &few, "--fail-on", "wait>5%"]);
    let said = String::from_utf8_lossy(&text.stderr);
    assert_eq!(text.status.code(), Some(2), "{said}");
    assert!(said.contains("the limit needs a sign"), "{said}");
}
