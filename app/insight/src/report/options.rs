//! Options of a run as JSON, with null for unknown options.

use loadscope_trace::{Origin, Run, RunOptions, Summary};
use serde_json::{Map, Value};

/// Options that only Loadscope's embedded loader has.
const OURS: [&str; 5] = [
    "image_size",
    "extra_cost",
    "step_ms",
    "on_error",
    "set_epoch",
];

/// Returns the options of a run as a JSON object. Unknown options are null.
pub fn options(run: &Run) -> Value {
    let mut known = object(&run.info.options);
    match run.info.origin {
        Origin::Engine | Origin::Simulation => {}
        Origin::Pytorch(_) => {
            let options = &run.info.options;
            for ours in OURS {
                known.insert(ours.to_owned(), Value::Null);
            }
            let in_force = (options.num_workers > 0).then(|| options.prefetch());
            known.insert("prefetch_factor".to_owned(), in_force.into());
            known.insert("dataset".to_owned(), run.info.dataset_class().into());
            known.insert("epochs".to_owned(), epochs(run).into());
        }
        // Only a value that differs from the default is certain to be recorded.
        Origin::Import(_) => {
            let usual = object(&RunOptions::default());
            for (name, value) in &mut known {
                if usual.get(name) == Some(value) {
                    *value = Value::Null;
                }
            }
            known.insert("epochs".to_owned(), epochs(run).into());
        }
    }
    Value::Object(known)
}

/// Returns the number of started epochs. Returns `None` if the source does not record epochs.
fn epochs(run: &Run) -> Option<u64> {
    (!run.has_only_parts()).then(|| Summary::of(run).epochs)
}

fn object(options: &RunOptions) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Event, EventKind, Nanos, RunId, RunInfo};

    use super::*;

    fn run(origin: Origin, change: impl FnOnce(&mut RunOptions)) -> Value {
        let mut info = RunInfo {
            origin,
            dataset: "ImageFolder of 1,200 samples in a in b.py".to_owned(),
            dataset_len: Some(1_200),
            ..RunInfo::default()
        };
        info.options.dataset = "synthetic:len=1200".to_owned();
        change(&mut info.options);
        let mut run = Run::new(info);
        for epoch in 0..2 {
            let (at, run_id) = (Nanos(i64::from(epoch)), RunId(0));
            for kind in [
                EventKind::EpochStarted { epoch },
                EventKind::EpochEnded { epoch },
            ] {
                run.apply(&Event {
                    at,
                    run: run_id,
                    kind,
                });
            }
        }
        options(&run)
    }

    #[test]
    fn a_pytorch_program_has_none_of_our_own_options() {
        let told = run(Origin::Pytorch("2.13".to_owned()), |o| o.num_workers = 2);
        for ours in OURS {
            assert_eq!(told.get(ours), Some(&Value::Null), "{ours}");
        }
        assert_eq!(told["dataset"], "ImageFolder");
        assert_eq!(
            (&told["epochs"], &told["prefetch_factor"]),
            (&2.into(), &2.into())
        );
        let told = run(Origin::Pytorch("2.13".to_owned()), |_| ());
        assert_eq!(told["prefetch_factor"], Value::Null);
        let told = run(Origin::Pytorch("2.13".to_owned()), |o| {
            (o.num_workers, o.prefetch_factor) = (1, Some(5));
        });
        assert_eq!(told["prefetch_factor"], 5);
    }

    /// An unset default is not an argument of the program.
    #[test]
    fn unrecorded_options_of_other_tools_are_null() {
        let told = run(Origin::Import("somewhere".to_owned()), |o| {
            o.num_workers = 3
        });
        assert_eq!(told["num_workers"], 3);
        for unknown in [
            "batch_size",
            "shuffle",
            "in_order",
            "seed",
            "step_ms",
            "timeout",
        ] {
            assert_eq!(told.get(unknown), Some(&Value::Null), "{unknown}");
        }
    }

    #[test]
    fn the_embedded_loader_has_the_options_it_ran_with() {
        let told = run(Origin::Engine, |o| (o.step_ms, o.epochs) = (5.0, 9));
        assert_eq!(
            (&told["step_ms"], &told["epochs"]),
            (&5.0.into(), &9.into())
        );
    }
}
