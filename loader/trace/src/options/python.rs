//! Python call that makes a loader.

use super::argument::Argument;
use super::{Origin, RunInfo, RunOptions};

impl RunOptions {
    /// Returns the Python call that makes an equal loader. Default values are omitted.
    pub fn python_line(&self) -> String {
        self.line(self.seed, &RunInfo::default())
    }

    fn line(&self, generator: Option<u64>, info: &RunInfo) -> String {
        let batch_size = match self.batch_size {
            Some(size) => size.to_string(),
            None => "None".to_owned(),
        };
        // A batch sampler excludes `batch_size`, `shuffle`, `sampler` and `drop_last`.
        let makes_batches = !info.batch_sampler.is_empty();
        let mut args = vec!["dataset".to_owned()];
        args.push(match makes_batches {
            true => format!("batch_sampler={}(…)", info.batch_sampler),
            false => format!("batch_size={batch_size}"),
        });
        let mut flag = |on: bool, text: &str| {
            if on {
                args.push(text.to_owned());
            }
        };
        // Random samplers and the loader share one generator, which is created at its first use in the call.
        let sampler = self.python_sampler().filter(|_| !makes_batches);
        let named = sampler.as_ref().is_some_and(|s| s.contains("(g := "));
        let generator = generator.map(|seed| match named {
            true => "generator=g".to_owned(),
            false => format!("generator=torch.Generator().manual_seed({seed})"),
        });
        flag(self.shuffle && !makes_batches, "shuffle=True");
        if let Some(sampler) = sampler {
            flag(true, &sampler);
        }
        info.arguments.iter().for_each(|text| flag(true, text));
        for argument in Argument::CALL {
            // A batch sampler has its own `drop_last`.
            if let Some(value) = argument.in_call(self)
                && !(makes_batches && argument == Argument::DropLast)
            {
                flag(true, &format!("{}={}", argument.name(), value.code('\'')));
            }
        }
        if let Some(generator) = generator {
            flag(true, &generator);
        }
        let first = self
            .global_seed
            .map_or(String::new(), |seed| format!("torch.manual_seed({seed}); "));
        let class = match info.class.as_str() {
            "" => "DataLoader",
            class => class,
        };
        let functions = self.collate.resolve(&self.dataset).python();
        let functions = functions.map_or(String::new(), |(functions, _)| functions);
        format!("{functions}{first}{class}({})", args.join(", "))
    }

    /// Returns the argument `sampler=…`, or `None` if the loader makes its own sampler.
    fn python_sampler(&self) -> Option<String> {
        let (kind, _) = self.sampler.split_once(':').unwrap_or((&self.sampler, ""));
        let generator = (self.seed).map_or(String::new(), |seed| {
            format!(", generator=(g := torch.Generator().manual_seed({seed}))")
        });
        let count = self
            .num_samples
            .map_or("len(dataset)".to_owned(), |n| n.to_string());
        let ranks = format!("num_replicas={}, rank={}", self.world_size, self.rank);
        Some(match kind {
            "sequential" => "sampler=SequentialSampler(dataset)".to_owned(),
            "random" => {
                let replacement = if self.replacement {
                    ", replacement=True"
                } else {
                    ""
                };
                let count = self
                    .num_samples
                    .map_or(String::new(), |n| format!(", num_samples={n}"));
                format!("sampler=RandomSampler(dataset{replacement}{count}{generator})")
            }
            "subset" => format!("sampler=SubsetRandomSampler(indices{generator})"),
            "weighted" => {
                let replacement = if self.replacement {
                    ""
                } else {
                    ", replacement=False"
                };
                format!("sampler=WeightedRandomSampler(weights, {count}{replacement}{generator})")
            }
            "distributed" => {
                let drop = if self.sampler_drop_last {
                    ", drop_last=True"
                } else {
                    ""
                };
                let seed = self.seed.unwrap_or(0);
                format!("sampler=DistributedSampler(dataset, {ranks}, seed={seed}{drop})")
            }
            "equi" => format!("batch_sampler=DistributedEquiBatchSampler(dataset, {ranks})"),
            "" => return None,
            // A sampler of the program. Only its name can show that it is a batch sampler. Without `batch_size`, it was passed as
            // `sampler=`.
            name if name.contains("Batch") && self.batch_size.is_some() => {
                format!("batch_sampler={name}(…)")
            }
            name => format!("sampler={name}(…)"),
        })
    }
}

