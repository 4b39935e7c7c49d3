//! Injected faults in the real program: full disks, kills, limits, closed streams, removed files, concurrent writers and crashed displays.
//! Compares the behavior with the promised one, and writes `tests/faults/RESULTS.md`.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::setup::Ready;
use crate::steps;

mod case;
mod facts;
pub mod fake_program;
mod families;
mod keys;
mod launch;
mod rule;
mod sandbox;
mod screen;
mod supervise;
mod table;

use case::{Case, CaseResult, Verdict};
use sandbox::{Sandbox, SharedState};

/// Environment variable that allows the fast run to skip cases that this system does not support.
const MAY_SKIP: &str = "LOADSCOPE_FAULTS_MAY_SKIP";

/// Options of the fault injection.
#[derive(Args, Debug, Default)]
pub struct Options {
    /// Run the cases of CI with a few kills, write nothing. A case that cannot run is an error, unless LOADSCOPE_FAULTS_MAY_SKIP is set
    #[arg(long)]
    fast: bool,
    /// Kills at random times over all processes [default: 300, with --fast 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    kills: Option<u32>,
    /// Use an optimised Loadscope
    #[arg(long)]
    release: bool,
    /// Only print the names of the cases
    #[arg(long)]
    list: bool,
    /// Seed of random times, to repeat a run [default: the time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Use this Loadscope executable instead of building one
    #[arg(long, value_name = "EXECUTABLE", conflicts_with = "release")]
    loadscope: Option<PathBuf>,
    /// Only cases with one of these in their names, write nothing
    names: Vec<String>,
}

impl Options {
    /// Returns the options that CI uses.
    pub fn fast() -> Self {
        Self {
            fast: true,
            ..Self::default()
        }
    }

    fn kills(&self) -> u32 {
        self.kills.unwrap_or(if self.fast { 20 } else { 300 })
    }

    fn wants(&self, case: &Case) -> bool {
        let is_named = |name: &String| case.name.contains(name.as_str());
        match self.names.is_empty() {
            true => case.fast || !self.fast,
            false => self.names.iter().any(is_named),
        }
    }
}

/// Builds the program, runs the cases, and writes the table.
pub fn run(ready: &Ready, workspace: &Path, options: &Options) -> Result<u8> {
    let mut cases: Vec<Case> = families::all(options.kills());
    cases.retain(|case| options.wants(case));
    if options.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return Ok(0);
    }
    if cases.is_empty() {
        bail!("this case does not exist. List all cases with `cargo xtask faults --list`");
    }
    let loadscope = match &options.loadscope {
        Some(own) => own.clone(),
        None if options.fast => built_by_tests(ready)?,
        None => built(ready, options.release)?,
    };
    let shared = SharedState::new(loadscope, options)?;
    let started = Instant::now();
    let tried = run_all(&shared, &cases);
    let count = |is: fn(&Verdict) -> bool| tried.iter().filter(|one| is(&one.verdict)).count();
    let failed = count(|verdict| matches!(verdict, Verdict::Failed(_)));
    let passed = count(|verdict| matches!(verdict, Verdict::Passed));
    if !options.fast && options.names.is_empty() {
        let page = table::page(&shared, &tried, options.release, started.elapsed());
        let path = workspace.join("tests/faults/RESULTS.md");
        fs::create_dir_all(path.parent().context("a folder")?)?;
        fs::write(&path, page).with_context(|| path.display().to_string())?;
    }
    let left = tried.len() - passed - failed;
    if left > 0 {
        println!("{left} not tried");
    }
    println!("{passed} passed, {failed} failed");
    // CI must fail if a package is missing.
    let must_try = options.fast && std::env::var_os(MAY_SKIP).is_none();
    if must_try && left > 0 {
        println!(
            "Those that were not tried count as failed. `cargo xtask setup` installs Xvfb; where the system does not let a program's \
             calls be answered, set {MAY_SKIP}=1"
        );
    }
    Ok(u8::from(failed > 0 || (must_try && left > 0)))
}

