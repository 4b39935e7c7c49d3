//! Flame graph as rows of frames, from the outermost call to the innermost.

use std::collections::HashMap;

use loadscope_trace::{CallTree, Function, StackLog, StepPhase};

use super::Place;

/// Function with a number, by which frames refer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedFunction {
    /// Function.
    pub function: Function,
    /// True outside the standard library and installed packages.
    pub is_user: bool,
    /// Phase of the training step, in place of a function. It has no file.
    pub phase: Option<StepPhase>,
}

impl NumberedFunction {
    /// Returns the name without the class or the outer function.
    pub fn short_name(&self) -> &str {
        let name = &self.function.name;
        name.rsplit('.').next().unwrap_or(name)
    }

    /// Returns the qualified name, of a system call with the object of its wait.
    pub fn title(&self) -> String {
        match self.function.waits_for() {
            Some(_) => self.function.described(),
            None => self.function.name.clone(),
        }
    }
}

/// Functions, numbered in order of appearance.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    all: Vec<NumberedFunction>,
    numbers: HashMap<Function, u32>,
}

impl Functions {
    /// Returns the function with a number.
    pub fn get(&self, number: u32) -> Option<&NumberedFunction> {
        self.all.get(number as usize)
    }

    fn number(&mut self, function: &Function) -> u32 {
        if let Some(number) = self.numbers.get(function) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(NumberedFunction {
            function: function.clone(),
            is_user: function.is_user(),
            phase: None,
        });
        self.numbers.insert(function.clone(), number);
        number
    }

    /// Returns a phase of the training step as a call around those of its stacks.
    pub fn phase(&mut self, phase: StepPhase) -> (u32, u32) {
        let function = Function {
            name: phase.label().to_owned(),
            file: String::new(),
        };
        let number = self.number(&function);
        let stored = self.all.get_mut(number as usize);
        stored.into_iter().for_each(|one| one.phase = Some(phase));
        (number, 0)
    }

    /// Returns the calls of a stack inside the dataset, the outermost first.
    pub fn calls(&mut self, log: &StackLog, stack: u32) -> Vec<(u32, u32)> {
        let calls = log.own_calls(stack);
        let calls = calls.iter().rev();
        calls
            .map(|call| (self.number(call.function), call.line))
            .collect()
    }
}

/// Call of a function from one line of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Left edge: a number of samples, or ns.
    pub start: i64,
    /// Right edge.
    pub end: i64,
    /// Number of the function.
    pub function: u32,
    /// Executed line of the function. 0 if it is unknown.
    pub line: u32,
}

/// Flame graph. A frame is above the calls in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flame {
    rows: Vec<Vec<Frame>>,
}

impl Flame {
    /// Creates the graph of a tree, with equal calls next to each other and the most frequent at the left.
    pub fn left_heavy(tree: &CallTree<'_>, functions: &mut Functions) -> Self {
        let mut flame = Self::default();
        flame.add_calls(&tree.calls, 0, 0, functions);
        flame
    }

