//! The hidden causes, as the diagnosis finds them, and what each of them loses.

use loadscope_insight::Datasets;
use loadscope_insight::report::Report;
use loadscope_trace::{FindingId, Run, Severity, Summary, VerdictId};

use crate::code::NoCodes;
use crate::moment::Moment;
use crate::query::{About, OrderQuery, Query};
use loadscope_words::Language;

/// What is wrong with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Culprit {
    /// The main process loads by itself.
    NoWorkers,
    /// The workers are slower than training.
    TooFewWorkers,
    /// A few samples are very slow.
    SlowSamples,
    /// Each epoch waits for its workers to start.
    LateWorkers,
    /// Training is the slower side: nothing is wrong.
    TrainingBound,
    /// Samples come more than once in an epoch.
    RepeatedSamples,
    /// Every epoch has the same order.
    SameOrder,
    /// A sample raises an error that ends the run.
    BrokenSample,
}

impl Culprit {
    /// All of them: what a learner chooses from.
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

    /// The findings of the diagnosis that name it; none: the diagnosis says that all is fine.
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

    /// For people.
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

    /// What the diagnosis says is wrong with a run, the worst first; notes do not count.
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

    /// True if it costs time, and not samples or their order.
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

    /// What it loses in a run: samples, or equal orders; nothing if what it costs is time.
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
    query.answer(About::at(run, Moment::End, &NoCodes)?)
}
