//! Questions with computed answers, and their evaluation.

use loadscope_trace::BatchId;

use crate::moment::Moment;
use crate::part::Part;
use crate::query::{Query, QueryContext};
use crate::value::Value;
use loadscope_words::Language;

/// A question that is asked before the run continues.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Text of the question.
    pub ask: String,
    /// Moment of the run during the question.
    pub at: Moment,
    /// Query that computes the answer.
    pub query: Query,
    /// Kind of answer.
    pub kind: Kind,
    /// Reason for the answer: one sentence, shown afterwards.
    pub why: String,
}

/// Kind of answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Number within a tolerance.
    Number {
        /// Unit: `batches`, `ms`, `%`. Can be empty.
        unit: String,
        /// Maximum absolute error of a right answer.
        tolerance: f64,
    },
    /// One of these choices.
    Choice(Vec<Choice>),
    /// An order of these items. Empty means the values of the query, with the names of batches, workers and samples.
    Order(Vec<Choice>),
    /// A click on a part of the window or on a batch.
    Click,
}

/// One of several answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Value of the query for which the choice is right.
    pub is: String,
    /// Text of the choice.
    pub text: String,
}

/// Answer of the learner.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Number that the learner typed.
    Number(f64),
    /// Position of a choice in [`Kind::Choice`].
    Choice(usize),
    /// Positions in [`Question::items`], in the chosen order.
    Order(Vec<usize>),
    /// Target of a click.
    Click(Target),
}

/// Target of a click.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A part of the window.
    Part(Part),
    /// Batch in the pipeline, the timeline or a table.
    Batch(BatchId),
}

/// Evaluation of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// True if the answer was right.
    pub is_right: bool,
    /// Value of the query.
    pub truth: Value,
    /// The right answer as text.
    pub text: String,
}

/// Reason why an answer cannot be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswerable {
    /// The run has no answer.
    #[error("This run has no answer to the question: start the run of the lesson again")]
    NoTruth,
    /// The question is already answered, or there is none.
    #[error("There is no open question in this step: go on to the next one")]
    NotOpen,
    /// The answer is of another kind than the question requires.
    #[error(
        "This question is answered in another way: with a number, a choice, an order or a click, as it asks"
    )]
    OtherKind,
}

impl Question {
    /// Returns the value of the query.
    pub fn truth(&self, about: QueryContext<'_>) -> Option<Value> {
        self.query.answer(about)
    }

    /// Returns the items to order, in an order that reveals nothing. The list is empty for other kinds of questions.
    pub fn items(&self, truth: &Value, language: Language) -> Vec<Choice> {
        let (Kind::Order(named), Value::List(all)) = (&self.kind, truth) else {
            return Vec::new();
        };
        let text = |value: &Value| match named.iter().find(|item| value.is(&item.is)) {
            Some(item) => item.text.clone(),
            None => value.label(language),
        };
        let mut items: Vec<(Option<i64>, Choice)> = Vec::new();
        for value in all {
            let is = value.key();
            if items.iter().all(|(_, item)| item.is != is) {
                let number = value.number().map(|n| n as i64);
                items.push((
                    number,
                    Choice {
                        is,
                        text: text(value),
                    },
                ));
            }
        }
        let in_order = items.clone();
        items.sort_by(|a, b| (a.0, &a.1.is).cmp(&(b.0, &b.1.is)));
        if items == in_order {
            items.reverse();
        }
        items.into_iter().map(|(_, item)| item).collect()
    }

    /// Evaluates an answer.
    ///
    /// # Errors
    /// If the run has no answer, or the answer is of another kind than the question.
    pub fn judge(
        &self,
        about: QueryContext<'_>,
        answer: &Answer,
        language: Language,
    ) -> Result<Judgement, Unanswerable> {
        let truth = self.truth(about).ok_or(Unanswerable::NoTruth)?;
        self.judge_with_truth(truth, answer, language)
    }

    /// Evaluates an answer with a known value of the query. Computing the value can require a simulation.
    ///
    /// # Errors
    /// If the answer is of another kind than the question.
    pub fn judge_with_truth(
        &self,
        truth: Value,
        answer: &Answer,
        language: Language,
    ) -> Result<Judgement, Unanswerable> {
        let is_right = match (&self.kind, answer) {
            (Kind::Number { tolerance, .. }, Answer::Number(number)) => {
                let right = truth.number().ok_or(Unanswerable::NoTruth)?;
                (number - right).abs() <= tolerance + 1e-9
            }
            (Kind::Choice(choices), Answer::Choice(at)) => {
                choices.get(*at).is_some_and(|choice| truth.is(&choice.is))
            }
            (Kind::Order(_), Answer::Order(order)) => {
                let items = self.items(&truth, language);
                let chosen: Vec<&str> = order
                    .iter()
                    .filter_map(|at| items.get(*at))
                    .map(|item| item.is.as_str())
                    .collect();
                chosen == firsts(&truth)
            }
            (Kind::Click, Answer::Click(target)) => clicked(&truth, target),
            _ => return Err(Unanswerable::OtherKind),
        };
        let text = self.text_of(&truth, language);
        Ok(Judgement {
            is_right,
            truth,
            text,
        })
    }

    /// Returns the right answer in the form of a learner's answer. Returns `None` if the kind does not fit the value.
    pub fn right_answer(&self, truth: &Value, language: Language) -> Option<Answer> {
        Some(match &self.kind {
            Kind::Number { .. } => Answer::Number(truth.number()?),
            Kind::Choice(choices) => {
                Answer::Choice(choices.iter().position(|choice| truth.is(&choice.is))?)
            }
            Kind::Order(_) => {
                let items = self.items(truth, language);
                let place = |is: &String| items.iter().position(|item| item.is == *is);
                let order: Option<Vec<usize>> = firsts(truth).iter().map(place).collect();
                Answer::Order(order?)
            }
            Kind::Click => Answer::Click(match truth {
                Value::Batch(id) => Target::Batch(*id),
                Value::Worker(worker) => Target::Part(Part::Worker(*worker)),
                Value::Part(part) => Target::Part(part.clone()),
                _ => return None,
            }),
        })
    }

    /// Returns the right answer as text.
    fn text_of(&self, truth: &Value, language: Language) -> String {
        match (&self.kind, truth) {
            (Kind::Choice(choices), truth) => {
                let right = choices.iter().find(|choice| truth.is(&choice.is));
                right.map_or_else(|| truth.label(language), |choice| choice.text.clone())
            }
            (Kind::Order(_), Value::List(_)) => {
                let items = self.items(truth, language);
                let text = |is: &String| items.iter().find(|item| item.is == *is);
                let all: Vec<&str> = firsts(truth)
                    .iter()
                    .filter_map(text)
                    .map(|item| item.text.as_str())
                    .collect();
                all.join(" → ")
            }
            (Kind::Number { unit, .. }, truth) if !unit.is_empty() => {
                format!("{} {unit}", truth.label(language))
            }
            (_, truth) => truth.label(language),
        }
    }
}

/// Returns the distinct values of a list, in order of first occurrence.
fn firsts(truth: &Value) -> Vec<String> {
    let Value::List(all) = truth else {
        return Vec::new();
    };
    let mut keys = Vec::new();
    for key in all.iter().map(Value::key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn clicked(truth: &Value, target: &Target) -> bool {
    match (truth, target) {
        (Value::Batch(id), Target::Batch(other)) => id == other,
        (Value::Worker(worker), Target::Part(Part::Worker(other))) => worker == other,
        (Value::Part(part), Target::Part(other)) => part == other,
        _ => false,
    }
}
