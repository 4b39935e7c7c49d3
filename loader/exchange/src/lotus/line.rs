//! A line of a log.

use loadscope_words::say;

/// Line of a log. Times are ns since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The main process waited for a batch, or the batch arrived out of order.
    Wait { idx: u32, start: i64, end: i64 },
    /// The main process yielded a batch.
    Consumed { idx: u32, at: i64 },
    /// The main process put a batch into an index queue. Only the newer branch of LotusTrace logs this.
    Dispatched { idx: u32, at: i64 },
    /// A worker fetched a batch. Includes collating.
    Batch { idx: u32, start: i64, end: i64 },
    /// A worker collated a batch.
    Collate { start: i64, end: i64 },
    /// A worker called a transform on a sample.
    Transform { name: String, start: i64, end: i64 },
}

impl Line {
    /// Parses `NAME,START,DURATION`. Blanks may follow a comma.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(text).map_err(|_| say!("it is not UTF-8").to_owned())?;
        let mut parts = text.splitn(3, ',').map(str::trim);
        let (Some(name), Some(start), Some(duration)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(say!("it is not NAME,START,DURATION").to_owned());
        };
        let name = name
            .strip_prefix('S')
            .filter(|n| !n.is_empty() && n.chars().all(|c| c.is_alphanumeric() || c == '_'))
            .ok_or(say!("it does not begin with S and a name"))?;
        let number = |text: &str| {
            let number: Option<i64> = text.parse().ok();
            number.filter(|n| *n >= 0)
        };
        let start = number(start).ok_or(say!("its start is not a time in ns since 1970"))?;
        let duration = number(duration).ok_or(say!("its duration is not a number of ns"))?;
        let end = start.saturating_add(duration);
        let numbered = |prefix: &str| {
            let idx = name.strip_prefix(prefix)?.strip_prefix('_')?;
            idx.parse::<u32>().ok()
        };
        if let Some(idx) = numbered("BatchWait") {
            return Ok(Self::Wait { idx, start, end });
        }
        if let Some(idx) = numbered("BatchConsumed") {
            return Ok(Self::Consumed { idx, at: start });
        }
        if let Some(idx) = numbered("BatchQueued") {
            return Ok(Self::Dispatched { idx, at: start });
        }
        if let Some(idx) = numbered("BatchPreprocessed") {
            return Ok(Self::Batch { idx, start, end });
        }
        if name == "Collation" {
            return Ok(Self::Collate { start, end });
        }
        let name = name.to_owned();
        Ok(Self::Transform { name, start, end })
    }

    /// Returns a key for the order in which lines are written: the time of writing, then the order of events in a batch's path.
    pub fn written(&self) -> (i64, u8, u32) {
        match *self {
            Self::Wait { idx, start, end } if end - start == OUT_OF_ORDER_WAIT => (start, 0, idx),
            Self::Wait { idx, end, .. } => (end, 0, idx),
            Self::Dispatched { idx, at } => (at, 1, idx),
            Self::Consumed { idx, at } => (at, 2, idx),
            Self::Transform { end, .. } => (end, 3, 0),
            Self::Collate { end, .. } => (end, 4, 0),
            Self::Batch { idx, end, .. } => (end, 5, idx),
        }
    }
}

/// Duration of a wait, ns, that marks a batch which arrived out of order.
pub(super) const OUT_OF_ORDER_WAIT: i64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_formats_are_read() {
        let read = |text: &str| Line::parse(text.as_bytes());
        let (start, end) = (5, 12);
        assert_eq!(
            read("SBatchWait_3,5,7"),
            Ok(Line::Wait { idx: 3, start, end })
        );
        assert_eq!(read("SCollation, 5,7"), Ok(Line::Collate { start, end }));
        let name = "RandomResizedCrop".to_owned();
        let transform = Line::Transform { name, start, end };
        assert_eq!(read("SRandomResizedCrop, 5, 7"), Ok(transform));
        for text in [
            "",
            "S,1,2",
            "Wait,1,2",
            "SBatchWait_1,1",
            "SBatchWait_1,-1,2",
            "SBatchWait_1,1,2,3",
            "SBatchWait_1,1,9223372036854775808",
            "S a,1,2",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(Line::parse(b"S\xFF,1,2").is_err());
    }
}
