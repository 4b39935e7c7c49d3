//! Removal of unused options.

use loadscope_trace::{Argument, RunOptions};

/// Returns the options without unused arguments: of another sampler, of workers if there are none, of batches if there are none. A
/// user who selects another sampler no longer sees the arguments of the previous one, and could not reset them.
///
/// The command line refuses unused arguments instead, since all of them are visible there.
#[must_use]
pub fn normalized(mut o: RunOptions) -> RunOptions {
    Argument::reset_unused(&mut o, |_| true);
    // Without replacement every sample would occur once, regardless of its class.
    o.replacement |= o.sampler == "weighted:balanced";
    o
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::check_options;

    /// Returns options with arguments of all kinds, as after several selections in the options panel.
    fn any_options() -> impl Strategy<Value = RunOptions> {
        let datasets = [
            "digits",
            "synthetic:len=64",
            "stream:len=64",
            " stream:len=64",
        ];
        let samplers = [
            "",
            "sequential",
            "random",
            "weighted:balanced",
            "distributed",
            "equi:labels",
            "bucket:len",
        ];
        let flags = prop::array::uniform5(any::<bool>());
        let chosen = (
            prop::sample::select(datasets.to_vec()),
            prop::sample::select(samplers.to_vec()),
        );
        let numbers = (0..3usize, prop::option::of(1..4usize), 1..3u32);
        (chosen, flags, numbers).prop_map(|((dataset, sampler), on, (workers, prefetch, world))| {
            RunOptions {
                dataset: dataset.to_owned(),
                extra_cost: if on[0] { "cost_ms=1" } else { "" }.to_owned(),
                sampler: sampler.to_owned(),
                shuffle: on[1],
                replacement: on[2],
                num_samples: on[2].then_some(32),
                sampler_drop_last: on[3],
                persistent_workers: on[4],
                world_size: world,
                num_workers: workers,
                prefetch_factor: prefetch,
                ..RunOptions::default()
            }
        })
    }

    proptest! {
        #[test]
        fn settled_options_pass_the_checks_and_do_not_change_again(options in any_options()) {
            let after = normalized(options);
            prop_assert_eq!(check_options(&after).map_err(|e| e.to_string()), Ok(()));
            prop_assert_eq!(normalized(after.clone()), after);
        }
    }

    #[test]
    fn settled_options_keep_those_that_the_sampler_uses() {
        let options = RunOptions {
            sampler: "weighted:balanced".to_owned(),
            replacement: true,
            num_samples: Some(50),
            world_size: 2,
            rank: 1,
            num_workers: 2,
            prefetch_factor: Some(4),
            ..RunOptions::default()
        };
        assert_eq!(normalized(options.clone()), options);
    }
}
