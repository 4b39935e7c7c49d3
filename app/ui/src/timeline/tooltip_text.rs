//! Texts of tooltips.

use loadscope_insight::format::capital;
use loadscope_insight::idle::meaning;
use loadscope_trace::{Activity, Lane, Nanos, Run, Shares, Span};
use loadscope_words::say;

use super::axis::TimeAxis;
use super::hit::{Bucket, Target};
use loadscope_insight::format;

/// Returns the lines of the tooltip at `t`. The first line is a heading.
pub fn lines(run: &Run, axis: &TimeAxis, target: &Target, t: Nanos) -> Vec<String> {
    match target {
        Target::Span(track, span) => describe_span(run, axis, track.lane, span, t),
        Target::Bucket(bucket) => describe_bucket(axis, &bucket.lane.to_string(), bucket),
        Target::Lane(_) => Vec::new(),
    }
}

fn describe_span(run: &Run, axis: &TimeAxis, lane: Lane, span: &Span, t: Nanos) -> Vec<String> {
    let name = span
        .batch()
        .and_then(|row| run.batches().get(row))
        .map(|b| b.id.to_string());
    let duration = span.end.min(run.end()) - span.start;
    let so_far = match span.is_open() && run.is_live() {
        true => say!(" so far"),
        false => "",
    };
    let how_long = say!("{duration}{so_far}, from {}", axis.exact(span.start));
    if span.activity == Activity::Waiting {
        let what = match name {
            Some(name) => say!("Trainer waits · {name}"),
            None => say!("Trainer waits").to_owned(),
        };
        let idle = span.batch().and_then(|row| run.device_idle(row));
        let idle = idle.map(|idle| say!("The device had no work for {idle} of it"));
        let lines = [what, how_long, wait_reason(run, t)].into_iter();
        return lines.chain(idle).collect();
    }
    let what = format!(
        "{} · {} · {lane}",
        capital(&name.unwrap_or_else(|| say!("no batch").to_owned())),
        span.activity.label()
    );
    let mut lines = vec![what, how_long, meaning(span.activity).to_owned()];
    if span.activity == Activity::Fetching {
        lines.extend(
            span.batch()
                .and_then(|row| describe_sample(run, row, t))
                .unwrap_or_default(),
        );
    }
    lines
}

/// Names the stage of the awaited batch as the reason for a wait.
fn wait_reason(run: &Run, t: Nanos) -> String {
    let pipeline = run.pipeline_at(t);
    match pipeline.awaited() {
        Some(batch) => {
            let place = batch.lane.map_or(String::new(), |lane| say!(" in {lane}"));
            say!(
                "The trainer waits for {}, which is {}{place}",
                batch.id,
                batch.stage.label().to_lowercase()
            )
        }
        None => say!("The trainer waits, with no batch in flight").to_owned(),
    }
}

/// Describes the sample of a batch that was fetched at `t`.
fn describe_sample(run: &Run, row: usize, t: Nanos) -> Option<Vec<String>> {
    let count = run.samples(row).len();
    let sample = run.samples(row).find(|s| s.start <= t && t < s.end())?;
    let mut text = say!("Sample {} of {count}", sample.position + 1);
    if let Some(index) = sample.index {
        text += &say!(" · index {}", format::count(index));
    }
    text += &format!(" · {}", sample.wall);
    let mut lines = vec![text];
    if let Some(stages) = run.sample_stages(row) {
        let names = stages.names.iter().enumerate();
        let mut start = sample.start;
        let parts: Vec<String> = names
            .map(|(name_at, name)| {
                let wall = stages.wall(name_at, sample.position);
                let here = (start..start + wall).contains(&t);
                start += wall;
                let mark = if here { "→ " } else { "" };
                say!("{mark}{name} {wall}")
            })
            .collect();
        lines.push(parts.join(" · "));
    }
    Some(lines)
}

/// Returns the lines of the tooltip of a bucket at `place`.
pub fn describe_bucket(axis: &TimeAxis, place: &str, bucket: &Bucket) -> Vec<String> {
    let length = bucket.end - bucket.start;
    let what = format!(
        "{} · {place}",
        format::plural(bucket.spans, say!(n: "span"), say!(n: "spans")),
    );
    let how_long = say!("{length}, from {}", axis.exact(bucket.start));
    let whole = Nanos(length.0.saturating_mul(bucket.rows as i64));
    vec![what, how_long, shares(&bucket.shares, whole)]
}

/// Formats shares, for example `fetching 61 % · idle 22 %`.
pub fn shares(shares: &Shares, whole: Nanos) -> String {
    let share = |time: Nanos| time.0 as f64 / whole.0.max(1) as f64;
    let mut parts: Vec<String> = shares
        .iter()
        .map(|(activity, time)| {
            format!(
                "{} {}",
                activity.label().to_lowercase(),
                format::percent(share(time))
            )
        })
        .collect();
    let idle = whole - shares.total();
    if share(idle) >= 0.005 {
        parts.push(say!("idle {}", format::percent(share(idle))));
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{RunOptions, Stage};

    use super::*;

    /// Labels begin with a capital. Words within a sentence do not: "batch 3, which is fetching in worker 0".
    #[test]
    fn stage_names_are_lowercase_within_a_sentence() {
        let options = RunOptions {
            dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            step_ms: 5.0,
            ..RunOptions::default()
        };
        let run = loadscope_lessons::simulated(&options).expect("sound options");
        let mut seen = 0;
        for t in run.transitions() {
            let text = wait_reason(&run, t.at);
            for stage in Stage::ALL {
                assert!(!text.contains(stage.label()), "{text}");
                seen += usize::from(text.contains(&stage.label().to_lowercase()));
            }
        }
        assert!(seen > 10, "stages are named");
    }
}
