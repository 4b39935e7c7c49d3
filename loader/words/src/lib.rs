#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// The macros use this name of the crate.
extern crate self as loadscope_words;

loadscope_words_macros::catalogs!();

mod columns;
mod io_errors;
mod language;
mod serde_errors;
mod spaces;
mod text;

pub use columns::{display_width, pad_end, pad_start};
pub use io_errors::{cause, explain, path_error, shell_quoted, strip_os_error_codes};
pub use language::{Language, language, set_language};
/// Recompiles the crate after a change to its catalogs in `words/`. Call it once, in `lib.rs`.
pub use loadscope_words_macros::catalogs;
/// Text of the catalog in the language of the program: a `&'static str`, or with placeholders a `String`.
pub use loadscope_words_macros::say;
/// Sorted table of a catalog for lookups at run time: `table!("help")` reads `words/help.zh.toml`.
pub use loadscope_words_macros::table;
/// [`Text`] of the catalog, for constants.
pub use loadscope_words_macros::text;
pub use serde_errors::{json_error, value_error};
pub use spaces::spaced;
pub use text::{Text, look_up};
