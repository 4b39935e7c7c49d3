//! Variables of PyTorch's iterator by PyTorch's names, with marks at those that the last transition changed.

use loadscope_trace::{Lane, Pipeline, Run, TaskInfo, WorkerId};

/// Maximum number of workers taken from the options, because a file can contain any number.
const MAX_PLANNED: usize = 256;

/// Returns the number of workers of a run, from its options and its lanes.
pub fn planned_workers(run: &Run) -> usize {
    let asked = run.info.options.num_workers.min(MAX_PLANNED);
    run.lanes().fold(asked, |most, (lane, _)| match lane {
        Lane::Worker(w) | Lane::IndexQueue(w) => most.max(usize::from(w) + 1),
        Lane::ResultQueue
        | Lane::Pin
        | Lane::DataQueue
        | Lane::Reorder
        | Lane::Trainer
        | Lane::Main => most,
    })
}

/// Returns the `prefetch_factor` of a loader with workers. If the recording does not contain the value, it is 2. Without workers, it is 0.
pub fn prefetch_factor(run: &Run) -> usize {
    match run.info.options.prefetch() {
        0 => 2 * usize::from(planned_workers(run) > 0),
        factor => factor,
    }
}

/// Returns the maximum number of batches in flight: `prefetch_factor` per worker.
pub fn prefetch_window(run: &Run) -> usize {
    prefetch_factor(run).saturating_mul(planned_workers(run))
}

/// Subject of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A batch, by its position in [`Run::batches`].
    Batch(usize),
    /// Worker of the loader.
    Worker(WorkerId),
}

/// A row of the table of variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// PyTorch's name, or the key in a dictionary or list.
    pub name: String,
    /// Value in Python syntax. Empty for a dictionary or list with entries.
    pub value: String,
    /// True for an entry of the dictionary or list above.
    pub is_entry: bool,
    /// True if the last transition changed it.
    pub has_changed: bool,
    /// Subject of the variable.
    pub item: Option<About>,
}

/// Returns all variables of the iterator in the state `pipeline`.
pub fn variables(run: &Run, pipeline: &Pipeline<'_>) -> Vec<Variable> {
    let before = pipeline.step.checked_sub(1);
    let before = before.map(|step| run.pipeline_after(step));
    let mut all = listed(run, pipeline);
    let Some(before) = before else {
        return all;
    };
    let before = listed(run, &before);
    let mut group = String::new();
    let mut known = std::collections::HashMap::new();
    for v in &before {
        if !v.is_entry {
            group.clone_from(&v.name);
        }
        known.insert((group.clone(), v.name.clone()), &v.value);
    }
    for v in &mut all {
        if !v.is_entry {
            group.clone_from(&v.name);
        }
        v.has_changed = known.get(&(group.clone(), v.name.clone())) != Some(&&v.value);
    }
    all
}

fn listed(run: &Run, pipeline: &Pipeline<'_>) -> Vec<Variable> {
    let workers = planned_workers(run);
    let row = |name: &str, value: String| Variable {
        name: name.to_owned(),
        value,
        is_entry: false,
        has_changed: false,
        item: None,
    };
    if workers == 0 {
        // `_SingleProcessDataLoaderIter` has only this variable.
        return vec![row("num_yielded", pipeline.rcvd_idx.to_string())];
    }
    let mut all = vec![row("send_idx", pipeline.send_idx.to_string())];
    all.push(row("rcvd_idx", pipeline.rcvd_idx.to_string()));
    all.push(row(
        "tasks_outstanding",
        pipeline.tasks_outstanding.to_string(),
    ));
    let tasks: Vec<Variable> = pipeline
        .task_info()
        .map(|t| Variable {
            is_entry: true,
            item: Some(About::Batch(t.row)),
            ..row(&t.idx.to_string(), entry(&t))
        })
        .collect();
    all.push(row(
        "task_info",
        if tasks.is_empty() { "{}" } else { "" }.to_owned(),
    ));
    all.extend(tasks);
    all.push(row("workers_status", String::new()));
    all.extend((0..workers).map(|w| {
        let worker = w as WorkerId;
        Variable {
            is_entry: true,
            item: Some(About::Worker(worker)),
            ..row(
                &w.to_string(),
                python_bool(pipeline.takes_tasks(worker)).to_owned(),
            )
        }
    }));
    all
}

