//! `record --alarm` with PyTorch programs that hang, and with slow programs that do not.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::support::{
    ends, json, loadscope, needed_pytorch, program, signal, stdout_of, text, words,
};

/// Time limit of a program.
const DEADLINE: Duration = Duration::from_secs(120);

/// Time limit from the end of the alarm's time to its line.
const REACTION: Duration = Duration::from_secs(5);

/// Output line of a recorder, with the time of its arrival.
#[derive(Debug)]
enum Line {
    Out(Instant, String),
    Err(Instant, String),
}

/// Recorder and its program in a process group of their own. Dropping it kills both.
struct Recorded {
    recorder: Child,
    lines: Receiver<Line>,
    seen: Vec<Line>,
}

impl Recorded {
    /// Records `alarm/train.py`. Returns `None` without PyTorch.
    fn start(log: &Path, alarm: &str, mode: &str) -> Option<Self> {
        let train = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/alarm/train.py");
        let mut recorder: Command = program();
        recorder
            .args(["record", "--alarm", alarm, "-o", text(log), "--"])
            .arg(needed_pytorch()?)
            .args([train, mode])
            .env("LC_ALL", "C.UTF-8")
            .env_remove("LD_LIBRARY_PATH")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut recorder = recorder.spawn().expect("the executable starts");
        let (sender, lines) = channel();
        let out = recorder.stdout.take().expect("it is piped");
        let err = recorder.stderr.take().expect("it is piped");
        let other = sender.clone();
        let each = |from: Box<dyn Read + Send>, send: Box<dyn Fn(String) + Send>| {
            let read = move || {
                let lines = BufReader::new(from).lines();
                lines.map_while(Result::ok).for_each(send);
            };
            let thread = std::thread::Builder::new().spawn(read);
            drop(thread.expect("a thread starts"));
        };
        let send_out = move |line| drop(sender.send(Line::Out(Instant::now(), line)));
        let send_err = move |line| drop(other.send(Line::Err(Instant::now(), line)));
        each(Box::new(out), Box::new(send_out));
        each(Box::new(err), Box::new(send_err));
        Some(Self {
            recorder,
            lines,
            seen: Vec::new(),
        })
    }

    /// Receives lines for `time`, or until one of them is wanted.
    fn receive(&mut self, time: Duration, is_wanted: impl Fn(&Line) -> bool) -> bool {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let is_found = is_wanted(&line);
                    self.seen.push(line);
                    if is_found {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// Returns the alarms so far.
    fn alarms(&self) -> Vec<(Instant, &str)> {
        let alarm = |line| match line {
            &Line::Err(at, ref text) => is_alarm(text).then_some((at, text.as_str())),
            Line::Out(..) => None,
        };
        self.seen.iter().filter_map(alarm).collect()
    }

    /// Returns the lines of the program on standard output.
    fn out(&self) -> Vec<(Instant, &str)> {
        let out = |line| match line {
            &Line::Out(at, ref text) => Some((at, text.as_str())),
            Line::Err(..) => None,
        };
        self.seen.iter().filter_map(out).collect()
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        // A hung worker outlives the program.
        let group = format!("-{}", self.recorder.id());
        let mut kill = Command::new("kill");
        let _ = kill.args(["-KILL", "--", &group]).output();
        let _ = self.recorder.wait();
    }
}

fn is_alarm(text: &str) -> bool {
    text.starts_with("loadscope: No batch arrived for ")
}

#[test]
fn a_hang_is_explained_once_on_stderr_and_in_the_report() {
    for (mode, cause) in [
        (
            "lock",
            " waits forever for a lock in Samples.__getitem__ (train.py:",
        ),
        (
            "stop",
            " is stopped by a signal. Continue it with `kill -CONT ",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("run.jsonl");
        let Some(mut recorded) = Recorded::start(&log, "1.5s", mode) else {
            return;
        };
        let is_alarm = |line: &Line| matches!(line, Line::Err(_, text) if is_alarm(text));
        let is_raised = recorded.receive(DEADLINE, is_alarm);
        assert!(is_raised, "{mode}: {:?}", recorded.seen);
        // There is one alarm per hang.
        recorded.receive(Duration::from_secs(4), |_| false);
        let (alarms, out) = (recorded.alarms(), recorded.out());
        let [(at, alarm)] = alarms.as_slice() else {
            panic!("{mode}: {:?}", recorded.seen);
        };
        let (last, _) = out.last().expect("batches arrived before the hang");
        let took = at.duration_since(*last);
        assert!(took < Duration::from_millis(1500) + REACTION, "{took:?}");
        let pid = out.first().map(|(_, pid)| *pid).expect("a process id");
        assert!(out[1..].iter().all(|(_, text)| *text == "batch"), "{out:?}");
        let command = format!(" For all stacks, run `loadscope dump {pid}`.");
        assert!(
            alarm.contains(cause) && alarm.ends_with(&command),
            "{mode}: {alarm}"
        );
        let alarm = (alarm.strip_prefix("loadscope: ").unwrap_or_default()).to_owned();
        signal(pid.parse().expect("a process id"), libc::SIGKILL);
        ends(&mut recorded.recorder, DEADLINE);
        let report = stdout_of(&["report", text(&log)]);
        let line = report.lines().find(|line| line.starts_with("Warning "));
        assert!(line.is_some_and(|line| line.ends_with(&alarm)), "{report}");
        let report = json(&loadscope(&["report", text(&log), "--json"]));
        assert_eq!(report["warnings"][0]["text"], alarm, "{report}");
        assert_eq!(report["warnings"][1], serde_json::Value::Null, "{report}");
    }
}

/// Batches arrive every 0.3 s, or training steps and the time after the epoch are longer than the alarm's time.
#[test]
fn a_slow_program_raises_no_alarm() {
    for mode in ["slow", "long"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("run.jsonl");
        let Some(mut recorded) = Recorded::start(&log, "1s", mode) else {
            return;
        };
        let is_end = |line: &Line| matches!(line, Line::Out(_, text) if text == "end");
        let has_ended = recorded.receive(DEADLINE, is_end);
        assert!(has_ended, "{mode}: {:?}", recorded.seen);
        ends(&mut recorded.recorder, DEADLINE);
        recorded.receive(DEADLINE, |_| false);
        assert_eq!(recorded.alarms(), [], "{mode}: {:?}", recorded.seen);
        let report = json(&loadscope(&["report", text(&log), "--json"]));
        assert_eq!(report["warnings"], serde_json::json!([]), "{report}");
    }
}

#[test]
fn an_alarm_needs_a_local_program() {
    let output = loadscope(&["record", "--alarm", "60s", "--ssh", "host", "--", "true"]);
    let (_, said) = words(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("--alarm <TIME>") && said.contains("--ssh"),
        "{said}"
    );
}
