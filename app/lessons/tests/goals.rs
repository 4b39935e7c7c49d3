//! Test that every run that reaches the goal of a trial agrees with the texts of the trial. The test searches small grids of
//! options for unexpected solutions.

use std::collections::BTreeMap;

use loadscope_lessons::{
    BuiltInPrograms, Changes, Course, Language, Lesson, Moment, QueryContext, Step, Task, Trial,
    simulated,
};
use loadscope_trace::{OnError, Run, RunOptions, Stage};
use serde_json::{Map, Value as Json, json};

/// Texts of a trial as conditions on the run.
struct Says {
    lesson: u32,
    /// Condition on runs that reach the goal, from the text and the explanation.
    of_solution: fn(&Run) -> bool,
    /// Condition on all runs with the kept options, from the explanation.
    of_all: fn(&Run) -> bool,
}

const SAYS: [Says; 14] = [
    of(1, |run| batches(run) == 5 && samples(run) == 20),
    of(2, |run| order(run, 0) == order(run, 1) && batches(run) > 0),
    of(3, |run| times(run).into_values().any(|times| times >= 2)),
    of(4, |run| {
        waited(run) < 0.1 && (1..=3).contains(&workers(run))
    }),
    of(5, |run| in_flight(run) <= 2 && workers(run) >= 2),
    of(6, |run| arrivals(run).is_sorted() && batches(run) == 16),
    Says {
        lesson: 7,
        of_solution: |run| !run.info.options.keeps_order() && batches(run) == 24,
        of_all: |run| !run.info.options.keeps_order() || seconds(run) >= 1.5,
    },
    of(8, |run| {
        !run.workers().is_empty() && order(run, 0) != order(run, 1) && keeps_workers(run)
    }),
    of(9, |run| {
        run.info.options.is_stream() && samples(run) == 12 && workers(run) >= 2
    }),
    of(10, |run| {
        run.transitions().iter().all(|t| t.stage != Stage::Pinning) && batches(run) > 0
    }),
    of(11, |run| keeps_workers(run) && workers(run) == 2),
    of(12, |run| order(run, 0) != order(run, 1)),
    of(13, |run| {
        batches(run) == 7 && run.info.options.on_error == OnError::Continue
    }),
    of(14, |run| waited(run) < 0.05 && batches(run) == 64),
];

const fn of(lesson: u32, of_solution: fn(&Run) -> bool) -> Says {
    Says {
        lesson,
        of_solution,
        of_all: |_| true,
    }
}

fn in_stage(run: &Run, stage: Stage) -> impl Iterator<Item = usize> + '_ {
    let all = run.transitions().iter().filter(move |t| t.stage == stage);
    all.map(|t| t.batch as usize)
}

fn batches(run: &Run) -> usize {
    in_stage(run, Stage::Training).count()
}

fn samples(run: &Run) -> u32 {
    let all = in_stage(run, Stage::Training);
    all.map(|row| run.batches()[row].samples()).sum()
}

fn seconds(run: &Run) -> f64 {
    run.end().as_secs_f64()
}

fn workers(run: &Run) -> usize {
    run.info.options.num_workers
}

/// Returns the indices of an epoch in dispatch order.
fn order(run: &Run, epoch: u32) -> Vec<u64> {
    let rows = 0..run.batches().len();
    let of_epoch = rows.filter(|row| run.batches()[*row].id.epoch == epoch);
    of_epoch.flat_map(|row| run.indices(row).to_vec()).collect()
}

fn times(run: &Run) -> BTreeMap<u64, usize> {
    let mut times = BTreeMap::new();
    for index in order(run, 0) {
        *times.entry(index).or_insert(0) += 1;
    }
    times
}

fn waited(run: &Run) -> f64 {
    let waits = run.waits().iter();
    let waited: f64 = waits
        .map(|w| (w.end.min(run.end()) - w.start).as_secs_f64())
        .sum();
    waited / seconds(run)
}

/// Returns the batch indices in order of arrival.
fn arrivals(run: &Run) -> Vec<u32> {
    let mut all = Vec::new();
    let arrived = run.transitions().iter();
    for t in arrived.filter(|t| matches!(t.stage, Stage::Held | Stage::Ready | Stage::Training)) {
        let idx = run.batches()[t.batch as usize].id.idx;
        if !all.contains(&idx) {
            all.push(idx);
        }
    }
    all
}

/// Returns the largest number of entries in `task_info`.
fn in_flight(run: &Run) -> usize {
    let steps = 0..=run.transitions().len();
    let all = steps.map(|step| run.pipeline_after(step).task_info().count());
    all.max().unwrap_or_default()
}

/// Returns true if the first and last epoch have the same workers.
fn keeps_workers(run: &Run) -> bool {
    let started = run.workers().len();
    run.epochs().len() == 2 && started > 0 && started == workers(run)
}

