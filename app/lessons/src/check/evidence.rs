//! Check that the outlined parts show the answer.

use crate::error::Mistake;
use crate::lesson::Step;
use crate::part::Part;
use crate::query::{Now, OrderQuery, Query, Whole};
use crate::question::Question;

/// Checks that a part outlined after the answer shows it.
pub(super) fn shows(step: &Step, question: &Question) -> Result<(), Mistake> {
    let Some(parts) = shown_by(&question.query).filter(|_| !step.parts_then().is_empty()) else {
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
    match step.parts_then().iter().any(is_one) {
        true => Ok(()),
        false => Err(Mistake::new(
            "no outlined part shows the answer",
            format!("Name one of these in then: {}.", names.join(", ")),
        )),
    }
}

/// Returns the phrases of the parts that show the answer. `None` if a program or no part shows it.
fn shown_by(query: &Query) -> Option<&'static [&'static str]> {
    match query {
        Query::Now(query) => Some(now_by(*query)),
        Query::Whole(query) => Some(whole_by(*query)),
        Query::Order(query) => order_by(query),
        Query::Option(_) => Some(&["options", "option"]),
        Query::Line(..) | Query::NumberOfLine(..) => None,
        Query::At(query, _)
        | Query::With(query, _)
        | Query::MoreOrLess(query, _)
        | Query::TimesLess(query, _) => shown_by(query),
    }
}

fn now_by(query: Now) -> &'static [&'static str] {
    match query {
        Now::SendIdx | Now::RcvdIdx | Now::Outstanding | Now::InFlight => &["variables"],
        Now::HeldCount | Now::Held => &["reorder buffer", "variables"],
        Now::Queued => &["index queues"],
        Now::Busy => &["workers"],
        Now::Next | Now::WorkerOfNext => &["trainer", "reorder buffer"],
        Now::StageOf(_) | Now::PlaceOf(_) => &[
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

fn whole_by(query: Whole) -> &'static [&'static str] {
    match query {
        Whole::Seconds => &["timeline", "verdict"],
        Whole::WaitedPercent | Whole::WaitedSeconds => &["verdict", "blame"],
        Whole::LongestWait | Whole::FirstWait(_) | Whole::BatchOfLongestWait => {
            &["trainer", "timeline", "verdict"]
        }
        Whole::Batches | Whole::Pinned => &["timeline", "table of batches"],
        Whole::Failed => &["timeline", "table of batches", "messages"],
        Whole::OutOfOrder | Whole::Arrivals(_) => &[
            "timeline",
            "reorder buffer",
            "result queue",
            "table of batches",
        ],
        Whole::Samples => &["findings", "coverage"],
        Whole::Discarded => &["timeline", "table of batches"],
        Whole::WorkersStarted => &["timeline"],
        Whole::Window => &["variables", "index queues"],
        Whole::Stream => &["option", "options"],
        Whole::WorkerOf(_) | Whole::WorkerOfSample(_) => &["workers", "index queues", "timeline"],
        Whole::BatchOfSample(_)
        | Whole::SizeOf(_)
        | Whole::SizeOfLast
        | Whole::IndicesOf(_)
        | Whole::SlowestSample => &["inspector", "table of batches"],
        Whole::BatchesOfWorker(_) => &["timeline", "table of batches"],
        Whole::Yields(_) => &["trainer", "timeline"],
        Whole::PathOf(_) => &["timeline", "inspector"],
        Whole::CauseOfLongestWait | Whole::Verdict | Whole::Finds(_) => &["verdict", "blame"],
        Whole::SeedStep | Whole::SameSeeds(..) => &["inspector"],
        Whole::Error => &["messages"],
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
