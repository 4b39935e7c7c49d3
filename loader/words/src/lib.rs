#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// The macros name the crate as others do.
extern crate self as loadscope_words;

loadscope_words_macros::catalogs!();

mod columns;
mod foreign;
mod language;
mod spaces;
mod system;
mod text;

pub use columns::{left, places, right};
pub use foreign::{json_error, value_error};
pub use language::{Language, language, set_language};
/// Marks the crate as one whose catalogs are in `words/`: it is compiled anew when they change. Once, in `lib.rs`.
pub use loadscope_words_macros::catalogs;
/// A text of the catalog in the language of the program: `&'static str`, or with placeholders a `String` as of `format!`.
pub use loadscope_words_macros::say;
/// All entries of a catalog as a sorted table, for texts that are looked up at run time: `table!("help")` reads `words/help.zh.toml`.
pub use loadscope_words_macros::table;
/// A [`Text`] of the catalog, for constants.
pub use loadscope_words_macros::text;
pub use spaces::spaced;
pub use system::{cause, explain, path_error, shell_word, without_numbers};
pub use text::{Text, look_up};
