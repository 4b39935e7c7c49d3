//! Parts of the window that a step outlines or that the learner clicks as an answer.

use loadscope_trace::{Argument, Lane, WorkerId};

use crate::error::Mistake;
use crate::phrase::{phrases, read};
use loadscope_words::Language;

/// The workspace that shows a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The pipeline with the area below it.
    Pipeline,
    /// The order of the samples.
    Sampling,
    /// The causes of waits.
    Diagnose,
}

/// Contents of the area below the pipeline, which shows one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Below {
    /// Lanes of the run over time.
    Timeline,
    /// The charts over time.
    Plots,
    /// The table of batches.
    Batches,
}

/// The panel that shows a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pane {
    /// The options on the left, in every workspace.
    Options,
    /// The inspector on the right, in every workspace.
    Inspector,
    /// The list of messages, above every workspace.
    Messages,
    /// The verdict above the pipeline.
    Verdict,
    /// Workers, queues and trainer at the cursor.
    Pipeline,
    /// The table of variables next to the pipeline.
    Variables,
    /// The area below the pipeline.
    Below(Below),
    /// The Sampling workspace.
    Sampling,
    /// The Diagnose workspace.
    Diagnose,
}

impl Pane {
    /// Returns the workspace of the panel. `None` means all workspaces.
    pub fn view(self) -> Option<View> {
        match self {
            Self::Options | Self::Inspector | Self::Messages => None,
            Self::Verdict | Self::Pipeline | Self::Variables | Self::Below(_) => {
                Some(View::Pipeline)
            }
            Self::Sampling => Some(View::Sampling),
            Self::Diagnose => Some(View::Diagnose),
        }
    }
}

phrases! {
    /// A part of the window.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    Part, PARTS:
    "options", "the options panel" => Options;
    "option NAME", "one option: `option num_workers`" => Option(Argument);
    "sampler", "the sampler" => Sampler;
    "index queues", "all index queues" => IndexQueues;
    "index queue N", "index queue of worker N" => IndexQueue(WorkerId);
    "workers", "all workers" => Workers;
    "worker N", "worker N" => Worker(WorkerId);
    "main process", "the main process, when it fetches" => Main;
    "result queue", "the result queue" => ResultQueue;
    "pin thread", "the pin thread" => PinThread;
    "data queue", "the data queue (pinned)" => DataQueue;
    "reorder buffer", "the reorder buffer" => ReorderBuffer;
    "trainer", "the trainer" => Trainer;
    "variables", "the table of PyTorch's variables" => Variables;
    "timeline", "the timeline" => Timeline;
    "plots", "the charts over time" => Plots;
    "table of batches", "the table of batches" => Batches;
    "inspector", "the inspector" => Inspector;
    "verdict", "the sentence at the top" => Verdict;
    "messages", "the list of errors and warnings" => Messages;
    "python", "the equivalent Python code" => Python;
    "order chart", "Sampling: position against index" => Order;
    "coverage", "Sampling: count of each index" => Coverage;
    "ranks", "Sampling: samples per rank" => Ranks;
    "findings", "Sampling: repeated, missing and shared samples in words" => Findings;
    "blame", "Diagnose: causes of waits" => Blame;
    "forecasts", "Diagnose: the table of forecasts" => Forecasts;
}

impl Part {
    /// Parses a part.
    ///
    /// # Errors
    /// If the phrase matches no part.
    pub fn read(phrase: &str) -> Result<Self, Mistake> {
        read("part of the window", PARTS, phrase)
    }

    /// Returns the panel that shows the part.
    pub fn pane(&self) -> Pane {
        match self {
            Self::Options | Self::Option(_) | Self::Python => Pane::Options,
            Self::Inspector => Pane::Inspector,
            Self::Messages => Pane::Messages,
            Self::Verdict => Pane::Verdict,
            Self::Variables => Pane::Variables,
            Self::Timeline => Pane::Below(Below::Timeline),
            Self::Plots => Pane::Below(Below::Plots),
            Self::Batches => Pane::Below(Below::Batches),
            Self::Order | Self::Coverage | Self::Ranks | Self::Findings => Pane::Sampling,
            Self::Blame | Self::Forecasts => Pane::Diagnose,
            Self::Sampler
            | Self::IndexQueues
            | Self::IndexQueue(_)
            | Self::Workers
            | Self::Worker(_)
            | Self::Main
            | Self::ResultQueue
            | Self::PinThread
            | Self::DataQueue
            | Self::ReorderBuffer
            | Self::Trainer => Pane::Pipeline,
        }
    }

