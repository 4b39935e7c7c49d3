//! Mistakes in a file are named with file, line and remedy.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

use loadscope_lessons::check::check;
use loadscope_lessons::{BuiltInCodes, Lesson, Quiz};

const HEAD: &str = "lesson = 1\ntitle = \"t\"\ngoal = \"g\"\n[run]\ndataset = \"synthetic:len=8\"\nbatch_size = 2\n";

fn wrong(step: &str) -> (usize, String) {
    let text = format!("{HEAD}[[step]]\n{step}");
    let error = Lesson::read("x.en.toml", &text).expect_err("it is wrong");
    assert_eq!(error.file, "x.en.toml");
    assert!(error.remedy.ends_with('.'), "{error}");
    (error.line, error.to_string())
}

#[test]
fn each_mistake_has_its_line_and_a_remedy() {
    let cases = [
        (
            "look = \"longest wiat\"\ntext = \"x\"",
            8,
            "The nearest is 'longest wait",
        ),
        ("look = \"start\"", 7, "text is missing here"),
        (
            "text = \"x\"",
            7,
            "exactly one of look, predict, try and code",
        ),
        (
            "look = \"start\"\ncode = \"y\"\ntext = \"x\"",
            7,
            "exactly one of",
        ),
        (
            "look = \"start\"\ntext = \"x\"\nshow = [\"traner\"]",
            10,
            "The nearest is 'trainer'",
        ),
        (
            "look = \"start\"\ntext = \"x\"\nrun = \"other\"",
            10,
            "[runs.other]",
        ),
        (
            "look = \"start\"\ntext = \"x\"\ncolour = \"red\"",
            10,
            "unknown field `colour`",
        ),
        (
            "predict = \"batches hold\"\nanswer = \"number\"\nask = \"a\"\nwhy = \"w\"",
            8,
            "batches held",
        ),
        (
            "predict = \"batches\"\nask = \"a\"\nwhy = \"w\"",
            7,
            "Add answer =",
        ),
        (
            "predict = \"batches\"\nanswer = \"gess\"\nask = \"a\"\nwhy = \"w\"",
            9,
            "Write number, choice, order or click",
        ),
        (
            "predict = \"batches\"\nanswer = \"choice\"\nask = \"a\"\nwhy = \"w\"",
            9,
            "at least two",
        ),
        (
            "try = \"batches\"\ntext = \"x\"\nhint = \"h\"\nwhy = \"w\"\nsolution = { batch_size = 4 }",
            8,
            "compares nothing",
        ),
        (
            "try = \"batches < few\"\ntext = \"x\"\nhint = \"h\"\nwhy = \"w\"\nsolution = { batch_size = 4 }",
            8,
            "'few' is not a number",
        ),
        (
            "try = \"batches < 3\"\ntext = \"x\"\nhint = \"h\"\nwhy = \"w\"",
            7,
            "no solution",
        ),
        (
            "try = \"batches < 3\"\ntext = \"x\"\nhint = \"h\"\nwhy = \"w\"\nsolution = { batchsize = 4 }",
            12,
            "batchsize",
        ),
        ("look = \"start\n", 8, "README.md"),
    ];
    for (step, line, says) in cases {
        let (found, text) = wrong(step);
        assert!(text.contains(says), "{step}\n{text}");
        assert_eq!(found, line, "{step}\n{text}");
    }
}

#[test]
fn a_lesson_without_steps_and_wrong_options_are_refused() {
    let none = Lesson::read("x.en.toml", HEAD).expect_err("no step");
    assert!(none.to_string().contains("[[step]]"));
    let text = HEAD.replace("batch_size = 2", "batch_size = \"two\"");
    let error = Lesson::read("x.en.toml", &text).expect_err("no number");
    assert!(error.to_string().contains("batch_size"), "{error}");
    assert!(Quiz::read("q.en.toml", "[[question]]\nlesson = 1\n").is_err());
}

/// What only shows when it is played.
fn played(step: &str) -> String {
    let text = format!("{HEAD}[[step]]\n{step}");
    let lesson = Lesson::read("x.en.toml", &text).expect("it can be read");
    let mistakes = check("x.en.toml", &lesson, &BuiltInCodes).mistakes;
    mistakes.first().expect("it is found").to_string()
}

#[test]
fn a_check_plays_the_lesson() {
    let long = "word ".repeat(46);
    let choices = "choices = [{ is = \"5\", text = \"5\" }, { is = \"6\", text = \"6\" }]";
    let cases = [
        ("look = \"first error\"\ntext = \"x\"".to_owned(), "no such moment"),
        (format!("look = \"start\"\ntext = \"{long}\""), "46 words"),
        ("predict = \"worker of batch 0\"\nanswer = \"click\"\nask = \"a\"\nwhy = \"w\"".to_owned(), "has no answer"),
        (format!("predict = \"batches\"\nanswer = \"choice\"\nask = \"a\"\nwhy = \"w\"\n{choices}"), "the answer is '4'"),
        ("predict = \"batches\"\nanswer = \"click\"\nask = \"a\"\nwhy = \"w\"".to_owned(), "cannot be given in this way"),
        ("try = \"batches = 4\"\ntext = \"x\"\nhint = \"h\"\nwhy = \"w\"\nsolution = { batch_size = 2 }".to_owned(), "reached at the start"),
        ("try = \"batches = 1\"\ntext = \"x\"\nhint = \"h\"\nwhy = \"w\"\nsolution = { batch_size = 4 }".to_owned(), "does not reach its goal"),
        ("try = \"batches = 2\"\ntext = \"x\"\nhint = \"h\"\nwhy = \"w\"\nsolution = { batch_size = 4, step_ms = 1 }".to_owned(), "changes step_ms"),
        ("code = \"99_none\"\ntext = \"x\"".to_owned(), "no program '99_none'"),
    ];
    for (step, says) in cases {
        let text = played(&step);
        assert!(
            text.contains(says) && text.starts_with("x.en.toml:"),
            "{step}\n{text}"
        );
    }
}
