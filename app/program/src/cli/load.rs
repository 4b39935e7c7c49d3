//! `loadscope run`: loads a dataset without a window.

mod progress;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use crossbeam_channel::RecvTimeoutError;
use indicatif::ProgressDrawTarget;
use loadscope_files::{check_not_input, read_text};
use loadscope_trace::{
    Collate, OnError, ParseCollateError, PinMemory, Run, RunOptions, Summary, brief, plural,
};
use loadscope_words::{say, value_error};

use super::arguments::{LOADER, LoaderArgs, set};
use super::arguments::{OnErrorArg, PinArg};
use super::number::{milliseconds, pixels, seconds};
use super::output::{ForceArg, LimitArgs};
use super::terminal::print_message;
use super::{info, interrupt};
use loadscope_plan::dataset::DatasetSpec;
use loadscope_plan::keyvalue::nearest;
use loadscope_plan::limits;
use loadscope_session::{self as session, Record, Session, SessionEvent};
use progress::Progress;

/// Options of a run, named as in PyTorch. The TOML file, and then PyTorch's defaults, fill in the rest. A run has at most 20,000,000
/// batches in all epochs, fewer if memory is short.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exit code:
  0    success
  2    an option is invalid, or the run failed
  130  interrupted by Ctrl+C (143 by SIGTERM)")]
