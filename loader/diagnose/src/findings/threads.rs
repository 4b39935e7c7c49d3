//! Native threads of the workers: more than the cores can run at once.

use super::{Evidence, Finding, FindingId, Survey};
use loadscope_trace::{Fact, GaugeKind, Lane, Nanos, Part, Run, ThreadPool, percent, plural};
use loadscope_words::say;

/// Minimum share of the loading time in which the loading threads wait for a core.
const MIN_CORE_WAIT: f64 = 0.1;

/// Finds workers whose libraries run several threads each, more than there are cores.
pub(super) fn too_many(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let (cores, workers) = (u64::from(run.info.cores), survey.workers as u64);
    let threads = usual_threads(run)?;
    let waits = core_wait(survey)?;
    if cores == 0 || threads < 2 || workers.saturating_mul(threads) <= cores {
        return None;
    }
    let cost = survey.part_of_loading(waits);
    let severity = survey.severity(cost)?;
    let cores = plural(cores, say!(n: "core"), say!(n: "cores"));
    let cost_text = survey.format_cost(cost);
    let waits = percent(waits);
    Some(Finding {
        id: FindingId::NativeThreads,
        text: match workers {
            1 => say!(
                "The worker runs {threads} threads on {cores}: {cost_text}. The thread that loads samples waits for a core for {waits} of its time."
            ),
            n => say!(
                "Each of {n} workers runs {threads} threads on {cores}: {cost_text}. The threads that load samples wait for a core for {waits} of their time."
            ),
        },
        severity,
        evidence: Evidence::Run,
        remedy: remedy(run),
        cost: Some(cost),
    })
}

/// Returns the usual number of busy threads of a worker that loads. Returns `None` if it was not measured.
fn usual_threads(run: &Run) -> Option<u64> {
    let gauges = run.gauges().filter(|(lane, what, _)| {
        matches!(lane, Some(Lane::Worker(_))) && *what == GaugeKind::BusyThreads
    });
    let values = gauges.flat_map(|(.., series)| series.points().iter().map(|(_, value)| *value));
    let mut counts: Vec<u64> = values.filter(|v| *v >= 1.0).map(|v| v as u64).collect();
    let middle = counts.len() / 2;
    (!counts.is_empty()).then(|| *counts.select_nth_unstable(middle).1)
}

/// Returns the share of the loading time in which the loading threads were runnable and waited for a core. Returns `None` if it was not
/// measured, or is below 10 %.
pub(super) fn core_wait(survey: &Survey) -> Option<f64> {
    let (mut waited, mut worked) = (Nanos::ZERO, Nanos::ZERO);
    for (row, work) in survey.work.iter().enumerate() {
        let cpu = survey.run.cpu_time(row, Part::Fetch);
        if let Some(wait) = cpu.and_then(|cpu| cpu.core_wait) {
            waited += wait.min(*work);
            worked += *work;
        }
    }
    let share = waited.0 as f64 / worked.0.max(1) as f64;
    (share >= MIN_CORE_WAIT).then_some(share)
}

/// Returns the settings that limit the thread pools of the workers to one thread.
fn remedy(run: &Run) -> String {
    let pools = run.facts().iter().find_map(|(_, fact)| match fact {
        Fact::ThreadPools { libraries } => Some(libraries.as_slice()),
        _ => None,
    });
    let pools = pools.unwrap_or(&[ThreadPool::OpenMp]);
    let settings: Vec<String> = pools.iter().map(|pool| setting(*pool)).collect();
    let settings = settings.join(say!(", "));
    say!(
        "Limit the libraries in each worker to one thread: {settings}. Environment variables also limit the main process."
    )
}

fn setting(pool: ThreadPool) -> String {
    match pool {
        ThreadPool::OpenMp => "OMP_NUM_THREADS=1".to_owned(),
        ThreadPool::Mkl => "MKL_NUM_THREADS=1".to_owned(),
        ThreadPool::OpenBlas => say!("OPENBLAS_NUM_THREADS=1 (NumPy)").to_owned(),
        ThreadPool::OpenCv => say!("cv2.setNumThreads(0) in worker_init_fn").to_owned(),
        ThreadPool::Tokenizers => "TOKENIZERS_PARALLELISM=false".to_owned(),
    }
}
