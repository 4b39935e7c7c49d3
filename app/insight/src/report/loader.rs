//! Which loader of several a report is about.

use loadscope_diagnose::Glance;
use loadscope_trace::{Nanos, Run, RunId};
use loadscope_words::say;
use serde_json::{Value, json};

use super::program::Program;
use crate::format::{join, plural};
use crate::loaders::{crews, name, names, said};

/// Others that are named one by one.
const NAMED: usize = 7;

/// A loader, and the others of its session.
#[derive(Clone, Debug, PartialEq)]
pub struct AboutLoader {
    /// The one that is looked at.
    pub this: Named,
    /// The others, the one that was waited for longest first.
    pub others: Vec<Named>,
    /// It was asked for; otherwise it is the one that was waited for longest.
    pub was_asked_for: bool,
    /// Which rank is the straggler, a sentence; `None` if none does.
    pub straggler: Option<String>,
    /// Time of its program by loader, if that has several.
    pub program: Option<Program>,
}

/// A loader with its name among several.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Its number.
    pub id: RunId,
    /// Its name.
    pub name: String,
    /// The host; empty if that is not known.
    pub host: String,
    /// Its rank, if there are several.
    pub rank: Option<u32>,
    /// Role in the program (`train`, `val`), from a framework. Otherwise empty.
    pub role: String,
    /// Length of its waits.
    pub waited: Nanos,
    /// Length of its loop.
    pub total: Nanos,
}

impl AboutLoader {
    /// Describes `id` of `all`; `None` if it is alone.
    pub fn of(all: &[(RunId, &Run)], id: RunId, was_asked_for: bool) -> Option<Self> {
        let mut loaders = named(all);
        let at = loaders.iter().position(|one| one.id == id)?;
        let this = loaders.remove(at);
        loaders.sort_by_key(|one| (std::cmp::Reverse(one.waited), one.id));
        (!loaders.is_empty()).then_some(Self {
            this,
            others: loaders,
            was_asked_for,
            straggler: straggler(all, id),
            program: Program::of(all, id),
        })
    }

    /// `loader 4 (rank 2 · photographs)`
    pub fn label(&self) -> String {
        self.this.label()
    }

    /// Name of the shown loader, and the waits of the others, in a few sentences.
    pub fn sentence(&self) -> String {
        let why = match (self.was_asked_for, self.others.first()) {
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

    /// The two entries of a JSON object.
    pub fn json(&self) -> (Value, Value) {
        let mut this = self.this.json();
        this["chosen"] = match self.was_asked_for {
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

    /// One JSON object.
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

/// The sentence about the straggler of the job of `id`; `None` without one.
fn straggler(all: &[(RunId, &Run)], id: RunId) -> Option<String> {
    let crews = crews(all);
    let crew = crews
        .iter()
        .find(|crew| crew.iter().any(|at| all[*at].0 == id))?;
    let crew: Vec<(RunId, &Run)> = crew.iter().map(|at| all[*at]).collect();
    let slow = loadscope_diagnose::straggler(crew.iter().copied())?;
    said(&crew, Some(&slow), None)
}

/// A loader without others.
pub fn alone(run: &Run) -> Named {
    Named {
        id: RunId(0),
        name: name(&run.info),
        host: run.info.host.clone(),
        rank: (run.info.world_size > 1).then_some(run.info.rank),
        role: run.info.role.clone(),
        waited: run.waited(),
        total: Glance::of(run).total,
    }
}

/// All loaders of a session with their names.
pub fn named(all: &[(RunId, &Run)]) -> Vec<Named> {
    let named = |((id, run), name): (&(RunId, &Run), String)| Named {
        id: *id,
        name,
        host: run.info.host.clone(),
        rank: (run.info.world_size > 1).then_some(run.info.rank),
        role: run.info.role.clone(),
        waited: run.waited(),
        total: Glance::of(run).total,
    };
    all.iter().zip(names(all)).map(named).collect()
}

fn time(time: Nanos) -> String {
    match time.0 {
        0 => "0\u{2009}s".to_owned(),
        _ => time.to_string(),
    }
}
