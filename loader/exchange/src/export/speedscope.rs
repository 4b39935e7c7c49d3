//! Sampled stacks for <https://www.speedscope.app>: a profile per process. All profiles have the time axis of the run.

use std::io::Write;
use std::iter::once;

use loadscope_trace::{Nanos, Run, RunId, StackLog, WorkerId};
use serde_json::json;

use super::cell::Failure;
use super::stacks::{Frames, process_name};

/// Writes the profiles of the runs of a session.
pub(super) fn write(
    runs: &[(RunId, &Run)],
    names: &[String],
    out: &mut dyn Write,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    write!(
        out,
        "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"loadscope {version}\",\"profiles\":["
    )?;
    let (mut frames, mut comma) = (Frames::default(), "");
    for (k, (_, run)) in runs.iter().enumerate() {
        frames.start_run();
        for worker in run.stacks().processes() {
            if !progress(k as f32 / runs.len() as f32) {
                return Err(Failure::Cancelled);
            }
            let process = process_name(worker);
            let name = match (runs, names.get(k)) {
                ([_], _) | (_, None) => process,
                (_, Some(loader)) => format!("{loader}: {process}"),
            };
            write!(
                out,
                "{comma}\n{{\"type\":\"sampled\",\"name\":{},",
                json!(name)
            )?;
            profile(run, worker, &mut frames, out)?;
            comma = ",";
        }
    }
    write!(out, "\n],\"shared\":{{\"frames\":[")?;
    for (k, (function, line)) in frames.all.iter().enumerate() {
        let comma = if k == 0 { "" } else { "," };
        let (name, file) = (json!(function.name), json!(function.file));
        write!(out, "{comma}\n{{\"name\":{name},\"file\":{file}")?;
        match line {
            0 => write!(out, "}}")?,
            line => write!(out, ",\"line\":{line}}}")?,
        }
    }
    out.write_all(b"\n]}}\n")?;
    Ok(())
}

/// Writes the stacks of a process, the outermost frame first, with their durations.
fn profile<'a>(
    run: &'a Run,
    worker: Option<WorkerId>,
    frames: &mut Frames<'a>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let log = run.stacks();
    write!(
        out,
        "\"unit\":\"nanoseconds\",\"startValue\":0,\"samples\":["
    )?;
    for (k, (stack, _)) in timeline(log, worker, run.end()).enumerate() {
        let comma = if k == 0 { "" } else { "," };
        let numbers = stack.map(|stack| frames.of(log, stack));
        let outermost_first: Vec<usize> = numbers.into_iter().flatten().rev().collect();
        write!(out, "{comma}{}", json!(outermost_first))?;
    }
    write!(out, "],\"weights\":[")?;
    let mut end = Nanos::ZERO;
    for (k, (_, wall)) in timeline(log, worker, run.end()).enumerate() {
        let comma = if k == 0 { "" } else { "," };
        write!(out, "{comma}{}", wall.0)?;
        end += wall;
    }
    write!(out, "],\"endValue\":{}}}", end.0)?;
    Ok(())
}

/// Returns the stacks of a process from time 0 to `end`, with their durations. `None` is a gap, which speedscope leaves empty: the process
/// waited for work, did not run, or could not be read.
fn timeline(
    log: &StackLog,
    worker: Option<WorkerId>,
    end: Nanos,
) -> impl Iterator<Item = (Option<u32>, Nanos)> {
    let period = log.period();
    let samples = log.samples(worker, Nanos(i64::MIN)..Nanos::MAX);
    let samples = samples.map(move |one| (Some(one.stack), one.start, one.end(period)));
    let mut at = Nanos::ZERO;
    samples
        .chain(once((None, end, end)))
        .flat_map(move |(stack, start, end)| {
            // No sample is missing in a gap that is shorter than a period.
            let gap = Some(start - at)
                .filter(|gap| *gap >= period)
                .unwrap_or_default();
            let wall = end - (at + gap);
            at = at.max(end);
            [(None, gap), (stack, wall)]
                .into_iter()
                .filter(|(_, wall)| *wall > Nanos::ZERO)
        })
}
