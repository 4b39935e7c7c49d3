//! Output of a recording: its batches, its limits, and its file.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::Args;
use loadscope_files::{Existing, GrowingFile, WriteError};
use loadscope_session::{Limits, NewLimited, Record, Selection, new_recording, new_recording_in};
use loadscope_trace::{Nanos, bytes};
use loadscope_words::say;

use super::number::{batches, whole_number};

/// Help heading of the limits.
const LIMITS: &str = "Recording limits";

/// Limits of a recording, none by default.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitArgs {
    /// Keep only the last TIME in full: 90s, 30m, 12h or 2d
    ///
    /// Older data is reduced to sums per minute. Long waits, errors, warnings and the slowest batches are kept in full. If the recording
    /// reaches its maximum size, less than TIME is kept.
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = LIMITS)]
    last: Option<Nanos>,
    /// Maximum size of the recording, such as 200MB or 2GB, at least 1MB [default: none, or 2GB with --last]
    ///
    /// The limit is for all files of the recording together. Older data is reduced as with --last.
    #[arg(long, value_name = "SIZE", value_parser = max_size, help_heading = LIMITS)]
    max_size: Option<u64>,
    /// With --last or --max-size, keep waits of at least TIME in full [default: 100ms]
    ///
    /// If they do not all fit, the shortest are dropped.
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = LIMITS)]
    long_wait: Option<Nanos>,
    /// With --last or --max-size, keep the N slowest batches in full, at most 10,000 [default: 100]
    #[arg(long, value_name = "N", value_parser = whole_number(0_u32, 10_000), help_heading = LIMITS)]
    keep_slowest: Option<u32>,
}

impl LimitArgs {
    /// Returns the limits of the arguments, or `None` to keep everything.
    pub fn limits(&self) -> Option<Limits> {
        let Self {
            last,
            max_size,
            long_wait,
            keep_slowest,
        } = self;
        let is_any = last.is_some() || max_size.is_some();
        (is_any || long_wait.is_some() || keep_slowest.is_some()).then(|| Limits {
            last: *last,
            max_size: max_size.unwrap_or(Limits::USUAL_SIZE),
            long_wait: long_wait.unwrap_or(Limits::USUAL_LONG_WAIT),
            keep_slowest: keep_slowest.unwrap_or(Limits::USUAL_SLOWEST),
        })
    }

    /// Creates the recording at `path`, or under the first free one of `names`.
    ///
    /// # Errors
    /// If the extension is wrong, the file exists and may not be replaced, or the folder is not writable.
    pub fn create(
        &self,
        path: Option<&Path>,
        existing: Existing,
        names: impl IntoIterator<Item = PathBuf>,
    ) -> Result<NewRecord, WriteError> {
        if let Some(path) = path.filter(|path| !is_recording(path)) {
            return Err(WriteError::NotARecording(path.to_owned()));
        }
        Ok(match (self.limits(), path) {
            (None, Some(path)) => NewRecord::Whole(new_recording(path, existing)?),
            (None, None) => NewRecord::Whole(new_recording_in(names)?),
            (Some(limits), Some(path)) => {
                NewRecord::Limited(NewLimited::create(path, existing, limits)?)
            }
            (Some(limits), None) => NewRecord::Limited(NewLimited::create_free(names, limits)?),
        })
    }
}

/// Returns true for the name of a recording, and for a device, a pipe or a folder.
fn is_recording(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    let is_special = || path.metadata().is_ok_and(|found| !found.is_file());
    [".jsonl", ".jsonl.zst"]
        .iter()
        .any(|end| name.ends_with(end))
        || is_special()
}

/// New recording, not yet written.
pub enum NewRecord {
    /// Recording of all events.
    Whole(GrowingFile),
    /// Recording with limits.
    Limited(NewLimited),
}

impl NewRecord {
    /// Returns the final path.
    pub fn path(&self) -> &Path {
        match self {
            Self::Whole(file) => file.path(),
            Self::Limited(file) => file.path(),
        }
    }

    /// Removes the file, because nothing was recorded.
    pub fn discard(self) {
        match self {
            Self::Whole(file) => file.discard(),
            Self::Limited(file) => file.discard(),
        }
    }
}

impl From<NewRecord> for Record {
    fn from(new: NewRecord) -> Self {
        match new {
            NewRecord::Whole(file) => Self::File(file),
            NewRecord::Limited(file) => Self::Limited(file),
        }
    }
}

/// Units of time. `ms` is before `s`, because `s` is the end of `ms`.
const TIMES: [(&str, f64); 5] = [
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
    ("d", 86_400.0),
];

/// Parses a time with a unit.
pub fn time(text: &str) -> Result<Nanos, String> {
    let found = TIMES.into_iter().find_map(|(name, unit)| {
        let number: f64 = text.strip_suffix(name)?.trim().parse().ok()?;
        Some(number * unit)
    });
    match found.filter(|seconds| seconds.is_finite() && (0.0..=1e9).contains(seconds)) {
        Some(seconds) => Ok(Nanos::from_secs_f64(seconds)),
        None => Err(say!(
            "expected a time with its unit, such as 90s or 12h. Units: ms, s, m, h, d."
        )
        .to_owned()),
    }
}

/// Units of size in lower case. `b` is last, because all others end with it.
const SIZES: [(&str, f64); 8] = [
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("b", 1.0),
];

/// Minimum memory limit of a live run in a window, bytes. The batches in flight must fit.
const LEAST_MEMORY: u64 = 100_000_000;

/// Parses the memory limit of a live run.
pub fn memory(text: &str) -> Result<u64, String> {
    match size(text)? {
        size if size < LEAST_MEMORY => Err(say!(
            "{text} is too small: the batches in flight of a live run need at least {}. Example: 500MB.",
            bytes(LEAST_MEMORY as f64)
        )),
        size => Ok(size),
    }
}

