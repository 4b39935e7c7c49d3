//! Lines with sampled stacks.

use std::borrow::Cow;

use super::reading::{WrongLine, need};
use super::{Line, Name};
use crate::Nanos;
use crate::event::{Event, StackSamples, Stacks};

impl<'a> Line<'a> {
    pub(super) fn of_stacks(event: &'a Event, stacks: &'a Stacks) -> Self {
        Self {
            worker: stacks.worker,
            start: Some(stacks.start),
            period: Some(stacks.period),
            first_function: (!stacks.functions.is_empty()).then_some(stacks.first_function),
            functions: (!stacks.functions.is_empty()).then_some(Cow::Borrowed(&stacks.functions)),
            first_stack: (!stacks.stacks.is_empty()).then_some(stacks.first_stack),
            stacks: (!stacks.stacks.is_empty()).then_some(Cow::Borrowed(&stacks.stacks)),
            samples: Some(numbers(&stacks.samples)),
            ..Self::bare(event, Name::Stacks)
        }
    }

    pub(super) fn into_stacks(self) -> Result<Stacks, WrongLine> {
        let period = need(self.period, "period")?;
        if period <= Nanos::ZERO {
            return Err(WrongLine::NotPositive("period"));
        }
        Ok(Stacks {
            worker: self.worker,
            start: need(self.start, "start")?,
            period,
            first_function: first(
                self.first_function,
                self.functions.as_deref(),
                "first_function",
            )?,
            functions: self.functions.map(Cow::into_owned).unwrap_or_default(),
            first_stack: first(self.first_stack, self.stacks.as_deref(), "first_stack")?,
            stacks: self.stacks.map(Cow::into_owned).unwrap_or_default(),
            samples: samples(&need(self.samples, "samples")?)?,
        })
    }
}

/// Returns the number of the first entry of a list, which is required for a list with entries.
fn first<T>(first: Option<u32>, of: Option<&[T]>, name: &'static str) -> Result<u32, WrongLine> {
    match of {
        None | Some([]) => Ok(first.unwrap_or_default()),
        Some(_) => need(first, name),
    }
}

/// Returns the numbers of the format: a stack or `null`, and `-n` for `n` further samples of it.
fn numbers(samples: &[StackSamples]) -> Vec<Option<i64>> {
    let mut numbers = Vec::with_capacity(samples.len());
    for StackSamples { stack, count } in samples {
        numbers.push(stack.map(i64::from));
        if *count > 1 {
            numbers.push(Some(1 - i64::from(*count)));
        }
    }
    numbers
}

fn samples(numbers: &[Option<i64>]) -> Result<Vec<StackSamples>, WrongLine> {
    let mut samples: Vec<StackSamples> = Vec::with_capacity(numbers.len());
    for number in numbers {
        let one = |stack| StackSamples { stack, count: 1 };
        match *number {
            Some(repeats @ ..0) => {
                let last = samples.last_mut().filter(|last| last.count == 1);
                let last = last.ok_or(WrongLine::NoSample)?;
                let repeats = u32::try_from(repeats.unsigned_abs()).ok();
                let count = repeats.and_then(|repeats| repeats.checked_add(1));
                last.count = count.ok_or(WrongLine::TooLarge("samples"))?;
            }
            Some(stack) => {
                let stack = u32::try_from(stack).map_err(|_| WrongLine::TooLarge("samples"))?;
                samples.push(one(Some(stack)));
            }
            None => samples.push(one(None)),
        }
    }
    Ok(samples)
}