pub struct LoadArgs {
    /// Dataset: digits, folder:PATH, csv:FILE, synthetic, … [default: digits]
    ///
    /// Values:
    ///   digits, folder:PATH, tokens:PATH
    ///   voc:DIR, coco:IMAGES,ANNOTATIONS, webdataset:SHARDS, tar:FILE, lmdb:DIR, audio:DIR
    ///   csv:FILE, jsonl:FILE, parquet:FILES, arrow:DIR, text:FILE, sql:URL,query=…
    ///   npy:FILE, npz:FILE, safetensors:FILE
    ///   synthetic[:key=value,…], stream[:key=value,…]
    ///
    /// Options of a format follow after commas. docs/DATASETS.md lists them.
    ///
    /// Keys of synthetic and stream: len (at most 1,000,000,000), cost_ms, slow=index:ms, every=n:ms, jitter, tail=share:times, fail, panic, cpu, seed, shape.
    ///
    /// Keys of stream only: shard=true (each worker yields its share), shards=3/8/5 in place of len (samples of workers 0, 1 and 2).
    #[arg(long, value_name = "DATASET", verbatim_doc_comment)]
    dataset: Option<String>,
    /// Side of the square to which images are resized, 1 to 4,096 pixels [default: 224]
    ///
    /// Applies to folder, and to formats with size=square.
    #[arg(long, value_name = "PIXELS", value_parser = pixels)]
    image_size: Option<u32>,
    /// Artificial delays and faults, such as cost_ms=10,tail=0.01:40
    ///
    /// The keys are those of synthetic datasets.
    #[arg(long, value_name = "KEY=VALUE,…")]
    extra_cost: Option<String>,
    #[command(flatten)]
    loader: LoaderArgs,
    /// Function that makes a batch of samples: default, list, pad[:VALUE] or concat
    ///
    /// default is PyTorch's default_collate, list keeps each field as a list, pad fills up with VALUE, and concat makes values and offsets.
    ///
    /// Without the option: list for voc and coco, pad for text and audio, default for other datasets.
    #[arg(long, value_name = "FUNCTION", value_parser = collate, help_heading = LOADER)]
    collate: Option<Collate>,
    /// Yield batches in order [default: true]
    ///
    /// With false, batches are yielded in order of arrival.
    #[arg(long, value_name = "BOOL", help_heading = LOADER)]
    in_order: Option<bool>,
    /// Copy batches to page-locked memory [default: off, without MODE: on]
    #[arg(long, value_enum, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "on", help_heading = LOADER)]
    pin_memory: Option<PinArg>,
    /// Timeout for a batch from a worker, in seconds, or 0 for none [default: 0]
    ///
    /// At most 1,000,000,000 seconds.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds, help_heading = LOADER)]
    timeout: Option<f64>,
    /// Accepted for compatibility: fork, spawn or forkserver
    ///
    /// It has no effect, because workers are threads.
    #[arg(long, value_name = "METHOD", hide_short_help = true, help_heading = LOADER)]
    multiprocessing_context: Option<String>,
    /// Duration of the simulated training step, 0 to 3,600,000 ms [default: 0]
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = milliseconds)]
    step_ms: Option<f64>,
    /// Action when a sample fails [default: stop]
    #[arg(long, value_enum, value_name = "ACTION")]
    on_error: Option<OnErrorArg>,
    /// Read options from a TOML file, at most 1 MB
    ///
    /// Options on the command line take precedence.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Record the run to this file, .jsonl or .jsonl.zst
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    force: ForceArg,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl LoadArgs {
    /// Returns the options of the arguments and the file.
    ///
    /// # Errors
    /// If the file cannot be read or parsed.
    pub fn options(&self) -> anyhow::Result<RunOptions> {
        let mut o = match &self.config {
            Some(path) => read_config(path)?,
            None => RunOptions::default(),
        };
        set(&mut o.dataset, &self.dataset);
        set(&mut o.image_size, &self.image_size);
        set(&mut o.extra_cost, &self.extra_cost);
        self.loader.apply(&mut o);
        set(&mut o.collate, &self.collate);
        set(&mut o.step_ms, &self.step_ms);
        set(&mut o.timeout, &self.timeout);
        set(
            &mut o.multiprocessing_context,
            &self.multiprocessing_context,
        );
        set(&mut o.in_order, &self.in_order);
        if let Some(pin) = self.pin_memory {
            o.pin_memory = match pin {
                PinArg::Off => PinMemory::Off,
                PinArg::On => PinMemory::On,
                PinArg::Mlock => PinMemory::Mlock,
            };
        }
        if let Some(on_error) = self.on_error {
            o.on_error = match on_error {
                OnErrorArg::Stop => OnError::Stop,
                OnErrorArg::Continue => OnError::Continue,
                OnErrorArg::Skip => OnError::Skip,
                OnErrorArg::Log => OnError::Log,
            };
        }
        Ok(o)
    }

    /// Returns the input files of a run. It omits the images of a folder, because a recording may be in the same folder.
    fn inputs(&self, options: &RunOptions) -> Vec<PathBuf> {
        let file = |text: &str, kinds: &[&str]| {
            let (kind, rest) = text.trim_start().split_once(':')?;
            // Options can follow the path.
            let path = match Path::new(rest).exists() {
                true => rest,
                false => rest.split(',').next()?,
            };
            kinds.contains(&kind).then(|| PathBuf::from(path))
        };
        let tokens = file(&options.dataset, &["tokens"]);
        let entries = file(&options.sampler, &["subset", "weighted", "equi"]);
        let data = match options.dataset.parse() {
            Ok(DatasetSpec::Data(data)) => data.files(),
            _ => Vec::new(),
        };
        let one = [self.config.clone(), tokens, entries];
        one.into_iter().flatten().chain(data).collect()
    }
}

fn collate(text: &str) -> Result<Collate, ParseCollateError> {
    text.parse()
}

fn read_config(path: &Path) -> anyhow::Result<RunOptions> {
    let text = read_text(path, "options", limits::CONFIG_BYTES)?;
    toml::from_str(&text).map_err(|e| anyhow::anyhow!(mistake(path, &text, &e)))
}

