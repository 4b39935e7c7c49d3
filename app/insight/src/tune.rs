//! Search for faster arguments of a program's `DataLoader`: choice of settings, measured times, and comparison.
//!
//! Nothing here runs a program. [`choose()`] selects settings, [`Measured`] contains the times of one recording,
//! [`Table`] compares all of them.

use loadscope_plan::keyvalue::{Key, KeySet, KeyValue, KeyValueError, ValueError, flag, whole};
use loadscope_plan::limits;
use loadscope_trace::{Overrides, StartMethod};
use loadscope_words::{Text, say, text};

mod choose;
mod measure;
mod output_difference;
mod table;
mod text;

pub use choose::{Choice, Expected, Try, choose};
pub use measure::{Measured, yielded};
pub use output_difference::{OutputDifference, RunOutput};
pub use table::{Kind, Outcome, Row, Table, Tried};

/// Arguments that can be overridden.
const KEYS: [Key; 6] = [
    Key::once("num_workers", Text::same("num_workers=4")),
    Key::once("prefetch_factor", Text::same("prefetch_factor=2")),
    Key::once("persistent_workers", Text::same("persistent_workers=true")),
    Key::once("pin_memory", Text::same("pin_memory=true")),
    Key::once("in_order", Text::same("in_order=false")),
    Key::once(
        "multiprocessing_context",
        text!("multiprocessing_context=forkserver (or fork, spawn)"),
    ),
];

/// Parses comma-separated overrides.
///
/// # Errors
/// Returns an error message with the mistake and a correct example.
pub fn overrides(text: &str) -> Result<Overrides, String> {
    let key_set = KeySet::new(KEYS);
    let given = key_set.read(text);
    given
        .and_then(|all| taken(&all))
        .map_err(|mistake| key_set.sentence(&mistake))
}

/// Parses texts with one or more overrides each.
///
/// # Errors
/// As [`overrides`], and also if an argument is given twice.
pub fn overrides_of_all(texts: &[String]) -> Result<Overrides, String> {
    overrides(&texts.join(","))
}

fn taken(all: &[KeyValue<'_>]) -> Result<Overrides, KeyValueError> {
    let mut out = Overrides::default();
    for given in all {
        take(&mut out, given).map_err(|wrong| given.error(wrong))?;
    }
    if out.num_workers == Some(0) && needs_workers(&out) {
        return Err(KeyValueError::Conflict(
            say!(
                "prefetch_factor, persistent_workers and multiprocessing_context need num_workers of at least 1"
            )
            .to_owned(),
        ));
    }
    Ok(out)
}

fn needs_workers(o: &Overrides) -> bool {
    o.prefetch_factor.is_some()
        || o.persistent_workers == Some(true)
        || o.multiprocessing_context.is_some()
}

fn take(out: &mut Overrides, given: &KeyValue<'_>) -> Result<(), ValueError> {
    let value = given.value;
    match given.key {
        "num_workers" => out.num_workers = Some(whole(value, 0..=limits::WORKERS)?),
        "prefetch_factor" => out.prefetch_factor = Some(whole(value, 1..=limits::PREFETCH)?),
        "persistent_workers" => out.persistent_workers = Some(flag(value)?),
        "pin_memory" => out.pin_memory = Some(flag(value)?),
        "in_order" => out.in_order = Some(flag(value)?),
        "multiprocessing_context" => {
            let word = value.trim_matches(['\'', '"']);
            let method = StartMethod::ALL.into_iter().find(|m| m.name() == word);
            let wrong = || ValueError::other(say!("expected fork, spawn or forkserver"));
            out.multiprocessing_context = Some(method.ok_or_else(wrong)?);
        }
        other => {
            return Err(ValueError::other(format!(
                "{other} is no argument that can be set"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_accept_python_and_lowercase_values() {
        let read = overrides("num_workers=8, pin_memory=True,multiprocessing_context='spawn'");
        let read = read.expect("sound");
        assert_eq!(
            read.to_string(),
            "num_workers=8, pin_memory=True, multiprocessing_context='spawn'"
        );
        let several = ["num_workers=2".to_owned(), "in_order=false".to_owned()];
        let several = overrides_of_all(&several).expect("sound");
        assert_eq!(several.to_string(), "num_workers=2, in_order=False");
        for (wrong, said) in [
            ("batch_size=4", "unknown key 'batch_size'"),
            ("num_workers=many", "num_workers=many"),
            ("num_workers=1,num_workers=2", "given twice"),
            (
                "num_workers=0,prefetch_factor=4",
                "need num_workers of at least 1",
            ),
            ("multiprocessing_context=thread", "forkserver"),
            ("prefetch_factor=0", "prefetch_factor=0"),
        ] {
            let text = overrides(wrong).expect_err(wrong);
            assert!(text.contains(said), "{wrong}: {text}");
        }
    }
}
