//! Check that the outlined parts show the answer.

use crate::error::Mistake;
use crate::lesson::Step;
use crate::part::Part;
use crate::query::{MomentQuery, OrderQuery, Query, RunQuery};
use crate::question::Question;

/// Checks that a part outlined after the answer shows it.
pub(super) fn shows(step: &Step, question: &Question) -> Result<(), Mistake> {
    let Some(parts) = shown_by(&question.query).filter(|_| !step.parts_after_answer().is_empty())
    else {
        return Ok(());
    };
    let names: Vec<String> = parts.iter().map(|phrase| format!("'{phrase}'")).collect();
    let is_one = |part: &Part| {
        let phrase = part.phrase();
        parts.iter().any(|one| {
            let numbered = phrase.strip_prefix(one.trim_end_matches('s'));
            phrase == *one || numbered.is_some_and(|rest| rest.starts_with(' '))
        })
    };
    match step.parts_after_answer().iter().any(is_one) {
        true => Ok(()),
        false => Err(Mistake::new(
            "no outlined part shows the answer",
            format!("Name one of these in then: {}.", names.join(", ")),
        )),
    }
}

/// Returns the phrases of the parts that show the answer. Returns `None` if a program or no part shows it.
fn shown_by(query: &Query) -> Option<&'static [&'static str]> {
    match query {
        Query::Moment(query) => Some(now_by(*query)),
        Query::Run(query) => Some(whole_by(*query)),
        Query::Order(query) => order_by(query),
        Query::Option(_) => Some(&["options", "option"]),
        Query::Line(..) | Query::NumberOfLine(..) => None,
        Query::At(query, _)
        | Query::With(query, _)
        | Query::MoreOrLess(query, _)
        | Query::TimesLess(query, _) => shown_by(query),
    }
}

fn now_by(query: MomentQuery) -> &'static [&'static str] {
    match query {
        MomentQuery::SendIdx
        | MomentQuery::RcvdIdx
        | MomentQuery::Outstanding
        | MomentQuery::InFlight => &["variables"],
        MomentQuery::HeldCount | MomentQuery::Held => &["reorder buffer", "variables"],
        MomentQuery::Queued => &["index queues"],
        MomentQuery::Busy => &["workers"],
        MomentQuery::Next | MomentQuery::WorkerOfNext => &["trainer", "reorder buffer"],
        MomentQuery::StageOf(_) | MomentQuery::PlaceOf(_) => &[
            "index queues",
            "workers",
            "main process",
            "result queue",
            "pin thread",
            "data queue",
            "reorder buffer",
            "trainer",
            "timeline",
        ],
    }
}

fn whole_by(query: RunQuery) -> &'static [&'static str] {
    match query {
        RunQuery::Seconds => &["timeline", "verdict"],
        RunQuery::WaitedPercent | RunQuery::WaitedSeconds => &["verdict", "blame"],
        RunQuery::LongestWait | RunQuery::FirstWait(_) | RunQuery::BatchOfLongestWait => {
            &["trainer", "timeline", "verdict"]
        }
        RunQuery::Batches | RunQuery::Pinned => &["timeline", "table of batches"],
        RunQuery::Failed => &["timeline", "table of batches", "messages"],
        RunQuery::OutOfOrder | RunQuery::Arrivals(_) => &[
            "timeline",
            "reorder buffer",
            "result queue",
            "table of batches",
        ],
        RunQuery::Samples => &["findings", "coverage"],
        RunQuery::Discarded => &["timeline", "table of batches"],
        RunQuery::WorkersStarted => &["timeline"],
        RunQuery::Window => &["variables", "index queues"],
        RunQuery::Stream => &["option", "options"],
        RunQuery::WorkerOf(_) | RunQuery::WorkerOfSample(_) => {
            &["workers", "index queues", "timeline"]
        }
        RunQuery::BatchOfSample(_)
        | RunQuery::SizeOf(_)
        | RunQuery::SizeOfLast
        | RunQuery::IndicesOf(_)
        | RunQuery::SlowestSample => &["inspector", "table of batches"],
        RunQuery::BatchesOfWorker(_) => &["timeline", "table of batches"],
        RunQuery::Yields(_) => &["trainer", "timeline"],
        RunQuery::PathOf(_) => &["timeline", "inspector"],
        RunQuery::CauseOfLongestWait | RunQuery::Verdict | RunQuery::Finds(_) => {
            &["verdict", "blame"]
        }
        RunQuery::SeedStep | RunQuery::SameSeeds(..) => &["inspector"],
        RunQuery::Error => &["messages"],
    }
}

fn order_by(query: &OrderQuery) -> Option<&'static [&'static str]> {
    Some(match query {
        OrderQuery::Len | OrderQuery::Batches(_) => &["timeline", "table of batches"],
        OrderQuery::First(..) | OrderQuery::SameOrder(..) => &["order chart"],
        OrderQuery::MostOften | OrderQuery::Distinct | OrderQuery::Never | OrderQuery::All => {
            &["coverage", "findings"]
        }
        OrderQuery::OfRank => &["ranks", "timeline", "coverage"],
        OrderQuery::OfAllRanks | OrderQuery::RepeatedOverRanks | OrderQuery::SlowestRank => {
            &["ranks", "findings"]
        }
        OrderQuery::Weighted(..) | OrderQuery::Balanced(..) => return None,
    })
}
