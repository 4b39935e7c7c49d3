//! Coverage-guided fuzzing with libFuzzer for the targets of `loader/fuzz`.
//!
//! The compiler flags for coverage are stable, so the workspace's toolchain is sufficient.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::setup::Ready;
use crate::{sanitize, steps};

mod archive;
mod fuzz_paths;
mod table;

use archive::{add, pack, unpack};
use fuzz_paths::{FuzzPaths, LONGEST_KEPT, files, targets};
use table::{FuzzStats, page, read_table};

/// Compiler flags for coverage: one 8-bit counter per edge, and traced comparisons.
const FLAGS: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Options of fuzzing.
#[derive(Args)]
pub struct Options {
    /// One target of `TARGETS` in loader/fuzz [default: all]
    target: Option<String>,
    /// Executions of each target
    #[arg(long, default_value_t = 100_000)]
    runs: u64,
    /// Longest input, bytes
    #[arg(long, default_value_t = 16 << 10)]
    longest: usize,
    /// Add inputs with new coverage to loader/fuzz/tests/corpus.tar.zst and remove redundant ones
    #[arg(long)]
    keep: bool,
    /// Only add these files to loader/fuzz/tests/corpus.tar.zst as inputs of the target, which can be new
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "target", conflicts_with_all = ["keep", "runs", "longest"])]
    add: Vec<PathBuf>,
}

/// Builds the program, runs the targets one by one, and writes the table. With `--add`, it only adds inputs.
pub fn run(ready: &Ready, workspace: &Path, options: &Options) -> Result<u8> {
    let fuzz_paths = FuzzPaths {
        home: workspace.join("loader/fuzz"),
        work: ready.target.join("fuzz"),
    };
    unpack(&fuzz_paths.archive(), &fuzz_paths.inputs())?;
    if let (Some(target), [_, ..]) = (&options.target, &options.add[..]) {
        return add_inputs(&fuzz_paths, target, &options.add);
    }
    let all = targets(&fuzz_paths)?;
    let chosen = match &options.target {
        Some(name) if all.contains(name) => std::slice::from_ref(name),
        Some(name) => bail!(
            "target {name} does not exist. Choose one of {}",
            all.join(", ")
        ),
        None => &all,
    };
    let Some(program) = build(ready, &fuzz_paths)? else {
        return Ok(1);
    };
    let mut code = 0;
    for target in chosen {
        let (done, sound) = fuzz(&fuzz_paths, &program, target, options)?;
        let mut table = read_table(&fuzz_paths)?;
        let sum = table.entry(target.clone()).or_default();
        sum.executions += done.executions;
        sum.seconds += done.seconds;
        if options.keep && sound {
            keep(&fuzz_paths, &program, target)?;
            pack(&fuzz_paths.inputs(), &fuzz_paths.archive())?;
        }
        fs::write(fuzz_paths.table(), page(&fuzz_paths, &all, &table)?)?;
        if !sound {
            code = 1;
        }
    }
    Ok(code)
}

/// Adds files to the archive.
fn add_inputs(fuzz_paths: &FuzzPaths, target: &str, paths: &[PathBuf]) -> Result<u8> {
    for path in paths {
        add(&fuzz_paths.inputs(), target, path)?;
    }
    pack(&fuzz_paths.inputs(), &fuzz_paths.archive())?;
    let table = page(fuzz_paths, &targets(fuzz_paths)?, &read_table(fuzz_paths)?)?;
    fs::write(fuzz_paths.table(), table)?;
    let count = files(&fuzz_paths.corpus(target))?.len();
    println!("{target} has {count} inputs now.");
    Ok(0)
}

/// Builds the fuzz program in a separate folder. Returns `None` if the build fails.
fn build(ready: &Ready, fuzz_paths: &FuzzPaths) -> Result<Option<PathBuf>> {
    let host = sanitize::host()?;
    let arguments = [
        "build",
        "--profile",
        "fuzz",
        "--package",
        "loadscope-fuzz",
        "--features",
        "guided",
        "--bin",
        "fuzz",
    ];
    let mut command = steps::cargo(ready, &arguments);
    // With an explicit target, the flags do not apply to build scripts and macros.
    command.args(["--target", &host]);
    command.env("CARGO_TARGET_DIR", &fuzz_paths.work);
    command.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"));
    if steps::finish(&mut command)? != 0 {
        return Ok(None);
    }
    Ok(Some(fuzz_paths.work.join(&host).join("fuzz/fuzz")))
}

/// Prepares libFuzzer for a target.
fn program(fuzz_paths: &FuzzPaths, program: &Path, target: &str) -> Result<Command> {
    let temporary = fuzz_paths.work.join("scratch");
    fs::create_dir_all(&temporary)?;
    let mut command = Command::new(program);
    command.env("LOADSCOPE_FUZZ_TARGET", target);
    // Temporary files are rewritten thousands of times per second, so they are stored in memory.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory } else { &temporary };
    command.env("TMPDIR", folder);
    // Returning memory to the system and allocating it again would take half of the time.
    for name in ["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"] {
        command.env(name, "1000000000");
    }
    Ok(command)
}

