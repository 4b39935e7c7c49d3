//! Collected spans, for combined views of several tracks.

use super::Spans;
use crate::Span;

impl FromIterator<Span> for Spans {
    /// Collects spans in order of time. Spans that begin before the end of the previous one are dropped.
    fn from_iter<T: IntoIterator<Item = Span>>(all: T) -> Self {
        let mut spans = Self::default();
        for span in all {
            if spans.is_free_at(span.start) {
                spans.open(span.start, span.batch, span.activity);
                if let Some(open) = spans.open_mut() {
                    open.end = span.end;
                }
            }
        }
        spans
    }
}

#[cfg(test)]
mod tests {
    use crate::{Activity, Nanos, Shares};

    use super::*;

    #[test]
    fn spans_are_gathered_in_order() {
        let span = |k: i64| Span {
            start: Nanos(10 * k),
            end: Nanos(10 * k + 7),
            batch: k as u32,
            activity: Activity::ALL[(k % 3) as usize],
        };
        let all: Vec<Span> = (0..40).map(span).collect();
        let mut twice = all.clone();
        twice.insert(7, all[6]);
        let gathered: Spans = twice.into_iter().collect();
        assert_eq!(gathered.all(), all);
        let mut sum = Shares::default();
        let past = all.iter().filter(|s| s.end <= Nanos(333));
        past.for_each(|s| sum.record(s.activity, s.end - s.start));
        sum.record(Activity::ALL[0], Nanos(3));
        assert_eq!(gathered.until(Nanos(333)), sum);
    }
}
