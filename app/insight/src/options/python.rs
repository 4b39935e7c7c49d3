//! Generates a runnable Python program with the same loader.

use loadscope_plan::dataset::{CostModel, DIGITS, DatasetSpec, Sharing, StreamModel};
use loadscope_trace::{Argument, Collate, RunOptions};

/// Number of samples of the placeholder for a dataset that Python cannot create.
const SOME: usize = 64;

/// Returns the program without a final line break. Arguments with PyTorch's default are omitted. Comments mark options
/// without an equivalent in PyTorch.
pub fn program(options: &RunOptions) -> String {
    let mut p = Program::default();
    p.dataset(options);
    p.collate(options);
    p.loader(options);
    p.text()
}

/// A program under construction.
#[derive(Default)]
struct Program {
    /// Names imported from `torch.utils.data`.
    names: Vec<&'static str>,
    /// True if the functions that collate by type are imported.
    has_collate: bool,
    /// Lines before the loader.
    before: Vec<String>,
    /// The call with the comments above it.
    call: Vec<String>,
}

impl Program {
    fn import(&mut self, name: &'static str) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    fn add(&mut self, lines: &str) {
        self.before.extend(lines.lines().map(str::to_owned));
    }

    fn text(mut self) -> String {
        self.import("DataLoader");
        self.names.sort_unstable();
        let mut all = vec![
            "import torch".to_owned(),
            format!("from torch.utils.data import {}", self.names.join(", ")),
        ];
        if self.has_collate {
            let from = "from torch.utils.data._utils.collate import";
            all.push(format!(
                "{from} collate as collate_by_type, default_collate_fn_map"
            ));
        }
        all.push(String::new());
        all.extend(self.before);
        all.push(String::new());
        all.extend(self.call);
        all.join("\n")
    }

    /// Adds a dataset with the same number of samples, and the same shape if it is known.
    fn dataset(&mut self, o: &RunOptions) {
        let spec = o.dataset.parse::<DatasetSpec>();
        match spec {
            Ok(DatasetSpec::Stream(model)) => self.stream(&model),
            Ok(DatasetSpec::Synthetic(model)) => self.synthetic(&model),
            Ok(DatasetSpec::Digits) => {
                self.import("TensorDataset");
                self.add(&format!(
                    "# Stands in for the handwritten digits\n\
                     images, labels = torch.rand({DIGITS}, 1, 8, 8), torch.randint(10, ({DIGITS},))\n\
                     dataset = TensorDataset(images, labels)"
                ));
            }
            _ if o.is_stream() => self.stream(&StreamModel::default()),
            _ => {
                self.import("TensorDataset");
                self.add(&format!(
                    "# Put your dataset here\n\
                     images, labels = torch.rand({SOME}, 3, 32, 32), torch.randint(10, ({SOME},))\n\
                     dataset = TensorDataset(images, labels)"
                ));
            }
        }
    }

    fn synthetic(&mut self, model: &CostModel) {
        self.import("TensorDataset");
        let shape: Vec<String> = model.shape.iter().map(i64::to_string).collect();
        let (len, shape) = (model.len, shape.join(", "));
        // An expanded tensor needs no memory for its length.
        self.add(&format!(
            "# Stands in for {len} synthetic samples, without what they cost\n\
             images, labels = torch.zeros(1).expand({len}, {shape}), torch.arange({len}) % 10\n\
             dataset = TensorDataset(images, labels)"
        ));
    }

    fn stream(&mut self, model: &StreamModel) {
        self.import("IterableDataset");
        let len = model.cost.len;
        let shared = match &model.sharing {
            Sharing::Everything => {
                "        # Every worker yields all samples: it does not ask which worker it is\n        \
                 yield from range(LEN)"
            }
            Sharing::Strided => {
                "        info = torch.utils.data.get_worker_info()\n        \
                 first, step = (info.id, info.num_workers) if info else (0, 1)\n        \
                 yield from range(first, LEN, step)"
            }
            Sharing::Shards(_) => {
                "        info = torch.utils.data.get_worker_info()\n        \
                 for worker in [info.id] if info else range(len(SHARDS)):\n            \
                 yield from range(100 * worker, 100 * worker + SHARDS[worker] if worker < len(SHARDS) else 0)"
            }
        };
        let shards = match &model.sharing {
            Sharing::Shards(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
                format!("SHARDS = [{}]\n", sizes.join(", "))
            }
            _ => format!("LEN = {len}\n"),
        };
        self.add(&format!(
            "{shards}\n\nclass Stream(IterableDataset):\n    def __iter__(self):\n{shared}\n\n\ndataset = Stream()"
        ));
    }

    fn collate(&mut self, o: &RunOptions) {
        let by_type = |name: &str, body: &str| {
            format!(
                "\n\ndef {name}(batch, *, collate_fn_map=None):\n    if batch[0].dim() == 0:\n        return torch.stack(batch)\n    \
                 {body}\n\n\ndef collate(batch):\n    by_type = {{**default_collate_fn_map, torch.Tensor: {name}}}\n    \
                 return collate_by_type(batch, collate_fn_map=by_type)\n\n"
            )
        };
        match o.collate.resolve(&o.dataset) {
            Collate::Fitting | Collate::Stack => {}
            Collate::List => self.add(
                "\n\ndef collate(batch):\n    if isinstance(batch[0], dict):\n        \
                 return {key: [sample[key] for sample in batch] for key in batch[0]}\n    \
                 return tuple(zip(*batch)) if isinstance(batch[0], (tuple, list)) else batch\n\n",
            ),
            Collate::Pad(value) => {
                self.has_collate = true;
                let body = format!(
                    "return torch.nested.nested_tensor(list(batch)).to_padded_tensor({value})"
                );
                self.add(&by_type("pad", &body));
            }
            Collate::Concat => {
                self.has_collate = true;
                let body = "starts = torch.tensor([0, *map(len, batch)][:-1]).cumsum(0)\n    \
                            return torch.cat(batch), starts";
                self.add(&by_type("concat", body));
            }
        }
    }

