//! Purpose of lanes, and reasons for idle workers. "Idle" alone looks like a fault, but the prefetch window is usually full.

use loadscope_trace::{Activity, Lane, Pipeline, Run, Stage};
use loadscope_words::say;

use crate::format;
use crate::variables::prefetch_window;

/// Reason why a lane fetches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No epoch is running.
    NoEpoch,
    /// `num_workers=0`: the main process trains.
    NoWorkers,
    /// The worker is about to take this batch.
    Taking(u32),
    /// The run is paused before the worker takes this batch.
    Paused(u32),
    /// The sampler has no batch left.
    SamplerExhausted,
    /// The prefetch window is full, or batches are held until an earlier one arrives.
    WindowFull {
        /// Number of tasks in `_task_info`.
        used: usize,
        /// Maximum number of tasks.
        window: usize,
        /// Number of held batches, and index of the missing batch.
        held: Option<(u64, u32)>,
    },
    /// The worker has no task.
    NoTask,
}

/// Returns the reason why `lane` fetches nothing. Returns `None` if it fetches, or if it is not a lane for fetching.
pub fn reason(run: &Run, pipeline: &Pipeline<'_>, lane: Lane, paused: bool) -> Option<Reason> {
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
        return Some(Reason::NoEpoch);
    }
    let Some(worker) = worker else {
        let trains = pipeline.batches().any(|b| b.stage == Stage::Training);
        return Some(match trains {
            true => Reason::NoWorkers,
            false => Reason::NoTask,
        });
    };
    if let Some(next) = pipeline.in_lane(Lane::IndexQueue(worker)).next() {
        return Some(match paused {
            true => Reason::Paused(next.id.idx),
            false => Reason::Taking(next.id.idx),
        });
    }
    if run.info.batches_per_epoch == Some(u64::from(pipeline.send_idx)) {
        return Some(Reason::SamplerExhausted);
    }
    let held = pipeline.in_lane(Lane::Reorder).count() as u64;
    let used = pipeline.task_info().count();
    let window = prefetch_window(run).max(1);
    let missing = pipeline.awaited().filter(|missing| {
        held > 0 && run.info.options.keeps_order() && missing.lane != Some(Lane::Reorder)
    });
    let held = missing.map(|missing| (held, missing.id.idx));
    Some(match used >= window || held.is_some() {
        true => Reason::WindowFull { used, window, held },
        false => Reason::NoTask,
    })
}

impl Reason {
    /// Returns texts of decreasing length: `prefetch window full (8/8)`.
    pub fn brief(self) -> [String; 3] {
        let all =
            |long: &str, short: &str| [long.to_owned(), short.to_owned(), say!("idle").to_owned()];
        match self {
            Self::NoEpoch => all(say!("no epoch is running"), say!("no epoch")),
            Self::NoWorkers => all(
                say!("nothing is loaded while the model trains"),
                say!("training"),
            ),
            Self::Taking(idx) => {
                let text = say!("about to take batch {idx}");
                all(&text, &say!("takes {idx}"))
            }
            Self::Paused(idx) => all(&say!("paused before batch {idx}"), say!("paused")),
            Self::SamplerExhausted => all(say!("sampler exhausted"), say!("exhausted")),
            Self::WindowFull { used, window, .. } if used >= window => {
                let share = format!("({used}/{window})");
                all(
                    &say!("prefetch window full {share}"),
                    &say!("window full {share}"),
                )
            }
            Self::WindowFull { .. } | Self::NoTask => all(say!("no task"), say!("no task")),
        }
    }

    /// Describes the reason in one or two sentences.
    pub fn sentence(self) -> String {
        let rule = say!("the worker gets a task when the trainer takes a batch");
        match self {
            Self::NoEpoch => say!("No epoch is running").to_owned(),
            Self::NoWorkers => {
                say!("num_workers=0: nothing is loaded while the model trains").to_owned()
            }
            Self::Taking(idx) => say!("About to take batch {idx}"),
            Self::Paused(idx) => {
                say!("The run is paused before this worker takes batch {idx}")
            }
            Self::SamplerExhausted => say!("The sampler has no batch left for it").to_owned(),
            Self::WindowFull {
                held: Some((held, missing)),
                ..
            } => say!(
                "No task: {} held until batch {missing} arrives, and {rule}",
                format::plural(held, say!(n: "batch is"), say!(n: "batches are")),
            ),
            Self::WindowFull { window, .. } => {
                say!("No task: the prefetch window of {window} batches is full, and {rule}")
            }
            Self::NoTask => say!("No task: {rule}"),
        }
    }
}

/// Describes why `lane` fetches nothing. Returns `None` if it fetches, or if it is not a lane for fetching.
pub fn why_idle(run: &Run, pipeline: &Pipeline<'_>, lane: Lane) -> Option<String> {
    reason(run, pipeline, lane, false).map(Reason::sentence)
}

/// Returns `Idle` with the reason if it is known, or `Ended`.
pub fn describe_idle(run: &Run, pipeline: &Pipeline<'_>, lane: Lane) -> String {
    let worker = match lane {
        Lane::Worker(worker) => pipeline.worker(worker),
        _ => None,
    };
    if worker.is_some_and(|w| w.end.is_some_and(|(at, _)| at <= pipeline.at)) {
        return say!("Ended").to_owned();
    }
    match why_idle(run, pipeline, lane) {
        Some(why) => say!("Idle. {why}."),
        None => say!("Idle").to_owned(),
    }
}