/// Parses the maximum size of a recording.
fn max_size(text: &str) -> Result<u64, String> {
    match size(text)? {
        size if size < Limits::LEAST_SIZE => Err(say!(
            "{text} is too small: the files of a recording with a limit need at least {} together. Example: 200MB.",
            bytes(Limits::LEAST_SIZE as f64)
        )),
        size => Ok(size),
    }
}

/// Parses a size with a unit, in bytes. The unit can be in upper or lower case.
fn size(text: &str) -> Result<u64, String> {
    let small = text.to_ascii_lowercase();
    let found = SIZES.into_iter().find_map(|(name, unit)| {
        let number: f64 = small.strip_suffix(name)?.trim().parse().ok()?;
        Some(number * unit)
    });
    let found = found.filter(|size| size.is_finite() && (0.0..=1e18).contains(size));
    found.map(|size| size as u64).ok_or_else(|| {
        say!("expected a size with its unit, such as 200MB or 1.5GiB. Units: B, kB, MB, GB, TB, KiB, MiB, GiB.").to_owned()
    })
}

/// The selection of batches to record, all by default.
#[derive(Clone, Debug, Default, Args)]
pub struct SelectArgs {
    /// Leave out the first N batches of each loader, while caches fill
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = batches)]
    skip_first: u64,
    /// Record only these epochs of each loader, counted from 0: 2, 2-5 or 0,10,20 (can be repeated)
    #[arg(long, value_name = "EPOCHS", value_delimiter = ',', value_parser = epochs)]
    epochs: Vec<RangeInclusive<u32>>,
}

impl SelectArgs {
    /// Returns the selection of the arguments.
    pub fn selection(&self) -> Selection {
        Selection {
            skip_first: self.skip_first,
            epochs: self.epochs.clone(),
        }
    }
}

fn epochs(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok();
    match number(first).zip(number(last)) {
        Some((first, last)) if first <= last => Ok(first..=last),
        Some((first, last)) => Err(say!("{first} comes after {last}: write {last}-{first}")),
        None => Err(
            say!("expected an epoch, counted from 0, or two with a hyphen: 2 or 2-5").to_owned(),
        ),
    }
}

/// `--force`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct ForceArg {
    /// Replace an existing output file
    ///
    /// The old file stays until the new one is complete.
    #[arg(long)]
    force: bool,
}

impl ForceArg {
    /// Returns the treatment of an existing file.
    pub fn existing(self) -> Existing {
        match self.force {
            true => Existing::Replace,
            false => Existing::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(time("30m"), Ok(Nanos(1_800_000_000_000)));
        assert_eq!(time("1.5 h"), Ok(Nanos(5_400_000_000_000)));
        assert_eq!(time("250ms"), Ok(Nanos::from_millis(250)));
        assert_eq!(time("2d"), Ok(Nanos(172_800_000_000_000)));
        assert_eq!(size("200MB"), Ok(200_000_000));
        assert_eq!(size("1.5GiB"), Ok(1_610_612_736));
        for wrong in ["", "30", "m", "-5m", "NaNs", "infs", "30 years"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        for (text, bytes) in [("2 gb", 2_000_000_000), ("1KB", 1_000), ("5b", 5)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "5", "GB", "-5MB", "NaNGB", "5 PB"] {
            assert!(
                size(wrong).is_err_and(|why| why.contains("1.5GiB")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn the_error_for_a_small_size_names_the_minimum() {
        let said = max_size("1KB").expect_err("1 kB is too small");
        assert!(
            said.starts_with("1KB is too small: the files of a recording")
                && said.contains("1.00\u{2009}MB"),
            "{said}"
        );
        assert_eq!(max_size("1MB"), Ok(1_000_000));
        let said = memory("1KB").expect_err("1 kB is too small");
        assert!(
            said.contains("live run need at least 100\u{2009}MB"),
            "{said}"
        );
        assert_eq!(memory("100mb"), Ok(100_000_000));
    }

    #[test]
    fn limits_exist_only_if_an_argument_is_given() {
        assert_eq!(LimitArgs::default().limits(), None);
        let args = LimitArgs {
            last: Some(Nanos(5)),
            ..LimitArgs::default()
        };
        let limits = args.limits().expect("a limit");
        assert_eq!(
            (limits.last, limits.max_size),
            (Some(Nanos(5)), 2_000_000_000)
        );
    }

    /// A script or a page that is named by mistake is not overwritten, even with --force.
    #[test]
    fn a_file_name_without_jsonl_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, is_one) in [
            ("run.jsonl", true),
            ("run.JSONL.ZST", true),
            (".jsonl", true),
            ("run.txt", false),
            ("run", false),
            ("train.py", false),
            ("run.json", false),
            ("run.zst", false),
            ("run.jsonl.gz", false),
        ] {
            let path = folder.path().join(name);
            assert_eq!(is_recording(&path), is_one, "{name}");
            let args = LimitArgs::default();
            let made = args.create(Some(&path), Existing::Replace, []);
            assert_eq!(made.is_ok(), is_one, "{name}");
            assert!(is_one || !path.exists(), "{name}");
        }
        assert!(is_recording(folder.path()));
        assert!(cfg!(not(unix)) || is_recording(Path::new("/dev/null")));
    }

    #[test]
    fn epochs_are_numbers_or_ranges() {
        assert_eq!(epochs("2"), Ok(2..=2));
        assert_eq!(epochs("2-5"), Ok(2..=5));
        assert!(epochs("5-2").is_err_and(|why| why.contains("2-5")));
        for wrong in ["", "x", "1-", "-1", "1-2-3", "99999999999"] {
            assert!(epochs(wrong).is_err(), "{wrong}");
        }
    }
}
