//! Glossary of the pipeline: meaning and PyTorch name of each term.

use loadscope_trace::{Lane, Stage};
use loadscope_words::say;

/// A term of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// Source of samples.
    Dataset,
    /// Result of the dataset for one index.
    Sample,
    /// Source of the order of indices.
    Sampler,
    /// Group of samples.
    Batch,
    /// One pass over the dataset.
    Epoch,
    /// Process that loads batches.
    Worker,
    /// Process that trains.
    MainProcess,
    /// Tasks of a worker.
    IndexQueue,
    /// A batch is in any queue.
    Queued,
    /// The dataset reads samples.
    Fetching,
    /// `collate_fn` stacks samples.
    Collating,
    /// Finished batches on the way to the main process.
    ResultQueue,
    /// Thread that copies to page-locked memory.
    PinThread,
    /// Copying to page-locked memory.
    Pinning,
    /// Batches in page-locked memory.
    DataQueue,
    /// Buffer of batches that arrived early.
    ReorderBuffer,
    /// A batch waits in the reorder buffer.
    Held,
    /// A batch is next for the trainer.
    Ready,
    /// Limit of tasks in flight.
    PrefetchWindow,
    /// Index of the next task.
    SendIdx,
    /// Index of the next batch to be yielded.
    RcvdIdx,
    /// Tasks without a result.
    TasksOutstanding,
    /// State per task.
    TaskInfo,
    /// Number of yielded batches.
    NumYielded,
    /// Yielding in the sampler's order.
    InOrder,
    /// The training loop.
    Trainer,
    /// The trainer waits for a batch.
    Wait,
    /// The trainer works.
    Training,
    /// A worker has no task.
    Idle,
}

/// An entry of the glossary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of the term.
    pub name: &'static str,
    /// Name in PyTorch, or empty.
    pub pytorch: &'static str,
    /// Meaning in one or two sentences.
    pub meaning: &'static str,
}

impl Term {
    /// All terms, in the order of a batch's path.
    pub const ALL: [Self; 29] = [
        Self::Dataset,
        Self::Sample,
        Self::Sampler,
        Self::Batch,
        Self::Epoch,
        Self::MainProcess,
        Self::Worker,
        Self::IndexQueue,
        Self::Queued,
        Self::Fetching,
        Self::Collating,
        Self::ResultQueue,
        Self::PinThread,
        Self::Pinning,
        Self::DataQueue,
        Self::ReorderBuffer,
        Self::Held,
        Self::Ready,
        Self::PrefetchWindow,
        Self::SendIdx,
        Self::RcvdIdx,
        Self::TasksOutstanding,
        Self::TaskInfo,
        Self::NumYielded,
        Self::InOrder,
        Self::Trainer,
        Self::Wait,
        Self::Training,
        Self::Idle,
    ];

    /// Returns the term for a lane.
    pub fn of_lane(lane: Lane) -> Self {
        match lane {
            Lane::Trainer => Self::Trainer,
            Lane::Reorder => Self::ReorderBuffer,
            Lane::DataQueue => Self::DataQueue,
            Lane::Pin => Self::PinThread,
            Lane::ResultQueue => Self::ResultQueue,
            Lane::Main => Self::MainProcess,
            Lane::Worker(_) => Self::Worker,
            Lane::IndexQueue(_) => Self::IndexQueue,
        }
    }

    /// Returns the term for a stage. Returns `None` for final stages.
    pub fn of_stage(stage: Stage) -> Option<Self> {
        Some(match stage {
            Stage::Queued => Self::Queued,
            Stage::Fetching => Self::Fetching,
            Stage::Collating => Self::Collating,
            Stage::Returning => Self::ResultQueue,
            Stage::Pinning => Self::Pinning,
            Stage::Held => Self::Held,
            Stage::Ready => Self::Ready,
            Stage::Training => Self::Training,
            Stage::Done | Stage::Failed | Stage::Discarded => return None,
        })
    }

    /// Returns the term for a counter by PyTorch's name without the underscore.
    pub fn of_counter(name: &str) -> Option<Self> {
        Some(match name {
            "send_idx" => Self::SendIdx,
            "rcvd_idx" => Self::RcvdIdx,
            "tasks_outstanding" => Self::TasksOutstanding,
            "task_info" => Self::TaskInfo,
            "num_yielded" => Self::NumYielded,
            _ => return None,
        })
    }

