//! Code of a selection: its hot lines, its flame graph and the heat of the source lines.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use loadscope_trace::{HotLine, Nanos, Profile, Run, SampledStack, Stage, StepPhases};
use loadscope_words::say;

use crate::background::{Cancelled, Progress};

mod flame;
mod question;

pub use flame::{Flame, Frame, Functions, NumberedFunction};
pub use question::{CodeChoice, Place, Question, Subject, Work};

/// Hot line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// File and line.
    pub place: Place,
    /// Function of the line.
    pub function: String,
    /// Number of samples in the line and in the library functions that it calls.
    pub samples: u64,
    /// Library function that the line calls in most of these samples.
    pub callee: Option<String>,
}

/// File with sampled functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// Number of samples with each line, also in the functions that it calls.
    pub heat: BTreeMap<u32, u64>,
    /// Lines of the file. `None` if they are not recorded.
    pub text: Option<Vec<String>>,
}

/// Minimum number of samples for shares that can be relied on.
const FEW: u64 = 50;

/// Maximum number of sampled stacks in a flame graph in order of time.
const MOST_OVER_TIME: usize = 50_000;

/// Code of a selection.
#[derive(Clone, Debug)]
pub struct CodeProfile {
    /// Question that this answers.
    pub question: Question,
    /// Shown work.
    pub work: Work,
    /// Number of samples per work, in the order of [`Work::ALL`].
    pub counts: [u64; 4],
    /// Number of shown samples.
    pub total: u64,
    /// Time between two samples.
    pub period: Nanos,
    /// Samples per phase of the training step, if training is shown and a phase is known.
    pub phases: Option<StepPhases>,
    /// Hot lines, the hottest first.
    pub lines: Vec<Line>,
    /// Flame graph. A unit is a sample.
    pub flame: Flame,
    /// Functions of the flame graph.
    pub functions: Functions,
    /// Reason why the flame graph cannot be in order of time.
    pub no_order: Option<&'static str>,
    /// Files by path.
    pub files: BTreeMap<String, SourceFile>,
}

impl CodeProfile {
    /// Answers a question.
    ///
    /// # Errors
    /// If the answer is no longer needed.
    pub fn of(run: &Run, question: Question, progress: &Progress) -> Result<Self, Cancelled> {
        let mut profiles = Vec::with_capacity(Work::ALL.len());
        for (k, work) in Work::ALL.into_iter().enumerate() {
            progress.report(k as f64 / 6.0)?;
            let mut profile = Profile::default();
            each_sample(run, question.subject, work, |one| {
                profile.add(one.stack, u64::from(one.count));
            });
            profiles.push((work, profile));
        }
        let mut counts = [0; 4];
        for (count, (_, profile)) in counts.iter_mut().zip(&profiles) {
            *count = profile.total();
        }
        let work = shown_work(question, &counts);
        let profile = profiles.into_iter().find(|(one, _)| *one == work);
        let profile = profile.map(|(_, profile)| profile).unwrap_or_default();
        progress.report(4.0 / 6.0)?;
        let (log, mut functions) = (run.stacks(), Functions::default());
        let ordered = in_order(run, question.subject, work);
        let flame = match &ordered {
            Ok(samples) if question.over_time => over_time(run, samples, &mut functions),
            Ok(_) | Err(_) => Flame::left_heavy(&profile.tree(log), &mut functions),
        };
        progress.report(5.0 / 6.0)?;
        Ok(Self {
            question,
            work,
            counts,
            total: profile.total(),
            period: log.period(),
            phases: phases(run, work, &profile),
            lines: profile.lines(log).iter().map(Line::from).collect(),
            flame,
            functions,
            no_order: ordered.err(),
            files: files(run, &profile),
        })
    }

    /// Returns the hottest line.
    pub fn hottest(&self) -> Option<&Place> {
        self.lines.first().map(|line| &line.place)
    }

    /// Returns the number of samples with a line.
    pub fn heat(&self, place: &Place) -> u64 {
        let file = self.files.get(&place.file);
        let heat = file.and_then(|file| file.heat.get(&place.line));
        heat.copied().unwrap_or_default()
    }

    /// Returns a number of samples as a fraction of all.
    pub fn share(&self, samples: u64) -> f64 {
        samples as f64 / self.total.max(1) as f64
    }

    /// Returns the time of a number of samples.
    pub fn time(&self, samples: u64) -> Nanos {
        let samples = i64::try_from(samples).unwrap_or(i64::MAX);
        Nanos(self.period.0.saturating_mul(samples))
    }

    /// Returns true for few samples, whose shares are inexact.
    pub fn is_rough(&self) -> bool {
        self.total < FEW
    }
}

fn phases(run: &Run, work: Work, profile: &Profile) -> Option<StepPhases> {
    let phases = (work == Work::Training).then(|| StepPhases::of(run, profile));
    phases.filter(StepPhases::is_known)
}

impl From<&HotLine<'_>> for Line {
    fn from(line: &HotLine<'_>) -> Self {
        Self {
            place: Place {
                file: line.function.file.clone(),
                line: line.line,
            },
            function: line.function.name.clone(),
            samples: line.samples,
            callee: match (line.callee, line.wait) {
                (Some((callee, _)), _) => Some(qualified(&callee.file, &callee.name)),
                (None, Some((call, _))) => Some(call.described()),
                (None, None) => None,
            },
        }
    }
}

