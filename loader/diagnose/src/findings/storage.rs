//! Storage: loading that is blocked on reads, the file system, and the page cache of the next epoch.

use super::{Evidence, Finding, FindingId, Survey};
use loadscope_trace::{Fact, GaugeKind, Lane, Nanos, Run, Series, bytes, count, percent, plural};
use loadscope_words::say;

/// Minimum amount of data, bytes: 16 MiB. Less is read in a fraction of a second.
const MIN_READ: f64 = 16.0 * 1024.0 * 1024.0;

/// Maximum amount of data that a page fault reads by default, bytes: 128 KiB.
const READ_AHEAD: f64 = 128.0 * 1024.0;

/// Finds workers, or a main process, whose loading is blocked on reads from storage.
pub(super) fn slow(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let lanes = Lanes::of(survey);
    let epochs = lanes.per_epoch(GaugeKind::StorageRead);
    let read: f64 = epochs.iter().sum();
    let blocked: f64 = lanes.per_epoch(GaugeKind::IoBlocked).iter().sum();
    let loading = survey.work.iter().fold(Nanos::ZERO, |sum, t| sum + *t);
    let share = (blocked / loading.as_secs_f64().max(1e-9)).min(1.0);
    let cost = survey.part_of_loading(share);
    let severity = survey.severity(cost)?;
    if read < MIN_READ {
        return None;
    }
    let rate = read / survey.total().as_secs_f64().max(1e-9);
    let amount = say!("{} ({}/s)", bytes(read), bytes(rate));
    let (place, share) = (place(run), percent(share));
    let cost_text = survey.format_cost(cost);
    let mut text = match survey.workers {
        0 => say!(
            "The main process read {amount} from {place} and was blocked on I/O for {share} of its loading time: {cost_text}"
        ),
        n => say!(
            "{} read {amount} from {place}, blocked on I/O for {share} of the loading time: {cost_text}",
            plural(n as u64, say!(n: "worker"), say!(n: "workers"))
        ),
    };
    let faults: f64 = lanes.per_epoch(GaugeKind::MajorFaults).iter().sum();
    if faults * READ_AHEAD >= read / 2.0 {
        let faults = count(faults as u64);
        text =
            say!("{text}. Memory-mapped files caused {faults} page faults that read from storage.");
    }
    let cache = PageCache::of(run, &epochs);
    if let Some(sentence) = cache.sentence() {
        text = say!("{}. {sentence}.", text.trim_end_matches(['.', '。']));
    }
    Some(Finding {
        id: FindingId::SlowStorage,
        text,
        severity,
        evidence: Evidence::Run,
        remedy: cache.remedy(run).to_owned(),
        cost: Some(cost),
    })
}

/// Processes that load, with their counters.
struct Lanes<'a> {
    run: &'a Run,
    /// True for workers, false for the main process.
    has_workers: bool,
}

impl<'a> Lanes<'a> {
    fn of(survey: &Survey<'a>) -> Self {
        Self {
            run: survey.run,
            has_workers: survey.workers > 0,
        }
    }

    /// Returns the growth of a counter per epoch, in all these processes.
    fn per_epoch(&self, what: GaugeKind) -> Vec<f64> {
        let epochs = self.run.epochs();
        let starts = epochs.iter().map(|epoch| epoch.start);
        let next = starts.clone().skip(1).chain([Nanos::MAX]);
        let ends = epochs.iter().zip(next);
        // The last measurement of a worker is after its last batch. The main process reads other data after an epoch.
        let ends = ends.map(|(epoch, next)| match self.has_workers {
            true => next,
            false => epoch.end.unwrap_or(next),
        });
        let ranges: Vec<(Nanos, Nanos)> = starts.zip(ends).collect();
        let mut sums = vec![0.0; ranges.len()];
        for series in self.series(what) {
            for (sum, (start, end)) in sums.iter_mut().zip(&ranges) {
                *sum += self.growth(series, *start, *end);
            }
        }
        sums
    }

    fn series(&self, what: GaugeKind) -> impl Iterator<Item = &'a Series> {
        let has_workers = self.has_workers;
        let all = self.run.gauges().filter(move |(lane, kind, _)| match lane {
            Some(Lane::Worker(_)) => has_workers && *kind == what,
            Some(Lane::Trainer) => !has_workers && *kind == what,
            _ => false,
        });
        all.map(|(.., series)| series)
    }

    /// Returns the growth of a counter between two instants. The counter of a new process begins at 0.
    fn growth(&self, series: &Series, start: Nanos, end: Nanos) -> f64 {
        let points = series.points();
        let first = points.partition_point(|(at, _)| *at < start);
        let after = points.partition_point(|(at, _)| *at < end).max(first);
        // Workers that started before the known part of a recording have read before it.
        let is_complete = self.has_workers && self.run.past().is_none();
        let mut before = match points.range(..first).last() {
            Some((_, value)) => Some(*value),
            None => is_complete.then_some(0.0),
        };
        let mut sum = 0.0;
        for (_, value) in points.range(first..after) {
            sum += match before {
                Some(before) if *value >= before => value - before,
                // The process of a worker is a new one, or its counter is known again.
                Some(_) if value.is_finite() => *value,
                _ => 0.0,
            };
            before = Some(*value);
        }
        sum
    }
}

