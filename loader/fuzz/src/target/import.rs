//! A single file of any format.

use std::path::Path;

use loadscope_exchange::{ImportError, check, read};
use loadscope_trace::Fleet;

use crate::{examine, scratch};

/// Maximum length of an error message, bytes.
const LONGEST_REFUSAL: usize = 2_000;

pub fn run(bytes: &[u8], thoroughly: bool) {
    let path = scratch::file("any_main_pid_7", bytes);
    open(&path, thoroughly);
}

/// Opens `path` as `loadscope info` and the window do.
pub fn open(path: &Path, thoroughly: bool) {
    let mut fleet = Fleet::default();
    let mut last = None;
    let result = read(path, |event, _| {
        if let Some(event) = &event {
            assert!(last <= Some(event.at), "events are in order of time");
            last = Some(event.at);
            fleet.apply(event);
        }
        true
    });
    let looked = check(path);
    match (result, looked) {
        (Ok(_), Ok(_)) => examine::fleet(&fleet, thoroughly),
        (Ok(_), Err(e)) => panic!("it opens, in spite of the error: {e}"),
        (Err(e), looked) => {
            check_error(&e);
            looked
                .iter()
                .for_each(|kind| assert!(!kind.to_string().is_empty()));
            looked.err().iter().for_each(check_error);
        }
    }
}

/// Checks the error message.
fn check_error(error: &ImportError) {
    let text = error.to_string();
    assert!(!text.is_empty() && text.len() < LONGEST_REFUSAL, "{text}");
}
