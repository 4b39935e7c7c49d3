//! Lines with reduced data: sums, kept events, states.

use std::borrow::Cow;

use super::reading::{WrongLine, need};
use super::{Line, Name, finite};
use crate::event::{Event, EventKind, Kept, State};
use crate::{Retention, Sums};

impl<'a> Line<'a> {
    pub(super) fn of_past(event: &'a Event) -> Self {
        let bare = |e| Self::bare(event, e);
        match &event.kind {
            EventKind::Retention(retention) => Self {
                in_part: Some(retention.part),
                retention: Some(match finite(&retention.info) {
                    Cow::Borrowed(_) => Cow::Borrowed(retention),
                    Cow::Owned(info) => Cow::Owned(Retention {
                        info,
                        ..(**retention).clone()
                    }),
                }),
                ..bare(Name::Retention)
            },
            EventKind::Summed(sums) => Self {
                in_part: Some(sums.part),
                sums: Some(Cow::Borrowed(sums)),
                ..bare(Name::Summed)
            },
            EventKind::Kept(kept) => Self {
                in_part: Some(kept.part),
                wait: kept.wait,
                events: Some(kept.events.iter().map(Line::of).collect()),
                ..bare(Name::Kept)
            },
            EventKind::State(state) => Self {
                in_part: Some(state.part),
                events: Some(state.events.iter().map(Line::of).collect()),
                ..bare(Name::State)
            },
            _ => bare(Name::RunEnded),
        }
    }

    /// Converts a line with reduced data.
    pub(super) fn into_past(self) -> Result<EventKind, WrongLine> {
        let part = need(self.in_part, "in_part")?;
        Ok(match self.e {
            Name::Retention => {
                let retention = need(self.retention, "retention")?.into_owned();
                EventKind::Retention(Box::new(Retention { part, ..retention }))
            }
            Name::Summed => {
                let sums = need(self.sums, "sums")?.into_owned();
                EventKind::Summed(Box::new(Sums { part, ..sums }))
            }
            Name::Kept => EventKind::Kept(Box::new(Kept {
                part,
                wait: self.wait,
                events: within(need(self.events, "events")?)?,
            })),
            _ => EventKind::State(Box::new(State {
                part,
                events: within(need(self.events, "events")?)?,
            })),
        })
    }
}

/// Converts nested lines, which must contain ordinary events.
fn within(lines: Vec<Line<'_>>) -> Result<Vec<Event>, WrongLine> {
    let one = |line: Line<'_>| match line.e {
        Name::Retention | Name::Summed | Name::Kept | Name::State => Err(WrongLine::Within),
        _ => line.into_event(),
    };
    lines.into_iter().map(one).collect()
}