/// Returns `(1,)` while worker 1 has the task, `(1, data)` after the batch has arrived.
pub fn entry(task: &TaskInfo) -> String {
    let worker = task.worker.map_or("—".to_owned(), |w| w.to_string());
    match task.has_data {
        true => format!("({worker}, data)"),
        false => format!("({worker},)"),
    }
}

fn python_bool(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// Returns all variables as Python assignments.
pub fn python(run: &Run, pipeline: &Pipeline<'_>) -> String {
    let workers = planned_workers(run);
    if workers == 0 {
        return format!("_num_yielded = {}\n", pipeline.rcvd_idx);
    }
    let tasks: Vec<String> = pipeline
        .task_info()
        .map(|t| format!("{}: {}", t.idx, entry(&t)))
        .collect();
    let status: Vec<&str> = (0..workers)
        .map(|w| python_bool(pipeline.takes_tasks(w as WorkerId)))
        .collect();
    format!(
        "_send_idx = {}\n_rcvd_idx = {}\n_tasks_outstanding = {}\n_task_info = {{{}}}\n_workers_status = [{}]\n",
        pipeline.send_idx,
        pipeline.rcvd_idx,
        pipeline.tasks_outstanding,
        tasks.join(", "),
        status.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, Nanos, RunId, RunInfo, RunOptions, Stage};

    use super::*;

    fn run() -> Run {
        let info = RunInfo {
            options: RunOptions {
                num_workers: 2,
                ..RunOptions::default()
            },
            ..RunInfo::default()
        };
        let id = |idx| BatchId { epoch: 0, idx };
        let entered = |idx, stage| EventKind::Entered {
            batch: id(idx),
            stage,
        };
        let mut made = Run::new(info);
        let kinds = [
            EventKind::EpochStarted { epoch: 0 },
            EventKind::dispatched(id(0), Some(0), []),
            EventKind::dispatched(id(1), Some(1), []),
            EventKind::Consumer { waiting: true },
            entered(1, Stage::Fetching),
            entered(1, Stage::Held),
            entered(0, Stage::Ready),
            entered(0, Stage::Training),
        ];
        for (at, kind) in kinds.into_iter().enumerate() {
            let (at, run) = (Nanos(at as i64), RunId(0));
            made.apply(&Event { at, run, kind });
        }
        made
    }

    /// Returns the variables that transition `step` changed.
    fn changed(run: &Run, step: usize) -> Vec<String> {
        let all = variables(run, &run.pipeline_after(step))
            .into_iter()
            .filter(|v| v.has_changed);
        all.map(|v| format!("{} {}", v.name, v.value)).collect()
    }

    #[test]
    fn variables_changed_by_a_transition_are_marked() {
        let run = run();
        let dispatched = ["send_idx 2", "tasks_outstanding 2", "1 (1,)"];
        assert_eq!(changed(&run, 2), dispatched);
        assert!(
            changed(&run, 3).is_empty(),
            "a worker takes a task by itself"
        );
        assert_eq!(changed(&run, 4), ["tasks_outstanding 1", "1 (1, data)"]);
        assert_eq!(changed(&run, 5), ["rcvd_idx 1", "tasks_outstanding 0"]);
        assert!(changed(&run, 6).is_empty());
    }

    #[test]
    fn variables_are_formatted_as_python_prints_them() {
        let run = run();
        let expected = "_send_idx = 2\n_rcvd_idx = 0\n_tasks_outstanding = 1\n_task_info = {0: (0,), 1: (1, data)}\n\
                        _workers_status = [True, True]\n";
        assert_eq!(python(&run, &run.pipeline_after(4)), expected);
    }
}
