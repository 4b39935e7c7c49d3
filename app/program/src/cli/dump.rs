//! `loadscope dump`: the stacks and waits of a running program, and the cause of a hang.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use loadscope_stacks::{
    Analysis, Finding, Frame, Node, Process, Python, Snapshot, Thread, ThreadRole, capitalized,
    node_text, process_list, process_name, thread_name, wait_text,
};
use loadscope_words::{pad_end, say};
use serde_json::{Value, json};

use super::number::whole_number;
use super::terminal::{print_json_line, print_report};

/// Exit codes of `dump`.
const EXIT_CODES: &str = "\
Exit code:
  0  the stacks were printed
  2  any error";

/// The process, and the form of the output.
#[derive(Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub struct DumpArgs {
    /// Process ID
    ///
    /// Child processes are included.
    #[arg(value_parser = super::attach::process)]
    pid: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print at most DEPTH frames per thread [default: all]
    ///
    /// The innermost frames are kept, and the frame of your code.
    #[arg(long, value_name = "DEPTH", value_parser = whole_number(1_u32, 4096))]
    limit: Option<u32>,
}

/// Width of the labels, terminal cells.
const LABELS: usize = 13;

/// Prints the cause of a hang, the chain of waits and all stacks.
pub fn run(args: &DumpArgs) -> anyhow::Result<ExitCode> {
    let snapshot = Snapshot::take(args.pid).map_err(|e| anyhow!(e.to_string()))?;
    let analysis = Analysis::of(&snapshot);
    let depth = args.limit.and_then(|limit| usize::try_from(limit).ok());
    let depth = depth.unwrap_or(usize::MAX);
    match args.json {
        true => print_json_line(object(&snapshot, &analysis, depth)?)?,
        false => print_report(text(&snapshot, &analysis, depth)?.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(snapshot: &Snapshot, analysis: &Analysis, depth: usize) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    let conclusion = analysis.conclusion(snapshot);
    let label = |text: &str| pad_end(text, LABELS);
    let sentence = analysis.text(snapshot);
    match conclusion {
        Some(found) => {
            writeln!(out, "{}{sentence}", label(say!("Cause")))?;
            for fact in found.evidence(snapshot) {
                writeln!(out, "{}{fact}", label(say!("Evidence")))?;
            }
            writeln!(out, "{}{}", label(say!("Remedy")), found.remedy())?;
        }
        None => writeln!(out, "{sentence}")?,
    }
    writeln!(out, "\n{}", say!("Waits"))?;
    for node in &analysis.chain {
        writeln!(out, "  {}", node_text(snapshot, *node))?;
    }
    write_others(&mut out, snapshot, analysis)?;
    for process in &snapshot.processes {
        write_process(&mut out, snapshot, process, depth)?;
    }
    Ok(out)
}

/// Writes the other findings, equal ones in one line.
fn write_others(out: &mut String, snapshot: &Snapshot, analysis: &Analysis) -> std::fmt::Result {
    let key = |finding: &Finding| (finding.predicate(snapshot), finding.remedy());
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    for finding in &analysis.findings {
        let is_equal = |group: &&mut Vec<&Finding>| {
            group
                .first()
                .is_some_and(|first| key(first) == key(finding))
        };
        match groups.iter_mut().find(is_equal) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    // The conclusion is the first finding.
    let mut is_written = analysis.conclusion(snapshot).is_some();
    let mut lines: Vec<String> = Vec::new();
    for group in groups {
        let [first, same @ ..] = &group[..] else {
            continue;
        };
        if !is_written {
            lines.push(first.text(snapshot));
            lines.push(format!("→ {}", first.remedy()));
        }
        is_written = false;
        let pids = same.iter().map(|finding| finding.at.pid);
        let mut pids: Vec<u32> = pids.filter(|pid| *pid != first.at.pid).collect();
        pids.dedup();
        if !pids.is_empty() {
            let list = capitalized(process_list(snapshot, &pids));
            lines.push(say!("{list}: the same"));
        }
    }
    if !lines.is_empty() {
        writeln!(out, "\n{}", say!("Also"))?;
    }
    lines.iter().try_for_each(|line| writeln!(out, "  {line}"))
}

fn write_process(
    out: &mut String,
    snapshot: &Snapshot,
    process: &Process,
    depth: usize,
) -> std::fmt::Result {
    if process.ended.is_some() {
        let text = node_text(snapshot, Node::main(process.pid));
        return writeln!(out, "\n{}", capitalized(text));
    }
    let name = capitalized(process_name(snapshot, process.pid));
    let command = process.command.lines().next().unwrap_or_default();
    writeln!(out, "\n{name}: {}", cut(command))?;
    match &process.python {
        Python::Version(_) | Python::Absent => {}
        Python::Unreadable(why) => writeln!(out, "  {}", say!("no Python stacks: {why}"))?,
    }
    let is_stopped = process.state.is_stopped();
    // Thread pools of libraries in C have many threads without a frame.
    let is_shown = |thread: &&Thread| thread.role != ThreadRole::Native;
    for thread in process.threads.iter().filter(is_shown) {
        let is_idle = thread.is_idle() && !is_stopped && !thread.holds_gil;
        let note = match (thread.holds_gil, is_idle) {
            (true, _) => say!(", holds the GIL"),
            (false, true) => say!(", idle"),
            (false, false) => "",
        };
        let wait = match is_stopped {
            true => say!("is stopped").to_owned(),
            false => wait_text(snapshot, thread),
        };
        writeln!(out, "  {}: {wait}{note}", thread_name(thread))?;
        if is_idle {
            continue;
        }
        for (frame, is_marked) in thread.shown_frames(depth) {
            let mark = if is_marked { "→" } else { " " };
            let Frame {
                function,
                file,
                line,
                ..
            } = frame;
            writeln!(out, "  {mark} {function} ({file}:{line})")?;
        }
    }
    let native = process.threads.len() - process.threads.iter().filter(is_shown).count();
    match native {
        0 => Ok(()),
        _ => writeln!(out, "  {}", say!("threads without Python code: {native}")),
    }
}

/// Returns at most 120 characters of a command line.
fn cut(command: &str) -> String {
    const MAX: usize = 120;
    match command.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", command.get(..end).unwrap_or_default()),
        None => command.to_owned(),
    }
}

fn object(snapshot: &Snapshot, analysis: &Analysis, depth: usize) -> anyhow::Result<Value> {
    let finding = |finding: &Finding| {
        json!({
            "cause": finding.cause,
            "at": finding.at,
            "on_chain": finding.is_on_chain,
            "text": finding.text(snapshot),
            "evidence": finding.evidence(snapshot),
            "remedy": finding.remedy(),
        })
    };
    let node =
        |node: &Node| json!({"pid": node.pid, "tid": node.tid, "text": node_text(snapshot, *node)});
    let mut shown = snapshot.clone();
    for thread in shown.processes.iter_mut().flat_map(|p| &mut p.threads) {
        let frames = thread.shown_frames(depth);
        thread.frames = frames.map(|(frame, _)| frame.clone()).collect();
    }
    Ok(json!({
        "text": analysis.text(snapshot),
        "conclusion": analysis.conclusion(snapshot).map(finding),
        "findings": analysis.findings.iter().map(finding).collect::<Vec<_>>(),
        "chain": analysis.chain.iter().map(node).collect::<Vec<_>>(),
        "processes": serde_json::to_value(&shown.processes)?,
    }))
}
