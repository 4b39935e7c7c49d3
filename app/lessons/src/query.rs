//! Named queries. Answers are computed from a run, the simulator or the samplers, or read from PyTorch's output.

use loadscope_insight::landmarks::{Landmarks, Place};
use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_plan::error::LoaderError;
use loadscope_plan::simulate::simulate;
use loadscope_trace::{Run, RunOptions};

use crate::code::ProgramCatalog;
use crate::error::Mistake;
use crate::moment::{Moment, pipeline};
use crate::phrase::{Captures, forms, nearest, read, unknown};
use crate::value::Value;

mod changes;
mod moment_query;
mod order;
mod run_query;

pub use changes::{Changes, option};
pub use moment_query::MomentQuery;
pub use order::OrderQuery;
pub use run_query::RunQuery;

pub(crate) use moment_query::MOMENT_QUERIES;
pub(crate) use order::ORDER_QUERIES;
pub(crate) use run_query::RUN_QUERIES;

/// A named query.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Query about the moment of a step.
    Moment(MomentQuery),
    /// Query about a run.
    Run(RunQuery),
    /// Query about the samplers.
    Order(OrderQuery),
    /// The value of an option.
    Option(String),
    /// A line of PyTorch's output.
    Line(usize, String),
    /// The last number of a line of PyTorch's output.
    NumberOfLine(usize, String),
    /// A query at another moment.
    At(Box<Query>, Moment),
    /// A query with other options.
    With(Box<Query>, Changes),
    /// `more`, `less`, `same` or `different`: the result with other options compared with the current one.
    MoreOrLess(Box<Query>, Changes),
    /// Factor by which the result is smaller with other options.
    TimesLess(Box<Query>, Changes),
}

fn changed(h: &mut Captures<'_>, make: fn(Box<Query>, Changes) -> Query) -> Option<Query> {
    let (query, changes) = h.text()?.rsplit_once(" with ")?;
    let query = Box::new(Query::read(query).ok()?);
    Some(make(query, Changes::read(changes).ok()?))
}

fn then(h: &mut Captures<'_>) -> Option<Query> {
    let (query, moment) = h.text()?.rsplit_once(" @ ")?;
    let query = Box::new(Query::read(query).ok()?);
    Some(Query::At(query, Moment::read(moment).ok()?))
}

forms! {
    /// Queries that contain another query, and other kinds. They are tried before the others.
    WRAPPED: Query;
    "more or less TEXT", "`more or less seconds with num_workers=4`: more, less or same (lists: same or different)" => |h| changed(h, Query::MoreOrLess);
    "times less TEXT", "`times less seconds with num_workers=4`: the factor between now and then" => |h| changed(h, Query::TimesLess);
    "option NAME", "the value of an option: `option num_workers`" => |h| Some(Query::Option(h.read()?));
    "line N of NAME", "what assets/lessons/code/NAME.py printed" => |h| Some(Query::Line(h.read()?, h.read()?));
    "number in line N of NAME", "last number of that line" => |h| Some(Query::NumberOfLine(h.read()?, h.read()?));
    "TEXT", "QUERY @ MOMENT: the same at another moment" => |h| then(h);
    "TEXT", "QUERY with NAME=VALUE …: the same for other options" => |h| changed(h, Query::With);
}

/// Subject of a query.
#[derive(Clone, Copy)]
pub struct QueryContext<'a> {
    /// Run that the query is about.
    pub run: &'a Run,
    /// Moment of the step in the run.
    pub place: Place,
    /// The programs with their output.
    pub codes: &'a dyn ProgramCatalog,
}

impl<'a> QueryContext<'a> {
    /// Creates the subject at a moment of a run. Returns `None` if the run has no such moment.
    pub fn at(run: &'a Run, moment: Moment, codes: &'a dyn ProgramCatalog) -> Option<Self> {
        let place = moment.resolve(run, &Landmarks::of(run))?;
        Some(Self { run, place, codes })
    }
}

/// Simulates a run with these options. The run is the same on all platforms.
///
/// # Errors
/// If the engine rejects the options.
pub fn simulated(options: &RunOptions) -> Result<Run, LoaderError> {
    let mut run = Run::default();
    let events = simulate(options, &SyntheticCatalog)?;
    events.iter().for_each(|event| run.apply(event));
    Ok(run)
}

