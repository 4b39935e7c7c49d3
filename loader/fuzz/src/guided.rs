//! The program for libFuzzer. `LOADSCOPE_FUZZ_TARGET` selects the target, and the arguments are those of libFuzzer.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::{Corpus, fuzz_target};
use loadscope_fuzz::{Bounds, ResourceUse, TARGETS, Target, hash};

/// All queries run for one in this number of inputs, because they take longer than everything else.
const THOROUGH: u64 = 16;

fn target() -> &'static Target {
    static TARGET: OnceLock<&Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let wanted = std::env::var("LOADSCOPE_FUZZ_TARGET").unwrap_or_default();
        let target = TARGETS.iter().find(|t| t.name == wanted);
        target.unwrap_or_else(|| {
            let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
            panic!("LOADSCOPE_FUZZ_TARGET is {wanted:?} and no target; there are {names:?}")
        })
    })
}

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let target = target();
    let thoroughly = hash(bytes).is_multiple_of(THOROUGH);
    Bounds::STRICT.abort_beyond();
    Bounds::STRICT.check(ResourceUse::measure(|| (target.run)(bytes, thoroughly)));
    Corpus::Keep
});
