//! Samples of running Python programs.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::print_stdout, reason = "a test says what it did not run")]

#[allow(dead_code, reason = "other tests use the rest")]
mod program;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
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
    fn until(&mut self, wanted: &str, mut is_true: impl FnMut(&Self) -> bool) {
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

    /// Returns true if a stack has this line.
    fn has(&self, file: &str, line: u32) -> bool {
        let mut nodes = self.nodes.iter().map(|node| &node.frame);
        nodes.any(|frame| frame.file.ends_with(file) && frame.line == line)
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
    let is_enough = |run: &Run| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
        assert!(status.contains("TracerPid:\t0\n") && !status.contains("\nState:\tT"));
        run.count(pid) >= 600
    };
    // A busy computer lengthens the sleeps of the program.
    let is_right = (0..5).any(|_| {
        let mut run = Run::start(vec![pid]);
        run.until("600 samples", is_enough);
        let error = |(comment, wanted): (&str, f64)| {
            let share = run.share(pid, "shares.py", line("shares.py", comment));
            println!("{comment}: {share:.3}");
            (share - wanted).abs()
        };
        let errors = [("spin", 0.5), ("rest", 0.3), ("compress", 0.2)].map(error);
        // Only `rest` waits, in a system call.
        let asleep = run.share(pid, "<sleep>", 0);
        println!("asleep: {asleep:.3}");
        let errors = errors.into_iter().chain([(asleep - 0.3).abs()]);
        errors.into_iter().all(|error| error < 0.03) && run.taken.skipped < 20
    });
    assert!(is_right);
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
    let is_possible = |stack: &[Arc<Frame>]| {
        let own = stack
            .iter()
            .filter(|frame| frame.file.ends_with("calls.py"));
        let name = |frame: &Arc<Frame>| frame.function.rsplit('.').next().map(str::to_owned);
        let names: Vec<String> = own.rev().filter_map(name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        names
            .windows(2)
            .all(|call| CALLS.contains(&(call[0], call[1])))
    };
    // The program runs on while its stack is read. On a busy host, single attempts are worse.
    let is_consistent = |_| {
        let mut run = Run::start_with(1000, vec![pid]);
        run.until("3000 samples", |run| run.count(pid) >= 3000);
        let is_impossible = |node| !is_possible(&run.stack(node));
        let samples = run.taken.samples.iter();
        let impossible = samples.filter(|one| is_impossible(one.node));
        let impossible: u32 = impossible.map(|one| one.count).sum();
        let (count, skipped) = (run.count(pid), run.taken.skipped);
        println!("{count} samples, {impossible} impossible, {skipped} skipped");
        impossible * 20 < count && skipped * 10 < count.into()
    };
    assert!((0..3).any(is_consistent));
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
    let mut frames: Vec<Frame> = run.stack(node).iter().map(|f| (**f).clone()).collect();
    let call = frames.remove(0);
    assert_eq!((call.file.as_str(), call.line), ("<sleep>", 0));
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

#[test]
fn a_wait_for_work_of_pytorch_is_no_sample() {
    let Some(python) = pytorch() else {
        return;
    };
    let file = "loader.py";
    let (load, train) = (line(file, "load"), line(file, "train"));
    // The number of workers, and the seconds of a batch in the dataset and in the training.
    for (workers, loading, training) in [(2, 0.0, 0.05), (2, 0.05, 0.0), (0, 0.05, 0.05)] {
        let words = [
            workers.to_string(),
            format!("{loading}"),
            format!("{training}"),
        ];
        let path = path(file);
        let command = [python.as_os_str(), path.as_ref()].into_iter();
        let command: Vec<&OsStr> = command.chain(words.iter().map(OsStr::new)).collect();
        let program = Program::run(&command).expect("it starts");
        let main = program.pid();
        let mut run = Run::start(vec![main]);
        let mut processes = vec![main];
        run.until("the first samples", |run| {
            processes = [vec![main], children(main)].concat();
            run.sampler.set_processes(processes.clone());
            run.has(file, load) || run.has(file, train)
        });
        run.taken.samples.clear();
        std::thread::sleep(Duration::from_secs(5));
        run.take();
        assert_eq!(
            (processes.len(), &run.taken.refused[..]),
            (1 + workers, &[][..])
        );
        let part = |pid, line| match run.count(pid) {
            0..50 => 0.0,
            count => run.share(pid, file, line) * f64::from(count) / 500.0,
        };
        println!("main: {:.2} {:.2}", part(main, load), part(main, train));
        assert_eq!(part(main, train) > 0.3, training > 0.0);
        assert_eq!(part(main, load) > 0.3, workers == 0);
        for pid in processes.into_iter().skip(1) {
            println!("worker: {} samples, {:.2}", run.count(pid), part(pid, load));
            assert_eq!(part(pid, load) > 0.6, loading > 0.0);
            assert_eq!(run.count(pid) < 50, loading == 0.0);
        }
        let is_idle = workers > 0 && training == 0.0;
        assert_eq!(run.count(main) < 150, is_idle, "{}", run.count(main));
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