/// Runs libFuzzer. Returns false if an input fails.
fn fuzz(
    fuzz_paths: &FuzzPaths,
    built: &Path,
    target: &str,
    options: &Options,
) -> Result<(FuzzStats, bool)> {
    let grown = fuzz_paths.work.join("corpus").join(target);
    let found = fuzz_paths.work.join("found").join(target);
    for folder in [&grown, &found] {
        fs::create_dir_all(folder)?;
    }
    let words = fuzz_paths.home.join("tests/words.dict");
    let mut command = program(fuzz_paths, built, target)?;
    command
        .arg(format!("-runs={}", options.runs))
        .arg(format!("-max_len={}", options.longest))
        .arg(format!("-dict={}", words.display()))
        .arg(format!("-artifact_prefix={}/", found.display()))
        // The program itself limits inputs to 512 MiB and one second of CPU time.
        .args([
            "-rss_limit_mb=2048",
            "-timeout=100",
            "-entropic=0",
            "-print_final_stats=1",
        ])
        .args([&grown, &fuzz_paths.corpus(target)])
        .stderr(Stdio::piped());
    // Inputs close to former failures are likely to find others.
    command.args(Some(fuzz_paths.faults(target)).filter(|folder| folder.is_dir()));
    let (started, before) = (Instant::now(), processor());
    let output = command.output().context("the fuzzer cannot be started")?;
    let seconds = match (before, processor()) {
        (Some(before), Some(after)) => after - before,
        _ => started.elapsed().as_secs_f64(),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let executions = executions(&said);
    println!("{target}: {executions} executions in {seconds:.0} s");
    if !output.status.success() {
        let last: Vec<&str> = said.lines().rev().take(60).collect();
        last.iter().rev().for_each(|line| eprintln!("{line}"));
        eprintln!(
            "An input is not taken. It is in {}. Fix what it shows, move it to {}/what-was-wrong, and write its test into tests/faults.rs",
            found.display(),
            fuzz_paths.faults(target).display()
        );
    }
    let done = FuzzStats {
        executions,
        seconds,
    };
    Ok((done, output.status.success()))
}

/// Returns the CPU time of ended child processes in seconds, on systems that report it.
fn processor() -> Option<f64> {
    const TICKS_A_SECOND: f64 = 100.0;
    let fields = fs::read_to_string("/proc/self/stat").ok()?;
    // The program name is in parentheses and may contain any character.
    let (_, fields) = fields.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: Option<Vec<f64>> = ticks.map(|t| t.parse().ok()).collect();
    Some(ticks?.iter().sum::<f64>() / TICKS_A_SECOND)
}

/// Returns the number of executions from libFuzzer's output.
fn executions(said: &str) -> u64 {
    let last = |start: &str| {
        let line = said.lines().rev().find_map(|l| l.strip_prefix(start));
        line.map(str::trim).map(str::to_owned)
    };
    let summed = last("stat::number_of_executed_units:").and_then(|n| n.parse().ok());
    // After an early stop, the number is at the start of the last progress line.
    let counted = || {
        let lines = said.lines().rev();
        let mut numbers = lines.filter_map(|l| l.strip_prefix('#')?.split_whitespace().next());
        numbers.find_map(|n| n.parse().ok())
    };
    summed.or_else(counted).unwrap_or(0)
}

/// Replaces the corpus by a minimal set of inputs with the same coverage.
fn keep(fuzz_paths: &FuzzPaths, built: &Path, target: &str) -> Result<()> {
    let kept = fuzz_paths.work.join("kept").join(target);
    if kept.exists() {
        fs::remove_dir_all(&kept)?;
    }
    fs::create_dir_all(&kept)?;
    let corpus = fuzz_paths.corpus(target);
    let mut command = program(fuzz_paths, built, target)?;
    command
        .args([
            "-set_cover_merge=1",
            "-use_counters=0",
            "-rss_limit_mb=2048",
        ])
        .arg(format!("-max_len={LONGEST_KEPT}"))
        .args([&kept, &corpus, &fuzz_paths.work.join("corpus").join(target)])
        .stderr(Stdio::piped());
    let output = command.output().context("the fuzzer cannot be started")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    for path in files(&corpus)? {
        fs::remove_file(path)?;
    }
    for path in files(&kept)? {
        let name = path.file_name().context("a file has a name")?.to_owned();
        // Sixteen digits of the hash are unique enough.
        let short: String = name.to_string_lossy().chars().take(16).collect();
        fs::copy(&path, corpus.join(short))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_read_from_libfuzzer_output() {
        let whole =
            "#1024\tNEW cov: 5\n#2000\tDONE\nstat::number_of_executed_units: 2000\nstat::x: 1\n";
        assert_eq!(executions(whole), 2000);
        let stopped_early = "#512\tpulse cov: 1\n#777\tNEW cov: 2\nthread panicked\n#x\n";
        assert_eq!(executions(stopped_early), 777);
        assert_eq!(executions("no such program"), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processor_time_counts_ended_programs() -> Result<()> {
        let before = processor().context("Linux tells")?;
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        Command::new("sh").args(["-c", work]).status()?;
        Command::new("sleep").arg("0.3").status()?;
        let spent = processor().context("Linux tells")? - before;
        assert!(spent > 0.02, "{spent}");
        Ok(())
    }
}
