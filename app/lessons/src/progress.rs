//! What a learner has done so far: a value to be kept with the preferences.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a learner has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The lessons that were begun, by number.
    pub lessons: BTreeMap<u32, LessonProgress>,
    /// The last quizzes, latest last: the seed, and how many answers were right of how many.
    pub quizzes: Vec<(u64, u32, u32)>,
    /// The best score of each detective case, by seed and number: 0 to 100.
    pub cases: Vec<(u64, u32, u32)>,
}

/// What was done of a lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonProgress {
    /// The step that was reached.
    pub step: usize,
    /// It was gone through to its end, once at least.
    pub done: bool,
    /// Questions answered right at once, in the last pass.
    pub right: u32,
    /// Questions answered wrong, in the last pass.
    pub wrong: u32,
}

impl Progress {
    /// So many quizzes are kept.
    const QUIZZES: usize = 20;

    /// Keeps how far a lesson is.
    pub fn keep(&mut self, lesson: u32, now: LessonProgress) {
        let kept = self.lessons.entry(lesson).or_default();
        let done = kept.done || now.done;
        *kept = LessonProgress { done, ..now };
    }

    /// Keeps the outcome of a quiz.
    pub fn keep_quiz(&mut self, seed: u64, right: u32, of: u32) {
        self.quizzes.push((seed, right, of));
        let surplus = self.quizzes.len().saturating_sub(Self::QUIZZES);
        self.quizzes.drain(..surplus);
    }

    /// Keeps the score of a detective case, if it is the best one.
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

    /// Lessons that were gone through.
    pub fn lessons_done(&self) -> usize {
        self.lessons.values().filter(|lesson| lesson.done).count()
    }
}