impl RunInfo {
    /// Returns the Python call that makes the loader. Returns `None` for imported runs, whose arguments are unknown.
    pub fn python_line(&self) -> Option<String> {
        let options = &self.options;
        match self.origin {
            Origin::Import(_) => None,
            // The recorded seed is that of the sampler.
            Origin::Pytorch(_) if options.sampler == "distributed" => {
                Some(options.line(None, self))
            }
            _ => Some(options.line(options.seed, self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Collate, PinMemory};

    #[test]
    fn the_python_line_omits_defaults() {
        assert_eq!(
            RunOptions::default().python_line(),
            "DataLoader(dataset, batch_size=32)"
        );
        let options = RunOptions {
            shuffle: true,
            num_workers: 4,
            seed: Some(7),
            in_order: false,
            pin_memory: PinMemory::On,
            ..RunOptions::default()
        };
        assert_eq!(
            options.python_line(),
            "DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4, pin_memory=True, \
             in_order=False, generator=torch.Generator().manual_seed(7))"
        );
        assert_eq!(options.window(), 8);
        let options = RunOptions {
            batch_size: None,
            sampler: "weighted:w.txt".to_owned(),
            replacement: true,
            num_samples: Some(100),
            timeout: 2.5,
            num_workers: 1,
            ..RunOptions::default()
        };
        assert_eq!(
            options.python_line(),
            "DataLoader(dataset, batch_size=None, sampler=WeightedRandomSampler(weights, 100), \
             num_workers=1, timeout=2.5)"
        );
        let options = RunOptions {
            sampler: "random".to_owned(),
            replacement: true,
            seed: Some(3),
            global_seed: Some(4),
            ..RunOptions::default()
        };
        assert_eq!(
            options.python_line(),
            "torch.manual_seed(4); DataLoader(dataset, batch_size=32, sampler=RandomSampler(dataset, replacement=True, \
             generator=(g := torch.Generator().manual_seed(3))), generator=g)"
        );
    }

    #[test]
    fn the_python_line_defines_a_needed_collate_function() {
        let line = |dataset: &str, collate| {
            let options = RunOptions {
                dataset: dataset.to_owned(),
                collate,
                ..RunOptions::default()
            };
            options.python_line()
        };
        let lists = line("voc:a", Collate::Fitting);
        assert!(lists.starts_with("def collate(batch): return "), "{lists}");
        assert!(
            lists.ends_with("\nDataLoader(dataset, batch_size=32, collate_fn=collate)"),
            "{lists}"
        );
        assert_eq!(
            line("voc:a", Collate::Stack),
            "DataLoader(dataset, batch_size=32)"
        );
        assert!(line("digits", Collate::Pad(-1.0)).contains("to_padded_tensor(-1)"));
    }

    #[test]
    fn the_python_line_of_a_program_contains_only_known_facts() {
        let info = |sampler: &str| RunInfo {
            origin: Origin::Pytorch("2.13.0".to_owned()),
            options: RunOptions {
                sampler: sampler.to_owned(),
                seed: Some(3),
                world_size: 2,
                ..RunOptions::default()
            },
            ..RunInfo::default()
        };
        assert_eq!(
            info("distributed").python_line().as_deref(),
            Some(
                "DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset, num_replicas=2, rank=0, seed=3))"
            )
        );
        let own = RunInfo {
            class: "StatefulDataLoader".to_owned(),
            batch_sampler: "Buckets".to_owned(),
            arguments: vec!["collate_fn=pad".to_owned()],
            options: RunOptions {
                sampler: "Buckets".to_owned(),
                batch_size: Some(4),
                drop_last: true,
                num_workers: 2,
                ..RunOptions::default()
            },
            ..info("")
        };
        assert_eq!(
            own.python_line().as_deref(),
            Some(
                "StatefulDataLoader(dataset, batch_sampler=Buckets(…), collate_fn=pad, num_workers=2)"
            )
        );
        let line = |sampler| info(sampler).python_line().unwrap_or_default();
        assert!(line("WeightedRandomSampler").contains(", sampler=WeightedRandomSampler(…), "));
        assert!(line("BucketBatchSampler").contains(", batch_sampler=BucketBatchSampler(…), "));
    }
}
