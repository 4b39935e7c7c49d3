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
            first_function: Some(stacks.first_function),
            functions: Some(Cow::Borrowed(&stacks.functions)),
            first_stack: Some(stacks.first_stack),
            stacks: Some(Cow::Borrowed(&stacks.stacks)),
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
            first_function: need(self.first_function, "first_function")?,
            functions: need(self.functions, "functions")?.into_owned(),
            first_stack: need(self.first_stack, "first_stack")?,
            stacks: need(self.stacks, "stacks")?.into_owned(),
            samples: samples(&need(self.samples, "samples")?)?,
        })
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