/// Builds the same executable as `cargo xtask test`. Another selection of packages would build the libraries with other features.
fn built_by_tests(ready: &Ready) -> Result<PathBuf> {
    let mut build = steps::cargo(
        ready,
        &["test", "--quiet", "--workspace", "--exclude", "xtask"],
    );
    if steps::finish(build.args(["--no-run", "--test", "integration"]))? != 0 {
        bail!("The build of Loadscope failed. Its errors are above.");
    }
    Ok(ready.target.join("debug").join("loadscope"))
}

fn built(ready: &Ready, release: bool) -> Result<PathBuf> {
    let mut build = steps::cargo(ready, &["build", "--package", "loadscope"]);
    if release {
        build.arg("--release");
    }
    if steps::finish(&mut build)? != 0 {
        bail!("The build of Loadscope failed. Its errors are above.");
    }
    let profile = if release { "release" } else { "debug" };
    Ok(ready.target.join(profile).join("loadscope"))
}

impl SharedState {
    fn new(loadscope: PathBuf, options: &Options) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("lf-world-").tempdir()?;
        let seed = options.seed.unwrap_or_else(|| {
            let now = std::time::SystemTime::now();
            let since = now.duration_since(std::time::UNIX_EPOCH);
            since.map_or(0, |since| since.subsec_nanos().into())
        });
        let mut shared = Self {
            loadscope: loadscope
                .canonicalize()
                .with_context(|| loadscope.display().to_string())?,
            xtask: std::env::current_exe()?,
            pytorch: facts::pytorch(),
            recording: folder.path().join("sample.jsonl.zst"),
            plain_recording: folder.path().join("sample.jsonl"),
            references: Mutex::default(),
            supervises: supervise::is_possible(),
            // SAFETY: it has no arguments and cannot fail.
            is_root: unsafe { libc::geteuid() } == 0,
            kills: options.kills(),
            most_missing: Duration::from_millis(if options.fast { 1000 } else { 200 }),
            seed,
            _folder: folder,
        };
        if !shared.supervises {
            println!(
                "This system does not let a program's calls be answered (seccomp's notifications), so full disks are not tried"
            );
        }
        let (recording, plain) = shared.make_recordings()?;
        fs::write(&shared.recording, recording)?;
        fs::write(&shared.plain_recording, plain)?;
        // References that the cases change must not be shared with the setup above.
        shared.references = Mutex::default();
        Ok(shared)
    }

    /// Records a recording that all cases may read, compressed and plain.
    fn make_recordings(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        let sandbox = Sandbox::new(self)?;
        let mut made = Vec::new();
        for name in ["sample.jsonl.zst", "sample.jsonl"] {
            let line = "run --dataset synthetic:len=1600,cost_ms=0.1 --batch-size 4 --num-workers 2 --record";
            let words: Vec<&str> = line.split(' ').chain([name]).collect();
            let ended = sandbox
                .loadscope(&words)
                .deadline(Duration::from_secs(120))
                .run()?;
            ended.code(0)?;
            made.push(fs::read(sandbox.at(name))?);
        }
        let plain = made.pop().unwrap_or_default();
        Ok((made.pop().unwrap_or_default(), plain))
    }
}

/// Runs the cases. Cases that measure times run alone, the others in parallel.
fn run_all(shared: &SharedState, cases: &[Case]) -> Vec<CaseResult> {
    let tried: Mutex<Vec<(usize, CaseResult)>> = Mutex::default();
    let next = AtomicUsize::new(0);
    let together: Vec<usize> = (0..cases.len()).filter(|k| !cases[*k].alone).collect();
    let one = |k: usize| {
        let done = cases[k].attempt(shared);
        println!("{done}");
        let mut tried = tried.lock().unwrap_or_else(PoisonError::into_inner);
        tried.push((k, done));
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(4) {
            let work = || {
                while let Some(k) = together.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one(*k);
                }
            };
            let helper = std::thread::Builder::new().name("cases".to_owned());
            // If a thread cannot be started, this thread does its work.
            if helper.spawn_scoped(scope, work).is_err() {
                work();
            }
        }
    });
    (0..cases.len()).filter(|k| cases[*k].alone).for_each(one);
    let mut tried = tried.into_inner().unwrap_or_else(PoisonError::into_inner);
    tried.sort_by_key(|(k, _)| *k);
    tried.into_iter().map(|(_, one)| one).collect()
}
