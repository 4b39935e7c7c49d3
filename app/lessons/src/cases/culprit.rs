//! Hidden causes of cases, the matching findings, and their losses.

use loadscope_diagnose::{FindingId, Severity, VerdictId};
use loadscope_insight::Datasets;
use loadscope_insight::report::Report;
use loadscope_trace::{Run, Summary};

use crate::code::NoPrograms;
use crate::moment::Moment;
use crate::query::{OrderQuery, Query, QueryContext};
use loadscope_words::Language;

/// A cause of a slow or faulty run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Culprit {
    /// The main process loads the batches.
    NoWorkers,
    /// The workers are slower than the training step.
    TooFewWorkers,
    /// A few samples are very slow.
    SlowSamples,
    /// Each epoch waits for its workers to start.
    LateWorkers,
    /// Training is the bottleneck, so nothing is wrong.
    TrainingBound,
    /// Samples occur more than once in an epoch.
    RepeatedSamples,
    /// Every epoch has the same order.
    SameOrder,
    /// A sample raises an error that ends the run.
    BrokenSample,
}

impl Culprit {
    /// All causes that a learner can choose.
    pub const ALL: [Self; 8] = [
        Self::NoWorkers,
        Self::TooFewWorkers,
        Self::SlowSamples,
        Self::LateWorkers,
        Self::TrainingBound,
        Self::RepeatedSamples,
        Self::SameOrder,
        Self::BrokenSample,
    ];

