//! Samples of running Python programs.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::print_stdout, reason = "a test says what it did not run")]

#[allow(dead_code, reason = "other tests use the rest")]
mod program;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loadscope_stacks::{Frame, NodeId, Sampler, Samples, Snapshot, StackNode};
use program::{Program, pytorch};

/// Samples per second.
const RATE: u32 = 100;

/// Sampler with everything that it returned.
struct Run {
    sampler: Sampler,
    nodes: Vec<StackNode>,
    taken: Samples,
}

impl Run {
    fn start(pids: Vec<u32>) -> Self {
        Self::start_with(RATE, pids)
    }

    fn start_with(rate: u32, pids: Vec<u32>) -> Self {
        let sampler = Sampler::start(rate).expect("a thread");
        sampler.set_processes(pids);
        Self {
            sampler,
            nodes: Vec::new(),
            taken: Samples::default(),
        }
    }

    fn take(&mut self) {
        let mut new = self.sampler.take();
        self.nodes.append(&mut new.nodes);
        for one in &new.samples {
            assert!((one.node.0 as usize) < self.nodes.len() && one.count > 0);
        }
        self.taken.samples.append(&mut new.samples);
        self.taken.refused.append(&mut new.refused);
        self.taken.skipped += new.skipped;
    }

    /// Takes samples until a condition is true.
    fn until(&mut self, wanted: &str, is_true: impl Fn(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !is_true(self) {
            let last = self.taken.samples.last().map(|one| self.stack(one.node));
            let refused = &self.taken.refused;
            assert!(Instant::now() < end, "{wanted}: {last:#?} {refused:?}");
            std::thread::sleep(Duration::from_millis(50));
            self.take();
        }
    }

    /// Returns the stack of a node, the innermost frame first.
    fn stack(&self, node: NodeId) -> Vec<Arc<Frame>> {
        let mut frames = Vec::new();
        let mut next = Some(node);
        while let Some(node) = next.and_then(|node| self.nodes.get(node.0 as usize)) {
            frames.push(Arc::clone(&node.frame));
            next = node.parent;
        }
        frames
    }

    /// Returns the number of samples of a process.
    fn count(&self, pid: u32) -> u32 {
        let own = self.taken.samples.iter().filter(|one| one.pid == pid);
        own.map(|one| one.count).sum()
    }

    /// Returns the share of the samples of a process whose innermost frame of this file is at a line.
    fn share(&self, pid: u32, file: &str, line: u32) -> f64 {
        let own = self.taken.samples.iter().filter(|one| one.pid == pid);
        let is_at = |node| {
            let stack = self.stack(node);
            let found = stack.iter().find(|frame| frame.file.ends_with(file));
            found.is_some_and(|frame| frame.line == line)
        };
        let matching = own.filter(|one| is_at(one.node));
        f64::from(matching.map(|one| one.count).sum::<u32>()) / f64::from(self.count(pid))
    }
}

/// Starts a program of `tests/program`.
fn start(file: &str) -> Option<Program> {
    let python = std::env::var("LOADSCOPE_STACKS_PYTHON").unwrap_or("python3".to_owned());
    let program = Program::run(&[&python, &path(file)]);
    if program.is_none() {
        println!("NOT RUN: no Python");
    }
    program
}

fn path(file: &str) -> String {
    format!("{}/tests/program/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns the line with a comment.
fn line(file: &str, comment: &str) -> u32 {
    let text = std::fs::read_to_string(Path::new(&path(file))).expect("the program");
    let comment = format!("# {comment}");
    let at = text.lines().position(|line| line.ends_with(&comment));
    u32::try_from(at.expect("the comment") + 1).expect("a line")
}

/// Returns the child processes.
fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let text = text.unwrap_or_default();
    text.split_whitespace().flat_map(str::parse).collect()
}

#[test]
fn the_shares_of_functions_are_known() {
    let Some(program) = start("shares.py") else {
        return;
    };
    let pid = program.pid();
    let mut run = Run::start(vec![pid]);
    let is_enough = |run: &Run| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
        assert!(status.contains("TracerPid:\t0\n") && !status.contains("\nState:\tT"));
        run.count(pid) >= 1000
    };
    run.until("1000 samples", is_enough);
    for (comment, wanted) in [("spin", 0.5), ("rest", 0.3), ("compress", 0.2)] {
        let share = run.share(pid, "shares.py", line("shares.py", comment));
        println!("{comment}: {share:.3}");
        assert!((share - wanted).abs() < 0.05, "{comment}: {share}");
    }
    println!("skipped: {}", run.taken.skipped);
    assert!(run.taken.skipped < 20, "{}", run.taken.skipped);
}

/// A stack that changes during its read is not mixed from two.
#[test]
fn stacks_of_short_calls_are_possible_ones() {
    /// Callers and functions.
    const CALLS: [(&str, &str); 10] = [
        ("<module>", "outer"),
        ("outer", "leaf"),
        ("outer", "generate"),
        ("generate", "<genexpr>"),
        ("<genexpr>", "leaf"),
        ("outer", "sort"),
        ("sort", "leaf"),
        ("outer", "recurse"),
        ("recurse", "recurse"),
        ("recurse", "leaf"),
    ];
    let Some(program) = start("calls.py") else {
        return;
    };
    let pid = program.pid();
    let mut run = Run::start_with(1000, vec![pid]);
    run.until("3000 samples", |run| run.count(pid) >= 3000);
    let is_possible = |stack: &[Arc<Frame>]| {
        let name = |frame: &Arc<Frame>| frame.function.rsplit('.').next().map(str::to_owned);
        let names: Vec<String> = stack.iter().rev().filter_map(name).collect();
        let own = names.iter().skip_while(|name| *name != "<module>");
        let own: Vec<&str> = own.map(String::as_str).collect();
        let is_call = |call: &[&str]| CALLS.contains(&(call[0], call[1]));
        !own.is_empty() && own.windows(2).all(is_call)
    };
    let mut impossible = 0;
    for one in &run.taken.samples {
        let stack = run.stack(one.node);
        if !is_possible(&stack) {
            println!("{stack:#?}");
            impossible += one.count;
        }
    }
    let (count, skipped) = (run.count(pid), run.taken.skipped);
    println!("{count} samples, {impossible} impossible, {skipped} skipped");
    assert!(impossible * 50 < count && skipped * 20 < count.into());
}

/// A second reader of stacks shows the same functions and lines.
#[test]
fn each_frame_is_the_one_of_a_snapshot() {
    let Some(program) = start("nested.py") else {
        return;
    };
    let pid = program.pid();
    let mut run = Run::start(vec![pid]);
    let is_asleep = |run: &Run| {
        let last = run.taken.samples.last();
        last.is_some_and(|one| run.stack(one.node).iter().any(|f| f.file == "made.py"))
    };
    run.until("the sleep", is_asleep);
    let node = run.taken.samples.last().expect("a sample").node;
    let frames: Vec<Frame> = run.stack(node).iter().map(|f| (**f).clone()).collect();
    let snapshot = Snapshot::take(pid).expect("it is readable");
    let process = snapshot.process(pid).expect("the process");
    let wanted = &process.main().expect("a thread").frames;
    assert_eq!(&frames, wanted);
    assert!(frames.len() > 40);
}

#[test]
fn forked_and_spawned_processes_are_sampled_and_an_end_is_no_error() {
    let Some(program) = start("processes.py") else {
        return;
    };
    let main = program.pid();
    let mut run = Run::start(vec![main]);
    let end = Instant::now() + Duration::from_secs(60);
    let (work, join) = (line("processes.py", "work"), line("processes.py", "join"));
    let mut seen = BTreeSet::new();
    loop {
        seen.extend(children(main));
        run.sampler
            .set_processes(seen.iter().copied().chain([main]).collect());
        std::thread::sleep(Duration::from_millis(30));
        run.take();
        let works =
            |pid: &&u32| run.count(**pid) > 100 && run.share(**pid, "processes.py", work) > 0.8;
        let working = seen.iter().filter(works).count();
        if working == 3 && run.count(main) > 100 && seen.len() > 10 {
            break;
        }
        assert!(Instant::now() < end, "{working} of {} work", seen.len());
    }
    assert!(run.share(main, "processes.py", join) > 0.5);
    assert_eq!(run.taken.refused, []);
    // Samples of a process are in the order of time.
    let mut last: HashMap<u32, u64> = HashMap::new();
    for one in &run.taken.samples {
        assert!(
            last.insert(one.pid, one.at)
                .is_none_or(|before| before < one.at)
        );
    }
}

/// A fork shows no frames of its parent.
#[test]
fn a_wait_for_work_of_pytorch_is_no_sample() {
    let Some(python) = pytorch() else {
        return;
    };
    for (workers, load, train) in [(2, 0.0, 0.05), (2, 0.05, 0.0), (0, 0.05, 0.05)] {
        let words = [workers.to_string(), load.to_string(), train.to_string()];
        let file = path("loader.py");
        let mut command = vec![python.as_os_str(), file.as_ref()];
        command.extend(words.iter().map(|word| std::ffi::OsStr::new(word)));
        let program = Program::run(&command).expect("it starts");
        let main = program.pid();
        let end = Instant::now() + Duration::from_secs(60);
        while children(main).len() < workers {
            assert!(Instant::now() < end, "no workers");
        }
        std::thread::sleep(Duration::from_secs(8 * u64::from(workers == 0)));
        let workers = children(main);
        let mut run = Run::start(workers.iter().copied().chain([main]).collect());
        std::thread::sleep(Duration::from_secs(5));
        run.take();
        let (load_line, train_line) = (line("loader.py", "load"), line("loader.py", "train"));
        let at_main = run.count(main);
        println!("main: {at_main}");
        for pid in workers {
            println!("worker: {}", run.count(pid));
            assert_eq!(run.count(pid) > 300, load > 0.0);
            assert!(load == 0.0 || run.share(pid, "loader.py", load_line) > 0.9);
        }
        assert_eq!(at_main > 250, train > 0.0);
        let share = run.share(main, "loader.py", train_line);
        assert!(
            train == 0.0 || share > if load > 0.0 { 0.4 } else { 0.9 },
            "{share}"
        );
        let load = run.share(main, "loader.py", load_line);
        assert_eq!(load > 0.4, at_main > 250 && share < 0.6, "{load}");
        assert_eq!(run.taken.refused, []);
    }
}

#[test]
fn a_process_without_python_is_refused_once() {
    let program = Program::run(&["sleep", "1000"]).expect("it starts");
    let mut run = Run::start(vec![program.pid()]);
    run.until("the refusal", |run| !run.taken.refused.is_empty());
    std::thread::sleep(Duration::from_secs(1));
    run.take();
    let [(pid, why)] = &run.taken.refused[..] else {
        panic!("{:?}", run.taken.refused);
    };
    assert_eq!(*pid, program.pid());
    println!("{why}");
    assert!(run.taken.samples.is_empty());
}