    fn add_calls(
        &mut self,
        calls: &[CallTree<'_>],
        depth: usize,
        mut start: i64,
        functions: &mut Functions,
    ) {
        for one in calls {
            let Some((function, line)) = one.call else {
                continue;
            };
            let len = i64::try_from(one.samples).unwrap_or(i64::MAX);
            let end = start.saturating_add(len);
            self.add(
                depth,
                Frame {
                    start,
                    end,
                    function: functions.number(function),
                    line,
                },
            );
            self.add_calls(&one.calls, depth + 1, start, functions);
            start = end;
        }
    }

    fn add(&mut self, depth: usize, frame: Frame) {
        if self.rows.len() <= depth {
            self.rows.resize_with(depth + 1, Vec::new);
        }
        if let Some(row) = self.rows.get_mut(depth) {
            row.push(frame);
        }
    }

    /// Appends a stack from `start` to `end`. Calls that continue from the stack before it become longer.
    pub fn append(&mut self, calls: &[(u32, u32)], start: i64, end: i64) {
        let mut continues = true;
        for (depth, (function, line)) in calls.iter().copied().enumerate() {
            let last = self.rows.get_mut(depth).and_then(|row| row.last_mut());
            let is_same = |f: &&mut Frame| (f.end, f.function, f.line) == (start, function, line);
            match last.filter(is_same).filter(|_| continues) {
                Some(frame) => frame.end = end,
                None => {
                    continues = false;
                    self.add(
                        depth,
                        Frame {
                            start,
                            end,
                            function,
                            line,
                        },
                    );
                }
            }
        }
    }

    /// Returns the rows, each in order of time or place.
    pub fn rows(&self) -> &[Vec<Frame>] {
        &self.rows
    }

    /// Returns the frame of a row at `x`.
    pub fn frame_at(&self, row: usize, x: i64) -> Option<&Frame> {
        let row = self.rows.get(row)?;
        let frame = row.get(row.partition_point(|frame| frame.end <= x))?;
        (frame.start <= x).then_some(frame)
    }

    /// Returns the line of a frame of a row. A system call has that of its caller.
    pub fn place(&self, row: usize, frame: &Frame, functions: &Functions) -> Option<Place> {
        let function = &functions.get(frame.function)?.function;
        if function.waits_for().is_some() {
            let row = row.checked_sub(1)?;
            let caller = self.frame_at(row, frame.start)?;
            return self.place(row, caller, functions);
        }
        Some(Place {
            file: function.file.clone(),
            line: frame.line,
        })
    }

    /// Calls `each` with the frames of a row between `from` and `to` that are at least `least` wide. The cost depends on the number of
    /// frames of that width that fit, not on the number of frames.
    pub fn visit(
        &self,
        row: usize,
        (from, to): (i64, i64),
        least: i64,
        mut each: impl FnMut(&Frame),
    ) {
        let Some(row) = self.rows.get(row) else {
            return;
        };
        let mut at = row.partition_point(|frame| frame.end <= from);
        while let Some(frame) = row.get(at).filter(|frame| frame.start < to) {
            if frame.end - frame.start >= least {
                each(frame);
                at += 1;
                continue;
            }
            // Narrow frames are skipped up to the next multiple of the width.
            let next = frame.start.saturating_add(least.max(1));
            let rest = row.get(at..).unwrap_or_default();
            at += rest.partition_point(|frame| frame.end < next).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_calls_without_a_gap_are_one_frame() {
        let mut flame = Flame::default();
        flame.append(&[(0, 1), (1, 5)], 0, 10);
        flame.append(&[(0, 1), (1, 6)], 10, 20);
        flame.append(&[(0, 1)], 20, 30);
        flame.append(&[(0, 1), (1, 6)], 30, 40);
        flame.append(&[(0, 1), (1, 6)], 50, 60);
        let places = |row: &[Frame]| row.iter().map(|f| (f.start, f.end)).collect::<Vec<_>>();
        let rows: Vec<_> = flame.rows().iter().map(|row| places(row)).collect();
        assert_eq!(rows[0], [(0, 40), (50, 60)]);
        assert_eq!(rows[1], [(0, 10), (10, 20), (30, 40), (50, 60)]);
        assert_eq!(flame.frame_at(1, 15).map(|f| f.line), Some(6));
        assert_eq!(flame.frame_at(1, 25), None);
        assert_eq!(flame.frame_at(2, 5), None);
    }

    #[test]
    fn a_system_call_has_the_line_of_its_caller() {
        let mut functions = Functions::default();
        let number = |name: &str, file: &str, functions: &mut Functions| {
            functions.number(&Function {
                name: name.to_owned(),
                file: file.to_owned(),
            })
        };
        let load = number("Photos.load", "photos.py", &mut functions);
        let read = number("read", "<file>", &mut functions);
        let mut flame = Flame::default();
        flame.append(&[(load, 12), (read, 0)], 0, 10);
        let frame = flame.frame_at(1, 5).expect("the system call");
        let place = flame.place(1, frame, &functions).expect("its caller");
        assert_eq!((place.file.as_str(), place.line), ("photos.py", 12));
        let title = |number| functions.get(number).expect("it exists").title();
        assert_eq!(
            (title(load), title(read)),
            ("Photos.load".to_owned(), "read (file)".to_owned())
        );
        // Without a caller.
        let mut alone = Flame::default();
        alone.append(&[(read, 0)], 0, 10);
        let frame = alone.frame_at(0, 5).expect("the system call");
        assert_eq!(alone.place(0, frame, &functions), None);
    }

    #[test]
    fn narrow_frames_cost_nothing() {
        let mut flame = Flame::default();
        for k in 0..100_000_i64 {
            flame.append(&[(u32::from(k % 2 == 0), 1)], k, k + 1);
        }
        flame.append(&[(7, 1)], 100_000, 150_000);
        let mut seen = Vec::new();
        flame.visit(0, (0, 200_000), 1_000, |frame| seen.push(frame.function));
        assert_eq!(seen, [7]);
        flame.visit(0, (10, 12), 1, |frame| seen.push(frame.function));
        assert_eq!(seen, [7, 1, 0]);
    }
}
