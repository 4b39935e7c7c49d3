//! Search for faster arguments of a program's `DataLoader`: choice of settings, measured times, and comparison.
//!
//! Nothing here runs a program. [`choose()`] selects settings, [`Measured`] contains the times of one recording,
//! [`Table`] compares all of them.

use loadscope_plan::keyvalue::{Key, KeySet, KeyValue, KeyValueError, ValueError, flag, whole};
use loadscope_plan::limits::Limit;
use loadscope_trace::{Argument, Override, Overrides, StartMethod};
use loadscope_words::say;

mod choose;
mod measure;
mod output_difference;
mod table;
mod text;

pub use choose::{Choice, Expected, Try, choose};
pub use measure::{Measured, yielded};
pub use output_difference::{OutputDifference, RunOutput};
pub use table::{Kind, Outcome, Row, Table, Tried};

/// Returns the keys of the arguments that can be overridden.
fn key_set() -> KeySet {
    let all = Argument::OVERRIDABLE.into_iter();
    KeySet::new(all.filter_map(|one| Some(Key::once(one.name(), one.override_example()?))))
}

/// Parses comma-separated overrides.
///
/// # Errors
/// Returns an error message with the mistake and a correct example.
pub fn overrides(text: &str) -> Result<Overrides, String> {
    let key_set = key_set();
    let given = key_set.read(text);
    given
        .and_then(|all| parse(&all))
        .map_err(|mistake| key_set.sentence(&mistake))
}

/// Parses texts with one or more overrides each.
///
/// # Errors
/// As [`overrides`], and also if an argument is given twice.
pub fn overrides_of_all(texts: &[String]) -> Result<Overrides, String> {
    overrides(&texts.join(","))
}

fn parse(all: &[KeyValue<'_>]) -> Result<Overrides, KeyValueError> {
    let mut out = Overrides::default();
    for given in all {
        set_argument(&mut out, given).map_err(|wrong| given.error(wrong))?;
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

fn set_argument(out: &mut Overrides, given: &KeyValue<'_>) -> Result<(), ValueError> {
    let value = given.value;
    let found = Argument::of_option(given.key);
    let access = found.and_then(|one| Some((one, one.overrides()?)));
    match access {
        Some((argument, Override::Count(_, set))) => {
            let least = usize::from(argument == Argument::PrefetchFactor);
            let most = Limit::of(argument).map_or(usize::MAX, |limit| limit.most as usize);
            set(out, whole(value, least..=most)?);
        }
        Some((_, Override::Flag(_, set))) => set(out, flag(value)?),
        Some((_, Override::Method(_, set))) => {
            let word = value.trim_matches(['\'', '"']);
            let method = StartMethod::named(word);
            let wrong = || ValueError::other(say!("expected fork, spawn or forkserver"));
            set(out, method.ok_or_else(wrong)?);
        }
        None => {
            return Err(ValueError::other(format!(
                "{} is no argument that can be set",
                given.key
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