    /// Returns the part of a lane of the pipeline.
    pub fn of_lane(lane: Lane) -> Self {
        match lane {
            Lane::Trainer => Self::Trainer,
            Lane::Reorder => Self::ReorderBuffer,
            Lane::DataQueue => Self::DataQueue,
            Lane::Pin => Self::PinThread,
            Lane::ResultQueue => Self::ResultQueue,
            Lane::Main => Self::Main,
            Lane::Worker(worker) => Self::Worker(worker),
            Lane::IndexQueue(worker) => Self::IndexQueue(worker),
        }
    }

    /// Returns the lane of the pipeline, if the part is one.
    pub fn lane(&self) -> Option<Lane> {
        match self {
            Self::Trainer => Some(Lane::Trainer),
            Self::ReorderBuffer => Some(Lane::Reorder),
            Self::DataQueue => Some(Lane::DataQueue),
            Self::PinThread => Some(Lane::Pin),
            Self::ResultQueue => Some(Lane::ResultQueue),
            Self::Main => Some(Lane::Main),
            Self::Worker(worker) => Some(Lane::Worker(*worker)),
            Self::IndexQueue(worker) => Some(Lane::IndexQueue(*worker)),
            _ => None,
        }
    }

    /// Returns the phrase of lesson files.
    pub fn phrase(&self) -> String {
        match self {
            Self::Option(field) => format!("option {}", field.option()),
            Self::IndexQueue(worker) => format!("index queue {worker}"),
            Self::Worker(worker) => format!("worker {worker}"),
            other => other.names().0.to_owned(),
        }
    }

    /// Returns the translated name.
    pub fn label(&self, language: Language) -> String {
        let (en, zh) = self.names();
        let name = match language {
            Language::En => en,
            Language::Zh => zh,
        };
        match self {
            Self::Option(field) => field.name().to_owned(),
            Self::IndexQueue(worker) | Self::Worker(worker) => format!("{name} {worker}"),
            _ => name.to_owned(),
        }
    }

    /// Returns the name in both languages, without the number of a worker.
    fn names(&self) -> (&'static str, &'static str) {
        match self {
            Self::Options | Self::Option(_) => ("options", "选项"),
            Self::Sampler => ("sampler", "采样器"),
            Self::IndexQueues => ("index queues", "索引队列"),
            Self::IndexQueue(_) => ("index queue", "索引队列"),
            Self::Workers => ("workers", "工作进程"),
            Self::Worker(_) => ("worker", "工作进程"),
            Self::Main => ("main process", "主进程"),
            Self::ResultQueue => ("result queue", "结果队列"),
            Self::PinThread => ("pin thread", "锁页线程"),
            Self::DataQueue => ("data queue", "数据队列"),
            Self::ReorderBuffer => ("reorder buffer", "重排缓冲区"),
            Self::Trainer => ("trainer", "训练循环"),
            Self::Variables => ("variables", "变量"),
            Self::Timeline => ("timeline", "时间线"),
            Self::Plots => ("plots", "图表"),
            Self::Batches => ("table of batches", "批次表"),
            Self::Inspector => ("inspector", "检查器"),
            Self::Verdict => ("verdict", "结论"),
            Self::Messages => ("messages", "消息"),
            Self::Python => ("python", "Python 代码"),
            Self::Order => ("order chart", "顺序图"),
            Self::Coverage => ("coverage", "覆盖情况"),
            Self::Ranks => ("ranks", "各 rank"),
            Self::Findings => ("findings", "采样结论"),
            Self::Blame => ("blame", "等待原因"),
            Self::Forecasts => ("forecasts", "预测表"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_phrases_round_trip() {
        for form in PARTS {
            let phrase = form
                .pattern
                .replace('N', "3")
                .replace("3AME", "num_workers");
            let part = Part::read(&phrase).unwrap();
            assert_eq!(part.phrase(), phrase);
            assert!(!part.label(Language::Zh).is_empty());
        }
        assert!(
            Part::read("reorder bufer")
                .unwrap_err()
                .remedy
                .contains("reorder buffer")
        );
    }
    #[test]
    fn lane_names_contain_the_label_of_their_part() {
        for lane in [
            Lane::Trainer,
            Lane::Reorder,
            Lane::DataQueue,
            Lane::Pin,
            Lane::ResultQueue,
            Lane::Main,
            Lane::Worker(1),
            Lane::IndexQueue(1),
        ] {
            let label = Part::of_lane(lane).label(Language::En);
            assert!(lane.to_string().contains(&label), "{lane}: {label}");
        }
    }
}
