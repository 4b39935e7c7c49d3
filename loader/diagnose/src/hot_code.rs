//! Lines of code that take the time of a run, from its sampled stacks.

use std::ops::Range;

use loadscope_trace::{Activity, Function, HotLine, Nanos, Profile, Run, percent, place};
use loadscope_words::say;

/// Minimum number of samples for a statement about shares.
const MIN_SAMPLES: u64 = 30;

/// Lines of code that take the time of an activity.
#[derive(Clone, Debug, PartialEq)]
pub struct HotCode<'a> {
    /// Fetching, collating or training.
    pub activity: Activity,
    /// Number of samples during the activity.
    pub samples: u64,
    /// Samples during the activity.
    pub profile: Profile,
    /// Lines with samples, the hottest first.
    pub lines: Vec<HotLine<'a>>,
}

/// Share of a line or a phase, estimated from samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleShare {
    /// Share of the samples, 0 to 1.
    pub share: f64,
    /// Half the width of the 95 % confidence interval.
    pub margin: f64,
}

impl<'a> HotCode<'a> {
    /// Activities in which Python code of the program runs.
    pub const ACTIVITIES: [Activity; 3] =
        [Activity::Fetching, Activity::Collating, Activity::Training];

    /// Returns the lines of an activity. Returns `None` with too few samples.
    pub fn of(run: &'a Run, activity: Activity) -> Option<Self> {
        if run.stacks().is_empty() {
            return None;
        }
        let profile = run.profile(activity, Nanos(i64::MIN)..Nanos::MAX);
        (profile.total() >= MIN_SAMPLES).then(|| Self {
            activity,
            samples: profile.total(),
            lines: profile.lines(run.stacks()),
            profile,
        })
    }

    /// Returns the share of a line.
    pub fn share(&self, line: &HotLine<'_>) -> SampleShare {
        SampleShare::of(line.samples, self.samples)
    }

    /// Returns the hottest line with its share, as in `dataset.py:42 in load_image takes 71 % of fetching, mostly in convert
    /// (PIL/Image.py)`.
    pub fn sentence(&self) -> Option<String> {
        let line = self.lines.first()?;
        let (at, name) = (line.place(), &line.function.name);
        let share = percent(self.share(line).share);
        let activity = match self.activity {
            Activity::Fetching => say!("of fetching"),
            Activity::Collating => say!("of collating"),
            _ => say!("of the training step"),
        };
        let callee = callee(line).map(|callee| say!(", mostly in {callee}"));
        let callee = callee.unwrap_or_default();
        Some(say!("{at} in {name} takes {share} {activity}{callee}"))
    }
}

impl SampleShare {
    /// Returns the share of `count` in `total` samples, with the Wilson score interval.
    pub fn of(count: u64, total: u64) -> Self {
        /// Quantile of the normal distribution for 95 %.
        const Z: f64 = 1.96;
        let (count, total) = (count as f64, total.max(1) as f64);
        let share = count / total;
        let spread = share * (1.0 - share) / total + Z * Z / (4.0 * total * total);
        Self {
            share,
            margin: Z * spread.sqrt() / (1.0 + Z * Z / total),
        }
    }
}

/// Returns the library function that a line calls in at least half of its samples, and the system call in which it waits, as in
/// `get (requests/api.py), recvfrom (socket)`.
pub fn callee(line: &HotLine<'_>) -> Option<String> {
    let calls = [line.usual_callee(), line.usual_wait()];
    let calls: Vec<String> = calls.iter().flatten().map(|f| f.described()).collect();
    (!calls.is_empty()).then(|| calls.join(", "))
}

/// Hottest line of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowLine<'a> {
    function: &'a Function,
    line: u32,
    samples: u64,
    /// File and line, with the library function that it calls.
    pub text: String,
    /// Time of the sample in the line.
    pub time: Nanos,
}

/// Returns the hottest line of a sample. Returns `None` if no line took at least half of the sample's time.
pub fn slow_line(run: &Run, row: usize, span: Range<Nanos>) -> Option<SlowLine<'_>> {
    /// Minimum share of the sample's time.
    const MIN_SHARE: f64 = 0.5;
    let log = run.stacks();
    let worker = run.batches().get(row)?.worker;
    let took = (span.end - span.start).0.max(1);
    let own: Profile = run.profile_of(worker, span);
    let lines = own.lines(log);
    let line = lines.first()?;
    let time = time_of(run, line.samples).min(Nanos(took));
    if (time.0 as f64) < MIN_SHARE * took as f64 {
        return None;
    }
    let at = place(&line.function.file, line.line);
    Some(SlowLine {
        function: line.function,
        line: line.line,
        samples: line.samples,
        text: match callee(line) {
            Some(callee) => say!("{at}, in {callee}"),
            None => at,
        },
        time,
    })
}

impl SlowLine<'_> {
    /// Returns the time of all other samples of the run in the line. Returns `None` with too few stacks of them.
    pub fn time_of_others(&self, run: &Run) -> Option<Nanos> {
        let all = run.profile(Activity::Fetching, Nanos(i64::MIN)..Nanos::MAX);
        let others = all.total().saturating_sub(self.samples);
        let lines = all.lines(run.stacks());
        let is_same = |one: &&HotLine<'_>| (one.function, one.line) == (self.function, self.line);
        let samples = lines.iter().find(is_same).map_or(0, |same| same.samples);
        let samples = samples.saturating_sub(self.samples);
        (others >= MIN_SAMPLES).then(|| time_of(run, samples))
    }
}

fn time_of(run: &Run, samples: u64) -> Nanos {
    let samples = i64::try_from(samples).unwrap_or(i64::MAX);
    Nanos(run.stacks().period().0.saturating_mul(samples))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_shrinks_with_more_samples() {
        let few = SampleShare::of(15, 30);
        let many = SampleShare::of(5_000, 10_000);
        assert_eq!((few.share, many.share), (0.5, 0.5));
        assert!((0.16..0.18).contains(&few.margin), "{few:?}");
        assert!((0.009..0.011).contains(&many.margin), "{many:?}");
        // All of the samples are no proof of 100 %.
        assert!(SampleShare::of(30, 30).margin > 0.05);
    }
}
