//! Shared memory and file descriptors that run out, and events that were lost.

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{GaugeKind, Level, Nanos, Run, bytes, plural};
use loadscope_words::say;

/// The size that Docker gives `/dev/shm` by default, bytes.
const DOCKER_SHM: f64 = 64.0 * 1024.0 * 1024.0;
/// File descriptors that a process may have by default.
const USUAL_DESCRIPTORS: f64 = 1024.0;
/// Share of a limit from which the finding is reported.
const NEARLY: f64 = 0.8;

/// An error message that contains one of `words`, and the time of it.
fn complaint<'a>(run: &'a Run, words: &[&str]) -> Option<(Nanos, &'a str)> {
    error_with(run, |text| words.iter().any(|word| text.contains(word)))
}

/// The first error message that is one of these, and the time of it.
fn error_with(run: &Run, is_one: impl Fn(&str) -> bool) -> Option<(Nanos, &str)> {
    let errors = run
        .messages()
        .iter()
        .filter(|(_, m)| m.level == Level::Error);
    let mut errors = errors.map(|(at, m)| (*at, m.text.as_str()));
    errors.find(|(_, text)| is_one(text))
}

/// The highest value of a gauge over all lanes.
fn highest(run: &Run, what: GaugeKind) -> Option<f64> {
    let series = run.gauges().filter(|(_, kind, _)| *kind == what);
    let peaks = series.filter_map(|(.., s)| s.highest(Nanos(i64::MIN), Nanos::MAX));
    peaks.reduce(f64::max)
}

/// The lowest value of a gauge of the whole program, and when it was measured.
pub(super) fn least(run: &Run, what: GaugeKind) -> Option<(Nanos, f64)> {
    let points = run.gauge(None, what)?.points().iter();
    let known = points.filter(|(_, value)| value.is_finite());
    known.copied().min_by(|a, b| a.1.total_cmp(&b.1))
}

/// `/dev/shm` is full, or nearly as full as a container's is allowed to be.
pub(super) fn shared_memory(survey: &Survey) -> Option<Finding> {
    const WORDS: [&str; 4] = [
        "Bus error",
        "bus error",
        "insufficient shared memory",
        "unable to allocate shared memory",
    ];
    // A full disk has the same error, without the name of a shared memory file of PyTorch.
    const FULL: &str = "No space left on device";
    const PLACES: [&str; 3] = ["torch_", "/dev/shm", "shared memory"];
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
    let is_full = |first: &str| first.contains(FULL) && has(first, &PLACES);
    let is_one = |text: &str| has(text, &WORDS) || text.lines().next().is_some_and(is_full);
    if let Some((at, text)) = error_with(run, is_one) {
        let first = text.lines().next().unwrap_or_default();
        let text = say!("Shared memory ran out at {}: {first}", survey.say(at));
        let evidence = Evidence::Range(at, at);
        return Some(finding(text, Severity::Critical, evidence));
    }
    let peak = highest(run, GaugeKind::Shm)?;
    if let Some((at, left)) = least(run, GaugeKind::ShmLeft) {
        if left > (peak + left) * (1.0 - NEARLY) {
            return None;
        }
        let text = say!(
            "Only {} of shared memory (/dev/shm) was free at {}, with {} in use. When it runs out, workers crash with a bus error.",
            bytes(left),
            survey.say(at),
            bytes(peak)
        );
        return Some(finding(text, Severity::Warning, Evidence::Range(at, at)));
    }
    // Recordings that do not tell what was left. More than that shows that the limit is another one.
    if !(NEARLY * DOCKER_SHM..=DOCKER_SHM).contains(&peak) {
        return None;
    }
    let text = say!(
        "{:.0} MiB of shared memory is in use. The default limit of a Docker container is 64 MiB.",
        peak / 1024.0 / 1024.0
    );
    Some(finding(text, Severity::Warning, Evidence::Run))
}

/// A process has no file descriptors left, or nearly none of those that it usually may have.
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
    if let Some((at, text)) = complaint(run, &WORDS) {
        let first = text.lines().next().unwrap_or_default();
        let text = say!("File descriptors ran out at {}: {first}", survey.say(at));
        return Some(finding(text, Severity::Critical, Evidence::Range(at, at)));
    }
    let peak = highest(run, GaugeKind::Descriptors)?;
    if !(NEARLY * USUAL_DESCRIPTORS..=USUAL_DESCRIPTORS).contains(&peak) {
        return None;
    }
    let text = say!("{peak:.0} file descriptors are open. The default limit per process is 1,024.");
    Some(finding(text, Severity::Warning, Evidence::Run))
}

/// The observer lost events, so that all findings are about what is left.
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
