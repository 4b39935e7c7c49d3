//! What is done in a lane, and why a worker has nothing to do. "Idle" alone looks like a fault; nearly always it is the prefetch
//! window that is full.

use loadscope_trace::{Activity, Lane, Pipeline, Run, Stage};

use crate::format;
use crate::variables::prefetch_window;

/// Why nothing is fetched in `lane` just now; `None` if something is, or if it is no lane in which something is fetched.
pub fn why_idle(run: &Run, pipeline: &Pipeline<'_>, lane: Lane) -> Option<String> {
    let worker = match lane {
        Lane::Worker(worker) => Some(worker),
        Lane::Main => None,
        _ => return None,
    };
    let at_work = pipeline.in_lane(lane).any(|b| !b.stage.is_final());
    let is_over = |w| {
        pipeline
            .worker(w)
            .is_some_and(|w| w.end.is_some_and(|(at, _)| at <= pipeline.at))
    };
    if at_work || worker.is_some_and(|w| is_over(w) || pipeline.is_exhausted(w)) {
        return None;
    }
    let epoch = run
        .epochs()
        .iter()
        .find(|e| Some(e.epoch) == pipeline.epoch);
    if epoch.is_none_or(|e| e.end.is_some_and(|end| end <= pipeline.at)) {
        return Some("No epoch is under way".to_owned());
    }
    let Some(worker) = worker else {
        return Some("Nothing is fetched while the trainer works: there are no workers".to_owned());
    };
    if let Some(next) = pipeline.in_lane(Lane::IndexQueue(worker)).next() {
        return Some(format!("About to take batch {}", next.id.idx));
    }
    if run.info.batches_per_epoch == Some(u64::from(pipeline.send_idx)) {
        return Some("The sampler has no batch left for it".to_owned());
    }
    let rule = "it gets a new one when the trainer takes a batch";
    let held = pipeline.in_lane(Lane::Reorder).count() as u64;
    let waiting = |b: &loadscope_trace::HeldBatch| {
        b.stage < Stage::Training && Some(b.id.epoch) == pipeline.epoch
    };
    let prefetched = pipeline.batches().filter(waiting).count();
    let window = prefetch_window(run).max(1);
    Some(match (held, pipeline.awaited()) {
        (1.., Some(missing))
            if run.info.options.keeps_order() && missing.lane != Some(Lane::Reorder) =>
        {
            format!(
                "No task: {} held behind batch {}, and {rule}",
                format::plural(held, "batch is", "batches are"),
                missing.id.idx
            )
        }
        _ if prefetched >= window => {
            format!("No task: the prefetch window of {window} batches is full, and {rule}")
        }
        _ => format!("No task: {rule}"),
    })
}

/// That nothing is done in a lane, and why as far as that can be said.
pub fn at_rest(run: &Run, pipeline: &Pipeline<'_>, lane: Lane) -> String {
    let worker = match lane {
        Lane::Worker(worker) => pipeline.worker(worker),
        _ => None,
    };
    if worker.is_some_and(|w| w.end.is_some_and(|(at, _)| at <= pipeline.at)) {
        return "Ended".to_owned();
    }
    match why_idle(run, pipeline, lane) {
        Some(why) => format!("Idle. {why}"),
        None => "Idle".to_owned(),
    }
}

/// What a lane is for.
pub fn purpose(lane: Lane) -> &'static str {
    match lane {
        Lane::Trainer => "The training loop: takes a batch, works on it, asks for the next",
        Lane::Reorder => {
            "Batches that arrived early wait here, so that the trainer gets them in the order of the sampler"
        }
        Lane::DataQueue => "Batches in page-locked memory on their way to the main thread",
        Lane::Pin => "Copies batches to page-locked memory, one at a time",
        Lane::ResultQueue => "All workers put their finished batches into this one queue",
        Lane::Main => {
            "num_workers=0: the trainer's own thread fetches, so nothing overlaps with training"
        }
        Lane::Worker(_) => "Fetches the samples of one batch after the other and collates them",
        Lane::IndexQueue(_) => {
            "Indices of the batches that this worker is to fetch; no other worker takes them over"
        }
    }
}

/// What an activity means.
pub fn meaning(activity: Activity) -> &'static str {
    match activity {
        Activity::Waiting => "The trainer has asked for a batch that is not there yet",
        Activity::Training => Stage::Training.explanation(),
        Activity::Fetching => Stage::Fetching.explanation(),
        Activity::Collating => Stage::Collating.explanation(),
        Activity::Pinning => Stage::Pinning.explanation(),
        Activity::Held => Stage::Held.explanation(),
        Activity::Ready => Stage::Ready.explanation(),
        Activity::Queued => Stage::Queued.explanation(),
        Activity::Returning => Stage::Returning.explanation(),
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Nanos, RunOptions};

    use super::*;
    use crate::simulated::simulated;

    fn said(run: &Run, worker: u16, ms: i64) -> Option<String> {
        why_idle(
            run,
            &run.pipeline_at(Nanos::from_millis(ms)),
            Lane::Worker(worker),
        )
    }

    #[test]
    fn a_worker_without_a_task_says_whom_it_waits_for() {
        // Sample 4 takes a second; batches 5 and 7 are ready while it lasts.
        let run = simulated(&RunOptions {
            dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            prefetch_factor: Some(2),
            ..RunOptions::default()
        });
        let texts: Vec<String> = (0..run.end().0 / 1_000_000)
            .filter_map(|ms| said(&run, 1, ms))
            .collect();
        let any = |part: &str| texts.iter().any(|t| t.contains(part));
        assert!(
            any("held behind batch 4, and it gets a new one"),
            "{texts:?}"
        );
        assert!(any("The sampler has no batch left"), "{texts:?}");
        // While it works, there is no reason.
        let busy = (0..run.end().0 / 1_000_000)
            .filter(|ms| said(&run, 1, *ms).is_none())
            .count();
        assert!(busy > 100, "{busy}");
    }

    #[test]
    fn a_full_window_is_named() {
        let run = simulated(&RunOptions {
            dataset: "synthetic:len=64,cost_ms=1".to_owned(),
            batch_size: Some(4),
            num_workers: 2,
            prefetch_factor: Some(2),
            step_ms: 50.0,
            ..RunOptions::default()
        });
        let middle = run.end().0 / 2_000_000;
        let text = said(&run, 0, middle).expect("the trainer is slow");
        assert_eq!(
            text,
            "No task: the prefetch window of 4 batches is full, and it gets a new one when the trainer takes a batch"
        );
        assert_eq!(
            said(&run, 7, middle).map(|t| t.starts_with("No task")),
            Some(true)
        );
        assert_eq!(
            why_idle(&run, &run.pipeline_at(run.end()), Lane::Trainer),
            None
        );
    }
}
