//! The endurance test: the bench `soak` of the program, part by part. Writes `tests/soak/RESULTS.md`.

use std::fs;
use std::io::Read as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};

use crate::setup::Ready;
use crate::{scripts, steps};

/// Options of the endurance test.
#[derive(Args, Debug)]
pub struct Options {
    /// Events of each part
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000,
          value_parser = clap::value_parser!(u64).range(10_000..))]
    events: u64,
    /// Only these parts [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PART")]
    part: Vec<Part>,
    /// Write tests/soak/RESULTS.md. Results of other parts stay
    #[arg(long)]
    write: bool,
    /// Seed of random times, to repeat a run [default: the time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Time limit, hours
    #[arg(long, value_name = "N", default_value_t = 24)]
    hours: u64,
    /// Use this `soak` executable instead of building one
    #[arg(long, value_name = "EXECUTABLE")]
    executable: Option<PathBuf>,
}

/// Tested part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// A synthetic training through the recorder with a limit
    Recorder,
    /// Runs and recordings through the window, one after the other
    Fold,
    /// The embedded engine, recorded with a limit, with pauses and steps
    Engine,
    /// The same with the process stopped and continued, and with clock changes for the recorder
    Interrupted,
}

/// Section of the page: its title, its part, the part's name in the bench, true if the process is suspended, and a description.
type Section = (&'static str, Part, &'static str, bool, &'static str);

const SECTIONS: [Section; 6] = [
    (
        "Recorder",
        Part::Recorder,
        "recorder",
        false,
        "A synthetic training of days through the recorder with `--last 30m --max-size 200MB`: sparse and dense hours, long waits, errors, \
      warnings, and epochs that stop early.",
    ),
    (
        "Window",
        Part::Fold,
        "fold",
        false,
        "Runs and recordings through the window without a screen, each replaced by the next.",
    ),
    (
        "Engine",
        Part::Engine,
        "engine",
        false,
        "The embedded engine at full speed, recorded as by `run --record` with `--last 30m --max-size 200MB`.",
    ),
    (
        "Engine, suspended",
        Part::Interrupted,
        "engine",
        true,
        "The same while the process is stopped by SIGSTOP for one to three seconds at random times.",
    ),
    (
        "Recorder, clock set",
        Part::Interrupted,
        "clock",
        false,
        "The synthetic clock of the events is set forwards and back by hours. The events are sorted like those of the engine's threads.",
    ),
    (
        "Recorder, clock set, unsorted",
        Part::Interrupted,
        "clock-unsorted",
        false,
        "The same without sorting.",
    ),
];

const HEAD: &str = "# Soak\n\n\
Written by `cargo xtask soak --write`. It sends up to a billion events through the parts of the program that run for weeks. Each section\n\
is one process, sampled four times per second. After the second tenth of the events nothing may grow. Limits above the maximum of the\n\
second tenth: 10 % and 16 MB of memory, 16 descriptors, 8 threads. The recording is compared with counts taken while it was written.\n";

/// Builds the benchmark, runs its parts, and writes the table. Returns 1 if a check fails.
pub fn run(ready: &Ready, workspace: &Path, options: &Options) -> Result<u8> {
    let executable = match &options.executable {
        Some(own) => own.clone(),
        None => scripts::executable(
            steps::cargo(ready, &["bench", "--no-run", "--bench", "soak"])
                .args(["-p", "loadscope"]),
            "soak",
        )?,
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let seed = options.seed.unwrap_or(since.as_secs());
    eprintln!("Random times begin at {seed}. `--seed {seed}` repeats them.");
    let path = workspace.join("tests/soak/RESULTS.md");
    let mut code = 0;
    for (title, part, name, is_suspended, about) in SECTIONS {
        if !options.part.is_empty() && !options.part.contains(&part) {
            continue;
        }
        let began = Instant::now();
        eprintln!("{title}");
        let mut command = Command::new(&executable);
        command
            .arg(name)
            .args([
                "--events",
                &options.events.to_string(),
                "--seed",
                &seed.to_string(),
            ])
            .env("LD_LIBRARY_PATH", ready.libtorch.join("lib"));
        let deadline = Duration::from_secs(options.hours.saturating_mul(3600));
        let (rows, own) = watch(&mut command, deadline, is_suspended.then_some(seed))
            .with_context(|| title.to_owned())?;
        code = code.max(own);
        let section = format!(
            "## {title}\n\n{about}\n\n{} events in {}, on a host with {} cores, seed {seed}: **{}**.\n\n\
             | property | measured | |\n|---|---|---|\n{rows}",
            options.events,
            steps::format_duration(began.elapsed()),
            std::thread::available_parallelism().map_or(1, NonZero::get),
            if own == 0 {
                "everything holds"
            } else {
                "FAILED"
            },
        );
        println!("{section}");
        // The page is written after each part, because the next part takes hours.
        if options.write {
            let before = fs::read_to_string(&path).unwrap_or_default();
            fs::write(&path, page(&before, &section))
                .with_context(|| path.display().to_string())?;
        }
    }
    match options.write {
        true => eprintln!("Written to {}.", path.display()),
        false => eprintln!("Not written. --write writes it."),
    }
    Ok(code)
}

/// Runs a process, and suspends it at random times if a seed is given. Returns its output and exit code.
fn watch(command: &mut Command, deadline: Duration, stops: Option<u64>) -> Result<(String, u8)> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let result = follow(&mut child, deadline, stops);
    if result.is_err() {
        // SIGKILL also ends a suspended process. The error that is reported is the first one.
        let _ = child.kill();
        let _ = child.wait();
    }
    result
}

fn follow(child: &mut Child, deadline: Duration, stops: Option<u64>) -> Result<(String, u8)> {
    let mut output = child.stdout.take().context("a pipe")?;
    let (began, mut noise) = (Instant::now(), stops.unwrap_or(1) | 1);
    let mut random = |least: u64, most: u64| {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        Duration::from_millis(least + (noise >> 11) % (most - least))
    };
    let (mut next, mut is_stopped, mut count) = (random(1_000, 5_000), false, 0);
    // The table has fewer bytes than a pipe holds, so the process does not wait for a reader.
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > deadline {
            bail!(
                "it did not end in {}. Give it more time with --hours",
                steps::format_duration(deadline)
            );
        }
        if stops.is_some() && began.elapsed() > next {
            is_stopped = !is_stopped;
            count += u32::from(is_stopped);
            signal(child, if is_stopped { "-STOP" } else { "-CONT" })?;
            next = began.elapsed()
                + match is_stopped {
                    true => random(1_000, 3_000),
                    false => random(2_000, 20_000),
                };
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    let mut rows = String::new();
    output.read_to_string(&mut rows)?;
    if stops.is_some() {
        rows += &format!("| suspended by SIGSTOP | {count} times | |\n");
    }
    if !matches!(status.code(), Some(0 | 1)) {
        rows += &format!("| end | {status} | FAILED |\n");
    }
    Ok((rows, u8::from(!status.success())))
}

fn signal(child: &Child, name: &str) -> Result<()> {
    // A failure means that the process has just ended.
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
    sent.context("kill could not be started. Install procps or util-linux")
        .map(drop)
}

/// Returns the page with a section in place of the previous one with its title.
fn page(before: &str, section: &str) -> String {
    let title = |section: &str| {
        section
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("## ")
            .to_owned()
    };
    let mut sections: Vec<String> = before.split("\n## ").skip(1).map(str::to_owned).collect();
    sections.retain(|other| title(other) != title(section));
    sections.push(section.trim_start_matches("## ").to_owned());
    sections.sort_by_key(|other| SECTIONS.iter().position(|(name, ..)| *name == title(other)));
    let mut page = HEAD.to_owned();
    for section in sections {
        page += &format!("\n## {}\n", section.trim_end());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_replaces_its_earlier_version() {
        let window = page("", "## Window\n\nold");
        let both = page(&window, "## Recorder\n\n| a | b | holds |");
        let again = page(&both, "## Window\n\nnew");
        assert_eq!(
            again,
            format!("{HEAD}\n## Recorder\n\n| a | b | holds |\n\n## Window\n\nnew\n")
        );
        assert_eq!(page(&again, "## Window\n\nnew"), again);
    }

    #[test]
    fn output_and_failures_of_a_process_are_reported() -> Result<()> {
        let run = |script: &str, stops| {
            watch(
                Command::new("sh").args(["-c", script]),
                Duration::from_secs(30),
                stops,
            )
        };
        assert_eq!(run("echo '| a |'", None)?, ("| a |\n".to_owned(), 0));
        let (rows, code) = run("exit 3", None)?;
        assert!(rows.contains("exit status: 3") && code == 1, "{rows}");
        // A suspended process continues.
        let (rows, code) = run("sleep 8; echo end", Some(1))?;
        assert!(
            rows.starts_with("end\n| suspended") && !rows.contains("| 0 times"),
            "{rows}"
        );
        assert_eq!(code, 0);
        assert!(watch(&mut Command::new("yes"), Duration::ZERO, None).is_err());
        Ok(())
    }

    #[test]
    fn an_error_leaves_no_process() -> Result<()> {
        let file = tempfile::NamedTempFile::new()?;
        let script = format!("echo $$ > '{}'; exec sleep 600", file.path().display());
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        // The time is enough for the shell on a busy host. The process is suspended at random times.
        assert!(watch(&mut command, Duration::from_secs(6), Some(1)).is_err());
        let pid = fs::read_to_string(file.path())?;
        let process = Path::new("/proc").join(pid.trim());
        assert!(!pid.is_empty() && !process.exists(), "{pid}");
        Ok(())
    }
}
