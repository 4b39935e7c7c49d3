//! Settings in the text of a remedy. Every language has PyTorch's argument names.

use super::{Change, Finding};

/// Returns the settings in `text`, in order.
fn settings(text: &str) -> impl Iterator<Item = Change> + '_ {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '=';
    text.split(move |c| !is_part(c)).filter_map(setting)
}

/// Parses a setting such as `num_workers=4`. Returns `None` for other words.
fn setting(word: &str) -> Option<Change> {
    let (name, value) = word.split_once('=')?;
    let number = || value.parse::<usize>().ok();
    let switch = || match value {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    };
    match name {
        "num_workers" => number().map(Change::NumWorkers),
        "prefetch_factor" => number().map(Change::PrefetchFactor),
        "in_order" => switch().map(Change::InOrder),
        "persistent_workers" => switch().map(Change::PersistentWorkers),
        "pin_memory" => switch().map(Change::PinMemory),
        _ => None,
    }
}

impl Finding {
    /// Returns the settings in the remedy, in order.
    pub(super) fn settings_in_remedy(&self) -> impl Iterator<Item = Change> + '_ {
        settings(&self.remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_contain_settings_in_any_language() {
        let all = |text: &str| settings(text).collect::<Vec<_>>();
        assert_eq!(all("Use num_workers=12."), [Change::NumWorkers(12)]);
        assert_eq!(
            all("请使用 in_order=False，prefetch_factor=4（persistent_workers=True）。"),
            [
                Change::InOrder(false),
                Change::PrefetchFactor(4),
                Change::PersistentWorkers(true)
            ]
        );
        assert_eq!(all("`pin_memory=False`: x"), [Change::PinMemory(false)]);
        let others = "set_num_threads(1) --shm-size=8g num_workers num_workers=many timeout=60";
        assert_eq!(all(others), []);
    }
}
