//! Requests to the probe, sent as environment variables.

use std::num::NonZeroU64;
use std::time::Duration;

use loadscope_trace::Overrides;
use serde::Serialize;

use crate::variable;

/// Requests to the probe beyond recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Maximum number of images in a preview of a batch. The probe samples previews only now and then. 0: no previews.
    pub previews: u32,
    /// Number of first batches per worker whose contents get a digest. 0: none.
    pub digests: u32,
    /// Line that creates the loaders whose arguments are overridden (`train.py:42`). `None`: all loaders.
    pub set: Option<String>,
    /// Arguments to override at the creation of the loaders.
    pub overrides: Overrides,
    /// Line that creates the loaders that `stop` counts. `None`: all loaders.
    pub until: Option<String>,
    /// Stop condition of the program. `None`: no stop.
    pub stop: Option<Stop>,
}

/// Stop condition of a program. The first loader that meets it ends the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Number of yielded batches.
    Batches(NonZeroU64),
    /// Time since the first batch.
    Time(Duration),
}

/// JSON object of `LOADSCOPE_PROBE_SET` and `LOADSCOPE_PROBE_STOP`.
#[derive(Serialize)]
struct RequestJson<'a> {
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
    /// Returns the environment variables of the request. A variable with `None` must be unset.
    pub(crate) fn variables(&self) -> [(&'static str, Option<String>); 4] {
        let json = |object: RequestJson<'_>| serde_json::to_string(&object).ok();
        let nothing = |loader| RequestJson::<'_> {
            loader,
            set: None,
            batches: None,
            seconds: None,
        };
        let set = (!self.overrides.is_empty()).then(|| RequestJson {
            set: Some(&self.overrides),
            ..nothing(self.set.as_deref())
        });
        let stop = self.stop.map(|stop| match stop {
            Stop::Batches(batches) => RequestJson {
                batches: Some(batches.get()),
                ..nothing(self.until.as_deref())
            },
            Stop::Time(time) => RequestJson {
                seconds: Some(time.as_secs_f64()),
                ..nothing(self.until.as_deref())
            },
        });
        [
            (variable::PREVIEWS, Some(self.previews.to_string())),
            (variable::SET, set.and_then(json)),
            (variable::STOP, stop.and_then(json)),
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
    fn a_request_becomes_environment_variables() {
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
