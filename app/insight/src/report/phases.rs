//! Phases of the training step.

use loadscope_diagnose::{HotCode, SampleShare, Survey};
use loadscope_trace::{Activity, Nanos, Run, StepPhase, StepPhases, count};
use loadscope_words::say;
use serde_json::{Value, json};

/// Phase in a table.
pub struct Row {
    /// Phase.
    pub phase: StepPhase,
    /// Number of samples.
    pub samples: u64,
    /// Mean time per training step.
    pub time: Nanos,
    /// Share of the training steps.
    pub share: SampleShare,
}

/// Counts the samples per phase. Returns `None` without a known phase, and with too few samples.
pub fn step_phases(run: &Run, code: &[HotCode<'_>]) -> Option<StepPhases> {
    let training = code.iter().find(|one| one.activity == Activity::Training)?;
    let phases = StepPhases::of(run, &training.profile);
    phases.is_known().then_some(phases)
}

/// Returns the title of the table: `Training step, 20.3 ms on average, 153 samples`.
pub fn heading(phases: &StepPhases, survey: &Survey<'_>) -> String {
    let (time, samples) = (survey.step, count(phases.total()));
    say!("Training step, {time} on average, {samples} samples")
}

/// Returns all phases, in their order in a step.
pub fn all(phases: &StepPhases, survey: &Survey<'_>) -> impl Iterator<Item = Row> {
    let total = phases.total();
    phases.counts().map(move |(phase, samples)| {
        let share = SampleShare::of(samples, total);
        let time = Nanos::from_secs_f64(survey.step.as_secs_f64() * share.share);
        Row {
            phase,
            samples,
            time,
            share,
        }
    })
}

/// Returns the phases with samples, in their order in a step.
pub fn rows(phases: &StepPhases, survey: &Survey<'_>) -> impl Iterator<Item = Row> {
    all(phases, survey).filter(|row| row.samples > 0)
}

impl Row {
    /// Returns the time in the unit of the step.
    pub fn format_time(&self, survey: &Survey<'_>) -> String {
        self.time.format_in_unit_of(survey.step)
    }
}

/// Returns a remark about a device, whose work runs later than the phase that submits it.
pub fn remark(run: &Run) -> Option<&'static str> {
    let has_device = run.device_time().is_some();
    has_device.then_some(say!(
        "These are times of the main process. The GPU runs the work of a phase later."
    ))
}

/// Returns all phases for scripts.
pub fn json(phases: &StepPhases, survey: &Survey<'_>) -> Value {
    let phase = |row: Row| {
        json!({
            "phase": row.phase.id(),
            "samples": row.samples,
            "share": row.share.share,
            "margin": row.share.margin,
            "seconds_per_step": row.time.as_secs_f64(),
        })
    };
    all(phases, survey).map(phase).collect()
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{
        BatchId, Event, EventKind, Function, RunId, Stack, StackSamples, Stacks, Stage,
    };

    use super::*;
    use crate::Datasets;
    use crate::report::{Report, html, markdown, text};

    /// Returns a run with a training step of 1 s. Of 100 samples, `forward` are in the forward pass.
    fn run(forward: u32) -> Run {
        let function = |name: &str, file: &str| Function {
            name: name.to_owned(),
            file: file.to_owned(),
        };
        let stack = |caller, function| Stack {
            caller,
            function,
            line: 1,
        };
        let samples = |stack, count| StackSamples {
            stack: Some(stack),
            count,
        };
        let stacks = Stacks {
            period: Nanos(10_000_000),
            functions: vec![
                function("train", "/home/me/train.py"),
                function("_call_impl", "/v/site-packages/torch/nn/modules/module.py"),
            ],
            stacks: vec![stack(None, 0), stack(Some(0), 1)],
            samples: vec![samples(1, forward), samples(0, 100 - forward)],
            ..Stacks::default()
        };
        let batch = BatchId::default();
        let stage = Stage::Training;
        let kinds = [
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(batch, None, [0])),
            (0, EventKind::Entered { batch, stage }),
            (1, EventKind::Consumer { waiting: true }),
            (1, EventKind::Stacks(Box::new(stacks))),
        ];
        let mut run = Run::default();
        for (second, kind) in kinds {
            let (at, id) = (Nanos(second * 1_000_000_000), RunId(0));
            run.apply(&Event { at, run: id, kind });
        }
        run
    }

    #[test]
    fn all_formats_show_the_time_per_phase() {
        let run = run(50);
        let report = Report::of(&run, false, Datasets::default());
        let json = report.json();
        let forward = &json["step_phases"][1];
        assert_eq!(
            (&forward["phase"], &forward["samples"]),
            (&json!("forward"), &json!(50))
        );
        assert_eq!(forward["seconds_per_step"], json!(0.5));
        for text in [text(&report), markdown(&report), html(&report)] {
            let text = text.replace('\u{2009}', " ");
            assert!(
                text.contains("Training step, 1.00 s on average, 100 samples"),
                "{text}"
            );
            assert!(text.contains("Forward") && text.contains("50"), "{text}");
            assert!(!text.contains("Backward"), "{text}");
        }
    }

    #[test]
    fn a_step_without_a_known_phase_has_no_table() {
        let run = run(0);
        let report = Report::of(&run, false, Datasets::default());
        assert!(report.json()["step_phases"].is_null());
        assert!(!text(&report).contains("Training step,"));
    }
}
