//! The language of the command line. It is needed before the arguments are parsed, because their help is translated.

use std::ffi::OsString;

use loadscope_words::Language;

/// Returns the language set by the environment.
pub(super) fn of_system() -> Language {
    Language::of_environment(|name| std::env::var(name).ok())
}

/// Returns the language of `--lang` in the arguments, or the language of the system.
pub(super) fn of_arguments(arguments: impl IntoIterator<Item = OsString>) -> Language {
    requested_language(arguments).unwrap_or_else(of_system)
}

fn requested_language(arguments: impl IntoIterator<Item = OsString>) -> Option<Language> {
    let mut arguments = arguments
        .into_iter()
        .map(|a| a.to_string_lossy().into_owned());
    // Arguments after `--` belong to the recorded program.
    while let Some(argument) = arguments.next().filter(|a| a != "--") {
        let value = match argument.strip_prefix("--lang") {
            Some("") => arguments.next(),
            Some(value) => value.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        if let Some(value) = value {
            let is = |language: &Language| language.code() == value;
            return Language::ALL.into_iter().find(is);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_found_among_the_arguments() {
        let of = |line: &str| requested_language(line.split(' ').map(OsString::from));
        assert_eq!(of("report --lang zh run.jsonl"), Some(Language::Zh));
        assert_eq!(of("--lang=en report"), Some(Language::En));
        assert_eq!(of("report run.jsonl"), None);
        assert_eq!(of("report --language zh"), None);
        assert_eq!(of("--lang"), None);
        assert_eq!(of("record -- python train.py --lang zh"), None);
    }
}
