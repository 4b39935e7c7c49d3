//! `loadscope learn`: opens the window at a lesson.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use loadscope_lessons::LESSONS;
use loadscope_words::say;

use super::window::{self, WindowArgs};
use crate::window::preview::{Learn, read_lesson};

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
    window::learn(what(args.what.as_deref())?, window)
}

fn what(text: Option<&str>) -> anyhow::Result<Learn> {
    let Some(text) = text else {
        return Ok(Learn::Contents);
    };
    if let Ok(number) = text.parse::<u32>() {
        let last = u32::try_from(LESSONS).unwrap_or(u32::MAX);
        if !(1..=last).contains(&number) {
            bail!(say!(
                "lesson {number} does not exist. Choose a lesson from 1 to {last}."
            ));
        }
        return Ok(Learn::Lesson(number));
    }
    let path = PathBuf::from(text);
    // Errors in the file are printed in the terminal.
    read_lesson(&path).map_err(|why| anyhow!(why))?;
    Ok(Learn::File(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_is_named_by_its_number_or_its_file() {
        assert_eq!(what(None).expect("the list"), Learn::Contents);
        assert_eq!(what(Some("7")).expect("a lesson"), Learn::Lesson(7));
        let refused = what(Some("15")).expect_err("there are fewer").to_string();
        assert!(refused.contains("1 to 14"), "{refused}");
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = root.join("assets/lessons/07.zh.toml");
        let found = what(file.to_str()).expect("a lesson");
        assert_eq!(found, Learn::File(file));
        let refused = what(Some("/no/such/lesson.toml"));
        let refused = refused.expect_err("it is not there").to_string();
        assert!(refused.contains("/no/such/lesson.toml"), "{refused}");
    }
}