    /// Returns the findings that indicate the cause. The list is empty for the verdict that all is fine.
    pub fn findings(self) -> &'static [FindingId] {
        match self {
            Self::NoWorkers => &[FindingId::NoWorkers],
            Self::TooFewWorkers => &[FindingId::StarvedWorkers],
            Self::SlowSamples => &[
                FindingId::HeadOfLine,
                FindingId::HeavyTail,
                FindingId::SlowSample,
            ],
            Self::LateWorkers => &[FindingId::EpochRefill, FindingId::SlowFirstBatch],
            Self::TrainingBound => &[],
            Self::RepeatedSamples => &[FindingId::Duplicates, FindingId::RepeatedStream],
            Self::SameOrder => &[FindingId::SamePermutation],
            Self::BrokenSample => &[FindingId::Failed],
        }
    }

    /// Returns the translated name.
    pub fn label(self, language: Language) -> &'static str {
        let (en, zh) = match self {
            Self::NoWorkers => ("There are no workers", "没有工作进程"),
            Self::TooFewWorkers => (
                "Too few workers for this training step",
                "相对于训练步，工作进程太少",
            ),
            Self::SlowSamples => ("A few samples are very slow", "少数样本非常慢"),
            Self::LateWorkers => (
                "Each epoch waits for its workers to start",
                "每一轮都要等待工作进程启动",
            ),
            Self::TrainingBound => (
                "Nothing: training is the bottleneck",
                "没有问题：训练是瓶颈",
            ),
            Self::RepeatedSamples => (
                "Samples come more than once in an epoch",
                "样本在一轮中重复出现",
            ),
            Self::SameOrder => ("Every epoch has the same order", "每一轮的顺序都相同"),
            Self::BrokenSample => (
                "A sample raises an error that ends the run",
                "一个样本引发错误，运行因此结束",
            ),
        };
        match language {
            Language::En => en,
            Language::Zh => zh,
        }
    }

    /// Returns two sentences: the evidence in the window, and the reason why the remedy works.
    pub fn explanation(self, language: Language) -> &'static str {
        let (en, zh) = match self {
            Self::NoWorkers => (
                "After each step, the trainer waits while the main process loads the next batch. Workers load batches while the main process trains, so the next batch is ready earlier.",
                "每个训练步结束后，训练循环都要等主进程加载下一个批次。工作进程在训练的同时加载批次，所以下一个批次更早准备好。",
            ),
            Self::TooFewWorkers => (
                "The workers are always busy, and the trainer still waits for nearly every batch. More workers load more batches at the same time, until loading is as fast as training.",
                "工作进程一直在忙，训练循环却几乎每个批次都要等待。更多的工作进程同时加载更多批次，直到加载与训练一样快。",
            ),
            Self::SlowSamples => (
                "A batch with a slow sample arrives late, and finished batches wait behind it in the reorder buffer. More prefetched batches bridge the delay, and in_order=False lets the trainer take other batches first.",
                "含有慢样本的批次到达较晚，已完成的批次在重排缓冲区中等待它。预取更多批次可以掩盖延迟，而 in_order=False 让训练循环先取其他批次。",
            ),
            Self::LateWorkers => (
                "In each epoch, the trainer waits for the first batch, because the workers start again. With persistent_workers=True, the workers keep running, so the next epoch begins at once.",
                "每一轮中，训练循环都要等待第一个批次，因为工作进程重新启动。使用 persistent_workers=True 时，工作进程保持运行，下一轮可以立即开始。",
            ),
            Self::TrainingBound => (
                "The trainer hardly waits, because the next batch is ready before each step ends. Loading is fast enough, so no change of the loader shortens the run.",
                "训练循环几乎不等待，因为每一步结束之前下一个批次已经准备好。加载已经足够快，所以更改加载器的设置不能缩短运行。",
            ),
            Self::RepeatedSamples => (
                "Each worker reads the whole stream, so the same samples come from every worker. With get_worker_info(), each worker reads only its own part, so each sample comes once.",
                "每个工作进程都读取整个数据流，所以同样的样本来自每个工作进程。使用 get_worker_info() 后，每个工作进程只读取自己的部分，所以每个样本只出现一次。",
            ),
            Self::SameOrder => (
                "The sampler shuffles with the same seed in every epoch, so all orders are equal. With set_epoch(epoch), the seed changes with the epoch, and so does the order.",
                "采样器每一轮都用相同的种子打乱顺序，所以各轮的顺序相同。调用 set_epoch(epoch) 后，种子随轮次改变，顺序也随之改变。",
            ),
            Self::BrokenSample => (
                "A sample raises an error while it is loaded, and the error ends the training loop. A loop that catches the error loses one batch and continues with the others.",
                "一个样本在加载时引发错误，训练循环因此结束。捕获错误的循环只失去一个批次，然后继续其他批次。",
            ),
        };
        match language {
            Language::En => en,
            Language::Zh => zh,
        }
    }

    /// Returns the causes that the diagnosis finds in a run, worst first. Notes are ignored.
    pub fn of(run: &Run) -> Vec<Self> {
        let diagnosis = Report::of(run, false, Datasets::default()).diagnosis;
        let named = diagnosis
            .findings
            .iter()
            .filter(|f| f.severity > Severity::Note);
        let mut all = Vec::new();
        for finding in named {
            let found = Self::ALL
                .into_iter()
                .find(|c| c.findings().contains(&finding.id));
            all.extend(found.filter(|found| !all.contains(found)));
        }
        if all.is_empty() && diagnosis.verdict.id == VerdictId::Fine {
            all.push(Self::TrainingBound);
        }
        all
    }

    /// Returns true if the cause costs time, false if it affects samples or their order.
    pub fn costs_time(self) -> bool {
        match self {
            Self::NoWorkers
            | Self::TooFewWorkers
            | Self::SlowSamples
            | Self::LateWorkers
            | Self::TrainingBound => true,
            Self::RepeatedSamples | Self::SameOrder | Self::BrokenSample => false,
        }
    }

    /// Returns the loss in a run: repeated or missing samples, or equal orders. The loss is 0 if the cause costs time.
    pub(super) fn loss(self, run: &Run) -> f64 {
        match self {
            Self::NoWorkers
            | Self::TooFewWorkers
            | Self::SlowSamples
            | Self::LateWorkers
            | Self::TrainingBound => 0.0,
            Self::RepeatedSamples => {
                let number = |query| ask(run, Query::Order(query)).and_then(|value| value.number());
                let all = number(OrderQuery::All).unwrap_or_default();
                all - number(OrderQuery::Distinct).unwrap_or_default()
            }
            Self::SameOrder => {
                let same = ask(run, Query::Order(OrderQuery::SameOrder(0, 1)));
                f64::from(u8::from(same.is_some_and(|value| value.is("yes"))))
            }
            Self::BrokenSample => {
                let expected =
                    run.info.dataset_len.unwrap_or_default() * u64::from(run.info.options.epochs);
                expected.saturating_sub(Summary::of(run).samples) as f64
            }
        }
    }
}

fn ask(run: &Run, query: Query) -> Option<crate::value::Value> {
    query.answer(QueryContext::at(run, Moment::End, &NoPrograms)?)
}
