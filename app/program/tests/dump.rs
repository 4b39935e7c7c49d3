//! `loadscope dump`.
#![cfg(target_os = "linux")]

use std::process::Command;

use crate::support::{loadscope, needed_python};

#[test]
fn a_dump_has_the_cause_the_waits_and_the_stacks() {
    let Some(python) = needed_python() else {
        return;
    };
    let source = "\
import threading, concurrent.futures
pool = concurrent.futures.ThreadPoolExecutor()
pool.submit(int).result()
lock = threading.Lock()
lock.acquire()
lock.acquire()";
    let mut program = Command::new(python)
        .args(["-c", source])
        .spawn()
        .expect("the executable starts");
    let pid = program.id().to_string();
    let dumped = (0..60).find_map(|_| {
        let output = loadscope(&["dump", &pid, "--limit", "1"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.starts_with("Cause").then_some(text)
    });
    let json = loadscope(&["dump", &pid, "--json"]);
    let _ = program.kill();
    let _ = program.wait();
    let text = dumped.expect("the program hangs");
    assert!(
        text.contains("\nRemedy ") && text.contains("\nWaits\n"),
        "{text}"
    );
    assert!(text.contains("→ <module> (<string>:6)"), "{text}");
    // An idle thread is one line.
    assert!(text.trim_end().ends_with(", idle"), "{text}");
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["conclusion"]["cause"]["kind"], "unreleased_lock");
    assert_eq!(json["processes"][0]["threads"][0]["wait"]["kind"], "lock");
}
