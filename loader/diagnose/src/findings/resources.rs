//! Findings about exhausted shared memory, exhausted file descriptors, and lost events.

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{GaugeKind, Level, Nanos, Run, bytes, plural};
use loadscope_words::say;

/// Default size of `/dev/shm` in Docker, bytes: 64 MiB.
const DOCKER_SHM: f64 = 64.0 * 1024.0 * 1024.0;
/// Default limit of open file descriptors per process.
const DEFAULT_DESCRIPTORS: f64 = 1024.0;
/// Share of a limit from which its use is reported.
const NEAR_LIMIT: f64 = 0.8;

/// Returns the first error message that contains one of `words`, with its time.
fn error_containing<'a>(run: &'a Run, words: &[&str]) -> Option<(Nanos, &'a str)> {
    first_error(run, |text| words.iter().any(|word| text.contains(word)))
}

/// Returns the first error message that fulfils `is_one`, with its time.
fn first_error(run: &Run, is_one: impl Fn(&str) -> bool) -> Option<(Nanos, &str)> {
    let errors = run
        .messages()
        .iter()
        .filter(|(_, m)| m.level == Level::Error);
    let mut errors = errors.map(|(at, m)| (*at, m.text.as_str()));
    errors.find(|(_, text)| is_one(text))
}

/// Returns the highest value of a gauge over all lanes. Returns `None` if it was not measured.
fn highest(run: &Run, what: GaugeKind) -> Option<f64> {
    let series = run.gauges().filter(|(_, kind, _)| *kind == what);
    let peaks = series.filter_map(|(.., s)| s.highest(Nanos(i64::MIN), Nanos::MAX));
    peaks.reduce(f64::max)
}

/// Returns the lowest finite value of a gauge of the whole program, with its time. Returns `None` if it was not measured.
pub(super) fn least(run: &Run, what: GaugeKind) -> Option<(Nanos, f64)> {
    let points = run.gauge(None, what)?.points().iter();
    let known = points.filter(|(_, value)| value.is_finite());
    known.copied().min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Reports full or nearly full shared memory (`/dev/shm`): an error, or a use of at least 80 % of the limit.
///
/// The limit is the measured size, or Docker's default if the free space was not measured.
pub(super) fn shared_memory(survey: &Survey) -> Option<Finding> {
    const WORDS: [&str; 4] = [
        "Bus error",
        "bus error",
        "insufficient shared memory",
        "unable to allocate shared memory",
    ];
    // A full disk raises the same error. Only a full `/dev/shm` has one of `SHM_NAMES` in its message.
    const NO_SPACE: &str = "No space left on device";
    const SHM_NAMES: [&str; 3] = ["torch_", "/dev/shm", "shared memory"];
    let run = survey.run;
    let remedy = say!(
        "In Docker, use --shm-size=8g or --ipc=host. Elsewhere, use fewer workers, a smaller prefetch_factor or smaller batches."
    );
    let finding = |text, severity, evidence| Finding {
        id: FindingId::SharedMemory,
        text,
        severity,
        evidence,
        remedy: remedy.to_owned(),
        cost: None,
    };
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_full = |first: &str| first.contains(NO_SPACE) && has(first, &SHM_NAMES);
    let is_one = |text: &str| has(text, &WORDS) || text.lines().next().is_some_and(is_full);
    if let Some((at, text)) = first_error(run, is_one) {
        let first = text.lines().next().unwrap_or_default();
        let text = say!(
            "Shared memory ran out at {}: {first}",
            survey.format_time(at)
        );
        let evidence = Evidence::Range(at, at);
        return Some(finding(text, Severity::Critical, evidence));
    }
    let peak = highest(run, GaugeKind::Shm)?;
    if let Some((at, left)) = least(run, GaugeKind::ShmLeft) {
        if left > (peak + left) * (1.0 - NEAR_LIMIT) {
            return None;
        }
        let text = say!(
            "Only {} of shared memory (/dev/shm) was free at {}, with {} in use. When it runs out, workers crash with a bus error.",
            bytes(left),
            survey.format_time(at),
            bytes(peak)
        );
        return Some(finding(text, Severity::Warning, Evidence::Range(at, at)));
    }
    // The recording does not contain the free space. A peak above 64 MiB proves that the limit is not Docker's default.
    if !(NEAR_LIMIT * DOCKER_SHM..=DOCKER_SHM).contains(&peak) {
        return None;
    }
    let text = say!(
        "{:.0} MiB of shared memory is in use. The default limit of a Docker container is 64 MiB.",
        peak / 1024.0 / 1024.0
    );
    Some(finding(text, Severity::Warning, Evidence::Run))
}

/// Reports exhausted file descriptors: an error, or a peak of at least 80 % of the default limit.
///
/// A peak above 1,024 proves a higher limit, and is not reported.
pub(super) fn descriptors(survey: &Survey) -> Option<Finding> {
    const WORDS: [&str; 3] = ["Too many open files", "items of ancdata", "EMFILE"];
    let run = survey.run;
    let remedy = say!(
        "Call torch.multiprocessing.set_sharing_strategy('file_system'), or run `ulimit -n 65536`. Do not keep used batches in a list."
    );
    let finding = |text, severity, evidence| Finding {
        id: FindingId::Descriptors,
        text,
        severity,
        evidence,
        remedy: remedy.to_owned(),
        cost: None,
    };
    if let Some((at, text)) = error_containing(run, &WORDS) {
        let first = text.lines().next().unwrap_or_default();
        let text = say!(
            "File descriptors ran out at {}: {first}",
            survey.format_time(at)
        );
        return Some(finding(text, Severity::Critical, Evidence::Range(at, at)));
    }
    let peak = highest(run, GaugeKind::Descriptors)?;
    if !(NEAR_LIMIT * DEFAULT_DESCRIPTORS..=DEFAULT_DESCRIPTORS).contains(&peak) {
        return None;
    }
    let text = say!("{peak:.0} file descriptors are open. The default limit per process is 1,024.");
    Some(finding(text, Severity::Warning, Evidence::Run))
}

/// Reports lost events. The other findings cover the remaining events only.
pub(super) fn lost_events(survey: &Survey) -> Option<Finding> {
    let lost = survey.run.dropped();
    (lost > 0).then(|| Finding {
        id: FindingId::LostEvents,
        text: say!(
            "{} dropped. Times and counts cover the remaining events only.",
            plural(lost, say!(n: "event was"), say!(n: "events were"))
        ),
        severity: Severity::Note,
        evidence: match survey.run.losses().first() {
            Some((at, _)) => Evidence::Range(*at, *at),
            None => Evidence::Run,
        },
        remedy: say!(
            "The recorder was too slow. Record again while other programs do not use the CPU."
        )
        .to_owned(),
        cost: None,
    })
}
