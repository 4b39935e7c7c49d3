//! Tests that every lesson can be finished in both languages, and of statements about runs and PyTorch.

use std::path::Path;

use loadscope_lessons::check::check;
use loadscope_lessons::{
    BuiltInPrograms, Course, Kind, LESSONS, Language, Lesson, Moment, ProgramCatalog, Query,
    QueryContext, Task, Value, simulated,
};
use loadscope_trace::{Nanos, Run, RunOptions};

/// Returns all lessons.
pub fn lessons(language: Language) -> Vec<Lesson> {
    match Course::built_in(language) {
        Ok(course) => course.lessons().to_vec(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_built_in_lessons_pass_their_check() {
    for language in Language::ALL {
        let lessons = lessons(language);
        assert_eq!(lessons.len(), LESSONS);
        assert_eq!(LESSONS, 14);
        let mut mistakes = Vec::new();
        for (k, lesson) in lessons.iter().enumerate() {
            assert_eq!(lesson.number as usize, k + 1);
            let name = format!("{:02}.{}.toml", k + 1, language.code());
            let checked = check(&name, lesson, &BuiltInPrograms);
            mistakes.extend(checked.mistakes.iter().map(ToString::to_string));
            let found = checked.facts.len() + checked.mistakes.len();
            assert!(found >= lesson.steps().len(), "{name}");
        }
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    }
}

/// Returns all parts of a lesson except its texts.
fn shape(lesson: &Lesson) -> Vec<String> {
    let scenes = lesson.scenes().iter().map(|scene| format!("{scene:?}"));
    let steps = lesson.steps().iter().map(|step| {
        let task = match &step.task {
            Task::Look { at, .. } => format!("{at:?}"),
            Task::Predict { question, until } => {
                format!(
                    "{:?} {:?} {until:?} {}",
                    question.at,
                    question.query,
                    kind(&question.kind)
                )
            }
            Task::Try(trial) => format!("{:?} {:?} {:?}", trial.goal, trial.keep, trial.solution),
            Task::Code { name, .. } => name.clone(),
        };
        format!("{:?} {:?} {task}", lesson.options(step), step.parts)
    });
    scenes.chain(steps).collect()
}

fn kind(kind: &Kind) -> String {
    match kind {
        Kind::Number { tolerance, .. } => format!("number {tolerance}"),
        Kind::Choice(all) | Kind::Order(all) => {
            format!(
                "{:?}",
                all.iter().map(|choice| &choice.is).collect::<Vec<_>>()
            )
        }
        Kind::Click => "click".to_owned(),
    }
}

#[test]
fn both_languages_have_the_same_steps() {
    for (en, zh) in lessons(Language::En).iter().zip(&lessons(Language::Zh)) {
        assert_eq!(shape(en), shape(zh), "lesson {}", en.number);
        assert_ne!(en.title, zh.title);
    }
}

#[test]
fn each_lesson_has_every_kind_of_task() {
    for lesson in lessons(Language::En) {
        for name in ["look", "predict", "try", "code"] {
            let has = lesson.steps().iter().any(|step| step.task.name() == name);
            assert!(has, "lesson {} has no {name}", lesson.number);
        }
        assert!(
            lesson.steps().iter().all(|step| !step.parts.is_empty()),
            "{}",
            lesson.number
        );
    }
}

#[test]
fn texts_are_written_in_their_language() {
    let chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    for (language, is_chinese) in [(Language::En, false), (Language::Zh, true)] {
        for lesson in lessons(language) {
            for text in texts(&lesson) {
                assert_eq!(
                    chinese(&text),
                    is_chinese,
                    "lesson {}: {text}",
                    lesson.number
                );
            }
        }
    }
}

fn texts(lesson: &Lesson) -> Vec<String> {
    let mut all = vec![lesson.title.clone(), lesson.goal.clone()];
    for step in lesson.steps() {
        match &step.task {
            Task::Look { text, .. } | Task::Code { text, .. } => all.push(text.clone()),
            Task::Predict { question, .. } => {
                all.extend([question.ask.clone(), question.why.clone()])
            }
            Task::Try(trial) => {
                all.extend([trial.text.clone(), trial.hint.clone(), trial.why.clone()])
            }
        }
    }
    all
}

/// Lesson 3 states that the order of its run is the order of PyTorch.
#[test]
fn lesson_3_has_the_order_of_pytorch() {
    let lesson = &lessons(Language::En)[2];
    let order = |epoch: u32| {
        let run = simulated(&lesson.scenes()[0].options).expect("sound options");
        let query = Query::read(&format!("first 8 indices of epoch {epoch}")).expect("a query");
        let about = QueryContext::at(&run, Moment::End, &BuiltInPrograms);
        query
            .answer(about.expect("it has an end"))
            .map(|v| v.key().replace(' ', ", "))
    };
    let printed = BuiltInPrograms
        .code("03_orders")
        .expect("it is there")
        .output;
    let first = printed.lines().next().expect("a line");
    let expected = format!(
        "seed 1 epoch 0 [{}] epoch 1 [{}]",
        order(0).expect("an order"),
        order(1).expect("an order")
    );
    assert_eq!(first, expected);
}

/// Lesson 12 states the position in the list of all ranks.
#[test]
fn sample_5_is_at_position_3_of_the_rank_list() {
    let lesson = &lessons(Language::En)[11];
    let run = simulated(&lesson.scenes()[0].options).expect("sound options");
    let query = Query::read("first 4 indices of epoch 0 with world_size=1").expect("a query");
    let about = QueryContext::at(&run, Moment::End, &BuiltInPrograms);
    let Some(Value::List(first)) = query.answer(about.expect("it has an end")) else {
        panic!("no order");
    };
    assert_eq!(first[3], Value::Number(5.0));
}

#[test]
fn every_phrase_is_in_the_readme() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(readme).expect("it is there");
    for phrase in loadscope_lessons::phrases() {
        let pattern = format!("`{}`", phrase.pattern);
        assert!(
            readme.contains(&pattern),
            "README.md lacks {pattern}: {}",
            phrase.about
        );
    }
}

/// Returns the first run of a lesson.
fn run_of(number: usize) -> Run {
    let lesson = lessons(Language::En).remove(number - 1);
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
        let lesson = lessons(language).remove(5);
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
        let text = said(&lessons(language).remove(10), 3);
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
        let lesson = lessons(language).remove(2);
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
            let text = said(&lessons(language)[claim.lesson - 1], claim.step);
            let wanted = match language {
                Language::En => claim.en,
                Language::Zh => claim.zh,
            };
            assert!(text.contains(wanted), "lesson {}: {text}", claim.lesson);
        }
    }
}
