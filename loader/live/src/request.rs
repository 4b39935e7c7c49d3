//! What a program's probe is asked for, through its environment.

use std::num::NonZeroU64;
use std::time::Duration;

use loadscope_trace::Overrides;
use serde::Serialize;

use crate::variable;

/// What a program's probe is asked for, beyond telling what happens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Pictures that are kept of a batch, now and then.
    pub previews: u32,
    /// Number of first batches per worker whose contents get a digest.
    pub digests: u32,
    /// The loaders whose arguments are set, by the line that makes them (`train.py:42`); `None`: all.
    pub set: Option<String>,
    /// Arguments that are set where the program makes them.
    pub overrides: Overrides,
    /// The loaders that say when it is enough; `None`: any.
    pub until: Option<String>,
    /// When the program is to end.
    pub stop: Option<Stop>,
}

/// When a program is to end: once a loader has yielded enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// After so many batches.
    Batches(NonZeroU64),
    /// So long after the first batch.
    Time(Duration),
}

/// As the probe reads it.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    loader: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<&'a Overrides>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batches: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

impl Request {
    /// The variables of the environment that say so. One without a value is not to be there.
    pub(crate) fn variables(&self) -> [(&'static str, Option<String>); 4] {
        let told = |told: Told<'_>| serde_json::to_string(&told).ok();
        let nothing = |loader| Told::<'_> {
            loader,
            set: None,
            batches: None,
            seconds: None,
        };
        let set = (!self.overrides.is_empty()).then(|| Told {
            set: Some(&self.overrides),
            ..nothing(self.set.as_deref())
        });
        let stop = self.stop.map(|stop| match stop {
            Stop::Batches(batches) => Told {
                batches: Some(batches.get()),
                ..nothing(self.until.as_deref())
            },
            Stop::Time(time) => Told {
                seconds: Some(time.as_secs_f64()),
                ..nothing(self.until.as_deref())
            },
        });
        [
            (variable::PREVIEWS, Some(self.previews.to_string())),
            (variable::SET, set.and_then(told)),
            (variable::STOP, stop.and_then(told)),
            (
                variable::DIGESTS,
                (self.digests > 0).then(|| self.digests.to_string()),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_as_the_wire_has_it() {
        let plain = Request::default().variables();
        assert_eq!(plain[0], ("LOADSCOPE_PROBE_PREVIEWS", Some("0".to_owned())));
        assert!(plain[1..].iter().all(|(_, value)| value.is_none()));
        let request = Request {
            previews: 4,
            digests: 8,
            set: Some("train.py:42".to_owned()),
            until: Some("train.py:42".to_owned()),
            overrides: Overrides {
                num_workers: Some(8),
                ..Overrides::default()
            },
            stop: NonZeroU64::new(200).map(Stop::Batches),
        };
        let [_, set, stop, digests] = request.variables();
        let text = r#"{"loader":"train.py:42","set":{"num_workers":8}}"#;
        assert_eq!(set, ("LOADSCOPE_PROBE_SET", Some(text.to_owned())));
        let text = r#"{"loader":"train.py:42","batches":200}"#;
        assert_eq!(stop, ("LOADSCOPE_PROBE_STOP", Some(text.to_owned())));
        assert_eq!(digests, ("LOADSCOPE_PROBE_DIGESTS", Some("8".to_owned())));
        let timed = Request {
            stop: Some(Stop::Time(Duration::from_millis(1500))),
            ..Request::default()
        };
        let text = r#"{"seconds":1.5}"#;
        assert_eq!(timed.variables()[2].1.as_deref(), Some(text));
    }
}
