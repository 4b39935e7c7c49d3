//! Sampled stacks of a process.

use serde::{Deserialize, Serialize};

use crate::{Nanos, WorkerId};

/// Samples of the Python stack of a process at equal intervals, and the functions and stacks that they use for the first time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    /// Worker, `None` for the main process.
    pub worker: Option<WorkerId>,
    /// Time of the first sample.
    pub start: Nanos,
    /// Time between two samples.
    pub period: Nanos,
    /// Number of functions of the run before this event.
    pub first_function: u32,
    /// Functions that follow these.
    pub functions: Vec<Function>,
    /// Number of stacks of the run before this event.
    pub first_stack: u32,
    /// Stacks that follow these.
    pub stacks: Vec<Stack>,
    /// Samples in order of time.
    pub samples: Vec<StackSamples>,
}

/// Python function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "(String, String)", into = "(String, String)")]
pub struct Function {
    /// Qualified name from Python 3.11 on, before that the plain name.
    pub name: String,
    /// Path of the file.
    pub file: String,
}

impl From<(String, String)> for Function {
    fn from((name, file): (String, String)) -> Self {
        Self { name, file }
    }
}

impl From<Function> for (String, String) {
    fn from(function: Function) -> Self {
        (function.name, function.file)
    }
}

impl Function {
    /// Returns true outside the standard library and installed packages.
    pub fn is_user(&self) -> bool {
        is_user_file(&self.file) && self.waits_for().is_none()
    }

    /// Returns the kind of object of a system call in which the thread waits: such a function has the kind as its file, as in `<socket>`.
    pub fn waits_for(&self) -> Option<&str> {
        let kind = self.file.strip_prefix('<')?.strip_suffix('>')?;
        WAITS.contains(&kind).then_some(kind)
    }

    /// Returns the name and the file with its folder, as in `open (PIL/Image.py)`, or the object of a system call, as in `read (socket)`.
    pub fn described(&self) -> String {
        if let Some(object) = self.waits_for() {
            return format!("{} ({object})", self.name);
        }
        let mut parts = self.file.rsplit('/');
        let file = parts.next().unwrap_or_default();
        match parts.next().filter(|folder| !folder.is_empty()) {
            Some(folder) => format!("{} ({folder}/{file})", self.name),
            None => format!("{} ({file})", self.name),
        }
    }

    /// Returns true for a function that only calls another, such as `Module.__call__` or a decorator.
    pub fn is_wrapper(&self) -> bool {
        const NAMES: [&str; 7] = [
            "_wrapped_call_impl",
            "_call_impl",
            "decorate_context",
            "wrapper",
            "wrapped",
            "inner",
            "_fn",
        ];
        let name = self.name.rsplit('.').next().unwrap_or_default();
        NAMES.contains(&name)
    }

    /// Returns true for the function `name` of a file whose path ends with `file`.
    pub fn is(&self, name: &str, file: &str) -> bool {
        self.name.rsplit('.').next() == Some(name) && self.file.ends_with(file)
    }
}

/// Kinds of objects that system calls wait for.
const WAITS: [&str; 7] = [
    "file", "socket", "pipe", "lock", "sleep", "process", "kernel",
];

/// Returns true for a file outside the standard library and installed packages.
pub fn is_user_file(file: &str) -> bool {
    let is_installed = ["/site-packages/", "/dist-packages/", "/lib/python3."]
        .iter()
        .any(|part| file.contains(part));
    // Code of `python -c`, standard input and notebooks has such names, too.
    let is_internal = file.starts_with("<frozen") || file.starts_with("<__array_function__");
    !is_installed && !is_internal
}

/// Line that a function executes, and the stack of its caller. A run identifies stacks by their position in order of appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "(Option<u32>, u32, u32)", into = "(Option<u32>, u32, u32)")]
pub struct Stack {
    /// Stack of the caller, `None` for the outermost function.
    pub caller: Option<u32>,
    /// Position of the function.
    pub function: u32,
    /// Line number, counted from 1. 0 if it is unknown.
    pub line: u32,
}

impl From<(Option<u32>, u32, u32)> for Stack {
    fn from((caller, function, line): (Option<u32>, u32, u32)) -> Self {
        Self {
            caller,
            function,
            line,
        }
    }
}

impl From<Stack> for (Option<u32>, u32, u32) {
    fn from(stack: Stack) -> Self {
        (stack.caller, stack.function, stack.line)
    }
}

/// Equal consecutive samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSamples {
    /// Stack, `None` while the process waited for work or could not be read.
    pub stack: Option<u32>,
    /// Number of samples, at least 1.
    pub count: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_user_are_recognized() {
        let cases = [
            ("/home/a/train.py", true),
            ("train.py", true),
            ("<string>", true),
            ("/usr/lib/python3.11/queue.py", false),
            ("/v/lib/python3.9/site-packages/torch/a.py", false),
            ("/usr/lib/python3/dist-packages/numpy/a.py", false),
            ("<frozen importlib._bootstrap>", false),
        ];
        for (file, wanted) in cases {
            assert_eq!(is_user_file(file), wanted, "{file}");
        }
    }
}