/// Returns the name of a library function with its module: `PIL.Image.open`. The plain name for a function of the user.
pub fn qualified(file: &str, name: &str) -> String {
    let installed = ["/site-packages/", "/dist-packages/"].iter();
    let mut inside = installed.filter_map(|folder| file.split_once(folder));
    let standard = || {
        let (_, inside) = file.split_once("/lib/python3.")?;
        inside.split_once('/')
    };
    let Some((_, path)) = inside.next().or_else(standard) else {
        return name.to_owned();
    };
    let module = path.strip_suffix(".py").unwrap_or(path);
    let module = module.strip_suffix("/__init__").unwrap_or(module);
    format!("{}.{name}", module.replace('/', "."))
}

/// Returns the requested work if it has samples, or else the first with enough samples, or else the first with any.
fn shown_work(question: Question, counts: &[u64; 4]) -> Work {
    let has = |work: &Work, least: u64| {
        let mut all = Work::ALL.iter().zip(counts);
        all.any(|(one, count)| one == work && *count >= least)
    };
    let first = match question.subject {
        Subject::Process(None) => Some(Work::Training),
        Subject::Run
        | Subject::Range(..)
        | Subject::Process(Some(_))
        | Subject::Batch(_)
        | Subject::Sample(..) => None,
    };
    let mut wanted = question.work.into_iter().chain(first);
    let enough = || Work::ALL.into_iter().find(|work| has(work, FEW));
    let any = || Work::ALL.into_iter().find(|work| has(work, 1));
    let found = wanted.find(|work| has(work, 1)).or_else(enough);
    found
        .or_else(any)
        .or(question.work)
        .unwrap_or(Work::Fetching)
}

/// Calls `each` with the samples of the subject.
fn each_sample(run: &Run, subject: Subject, work: Work, mut each: impl FnMut(SampledStack)) {
    let log = run.stacks();
    // Late samples of other work are left out, as in the report.
    let own: HashSet<u32> = match (work.activity(), subject) {
        (Some(activity), Subject::Run | Subject::Range(..) | Subject::Process(_)) => {
            let own = run.profile(activity, Nanos(i64::MIN)..Nanos::MAX);
            own.counts().map(|(stack, _)| stack).collect()
        }
        _ => HashSet::new(),
    };
    let mut of_process = |worker, range: Range<Nanos>| match work.activity() {
        Some(activity) => run.samples_in(worker, activity, range, |one| {
            if own.contains(&one.stack) {
                each(one);
            }
        }),
        None => log.samples(worker, range).for_each(&mut each),
    };
    let always = Nanos(i64::MIN)..Nanos::MAX;
    match subject {
        Subject::Run => log.processes().for_each(|w| of_process(w, always.clone())),
        Subject::Range(start, end) => log.processes().for_each(|w| of_process(w, start..end)),
        Subject::Process(worker) => of_process(worker, always),
        Subject::Batch(row) => {
            let worker = run.batches().get(row).and_then(|batch| batch.worker);
            for step in run.path(row).iter().filter(|step| work.has(step.stage)) {
                let worker = worker.filter(|_| step.stage != Stage::Training);
                let end = step.end.unwrap_or(run.end());
                log.samples(worker, step.start..end).for_each(&mut each);
            }
        }
        Subject::Sample(row, position) if work.has(Stage::Fetching) => {
            let worker = run.batches().get(row).and_then(|batch| batch.worker);
            let sample = run.samples(row).find(|one| one.position == position);
            if let Some(one) = sample {
                log.samples(worker, one.start..one.end()).for_each(each);
            }
        }
        Subject::Sample(..) => {}
    }
}

/// Returns the samples of the subject in order of time, or the reason why there is no order.
fn in_order(run: &Run, subject: Subject, work: Work) -> Result<Vec<SampledStack>, &'static str> {
    let is_one = match subject {
        Subject::Run | Subject::Range(..) => run.stacks().processes().count() < 2,
        Subject::Process(_) | Subject::Batch(_) | Subject::Sample(..) => true,
    };
    if !is_one {
        return Err(say!(
            "Several processes run at the same time: select a batch, a sample or a worker"
        ));
    }
    let mut samples = Vec::new();
    each_sample(run, subject, work, |one| {
        if samples.len() <= MOST_OVER_TIME {
            samples.push(one);
        }
    });
    if samples.len() > MOST_OVER_TIME {
        return Err(say!("Too many stacks: select a batch or a sample"));
    }
    samples.sort_by_key(|one| one.start);
    Ok(samples)
}

fn over_time(run: &Run, samples: &[SampledStack], functions: &mut Functions) -> Flame {
    let mut flame = Flame::default();
    let mut at = 0;
    let mut known: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
    for one in samples {
        let calls = known.entry(one.stack);
        let calls = calls.or_insert_with(|| functions.calls(run.stacks(), one.stack));
        let end = at + i64::from(one.count);
        flame.append(calls, at, end);
        at = end;
    }
    flame
}

/// Returns the sampled files with the heat of their lines.
fn files(run: &Run, profile: &Profile) -> BTreeMap<String, SourceFile> {
    let mut files: BTreeMap<String, SourceFile> = BTreeMap::new();
    for (stack, count) in profile.counts() {
        // A recursive function has a line several times on one stack.
        let calls = run.stacks().own_calls(stack);
        let lines: BTreeSet<(&str, u32)> = (calls.iter())
            .map(|call| (call.function.file.as_str(), call.line))
            .collect();
        for (file, line) in lines {
            if !files.contains_key(file) {
                files.insert(file.to_owned(), SourceFile::default());
            }
            if let Some(file) = files.get_mut(file) {
                *file.heat.entry(line).or_default() += count;
            }
        }
    }
    for (path, file) in &mut files {
        let lines = |text: &str| {
            text.lines()
                .map(|line| line.replace('\t', "    "))
                .collect()
        };
        file.text = run.source(path).map(lines);
    }
    files
}

#[cfg(test)]
mod tests;
