//! Findings about the split among workers, ranks, and the workers of a stream.

use crate::format::{count, plural};
use crate::sampling::finding::{FindingDraft, list, note, problem};
use crate::sampling::order_analysis::{OrderAnalysis, OrderFacts, WorkerGenerators};

use loadscope_words::{Text, say, text};

/// Remedy for an iterable dataset that ignores its worker's id.
const EVERYTHING: Text = text!(
    "In __iter__, use get_worker_info() to yield only this worker's part. Every worker has its own copy of an IterableDataset."
);

/// Name of a random generator, and the digest of its state in a worker.
type Generator = (&'static str, fn(&WorkerGenerators) -> Option<u64>);

/// Finds workers with equal generators of NumPy or Python's `random`. PyTorch seeds both per worker, so the program has seeded them again.
pub fn same_generators(about: &OrderFacts) -> Vec<FindingDraft> {
    let named: [Generator; 2] = [
        ("numpy.random", |worker| worker.of.numpy),
        (say!("Python's random"), |worker| worker.of.python),
    ];
    let alike = |(name, digest): Generator| {
        let mut all: Vec<(u32, u64, u16)> = (about.generators.iter())
            .filter_map(|worker| Some((worker.epoch, digest(worker)?, worker.of.worker)))
            .collect();
        all.sort_unstable();
        let mut pairs = all.windows(2);
        let pair = pairs.find(|p| (p[0].0, p[0].1) == (p[1].0, p[1].1) && p[0].2 != p[1].2)?;
        Some(problem(
            say!(
                "Workers {} and {} draw the same random numbers from {name}: their random transforms are equal",
                pair[0].2,
                pair[1].2
            ),
            say!(
                "Do not seed the workers, or seed them from torch.initial_seed() in worker_init_fn. PyTorch seeds every worker differently."
            ),
        ))
    };
    named.into_iter().filter_map(alike).collect()
}

/// Finds workers with equal seeds.
pub fn same_seeds(about: &OrderFacts) -> Vec<FindingDraft> {
    let mut seeds = about.seeds.clone();
    seeds.sort_by_key(|s| (s.seed, s.epoch, s.worker));
    let groups = || seeds.chunk_by(|a, b| a.seed == b.seed);
    let mut out = Vec::new();
    let side_by_side = groups().find_map(|group| {
        group
            .windows(2)
            .find(|p| p[0].epoch == p[1].epoch && p[0].worker != p[1].worker)
    });
    if let Some([a, b]) = side_by_side {
        out.push(problem(
            say!(
                "Workers {} and {} start with the same seed {}: their random transforms draw the same numbers",
                a.worker, b.worker, a.seed
            ),
            say!("In worker_init_fn, seed from torch.initial_seed(), which differs in every worker"),
        ));
    }
    let again = groups().find_map(|group| {
        group
            .windows(2)
            .find(|p| p[0].epoch != p[1].epoch && p[0].worker == p[1].worker)
    });
    if let Some([a, b]) = again {
        out.push(problem(
            say!(
                "Worker {} starts with the same seed {} in epochs {} and {}: its random transforms repeat",
                a.worker, a.seed, a.epoch, b.epoch
            ),
            say!("Seed the loader's generator once before the first epoch. The program seeds it again in every epoch."),
        ));
    }
    out
}

/// Finds ranks with equal worker seeds, repeated indices or omitted indices.
pub fn ranks(answers: &OrderAnalysis, about: &OrderFacts) -> Vec<FindingDraft> {
    let mut out = Vec::new();
    let Some(ranks) = answers.ranks.as_ref().filter(|r| r.shares.len() > 1) else {
        return out;
    };
    let world = ranks.shares.len();
    if !ranks.same_seeds.is_empty() && about.options.num_workers > 0 {
        out.push(problem(
            say!(
                "The workers of ranks {} start with the same seeds: their random transforms draw the same numbers",
                list(&ranks.same_seeds)
            ),
            say!("Add the rank to the seed of the loader's generator. Keep the sampler's seed the same on all ranks."),
        ));
    }
    if about.sampler() != "distributed" {
        return out;
    }
    let each = ranks.shares.first().map_or(0, |s| s.len);
    if ranks.padding > 0 {
        out.push(note(
            say!(
                "{} so that {world} ranks get {} each",
                plural(ranks.padding, say!(n: "index is repeated"), say!(n: "indices are repeated")),
                count(each)
            ),
            say!("For validation, use DistributedSampler(drop_last=True), because repeated samples count twice"),
        ));
    }
    if ranks.left_out > 0 {
        out.push(note(
            say!(
                "{} dropped so that {world} ranks get {} each",
                plural(ranks.left_out, say!(n: "sample is"), say!(n: "samples are")),
                count(each)
            ),
            say!("Use DistributedSampler(drop_last=False) to draw all samples and repeat a few"),
        ));
    }
    out
}

pub fn streams(answers: &OrderAnalysis) -> Option<FindingDraft> {
    let s = answers.sharing.as_ref()?;
    if s.workers < 2 || s.shared == 0 {
        return None;
    }
    Some(problem(
        say!(
            "{} workers yield {} samples, {} of them distinct: {} yielded by several workers",
            s.workers,
            count(s.yielded),
            count(s.different),
            match s.shared {
                1 => say!("1 is").to_owned(),
                n => say!("{} are", count(n)),
            }
        ),
        EVERYTHING.say(),
    ))
}

/// Finds more samples than the dataset has, the only visible sign in a recording of an iterable dataset.
pub fn too_many(about: &OrderFacts) -> Option<FindingDraft> {
    let (yielded, workers) = about.yielded?;
    let len = about.len.filter(|len| *len > 0)?;
    if workers < 2 || yielded <= len {
        return None;
    }
    Some(problem(
        say!(
            "{workers} workers yielded {} samples from a dataset of {}: each sample {:.1} times on average",
            count(yielded),
            count(len),
            yielded as f64 / len as f64
        ),
        EVERYTHING.say(),
    ))
}
