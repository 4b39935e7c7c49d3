//! Test that every lesson can be finished in both languages.

use std::path::Path;

use loadscope_lessons::check::check;
use loadscope_lessons::{
    BuiltInPrograms, Course, Kind, LESSONS, Language, Lesson, ProgramCatalog, Query, Task, Value,
    simulated,
};

fn lessons(language: Language) -> Vec<Lesson> {
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
        let about = loadscope_lessons::QueryContext::at(
            &run,
            loadscope_lessons::Moment::End,
            &BuiltInPrograms,
        );
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
    let about =
        loadscope_lessons::QueryContext::at(&run, loadscope_lessons::Moment::End, &BuiltInPrograms);
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
