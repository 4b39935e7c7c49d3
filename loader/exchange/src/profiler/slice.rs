//! Contents of a trace: its metadata, and its complete events (slices) in a compact form, with a total order.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::rc::Rc;

/// Metadata of a trace.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Reference time of the trace, ns since 1970.
    pub base: i64,
    /// Name of the host.
    pub host: String,
    /// Rank of the process, and number of ranks.
    pub rank: u32,
    pub world_size: u32,
    /// True for an export of Loadscope.
    pub is_ours: bool,
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Maximum number of thread names. Slices of further threads are skipped.
const MOST_THREAD_NAMES: usize = 1 << 16;
/// Maximum number of iterator classes. Further classes count as the last one.
const MOST_CLASS_NAMES: usize = 1 << 12;

/// Fields of an event that the import uses.
#[derive(Debug, Default)]
pub(super) struct Raw {
    /// True for a complete event (`"ph": "X"`).
    pub is_complete: bool,
    /// True for a call of a Python function. False for an operator or an annotation.
    pub is_python: bool,
    pub name: Vec<u8>,
    pub pid: Vec<u8>,
    pub tid: Vec<u8>,
    /// Times in ns.
    pub start: Option<i64>,
    pub duration: Option<i64>,
}

impl Raw {
    pub fn clear(&mut self) {
        self.is_complete = false;
        self.is_python = false;
        self.name.clear();
        self.pid.clear();
        self.tid.clear();
        (self.start, self.duration) = (None, None);
    }
}

/// Kind of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SliceKind {
    /// Call of `next()`, with the number of its class in [`Names`].
    Call(u16),
    /// `aten::empty`.
    Empty,
    /// `aten::random_`.
    Random,
    /// `aten::item`.
    Item,
    /// Another operator, or an annotation of operators.
    Other,
    /// Step of the profiler (`ProfilerStep#3`).
    Step,
}

/// Complete event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// Times on the clock of the trace, ns.
    pub start: i64,
    pub end: i64,
    /// Number of its process and thread in [`Names`].
    pub thread: u32,
    pub kind: SliceKind,
}

// Millions of slices are in memory at the same time.
const _: () = assert!(size_of::<Slice>() == 24);

/// Names of threads and of iterator classes.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Process and thread, separated by NUL.
    threads: Numbered,
    classes: Numbered,
    /// Buffer for the name of a thread.
    key: Vec<u8>,
    /// Number of skipped calls, because there are too many threads.
    pub lost: u64,
}

impl Names {
    /// Converts an event to a slice. Returns `None` if it is not a call or an operator.
    pub fn slice(&mut self, raw: &Raw) -> Option<Slice> {
        let (Some(start), Some(duration), true) = (raw.start, raw.duration, raw.is_complete) else {
            return None;
        };
        let class = class(&raw.name);
        if duration < 0 || (class.is_none() && raw.is_python) {
            return None;
        }
        self.key.clear();
        self.key.extend_from_slice(&raw.pid);
        self.key.push(0);
        self.key.extend_from_slice(&raw.tid);
        let Some(thread) = self.threads.number(&self.key, MOST_THREAD_NAMES) else {
            self.lost += u64::from(class.is_some());
            return None;
        };
        let kind = match class {
            Some(class) => {
                let number = self.classes.number(class, MOST_CLASS_NAMES);
                SliceKind::Call(number.unwrap_or(MOST_CLASS_NAMES as u32 - 1) as u16)
            }
            None => operator(&raw.name),
        };
        Some(Slice {
            start,
            end: start.saturating_add(duration),
            thread,
            kind,
        })
    }

    /// Returns process and thread, as the trace names them.
    pub fn thread(&self, number: u32) -> (&[u8], &[u8]) {
        let name = self.threads.name(number);
        let at = name.iter().position(|b| *b == 0).unwrap_or(name.len());
        (&name[..at], name.get(at + 1..).unwrap_or_default())
    }

    /// Returns the name of an iterator class, such as `_MultiProcessingDataLoaderIter`.
    pub fn class(&self, number: u16) -> &[u8] {
        self.classes.name(number.into())
    }

    /// Compares by time: by start, then the longer slice first, because it contains the shorter one.
    ///
    /// Slices of the same time are sorted by name. Their order in the file does not matter.
    pub fn order(&self, a: &Slice, b: &Slice) -> Ordering {
        let time = |slice: &Slice| (slice.start, Reverse(slice.end));
        time(a)
            .cmp(&time(b))
            .then_with(|| self.rank(a.kind).cmp(&self.rank(b.kind)))
            .then_with(|| self.thread(a.thread).cmp(&self.thread(b.thread)))
    }

    /// Returns the order of kinds, with the class of a call.
    fn rank(&self, kind: SliceKind) -> (u8, &[u8]) {
        let none: &[u8] = &[];
        match kind {
            SliceKind::Call(class) => (0, self.class(class)),
            SliceKind::Empty => (1, none),
            SliceKind::Random => (2, none),
            SliceKind::Item => (3, none),
            SliceKind::Other => (4, none),
            SliceKind::Step => (5, none),
        }
    }
}

/// Names, numbered from 0.
#[derive(Debug, Default)]
struct Numbered {
    names: Vec<Rc<[u8]>>,
    numbers: HashMap<Rc<[u8]>, u32>,
}

impl Numbered {
    /// Returns the number of a name, and adds new names. Returns `None` for a new name if there are already `most` names.
    fn number(&mut self, name: &[u8], most: usize) -> Option<u32> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        if self.names.len() >= most {
            return None;
        }
        let number = self.names.len() as u32;
        let name: Rc<[u8]> = Rc::from(name);
        self.names.push(Rc::clone(&name));
        self.numbers.insert(name, number);
        Some(number)
    }

    fn name(&self, number: u32) -> &[u8] {
        &self.names[number as usize]
    }
}

/// Returns `_MultiProcessingDataLoaderIter` for `enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__`.
fn class(name: &[u8]) -> Option<&[u8]> {
    let name = name.strip_prefix(b"enumerate(Data")?;
    if let Some(class) = name.strip_prefix(b"Loader)#") {
        return class.strip_suffix(b".__next__");
    }
    name.strip_prefix(b"Pipe)#")
}

/// Returns the kind of an event that is not a call.
fn operator(name: &[u8]) -> SliceKind {
    match name {
        b"aten::empty" => SliceKind::Empty,
        b"aten::random_" => SliceKind::Random,
        b"aten::item" => SliceKind::Item,
        _ if name.starts_with(b"ProfilerStep#") => SliceKind::Step,
        _ => SliceKind::Other,
    }
}
