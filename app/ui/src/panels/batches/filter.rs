//! Filter of the table. It shares the syntax of the search.

use loadscope_insight::search::{Query, Subject};
use loadscope_trace::{BatchId, Nanos, Run};

use super::columns::Column;
use super::durations::Durations;

/// Condition on a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Fetched by this worker.
    Worker(u64),
    /// In this epoch.
    Epoch(u64),
    /// With an index in this range (inclusive).
    Between(u64, u64),
    /// Contains this dataset index.
    Sample(u64),
    /// Arrived after the trainer had asked for it.
    Late,
    /// Arrived before the trainer asked for it.
    Early,
    /// The batch has an error.
    Failed,
    /// At least this time in this column.
    Longer(Column, Nanos),
}

/// Filter whose conditions must all be true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    conditions: Vec<Condition>,
}

/// Example of a filter.
pub const EXAMPLE: &str = "worker 2, late, fetch > 20 ms";

impl Filter {
    /// Parses a filter, part by part.
    ///
    /// # Errors
    ///
    /// Returns the first part that is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split([',', ';', '，', '；']).map(str::trim);
        let parts = parts.filter(|part| !part.is_empty());
        let conditions = parts.map(|part| condition(part).ok_or_else(|| part.to_owned()));
        Ok(Self {
            conditions: conditions.collect::<Result<_, _>>()?,
        })
    }

    /// Returns true if the filter shows all batches.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Returns true if the filter shows the batch at `row`.
    pub fn shows(&self, run: &Run, durations: &Durations, row: usize) -> bool {
        self.conditions
            .iter()
            .all(|c| holds(c, run, durations, row))
    }
}

fn holds(condition: &Condition, run: &Run, durations: &Durations, row: usize) -> bool {
    let Some(batch) = run.batches().get(row) else {
        return false;
    };
    let BatchId { epoch, idx } = batch.id;
    let arrived = || durations.of(row, Column::Arrived);
    match condition {
        Condition::Worker(worker) => batch.worker.map(u64::from) == Some(*worker),
        Condition::Epoch(wanted) => u64::from(epoch) == *wanted,
        Condition::Between(first, last) => (*first..=*last).contains(&u64::from(idx)),
        Condition::Sample(index) => run.indices(row).contains(index),
        Condition::Late => arrived().is_some_and(|by| by < Nanos::ZERO),
        Condition::Early => arrived().is_some_and(|by| by >= Nanos::ZERO),
        Condition::Failed => batch.has_error,
        Condition::Longer(column, than) => {
            durations.of(row, *column).is_some_and(|time| time >= *than)
        }
    }
}

/// Parses one part of a filter, such as `late`, `fetch > 20 ms` or `worker 2`.
fn condition(part: &str) -> Option<Condition> {
    let part = part.to_lowercase();
    match part.as_str() {
        "late" => return Some(Condition::Late),
        "early" => return Some(Condition::Early),
        _ => {}
    }
    if let Some((name, than)) = part.split_once('>') {
        let Some(Query::Slow(_, than)) = Query::parse(&format!("> {}", than.trim())) else {
            return None;
        };
        let name = name.trim();
        let mut columns = Column::ALL.iter().copied();
        let column = columns.find(|column| column.filter_words().contains(&name));
        return column.map(|column| Condition::Longer(column, than));
    }
    if let Some(epoch) = part.strip_prefix("epoch ") {
        return epoch.trim().parse().ok().map(Condition::Epoch);
    }
    let range = part
        .strip_prefix("batch ")
        .or(part.strip_prefix("batches "));
    let range = range.unwrap_or(&part).split_once(['-', '–', '…']);
    if let Some((first, last)) = range {
        let number = |text: &str| text.trim().replace(',', "").parse().ok();
        return Some(Condition::Between(number(first)?, number(last)?));
    }
    match Query::parse(&part)? {
        Query::Batch { idx, epoch: None } => Some(Condition::Between(idx, idx)),
        Query::Worker(worker) => Some(Condition::Worker(worker)),
        Query::Sample(index) => Some(Condition::Sample(index)),
        Query::Trouble => Some(Condition::Failed),
        Query::Stalls => Some(Condition::Late),
        Query::Slow(Subject::Waits, than) => Some(Condition::Longer(Column::Waited, than)),
        Query::Slow(Subject::Batches, than) => Some(Condition::Longer(Column::Fetch, than)),
        Query::Batch { epoch: Some(_), .. }
        | Query::Slow(Subject::Samples, _)
        | Query::Slowest(_)
        | Query::Warnings
        | Query::OutOfOrder
        | Query::At(_)
        | Query::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_texts_parse_into_conditions() {
        let one = |text: &str| Filter::parse(text).map(|f| f.conditions);
        let millis = Nanos::from_millis;
        for (text, condition) in [
            ("worker 2", Condition::Worker(2)),
            ("epoch 1", Condition::Epoch(1)),
            ("512", Condition::Between(512, 512)),
            ("batch 10-20", Condition::Between(10, 20)),
            ("sample 40123", Condition::Sample(40_123)),
            ("late", Condition::Late),
            ("Early", Condition::Early),
            ("errors", Condition::Failed),
            (
                "fetch > 20 ms",
                Condition::Longer(Column::Fetch, millis(20)),
            ),
            ("waited > 3", Condition::Longer(Column::Waited, millis(3))),
            (
                "waits longer than 1 s",
                Condition::Longer(Column::Waited, millis(1_000)),
            ),
            (
                "batches slower than 5 ms",
                Condition::Longer(Column::Fetch, millis(5)),
            ),
        ] {
            assert_eq!(one(text), Ok(vec![condition]), "{text}");
        }
        assert_eq!(one(" , "), Ok(Vec::new()));
        let both = one("worker 1, late").expect("two conditions");
        assert_eq!(both, [Condition::Worker(1), Condition::Late]);
    }

    #[test]
    fn an_invalid_filter_part_is_named() {
        for text in [
            "wrkr 1",
            "fetch >",
            "colour > 3 ms",
            "epoch one",
            "3-",
            "slowest",
        ] {
            assert_eq!(
                Filter::parse(&format!("late, {text}")),
                Err(text.to_owned())
            );
        }
    }
}
