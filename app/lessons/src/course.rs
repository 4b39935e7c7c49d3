//! The built-in lessons.

use crate::code::{Code, ProgramCatalog};
use crate::error::LessonError;
use crate::lesson::Lesson;
use loadscope_words::Language;

/// Number of lessons.
pub const LESSONS: usize = FILES.len();

/// The file of a lesson in each language, as (name, text).
type Files = [(&'static str, &'static str); 2];

macro_rules! lessons {
    ($($number:literal)*) => {
        &[$([
            (concat!($number, ".en.toml"), include_str!(concat!("../../../assets/lessons/", $number, ".en.toml"))),
            (concat!($number, ".zh.toml"), include_str!(concat!("../../../assets/lessons/", $number, ".zh.toml"))),
        ],)*]
    };
}

const FILES: &[Files] =
    lessons! { "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" };

macro_rules! codes {
    ($($name:literal)*) => {
        &[$(($name, Code {
            source: include_str!(concat!("../../../assets/lessons/code/", $name, ".py")),
            output: include_str!(concat!("../../../assets/lessons/code/", $name, ".out")),
        }),)*]
    };
}

const CODES: &[(&str, Code<'static>)] = codes! {
    "01_stages" "01_no_batches" "02_kinds" "03_orders" "03_weights" "04_workers" "05_window" "06_task_info" "07_in_order" "08_seeds"
    "09_streams" "09_length" "10_pinning" "11_start" "11_epochs" "12_ranks" "13_errors" "13_death" "14_arguments"
};

/// The lessons in one language.
#[derive(Clone, Debug)]
pub struct Course {
    lessons: Vec<Lesson>,
}

impl Course {
    /// Parses the built-in lessons.
    ///
    /// # Errors
    /// If a file is invalid. A test checks that all are valid.
    pub fn built_in(language: Language) -> Result<Self, LessonError> {
        let at = Language::ALL
            .into_iter()
            .position(|other| other == language)
            .unwrap_or_default();
        let files = FILES.iter().filter_map(|files| files.get(at));
        let lessons = files.map(|(name, text)| Lesson::read(name, text));
        Ok(Self {
            lessons: lessons.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the lessons in order.
    pub fn lessons(&self) -> &[Lesson] {
        &self.lessons
    }
}

/// The built-in programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltInPrograms;

impl BuiltInPrograms {
    /// Returns the names of all programs.
    pub fn names() -> impl Iterator<Item = &'static str> {
        CODES.iter().map(|(name, _)| *name)
    }
}

impl ProgramCatalog for BuiltInPrograms {
    fn code(&self, name: &str) -> Option<Code<'_>> {
        let found = CODES.iter().find(|(known, _)| *known == name);
        found.map(|(_, code)| *code)
    }
}
