//! `loadscope learn`: opens the window at a lesson.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use loadscope_lessons::LESSONS;
use loadscope_words::say;

use super::window::{self, WindowArgs};
use crate::window::preview::{LearnTarget, read_lesson};

/// The lesson to open.
#[derive(Clone, Debug, clap::Args)]
pub struct LearnArgs {
    /// Lesson number, or a lesson file to preview
    ///
    /// The preview is reloaded when the file changes.
    #[arg(value_name = "NUMBER|FILE")]
    what: Option<String>,
}

pub fn run(args: &LearnArgs, window: &WindowArgs) -> anyhow::Result<ExitCode> {
    window::learn(parse_target(args.what.as_deref())?, window)
}

fn parse_target(text: Option<&str>) -> anyhow::Result<LearnTarget> {
    let Some(text) = text else {
        return Ok(LearnTarget::Contents);
    };
    if let Ok(number) = text.parse::<u32>() {
        let last = u32::try_from(LESSONS).unwrap_or(u32::MAX);
        if !(1..=last).contains(&number) {
            bail!(say!(
                "lesson {number} does not exist. Choose a lesson from 1 to {last}."
            ));
        }
        return Ok(LearnTarget::Lesson(number));
    }
    let path = PathBuf::from(text);
    // Errors in the file are printed in the terminal.
    read_lesson(&path).map_err(|why| anyhow!(why))?;
    Ok(LearnTarget::File(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_is_named_by_its_number_or_its_file() {
        assert_eq!(parse_target(None).expect("the list"), LearnTarget::Contents);
        assert_eq!(
            parse_target(Some("7")).expect("a lesson"),
            LearnTarget::Lesson(7)
        );
        let refused = parse_target(Some("15"))
            .expect_err("there are fewer")
            .to_string();
        assert!(refused.contains("1 to 14"), "{refused}");
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = root.join("assets/lessons/07.zh.toml");
        let found = parse_target(file.to_str()).expect("a lesson");
        assert_eq!(found, LearnTarget::File(file));
        let refused = parse_target(Some("/no/such/lesson.toml"));
        let refused = refused.expect_err("it is not there").to_string();
        assert!(refused.contains("/no/such/lesson.toml"), "{refused}");
    }
}