/// Returns the values to try, in the syntax of lesson files.
fn values() -> Vec<(&'static str, Vec<Json>)> {
    vec![
        (
            "num_workers",
            vec![json!(0), json!(1), json!(2), json!(3), json!(4), json!(8)],
        ),
        (
            "prefetch_factor",
            vec![json!(1), json!(2), json!(4), json!(8)],
        ),
        (
            "batch_size",
            vec![
                json!("none"),
                json!(1),
                json!(2),
                json!(3),
                json!(4),
                json!(5),
                json!(8),
                json!(32),
            ],
        ),
        ("in_order", vec![json!(true), json!(false)]),
        ("shuffle", vec![json!(true), json!(false)]),
        (
            "sampler",
            vec![
                json!(""),
                json!("random"),
                json!("sequential"),
                json!("distributed"),
            ],
        ),
        ("replacement", vec![json!(true)]),
        ("num_samples", vec![json!(4), json!(30)]),
        ("seed", vec![json!(0), json!(3)]),
        ("global_seed", vec![json!(0)]),
        ("drop_last", vec![json!(true)]),
        ("persistent_workers", vec![json!(true)]),
        (
            "pin_memory",
            vec![json!("off"), json!("on"), json!("mlock")],
        ),
        ("set_epoch", vec![json!(true), json!(false)]),
        ("world_size", vec![json!(1), json!(2)]),
        (
            "on_error",
            vec![
                json!("stop"),
                json!("continue"),
                json!("skip"),
                json!("log"),
            ],
        ),
        ("epochs", vec![json!(1), json!(3)]),
        ("step_ms", vec![json!(0), json!(500)]),
        (
            "dataset",
            [
                "synthetic:len=12,cost_ms=20",
                "stream:len=12,cost_ms=20,shard=true",
                "stream:shards=6/6",
                "stream:len=6",
            ]
            .map(|d| json!(d))
            .to_vec(),
        ),
    ]
}

/// Returns all settings with one or two of these values, and the solution with each value.
fn grid(trial: &Trial, start: &RunOptions) -> Vec<RunOptions> {
    let values = values();
    let single = values
        .iter()
        .flat_map(|(key, all)| all.iter().map(|value| (*key, value.clone())));
    let single: Vec<(&str, Json)> = single.collect();
    let mut all = Vec::new();
    let mut add = |base: &RunOptions, changes: &[&(&str, Json)]| {
        let changed: Map<String, Json> = changes
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect();
        let options = Changes::of(changed).and_then(|changes| changes.apply(base));
        all.extend(options);
    };
    let solved = trial.solution.apply(start).expect("a sound solution");
    for (k, one) in single.iter().enumerate() {
        add(start, &[one]);
        add(&solved, &[one]);
        for other in single.iter().skip(k + 1).filter(|other| other.0 != one.0) {
            add(start, &[one, other]);
        }
    }
    all
}

fn tries(lesson: &Lesson) -> impl Iterator<Item = (&Step, &Trial)> {
    lesson.steps().iter().filter_map(|step| match &step.task {
        Task::Try(trial) => Some((step, trial)),
        Task::Look { .. } | Task::Predict { .. } | Task::Code { .. } => None,
    })
}

#[test]
fn every_run_that_reaches_a_goal_fits_the_lesson_text() {
    let course = Course::built_in(Language::En).expect("sound lessons");
    let mut wrong = Vec::new();
    for lesson in course.lessons() {
        let says = SAYS.iter().find(|says| says.lesson == lesson.number);
        let says = says.unwrap_or_else(|| panic!("lesson {} says nothing", lesson.number));
        for (step, trial) in tries(lesson) {
            let start = lesson.options(step).expect("it has a run");
            let mut solutions = 0;
            for options in grid(trial, start) {
                let Ok(run) = simulated(&options) else {
                    continue;
                };
                if !trial.changed(start, &run).is_empty() {
                    continue;
                }
                let about =
                    QueryContext::at(&run, Moment::End, &BuiltInPrograms).expect("it has an end");
                let is_met = trial.goal.is_met(about);
                solutions += usize::from(is_met);
                let is_true = !is_met || (says.of_solution)(&run);
                if !is_true || !(says.of_all)(&run) {
                    wrong.push(format!("lesson {}: {options:?}", lesson.number));
                }
            }
            assert!(solutions > 0, "lesson {} has no solution", lesson.number);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} runs:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A program that is presented as "the same" has the arguments of the run.
#[test]
fn a_program_called_the_same_has_the_options_of_the_run() {
    for language in Language::ALL {
        let course = Course::built_in(language).expect("sound lessons");
        for lesson in course.lessons() {
            for step in lesson.steps() {
                let Task::Code { text, name } = &step.task else {
                    continue;
                };
                if !text.starts_with("The same in PyTorch") && !text.contains("也是如此") {
                    continue;
                }
                let code = loadscope_lessons::ProgramCatalog::code(&BuiltInPrograms, name)
                    .expect("a program");
                let options = lesson.options(step).expect("it has a run");
                let options = serde_json::to_value(options).expect("options are an object");
                for key in ["seed", "prefetch_factor", "num_workers"] {
                    let value = code.source.split_once(&format!("{key}="));
                    let number = value.and_then(|(_, rest)| {
                        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
                        digits.parse::<u64>().ok()
                    });
                    assert!(
                        number.is_none_or(|number| options[key] == number),
                        "lesson {}: {name} has another {key}",
                        lesson.number
                    );
                }
                let len = options["dataset"].as_str().expect("a text").to_owned();
                let len = len
                    .split("len=")
                    .nth(1)
                    .and_then(|rest| rest.split(',').next().map(str::to_owned));
                let len = len.expect("a length");
                assert!(
                    code.source.contains(&format!("range({len})"))
                        || code.source.contains(&format!("return {len}")),
                    "lesson {}: {name} has another length than {len}",
                    lesson.number
                );
            }
        }
    }
}

/// A no-break space keeps number and percent sign on one line.
#[test]
fn percent_signs_follow_a_no_break_space() {
    let course = Course::built_in(Language::En).expect("sound lessons");
    for lesson in course.lessons() {
        for text in lesson.texts() {
            let breaks = text.match_indices(" %").any(|(at, _)| {
                text.get(..at)
                    .is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit()))
            });
            assert!(
                !breaks,
                "lesson {}: a no-break space before % in: {text}",
                lesson.number
            );
        }
    }
}
