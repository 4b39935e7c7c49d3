//! What the nearest other settings would bring, in sentences.

use loadscope_trace::Nanos;

use super::{Forecast, Recorded, Setting};

/// A change must bring this share of the time to be worth a sentence.
const WORTH: f64 = 0.02;

/// The forecasts of the changes that are nearest to how it was recorded and bring something, the best first, each with a
/// clause about it: `in_order=False would end after 1.17 s`, `a third worker only after 1.45 s`.
pub fn hints(recorded: &Recorded) -> Vec<(Forecast, String)> {
    let base = recorded.setting();
    let mut tried: Vec<(Forecast, String)> = candidates(&base)
        .into_iter()
        .filter_map(|(setting, what)| Some((recorded.forecast(&setting).ok()?, what)))
        .filter(|(f, _)| f.time.as_secs_f64() < recorded.time().as_secs_f64() * (1.0 - WORTH))
        .collect();
    tried.sort_by_key(|(f, _)| f.time);
    let best = tried.first().map_or(Nanos::ZERO, |(f, _)| f.time);
    tried
        .into_iter()
        .map(|(forecast, what)| {
            let behind = forecast.time.as_secs_f64() > best.as_secs_f64() * (1.0 + WORTH);
            let text = match behind {
                true => format!("{what} only after {}", forecast.time),
                false => format!("{what} would end after {}", forecast.time),
            };
            (forecast, text)
        })
        .collect()
}

fn candidates(base: &Setting) -> Vec<(Setting, String)> {
    let mut out = Vec::new();
    let mut add = |applies: bool, setting: Setting, what: String| {
        if applies {
            out.push((setting, what));
        }
    };
    let workers = base.num_workers + 1;
    let more = Setting {
        num_workers: workers,
        ..base.clone()
    };
    add(true, more, format!("a {} worker", ordinal(workers)));
    let any = Setting {
        in_order: false,
        ..base.clone()
    };
    let some = base.num_workers > 0;
    add(some && base.in_order, any, "in_order=False".to_owned());
    let factor = base.prefetch_factor.saturating_mul(2);
    let further = Setting {
        prefetch_factor: factor,
        ..base.clone()
    };
    add(some, further, format!("prefetch_factor={factor}"));
    let kept = Setting {
        persistent_workers: true,
        ..base.clone()
    };
    let fresh = some && !base.persistent_workers;
    add(fresh, kept, "persistent_workers=True".to_owned());
    let unpinned = Setting {
        pin_memory: false,
        ..base.clone()
    };
    add(base.pin_memory, unpinned, "pin_memory=False".to_owned());
    out
}

fn ordinal(n: usize) -> String {
    let words = ["first", "second", "third", "fourth", "fifth", "sixth"];
    match (
        n.checked_sub(1).and_then(|at| words.get(at)),
        n % 10,
        n % 100,
    ) {
        (Some(word), ..) => (*word).to_owned(),
        (None, 1, tail) if tail != 11 => format!("{n}st"),
        (None, 2, tail) if tail != 12 => format!("{n}nd"),
        (None, 3, tail) if tail != 13 => format!("{n}rd"),
        _ => format!("{n}th"),
    }
}