    /// Returns the glossary entry.
    #[rustfmt::skip]
    pub fn entry(self) -> Entry {
        let (name, pytorch, meaning) = match self {
            Self::Dataset => (say!("Dataset"), "torch.utils.data.Dataset", say!("Maps an index to a sample")),
            Self::Sample => (say!("Sample"), "dataset[index]", say!("The result of dataset[index], for example an image and its label")),
            Self::Sampler => (say!("Sampler"), "sampler, batch_sampler", say!("Draws the indices of the next batch: in order, shuffled, or weighted")),
            Self::Batch => (say!("Batch"), "batch_size, drop_last", say!("Samples that are fetched by one worker and reach the trainer together")),
            Self::Epoch => (say!("Epoch"), "iter(loader)", say!("One pass over the indices of the sampler")),
            Self::MainProcess => (say!("Main process"), "num_workers=0", say!("The process with the training loop. With num_workers=0, it also loads each batch.")),
            Self::Worker => (say!("Worker"), "num_workers, worker_init_fn", say!("A process that fetches and collates batches, in parallel with the other workers")),
            Self::IndexQueue => (say!("Index queue"), "_index_queues[worker]", say!("Tasks (lists of indices) for one worker. Other workers cannot take them.")),
            Self::Queued => (say!("In a queue"), "multiprocessing.Queue", say!("The batch waits in a queue")),
            Self::Fetching => (say!("Fetching"), "dataset.__getitem__, __getitems__", say!("A worker reads the samples of the batch, one by one")),
            Self::Collating => (say!("Collating"), "collate_fn", say!("The samples are stacked into one tensor per field")),
            Self::ResultQueue => (say!("Result queue"), "_worker_result_queue", say!("All workers put finished batches into this queue")),
            Self::PinThread => (say!("Pin thread"), "_pin_memory_loop", say!("A thread of the main process that copies each batch to page-locked memory")),
            Self::Pinning => (say!("Pinning"), "pin_memory=True", say!("The batch is copied to page-locked memory, so that a GPU can copy it while computing")),
            Self::DataQueue => (say!("Data queue (pinned)"), "_data_queue", say!("Batches in page-locked memory, waiting for the main process")),
            Self::ReorderBuffer => (say!("Reorder buffer"), "_task_info", say!("Holds batches that arrived early, because the trainer receives them in the sampler's order")),
            Self::Held => (say!("Held"), "_task_info[idx] = (worker, data)", say!("Finished, but an earlier batch is missing")),
            Self::Ready => (say!("Ready"), "_task_info[_rcvd_idx]", say!("The next batch in order, ready for the trainer")),
            Self::PrefetchWindow => (say!("Prefetch window"), "prefetch_factor * num_workers", say!("Maximum number of batches in flight. A new one is dispatched when the trainer takes one.")),
            Self::SendIdx => ("send_idx", "_send_idx", say!("Index of the next batch to dispatch to a worker")),
            Self::RcvdIdx => ("rcvd_idx", "_rcvd_idx", say!("Index of the next batch to yield")),
            Self::TasksOutstanding => ("tasks_outstanding", "_tasks_outstanding", say!("Number of batches dispatched to workers and not yet received")),
            Self::TaskInfo => ("task_info", "_task_info", say!("Maps each batch in flight to its worker and, once received, its data")),
            Self::NumYielded => ("num_yielded", "_num_yielded", say!("Number of batches yielded in this epoch")),
            Self::InOrder => (say!("Yielded order"), "in_order", say!("True: in the sampler's order. False: in order of arrival.")),
            Self::Trainer => (say!("Trainer"), "for batch in loader:", say!("The training loop: gets a batch, trains on it, requests the next")),
            Self::Wait => (say!("Waiting"), "_get_data, next(iterator)", say!("The trainer has requested a batch that is not ready. The model is idle.")),
            Self::Training => (say!("Training"), "forward, backward, optimizer.step", say!("The trainer works on a batch, until it requests the next one")),
            Self::Idle => (say!("Idle"), "", say!("A worker without a task, usually because the prefetch window is full. It gets a task when the trainer takes a batch.")),
        };
        Entry { name, pytorch, meaning }
    }

    /// Returns true if one of its texts contains `text`, ignoring case.
    pub fn has(self, text: &str) -> bool {
        let Entry {
            name,
            pytorch,
            meaning,
        } = self.entry();
        let text = text.trim().to_lowercase();
        [name, pytorch, meaning]
            .iter()
            .any(|t| t.to_lowercase().contains(&text))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_word_is_listed_once_and_explained() {
        let all: BTreeSet<Term> = Term::ALL.into_iter().collect();
        assert_eq!(all.len(), Term::ALL.len());
        let names: BTreeSet<&str> = Term::ALL.iter().map(|term| term.entry().name).collect();
        assert_eq!(names.len(), Term::ALL.len());
        for term in Term::ALL {
            let entry = term.entry();
            assert!(
                entry.meaning.len() > 20
                    && entry.meaning.ends_with('.') == entry.meaning.contains(". "),
                "{entry:?}"
            );
            assert_eq!(entry.pytorch.is_empty(), term == Term::Idle, "{entry:?}");
        }
    }

    /// Private names are from the source of PyTorch's `DataLoader`.
    #[test]
    fn words_are_found_by_pytorchs_name_and_by_meaning() {
        let found = |text: &str| {
            Term::ALL
                .into_iter()
                .filter(|t| t.has(text))
                .collect::<Vec<_>>()
        };
        assert_eq!(found("_rcvd_idx "), [Term::Ready, Term::RcvdIdx]);
        assert_eq!(found("COLLATE_FN"), [Term::Collating]);
        assert!(found("page-locked").contains(&Term::Pinning));
        assert_eq!(found("").len(), Term::ALL.len());
        assert_eq!(found("no such word"), []);
    }
}