    /// Writes the call with one argument per line.
    fn loader(&mut self, o: &RunOptions) {
        let mut args = vec!["dataset".to_owned()];
        let mut order = self.order(o);
        if let Some(seed) = o.global_seed {
            self.add(&format!("torch.manual_seed({seed})"));
        }
        // Random samplers and the loader share one generator.
        if let Some(seed) = o
            .seed
            .filter(|_| order.uses_generator || !order.has_own_seed)
        {
            self.add(&format!(
                "generator = torch.Generator().manual_seed({seed})"
            ));
        }
        for line in std::mem::take(&mut order.lines) {
            self.before.push(line);
        }
        if o.batch_size != Some(1) {
            let size = o.batch_size.map_or("None".to_owned(), |n| n.to_string());
            args.push(format!("batch_size={size}"));
        }
        args.extend(order.argument);
        for argument in Argument::CALL {
            // PyTorch refuses a prefetch factor without workers.
            if let Some(value) = argument.in_call(o)
                && !(argument == Argument::PrefetchFactor && o.num_workers == 0)
            {
                args.push(format!("{}={}", argument.name(), value.code('"')));
            }
        }
        let generator = o.seed.is_some() && (order.uses_generator || !order.has_own_seed);
        if generator {
            args.push("generator=generator".to_owned());
        }
        self.call.push("loader = DataLoader(".to_owned());
        self.call
            .extend(args.iter().map(|arg| format!("    {arg},")));
        self.call.push(")".to_owned());
    }

    fn weighted(
        &mut self,
        o: &RunOptions,
        file: &str,
        generator: &str,
        order: &mut Order,
    ) -> String {
        self.import("WeightedRandomSampler");
        order.lines.push(match file {
            "balanced" => "weights = 1.0 / torch.bincount(labels)[labels]".to_owned(),
            file => format!(
                "weights = torch.ones(len(dataset))  # those of {}",
                name(file)
            ),
        });
        if o.world_size > 1 {
            self.call.push(
                "# PyTorch has no weighted sampler that shares samples among ranks:".to_owned(),
            );
            self.call
                .push("# this one draws for a single process".to_owned());
        }
        let count = o
            .num_samples
            .map_or("len(dataset)".to_owned(), |n| n.to_string());
        let replacement = if o.replacement || o.sampler == "weighted:balanced" {
            ""
        } else {
            ", replacement=False"
        };
        format!("WeightedRandomSampler(weights, {count}{replacement}{generator})")
    }

    /// Returns the code for the order of the samples.
    fn order(&mut self, o: &RunOptions) -> Order {
        let (kind, file) = o.sampler.split_once(':').unwrap_or((&o.sampler, ""));
        let generator = match o.seed {
            Some(_) => ", generator=generator",
            None => "",
        };
        let mut order = Order {
            uses_generator: true,
            ..Order::default()
        };
        let sampler = match kind {
            "" => {
                order.argument = o.shuffle.then(|| "shuffle=True".to_owned());
                return order;
            }
            "sequential" => {
                self.import("SequentialSampler");
                "SequentialSampler(dataset)".to_owned()
            }
            "random" => {
                self.import("RandomSampler");
                let replacement = if o.replacement {
                    ", replacement=True"
                } else {
                    ""
                };
                let count = o
                    .num_samples
                    .map_or(String::new(), |n| format!(", num_samples={n}"));
                format!("RandomSampler(dataset{replacement}{count}{generator})")
            }
            "subset" => {
                self.import("SubsetRandomSampler");
                order.lines.push(format!(
                    "indices = range(len(dataset))  # those of {}",
                    name(file)
                ));
                format!("SubsetRandomSampler(indices{generator})")
            }
            "weighted" => self.weighted(o, file, generator, &mut order),
            "distributed" => {
                self.import("DistributedSampler");
                order.has_own_seed = true;
                order.uses_generator = false;
                let drop = if o.sampler_drop_last {
                    ", drop_last=True"
                } else {
                    ""
                };
                let (world, rank, seed) = (o.world_size, o.rank, o.seed.unwrap_or(0));
                if o.set_epoch {
                    self.call
                        .push("# Before each epoch: loader.sampler.set_epoch(epoch)".to_owned());
                }
                format!(
                    "DistributedSampler(dataset, num_replicas={world}, rank={rank}, seed={seed}{drop})"
                )
            }
            _ => {
                let class = match kind {
                    "equi" => "DistributedEquiBatchSampler",
                    "group" => "DistinctGroupBatchSampler",
                    "bucket" => "LengthBucketBatchSampler",
                    other => other,
                };
                self.call.push(format!(
                    "# PyTorch has no {class}: batches in random order stand in for it"
                ));
                order.argument = Some("shuffle=True".to_owned());
                return order;
            }
        };
        order.argument = Some(format!("sampler={sampler}"));
        order
    }
}

/// Code for the order of the samples.
#[derive(Default)]
struct Order {
    /// Lines before the call.
    lines: Vec<String>,
    argument: Option<String>,
    /// True if the sampler has its own seed.
    has_own_seed: bool,
    /// True if the loader's generator draws the order or the seeds of workers.
    uses_generator: bool,
}

/// Returns the file name for use in a comment.
fn name(file: &str) -> String {
    let path = std::path::Path::new(file);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match name.is_empty() {
        true => "your file".to_owned(),
        // A line break in the name would end the comment.
        false => name.chars().filter(|c| !c.is_control()).collect(),
    }
}

#[cfg(test)]
mod tests;
