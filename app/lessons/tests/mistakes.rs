//! Test that errors in lesson files have a file, a line and a remedy.

use loadscope_lessons::check::check;
use loadscope_lessons::{BuiltInPrograms, Lesson, Quiz};

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

/// Returns the first mistake that only the simulation finds.
fn played(step: &str) -> String {
    let text = format!("{HEAD}[[step]]\n{step}");
    let lesson = Lesson::read("x.en.toml", &text).expect("it can be read");
    let mistakes = check("x.en.toml", &lesson, &BuiltInPrograms).mistakes;
    mistakes.first().expect("it is found").to_string()
}

#[test]
fn a_check_finds_mistakes_in_played_steps() {
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
        ("try = \"batches = 2\"\ntext = \"x\"\nhint = \"h\"\nwhy = \"w\"\nkeep = [\"step_ms\"]\nsolution = { batch_size = 4, step_ms = 1 }".to_owned(), "changes step_ms"),
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

/// Returns the first mistake of a lesson with these runs and steps.
fn seen(run: &str, steps: &[&str]) -> Option<String> {
    let mut text = format!("lesson = 1\ntitle = \"t\"\ngoal = \"g\"\n[run]\n{run}\n");
    for step in steps {
        text.push_str(&format!("[[step]]\n{step}\n"));
    }
    let lesson = Lesson::read("x.en.toml", &text).expect("it can be read");
    let mistakes = check("x.en.toml", &lesson, &BuiltInPrograms).mistakes;
    mistakes.first().map(ToString::to_string)
}

const TWO: &str = "dataset = \"synthetic:len=8,cost_ms=10,slow=0:200\"\nbatch_size = 1\nnum_workers = 2\nprefetch_factor = 2\nstep_ms = 5\nepochs = 2";

#[test]
fn conflicting_and_absent_parts_are_reported() {
    let look = |at: &str, show: &str| {
        seen(
            TWO,
            &[&format!("look = \"{at}\"\nshow = [{show}]\ntext = \"x\"")],
        )
    };
    for (at, show, says) in [
        (
            "end",
            "\"verdict\", \"forecasts\"",
            "'verdict' and 'forecasts' are never shown",
        ),
        (
            "end",
            "\"worker 0\", \"coverage\"",
            "never shown at the same time",
        ),
        (
            "end",
            "\"timeline\", \"plots\"",
            "never shown at the same time",
        ),
        ("end", "\"worker 2\"", "no such worker"),
        ("end", "\"main process\"", "the run has workers"),
        ("end", "\"pin thread\"", "does not pin"),
        ("end", "\"ranks\"", "no ranks"),
        ("end", "\"option replacement\"", "without effect"),
        (
            "end",
            "\"inspector\", \"timeline\"",
            "the inspector is empty",
        ),
        ("start", "\"messages\"", "the list of messages is empty"),
    ] {
        let mistake = look(at, show).expect("it is found");
        assert!(mistake.contains(says), "{show}\n{mistake}");
        assert!(mistake.starts_with("x.en.toml:"), "{mistake}");
    }
    for (at, show) in [
        (
            "end",
            "\"verdict\", \"timeline\", \"variables\", \"option seed\"",
        ),
        ("end", "\"inspector\", \"worker 1\""),
        ("batch 1 enters held", "\"inspector\", \"timeline\""),
        ("end", "\"coverage\", \"order chart\", \"options\""),
    ] {
        assert_eq!(look(at, show), None, "{show}");
    }
    let wrong = format!("{HEAD}[[step]]\nlook = \"start\"\ntext = \"x\"\nthen = [\"trainer\"]");
    let error = Lesson::read("x.en.toml", &wrong).expect_err("only questions have it");
    assert!(error.to_string().contains("only a question"), "{error}");
    let wrong = wrong.replace("then = [\"trainer\"]", "show = [\"option num_wrokers\"]");
    assert!(Lesson::read("x.en.toml", &wrong).is_err());
}

/// Returns a question as a step.
fn number(query: &str, at: &str, until: &str, more: &str) -> String {
    format!(
        "predict = \"{query}\"\nat = \"{at}\"\nuntil = \"{until}\"\nanswer = \"number\"\nask = \"a\"\nwhy = \"w\"\n{more}"
    )
}

/// Questions with visible answers: query, moment, end, other keys, and the reported mistake.
const GIVEN_AWAY: [(&str, &str, &str, &str, &str); 8] = [
    (
        "send_idx",
        "primed",
        "primed",
        "",
        "the window shows the answer at the moment",
    ),
    (
        "send_idx @ primed",
        "yield 1",
        "end",
        "",
        "a moment that has passed",
    ),
    (
        "batches held @ longest wait ends",
        "longest wait",
        "end",
        "",
        "shows the same value",
    ),
    (
        "batches",
        "end",
        "end",
        "",
        "what has happened by then gives the answer",
    ),
    (
        "samples that come",
        "start",
        "end",
        "show = [\"coverage\"]",
        "Sampling shows the answer",
    ),
    (
        "seconds with num_workers=1",
        "end",
        "end",
        "show = [\"forecasts\"]",
        "forecasts shows the answer",
    ),
    (
        "waited percent",
        "start",
        "end",
        "show = [\"verdict\"]",
        "the verdict is hidden",
    ),
    (
        "option num_workers",
        "start",
        "end",
        "",
        "the options panel shows the answer",
    ),
];

/// Similar questions with hidden answers.
const OPEN: [(&str, &str, &str, &str); 5] = [
    (
        "send_idx @ yield 2",
        "primed",
        "yield 2",
        "then = [\"variables\"]",
    ),
    (
        "batches held @ longest wait ends",
        "primed",
        "longest wait ends",
        "",
    ),
    ("batches", "start", "end", "then = [\"timeline\"]"),
    ("samples that come", "start", "end", "then = [\"coverage\"]"),
    (
        "seconds with num_workers=1",
        "end",
        "end",
        "then = [\"verdict\"]",
    ),
];

#[test]
fn a_question_with_a_visible_answer_is_reported() {
    for (query, at, until, more, says) in GIVEN_AWAY {
        let mistake = seen(TWO, &[&number(query, at, until, more)]).expect("it is found");
        assert!(mistake.contains(says), "{query}\n{mistake}");
    }
    for (query, at, until, more) in OPEN {
        assert_eq!(
            seen(TWO, &[&number(query, at, until, more)]),
            None,
            "{query}"
        );
    }
}

#[test]
fn a_question_answered_by_an_earlier_step_is_reported() {
    let look = |at: &str, show: &str| format!("look = \"{at}\"\nshow = [\"{show}\"]\ntext = \"x\"");
    let code = "code = \"05_window\"\ntext = \"x\"".to_owned();
    let held = number(
        "batches held @ longest wait ends",
        "primed",
        "longest wait ends",
        "",
    );
    let come = number("samples that come", "start", "end", "");
    let printed = number("number in line 1 of 05_window", "start", "end", "");
    let faster = number("seconds with num_workers=1", "end", "end", "");
    for (first, second) in [
        (look("end", "trainer"), &held),
        (look("end", "coverage"), &come),
        (look("end", "forecasts"), &faster),
        (code, &printed),
    ] {
        let mistake = seen(TWO, &[&first, second]).expect("it is found");
        assert!(
            mistake.contains("step 1 has shown the answer already")
                || mistake.contains("was shown before"),
            "{mistake}"
        );
    }
    assert_eq!(seen(TWO, &[&look("primed", "trainer"), &held]), None);
    assert_eq!(seen(TWO, &[&look("end", "trainer"), &come]), None);
}

/// After the answer, an outlined part must show it.
#[test]
fn an_answer_without_an_outlined_part_is_reported() {
    for (query, at, until, shown, hides) in [
        (
            "send_idx @ yield 2",
            "primed",
            "yield 2",
            "variables",
            "timeline",
        ),
        ("batches", "start", "end", "timeline", "workers"),
        ("samples that come", "start", "end", "coverage", "trainer"),
        (
            "seconds with num_workers=1",
            "end",
            "end",
            "verdict",
            "option num_workers",
        ),
    ] {
        let of = |part: &str| {
            seen(
                TWO,
                &[&number(query, at, until, &format!("then = [\"{part}\"]"))],
            )
        };
        assert_eq!(of(shown), None, "{query}");
        let mistake = of(hides).expect("it is found");
        assert!(
            mistake.contains("no outlined part shows the answer"),
            "{mistake}"
        );
        assert!(mistake.contains(shown), "{mistake}");
    }
}