/// Returns the folders that samples are read from, with the types of their file systems.
fn place(run: &Run) -> String {
    let places: Vec<String> = storage(run)
        .map(|(system, folder)| format!("{folder} ({system})"))
        .collect();
    match places.as_slice() {
        [] => say!("storage").to_owned(),
        places => places.join(say!(", ")),
    }
}

fn storage(run: &Run) -> impl Iterator<Item = (&str, &str)> {
    run.facts().iter().filter_map(|(_, fact)| match fact {
        Fact::Storage {
            file_system,
            folder,
        } => Some((file_system.as_str(), folder.as_str())),
        _ => None,
    })
}

/// Page cache for the data of an epoch. Amounts in bytes.
#[derive(Clone, Copy, Debug)]
enum PageCache {
    /// Later epochs read less than half as much as the first.
    Held { first: f64, later: f64 },
    /// Later epochs read as much as the first.
    NotHeld { later: f64 },
    /// The data of the only complete epoch fits in the free memory.
    Fits { free: f64 },
    /// It does not fit.
    TooSmall { first: f64, free: f64 },
    /// No epoch is complete, the free memory was not measured, or the ranks can be on several hosts.
    Unknown,
}

impl PageCache {
    fn of(run: &Run, epochs: &[f64]) -> Self {
        let ended = run.epochs().iter().filter(|epoch| epoch.end.is_some());
        let ended = ended.count().min(epochs.len());
        let free = run.gauge(None, GaugeKind::MemoryLeft).and_then(|series| {
            let last = series.points().iter().rev();
            last.map(|(_, value)| *value).find(|v| v.is_finite())
        });
        let ranks = f64::from(run.info.world_size.max(1));
        match (&epochs[..ended], free) {
            // The first epochs of a recording with a limit are gone.
            _ if run.past().is_some() => Self::Unknown,
            ([], _) | ([_], None) => Self::Unknown,
            // In the next epoch, a rank can read the samples of any other rank.
            ([first], Some(free)) if first * ranks <= free => Self::Fits { free },
            ([_], Some(_)) if ranks > 1.0 => Self::Unknown,
            ([first], Some(free)) => Self::TooSmall {
                first: *first,
                free,
            },
            ([first, later @ ..], _) => {
                let (first, sum) = (*first, later.iter().sum::<f64>());
                let later = sum / later.len() as f64;
                match later < first / 2.0 {
                    true => Self::Held { first, later },
                    false => Self::NotHeld { later },
                }
            }
        }
    }

    fn sentence(self) -> Option<String> {
        Some(match self {
            Self::Held { first, later } => say!(
                "The first epoch read {}, later epochs {} each, and the rest was in the page cache",
                bytes(first),
                bytes(later)
            ),
            Self::NotHeld { later } => say!("Later epochs read {} each again", bytes(later)),
            Self::Fits { free } => say!(
                "The page cache can keep these files for the next epoch, because {} of memory is free",
                bytes(free)
            ),
            Self::TooSmall { first, free } => say!(
                "Only {} of memory is free for the page cache, so the next epoch reads at least {} again",
                bytes(free),
                bytes(first - free)
            ),
            Self::Unknown => return None,
        })
    }

    fn remedy(self, run: &Run) -> &'static str {
        match self {
            Self::Held { .. } | Self::Fits { .. } => {
                say!(
                    "Expect this delay in the first epoch only. Fewer and larger files, or more workers, shorten it."
                )
            }
            _ if storage(run).any(|(system, _)| is_remote(system)) => {
                say!(
                    "Copy the data to a local disk before training, or store it in fewer and larger files"
                )
            }
            Self::NotHeld { .. } | Self::TooSmall { .. } | Self::Unknown => {
                say!(
                    "Store the data on a faster disk or in fewer bytes, such as compressed or resized images. More workers read in parallel."
                )
            }
        }
    }
}

/// Returns true for the file system of another host.
fn is_remote(file_system: &str) -> bool {
    const REMOTE: [&str; 10] = [
        "nfs",
        "cifs",
        "smb",
        "9p",
        "ceph",
        "lustre",
        "gpfs",
        "beegfs",
        "glusterfs",
        "fuse.",
    ];
    REMOTE.iter().any(|name| file_system.starts_with(name))
}