impl Query {
    /// Parses a query.
    ///
    /// # Errors
    /// If the phrase matches no query.
    pub fn read(phrase: &str) -> Result<Self, Mistake> {
        let kind = "query";
        let wrapped = WRAPPED.iter().any(|form| {
            let first = form.pattern.split(' ').next().unwrap_or_default();
            first != "TEXT" && phrase.starts_with(&format!("{first} "))
        });
        let is_other = phrase.contains(" with ") || phrase.contains(" @ ");
        if (wrapped || is_other)
            && let Ok(query) = read(kind, WRAPPED, phrase)
        {
            return Ok(query);
        }
        if let Ok(query) = read(kind, MOMENT_QUERIES, phrase) {
            return Ok(Self::Moment(query));
        }
        if let Ok(query) = read(kind, ORDER_QUERIES, phrase) {
            return Ok(Self::Order(query));
        }
        if let Ok(query) = read(kind, RUN_QUERIES, phrase) {
            return Ok(Self::Run(query));
        }
        let tables = [
            nearest(MOMENT_QUERIES, phrase),
            nearest(ORDER_QUERIES, phrase),
            nearest(RUN_QUERIES, phrase),
            nearest(WRAPPED, phrase),
        ];
        let nearest = tables.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        Err(unknown(kind, phrase, nearest.unwrap_or_default()))
    }

    /// Returns true if the query is about the shown run, so later events would give the answer.
    pub fn is_about_shown_run(&self) -> bool {
        match self {
            Self::Moment(_) | Self::At(..) | Self::Run(_) | Self::Order(_) => true,
            Self::Option(_)
            | Self::Line(..)
            | Self::NumberOfLine(..)
            | Self::With(..)
            | Self::MoreOrLess(..)
            | Self::TimesLess(..) => false,
        }
    }

    /// Returns the changed options, if the query is about another run than that of the step.
    pub fn changes(&self) -> Option<&Changes> {
        match self {
            Self::With(_, changes) | Self::MoreOrLess(_, changes) | Self::TimesLess(_, changes) => {
                Some(changes)
            }
            Self::At(query, _) => query.changes(),
            Self::Moment(_)
            | Self::Run(_)
            | Self::Order(_)
            | Self::Option(_)
            | Self::Line(..)
            | Self::NumberOfLine(..) => None,
        }
    }

    /// Returns the answer, if there is one.
    pub fn answer(&self, about: QueryContext<'_>) -> Option<Value> {
        let options = &about.run.info.options;
        match self {
            Self::Moment(query) => query.answer(&pipeline(about.run, about.place)),
            Self::Run(query) => query.answer(about.run),
            Self::Order(query) => query.answer(options),
            Self::Option(name) => {
                let text = option(options, name)?;
                Some(text.parse().map_or(Value::Word(text), Value::Number))
            }
            Self::Line(number, name) => {
                let output = about.codes.code(name)?.output;
                let line = output.lines().nth(number.checked_sub(1)?)?;
                Some(Value::Word(line.trim().to_owned()))
            }
            Self::NumberOfLine(number, name) => {
                let line = Self::Line(*number, name.clone()).answer(about)?.key();
                let is_apart = |c: char| !(c.is_ascii_digit() || c == '.' || c == '-');
                let mut numbers = line.rsplit(is_apart);
                numbers
                    .find_map(|part| part.trim_end_matches('.').parse().ok())
                    .map(Value::Number)
            }
            Self::At(query, moment) => {
                query.answer(QueryContext::at(about.run, *moment, about.codes)?)
            }
            Self::With(query, changes) => other(query, changes, about),
            Self::MoreOrLess(query, changes) => {
                let (now, then) = (query.answer(about)?, other(query, changes, about)?);
                Some(Value::Word(compared(&now, &then).to_owned()))
            }
            Self::TimesLess(query, changes) => {
                let (now, then) = (query.answer(about)?, other(query, changes, about)?);
                let then = then.number().filter(|n| *n != 0.0)?;
                Some(Value::Number(now.number()? / then))
            }
        }
    }
}

/// Returns the answer for a run with other options.
fn other(query: &Query, changes: &Changes, about: QueryContext<'_>) -> Option<Value> {
    let options = changes.apply(&about.run.info.options).ok()?;
    if let Query::Order(query) = query {
        // Queries about the samplers need no simulation.
        return query.answer(&options);
    }
    let run = simulated(&options).ok()?;
    let place = Place::Step(run.transitions().len());
    query.answer(QueryContext {
        run: &run,
        place,
        ..about
    })
}

fn compared(now: &Value, then: &Value) -> &'static str {
    /// Maximum relative difference of equal values.
    const SAME: f64 = 0.005;
    match (now, then) {
        (Value::Number(now), Value::Number(then)) => {
            if (now - then).abs() <= SAME * now.abs().max(then.abs()) {
                "same"
            } else if then > now {
                "more"
            } else {
                "less"
            }
        }
        (now, then) if now == then => "same",
        _ => "different",
    }
}