/// Formats an error in a file of options: `FILE:LINE: key: …`
fn mistake(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count();
    let place = format!("{}:{}", path.display(), line + 1);
    let said = error.message().lines().next().unwrap_or_default();
    if let Some((name, rest)) = said
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.split_once('`'))
    {
        let valid: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let like = nearest(name, valid.iter().copied());
        let (name, valid) = (brief(name.to_owned()), valid.join(", "));
        return match like {
            Some(like) => {
                say!("{place}: unknown key '{name}'. Did you mean {like}? Valid: {valid}")
            }
            None => say!("{place}: unknown key '{name}'. Valid: {valid}"),
        };
    }
    // In valid TOML, one value is wrong. Other text is not TOML at all.
    if toml::from_str::<toml::Table>(text).is_err() {
        let said = brief(said.to_owned());
        return say!(
            "{place}: it is not valid TOML ({said}). Write one NAME = VALUE per line, and quote strings, as in dataset = \"digits\"."
        );
    }
    let key = text.lines().nth(line).and_then(|line| line.split_once('='));
    let key = brief(key.map_or("", |(key, _)| key.trim()).to_owned());
    let what = brief(value_error(said).unwrap_or_else(|| said.to_owned()));
    match key.as_str() {
        "" => format!("{place}: {what}"),
        key => format!("{place}: {key}: {what}"),
    }
}

pub fn run(args: &LoadArgs) -> anyhow::Result<ExitCode> {
    let options = args.options()?;
    let record = match &args.record {
        Some(path) => {
            // Invalid options fail before a file is created.
            session::check(&options)?;
            for input in args.inputs(&options) {
                check_not_input(path, &input)?;
            }
            let new = (args.limits).create(Some(path), args.force.existing(), [])?;
            new.into()
        }
        None => Record::Off,
    };
    let session = Session::start(&options, record, Arc::new(|| {}))?;
    interrupt::catch();
    let (run, error) = watch(&session);
    for (_, m) in run
        .messages()
        .iter()
        .filter(|(_, m)| m.level == loadscope_trace::Level::Warning)
    {
        print_message(say!("warning: {}", m.text));
    }
    if let Some(error) = error.as_ref().filter(|_| run.events() == 0) {
        anyhow::bail!("{error}");
    }
    if args.json {
        info::print_json(&run, false)?;
    } else {
        info::print_text(&run, None)?;
    }
    let interrupted = interrupt::exit_code();
    if interrupted.is_some() {
        let batches = plural(
            Summary::of(&run).batches,
            say!(n: "batch"),
            say!(n: "batches"),
        );
        print_message(match &args.record {
            Some(path) => say!(
                "Interrupted after {batches}, recorded in {}",
                path.display()
            ),
            None => say!("Interrupted after {batches}"),
        });
    }
    match (error, interrupted) {
        (Some(error), _) => anyhow::bail!("{error}"),
        (None, Some(code)) => Ok(ExitCode::from(code)),
        (None, None) => Ok(ExitCode::SUCCESS),
    }
}

/// Follows a run to its end with a progress bar on standard error. A signal ends it.
fn watch(session: &Session) -> (Run, Option<String>) {
    /// Polling interval for signals.
    const LOOK: Duration = Duration::from_millis(20);
    let mut run = Run::default();
    let mut error = None;
    let mut progress = Progress::on(ProgressDrawTarget::stderr());
    let mut is_stopping = false;
    loop {
        if !is_stopping && interrupt::exit_code().is_some() {
            session.stop();
            is_stopping = true;
        }
        let event = match session.events.recv_timeout(LOOK) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        match event {
            SessionEvent::Events(events) => {
                for event in &events {
                    run.apply(event);
                    progress.yielded += u64::from(is_yield(event));
                }
                progress.show_when_due(&run);
            }
            SessionEvent::Notice(text) => print_message(text),
            SessionEvent::Failed(text) => error = Some(text),
            SessionEvent::Ended(end) => {
                error = error.or(end);
                break;
            }
            _ => {}
        }
    }
    debug_assert!(progress.yielded >= Summary::of(&run).batches);
    progress.clear();
    (run, error)
}

fn is_yield(event: &loadscope_trace::Event) -> bool {
    use loadscope_trace::{EventKind, Stage};
    let yielded = |s: Stage| matches!(s, Stage::Training | Stage::Failed);
    matches!(event.kind, EventKind::Entered { stage, .. } if yielded(stage))
}