/// Describes the purpose of a lane.
pub fn purpose(lane: Lane) -> &'static str {
    match lane {
        Lane::Trainer => say!("The training loop: gets a batch, trains on it, requests the next"),
        Lane::Reorder => {
            say!(
                "Holds batches that arrived early, because the trainer receives them in the sampler's order"
            )
        }
        Lane::DataQueue => say!("Batches in page-locked memory on their way to the main process"),
        Lane::Pin => say!("Copies batches to page-locked memory, one at a time"),
        Lane::ResultQueue => say!("All workers put finished batches into this queue"),
        Lane::Main => {
            say!(
                "num_workers=0: the main process loads each batch, so loading does not overlap with training"
            )
        }
        Lane::Worker(_) => {
            say!("Fetches and collates one batch at a time")
        }
        Lane::IndexQueue(_) => {
            say!("Tasks (lists of indices) for this worker. Other workers cannot take them.")
        }
    }
}

/// Describes the meaning of an activity.
pub fn meaning(activity: Activity) -> &'static str {
    match activity {
        Activity::Waiting => say!("The trainer has requested a batch that is not ready"),
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
    use crate::simulated;

    fn describe(run: &Run, worker: u16, ms: i64) -> Option<String> {
        why_idle(
            run,
            &run.pipeline_at(Nanos::from_millis(ms)),
            Lane::Worker(worker),
        )
    }

    #[test]
    fn an_idle_worker_has_a_reason() {
        // Sample 4 takes a second. Batches 5 and 7 are ready during that time.
        let run = simulated(&RunOptions {
            dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            prefetch_factor: Some(2),
            ..RunOptions::default()
        });
        let texts: Vec<String> = (0..run.end().0 / 1_000_000)
            .filter_map(|ms| describe(&run, 1, ms))
            .collect();
        let any = |part: &str| texts.iter().any(|t| t.contains(part));
        assert!(
            any("held until batch 4 arrives, and the worker gets a task"),
            "{texts:?}"
        );
        assert!(any("The sampler has no batch left"), "{texts:?}");
        // A working worker has no reason.
        let busy = (0..run.end().0 / 1_000_000)
            .filter(|ms| describe(&run, 1, *ms).is_none())
            .count();
        assert!(busy > 100, "{busy}");
    }

    #[test]
    fn brief_reasons_are_exact() {
        let run = simulated(&RunOptions {
            dataset: "synthetic:len=64,cost_ms=1".to_owned(),
            batch_size: Some(4),
            num_workers: 2,
            prefetch_factor: Some(2),
            step_ms: 50.0,
            ..RunOptions::default()
        });
        let brief = |at: Nanos, paused| {
            let why = reason(&run, &run.pipeline_at(at), Lane::Worker(0), paused);
            why.map(|why| why.brief()[0].clone())
        };
        let seen = |paused| {
            let steps = run.transitions().iter().filter_map(|t| brief(t.at, paused));
            steps.collect::<std::collections::BTreeSet<String>>()
        };
        let (running, paused) = (seen(false), seen(true));
        assert!(
            running.contains("prefetch window full (4/4)"),
            "{running:?}"
        );
        assert!(running.contains("sampler exhausted"), "{running:?}");
        // A simulated worker takes its batch at the instant of arrival, so a paused run makes no difference here.
        assert_eq!(running, paused);
    }

    /// Regression test: `prefetch window full (7/6)`, because the batch just yielded was counted together with its successor.
    #[test]
    fn the_prefetch_window_never_exceeds_its_size() {
        let slow = "synthetic:len=48,cost_ms=4,jitter=0.5,slow=5:300,slow=17:90";
        for (num_workers, prefetch, in_order, step_ms) in [
            (1, 1, true, 30.0),
            (1, 3, true, 30.0),
            (2, 2, true, 30.0),
            (3, 2, false, 20.0),
            (3, 2, true, 5.0),
            (4, 1, false, 20.0),
        ] {
            let run = simulated(&RunOptions {
                dataset: slow.to_owned(),
                batch_size: Some(2),
                num_workers,
                prefetch_factor: Some(prefetch),
                in_order,
                step_ms,
                epochs: 2,
                ..RunOptions::default()
            });
            let window = prefetch_window(&run);
            let mut full = 0;
            for step in 0..=run.transitions().len() {
                let pipeline = run.pipeline_after(step);
                let shown = pipeline.task_info().count();
                assert!(shown <= window, "step {step}: {shown}/{window}");
                for worker in 0..num_workers as u16 {
                    let why = reason(&run, &pipeline, Lane::Worker(worker), false);
                    if let Some(Reason::WindowFull { used, .. }) = why {
                        assert_eq!(used, shown, "step {step}, worker {worker}");
                        full += usize::from(used == window);
                    }
                }
            }
            assert!(full > 0, "{num_workers} workers, step of {step_ms} ms");
        }
    }

    #[test]
    fn a_full_prefetch_window_is_the_reason() {
        let run = simulated(&RunOptions {
            dataset: "synthetic:len=64,cost_ms=1".to_owned(),
            batch_size: Some(4),
            num_workers: 2,
            prefetch_factor: Some(2),
            step_ms: 50.0,
            ..RunOptions::default()
        });
        let middle = run.end().0 / 2_000_000;
        let text = describe(&run, 0, middle).expect("the trainer is slow");
        assert_eq!(
            text,
            "No task: the prefetch window of 4 batches is full, and the worker gets a task when the trainer takes a batch"
        );
        assert_eq!(
            describe(&run, 7, middle).map(|t| t.starts_with("No task")),
            Some(true)
        );
        assert_eq!(
            why_idle(&run, &run.pipeline_at(run.end()), Lane::Trainer),
            None
        );
    }
}
