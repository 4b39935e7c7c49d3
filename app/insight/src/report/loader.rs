//! The reported loader of a session with several loaders.

use loadscope_diagnose::WaitSummary;
use loadscope_trace::{Nanos, Run, RunId};
use loadscope_words::say;
use serde_json::{Value, json};

use super::program::Program;
use crate::format::{join, plural};
use crate::loaders::{describe_straggler, name, names, rank_groups};

/// Maximum number of other loaders that the text names.
const NAMED: usize = 7;

/// The reported loader and the other loaders of its session.
#[derive(Clone, Debug, PartialEq)]
pub struct LoaderContext {
    /// The reported loader.
    pub this: Named,
    /// The other loaders, sorted by waited time, longest first.
    pub others: Vec<Named>,
    /// True if the user chose the loader. Otherwise, the report is about the loader with the longest waits.
    pub is_requested: bool,
    /// Description of the straggler among the ranks. `None` without a straggler.
    pub straggler: Option<String>,
    /// Time of the loader's program by loader. `None` if the program has one loader.
    pub program: Option<Program>,
}

/// A loader with a name that is unique in its session.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Number of the loader in the session.
    pub id: RunId,
    /// Name, as in `train.py:42`.
    pub name: String,
    /// Host name. Empty if unknown.
    pub host: String,
    /// Rank of the process. `None` for a job with one rank.
    pub rank: Option<u32>,
    /// Role in the program as a framework reports it, as in `train` or `val`. Empty if unknown.
    pub role: String,
    /// Time that training waited for the loader.
    pub waited: Nanos,
    /// Time in the loader's loop.
    pub total: Nanos,
}

impl LoaderContext {
    /// Describes the loader `id` of `all`. Returns `None` if it is the only loader or not in `all`.
    pub fn of(all: &[(RunId, &Run)], id: RunId, is_requested: bool) -> Option<Self> {
        let mut loaders = named(all);
        let at = loaders.iter().position(|one| one.id == id)?;
        let this = loaders.remove(at);
        loaders.sort_by_key(|one| (std::cmp::Reverse(one.waited), one.id));
        (!loaders.is_empty()).then_some(Self {
            this,
            others: loaders,
            is_requested,
            straggler: straggler(all, id),
            program: Program::of(all, id),
        })
    }

    /// Returns number and name, as in `loader 4 (rank 2 · photographs)`.
    pub fn label(&self) -> String {
        self.this.label()
    }

    /// Names the reported loader, and compares its waits with those of the other loaders.
    pub fn sentence(&self) -> String {
        let why = match (self.is_requested, self.others.first()) {
            (false, Some(other)) if other.waited < self.this.waited => {
                say!(", the one with the longest wait")
            }
            _ => "",
        };
        let others = self.others.iter().take(NAMED);
        let mut others: Vec<String> = others
            .map(|one| say!("{} for {}", time(one.waited), one.label()))
            .collect();
        let more = self.others.len() - others.len();
        if more > 0 {
            others.push(say!(
                "less for {}",
                plural(more as u64, say!(n: "other"), say!(n: "others"))
            ));
        }
        let mut text = say!(
            "This report is about {}{why}. Training waited {} for it. Other loaders: {}.",
            self.label(),
            time(self.this.waited),
            others.join(say!(", "))
        );
        if let Some(straggler) = &self.straggler {
            text = join(straggler, &text);
        }
        if let Some(program) = &self.program {
            text = join(&program.sentence(), &text);
        }
        text
    }

    /// Returns the JSON values of `loader` and `other_loaders`.
    pub fn json(&self) -> (Value, Value) {
        let mut this = self.this.json();
        this["chosen"] = match self.is_requested {
            true => say!("asked for"),
            false => say!("waited for longest"),
        }
        .into();
        this["straggler"] = json!(self.straggler);
        (this, self.others.iter().map(Named::json).collect())
    }
}

impl Named {
    fn label(&self) -> String {
        say!("loader {} ({})", self.id.0, self.name)
    }

    /// Returns the loader as a JSON object.
    pub fn json(&self) -> Value {
        json!({
            "number": self.id.0,
            "name": self.name,
            "host": (!self.host.is_empty()).then_some(&self.host),
            "rank": self.rank,
            "role": (!self.role.is_empty()).then_some(&self.role),
            "seconds": self.total.as_secs_f64(),
            "waited_seconds": self.waited.as_secs_f64(),
        })
    }
}

/// Describes the straggler among the ranks that run the loader `id`. Returns `None` without a straggler.
fn straggler(all: &[(RunId, &Run)], id: RunId) -> Option<String> {
    let rank_groups = rank_groups(all);
    let group = rank_groups
        .iter()
        .find(|group| group.iter().any(|at| all[*at].0 == id))?;
    let group: Vec<(RunId, &Run)> = group.iter().map(|at| all[*at]).collect();
    let slow = loadscope_diagnose::straggler(group.iter().copied())?;
    describe_straggler(&group, Some(&slow), None)
}

/// Describes the only loader of a session.
pub fn alone(run: &Run) -> Named {
    Named {
        id: RunId(0),
        name: name(&run.info),
        host: run.info.host.clone(),
        rank: (run.info.world_size > 1).then_some(run.info.rank),
        role: run.info.role.clone(),
        waited: run.waited(),
        total: WaitSummary::of(run).total,
    }
}

/// Returns all loaders of a session with unique names, in the order of `all`.
pub fn named(all: &[(RunId, &Run)]) -> Vec<Named> {
    let named = |((id, run), name): (&(RunId, &Run), String)| Named {
        id: *id,
        name,
        host: run.info.host.clone(),
        rank: (run.info.world_size > 1).then_some(run.info.rank),
        role: run.info.role.clone(),
        waited: run.waited(),
        total: WaitSummary::of(run).total,
    };
    all.iter().zip(names(all)).map(named).collect()
}

fn time(time: Nanos) -> String {
    match time.0 {
        0 => "0\u{2009}s".to_owned(),
        _ => time.to_string(),
    }
}
