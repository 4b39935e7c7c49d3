//! Tests of the lessons' statements about their runs and PyTorch.

use loadscope_lessons::{
    BuiltInPrograms, Course, Language, Lesson, Moment, ProgramCatalog as _, Query, QueryContext,
    Task, simulated,
};
use loadscope_trace::{Nanos, Run, RunOptions};

/// Returns a lesson by its number, from 1.
fn lesson(number: usize, language: Language) -> Lesson {
    let course = Course::built_in(language).expect("sound lessons");
    let lesson = course.lessons().get(number - 1);
    lesson.expect("there is such a lesson").clone()
}

/// Returns the first run of a lesson.
fn run_of(number: usize) -> Run {
    let lesson = lesson(number, Language::En);
    simulated(&lesson.scenes()[0].options).expect("sound options")
}

/// Returns the texts of a step by its number, from 1.
fn said(lesson: &Lesson, step: usize) -> String {
    match &lesson.steps()[step - 1].task {
        Task::Look { text, .. } | Task::Code { text, .. } => text.clone(),
        Task::Predict { question, .. } => format!("{} {}", question.ask, question.why),
        Task::Try(trial) => format!("{} {} {}", trial.text, trial.hint, trial.why),
    }
}

/// Returns the answer to a query at a moment of a run.
fn answer(run: &Run, moment: &str, query: &str) -> String {
    let moment = Moment::read(moment).expect("a moment");
    let query = Query::read(query).expect("a query");
    let about = QueryContext::at(run, moment, &BuiltInPrograms).expect("the run has this moment");
    query.answer(about).expect("it has an answer").key()
}

#[test]
fn training_waits_for_batches_0_and_4_in_lesson_7() {
    let run = run_of(7);
    let waits = run.waits().iter();
    let long = waits.filter(|wait| wait.end.min(run.end()) > wait.start);
    let batches: Vec<Option<u32>> = long
        .map(|wait| {
            let row = wait.batch? as usize;
            Some(run.batches()[row].id.idx)
        })
        .collect();
    assert_eq!(batches, [Some(0), Some(4)]);
}

#[test]
fn lesson_6_names_the_recorded_value_of_rcvd_idx() {
    let moment = "batch 0 enters training";
    assert_eq!(answer(&run_of(6), moment, "rcvd_idx"), "1");
    for language in Language::ALL {
        let lesson = lesson(6, language);
        let at_moment = |step: &usize| {
            let task = &lesson.steps()[step - 1].task;
            let wanted = Moment::read(moment).expect("a moment");
            matches!(task, Task::Look { at, .. } if *at == wanted)
        };
        let step = (1..=lesson.steps().len()).find(at_moment);
        let text = said(&lesson, step.expect("a step shows this moment"));
        let (_, after) = text.split_once("`rcvd_idx`").expect("it names rcvd_idx");
        let number = after.trim_start_matches(|c: char| !c.is_ascii_digit());
        let number = number.split(|c: char| !c.is_ascii_digit()).next();
        assert_eq!(number, Some("1"), "{text}");
    }
}

#[test]
fn persistent_workers_do_not_change_the_first_wait() {
    let query = "more or less first wait ms of epoch 1 with persistent_workers=true";
    assert_eq!(answer(&run_of(11), "end", query), "same");
    for language in Language::ALL {
        let text = said(&lesson(11, language), 3);
        assert!(text.contains("persistent_workers=True"), "{text}");
    }
}

#[test]
fn a_larger_window_absorbs_only_short_delays() {
    let waited = |slow_ms: u32, prefetch_factor: usize| {
        let options = RunOptions {
            dataset: format!("synthetic:len=24,cost_ms=50,slow=12:{slow_ms}"),
            batch_size: Some(1),
            num_workers: 2,
            prefetch_factor: Some(prefetch_factor),
            step_ms: 40.0,
            ..RunOptions::default()
        };
        simulated(&options).expect("sound options").waited()
    };
    assert!(waited(150, 4) < waited(150, 1));
    for prefetch_factor in [1, 4] {
        let waited = waited(1000, prefetch_factor);
        assert!(waited > Nanos::from_millis(500), "{waited}");
    }
}

#[test]
fn with_a_global_seed_epoch_1_depends_on_the_workers() {
    let printed = BuiltInPrograms
        .code("03_orders")
        .expect("it is there")
        .output;
    let orders = |line: usize| {
        let line = printed.lines().nth(line - 1).expect("a line");
        let (_, lists) = line.split_once(" workers ").expect("a number of workers");
        lists.split_once(" epoch 1 ").expect("two epochs")
    };
    let (alone, with_workers) = (orders(4), orders(5));
    assert_eq!(alone.0, with_workers.0);
    assert_ne!(alone.1, with_workers.1);
    for language in Language::ALL {
        let lesson = lesson(3, language);
        for name in ["`torch.manual_seed`", "`generator`"] {
            let is_named = lesson.texts().iter().any(|text| text.contains(name));
            assert!(is_named, "{}: {name}", language.code());
        }
    }
}

/// Text that a step contains.
struct Claim {
    lesson: usize,
    step: usize,
    en: &'static str,
    zh: &'static str,
}

const CLAIMS: [Claim; 3] = [
    Claim {
        lesson: 12,
        step: 6,
        en: "rank 0 alone",
        zh: "只显示 rank 0",
    },
    Claim {
        lesson: 10,
        step: 3,
        en: "shared memory",
        zh: "共享内存",
    },
    Claim {
        lesson: 14,
        step: 5,
        en: "would wait",
        zh: "百分之几",
    },
];

#[test]
fn corrected_sentences_stay_corrected() {
    for claim in &CLAIMS {
        for language in Language::ALL {
            let text = said(&lesson(claim.lesson, language), claim.step);
            let wanted = match language {
                Language::En => claim.en,
                Language::Zh => claim.zh,
            };
            assert!(text.contains(wanted), "lesson {}: {text}", claim.lesson);
        }
    }
}
