//! Progress of a learner, stored with the preferences.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Progress of a learner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Started lessons, by number.
    pub lessons: BTreeMap<u32, LessonProgress>,
    /// Last quizzes, oldest first: seed, number of right answers, number of questions.
    pub quizzes: Vec<(u64, u32, u32)>,
    /// Best scores of detective cases, 0 to 100, by seed and number.
    pub cases: Vec<(u64, u32, u32)>,
}

/// Progress in a lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonProgress {
    /// Last reached step.
    pub step: usize,
    /// True if the learner has finished the lesson at least once.
    pub done: bool,
    /// Number of right answers in the last pass.
    pub right: u32,
    /// Number of wrong answers in the last pass.
    pub wrong: u32,
}

impl Progress {
    /// Maximum number of stored quizzes.
    const QUIZZES: usize = 20;

    /// Stores the progress in a lesson.
    pub fn keep(&mut self, lesson: u32, now: LessonProgress) {
        let kept = self.lessons.entry(lesson).or_default();
        let done = kept.done || now.done;
        *kept = LessonProgress { done, ..now };
    }

    /// Stores the result of a quiz.
    pub fn keep_quiz(&mut self, seed: u64, right: u32, of: u32) {
        self.quizzes.push((seed, right, of));
        let surplus = self.quizzes.len().saturating_sub(Self::QUIZZES);
        self.quizzes.drain(..surplus);
    }

    /// Stores the score of a detective case, if it is the best one.
    pub fn keep_case(&mut self, seed: u64, case: u32, score: u32) {
        match self
            .cases
            .iter_mut()
            .find(|(s, c, _)| (*s, *c) == (seed, case))
        {
            Some((.., best)) => *best = score.max(*best),
            None => self.cases.push((seed, case, score)),
        }
    }

    /// Returns the number of finished lessons.
    pub fn lessons_done(&self) -> usize {
        self.lessons.values().filter(|lesson| lesson.done).count()
    }
}
