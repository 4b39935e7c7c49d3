//! The help of the command line in the language of the program. It stands in the comments of the arguments; what it is in other
//! languages, in `words/help.zh.toml`.

use clap::builder::StyledStr;
use clap::{Arg, Command};
use loadscope_words::{Language, Text, language, look_up, say, table, text};

/// All texts of the help, sorted by their English.
static HELP: &[(&str, Text)] = table!("help");

/// What clap says by itself, in help and errors.
const FRAMES: [Text; 12] = [
    text!("Usage:"),
    text!("[default: "),
    text!("[possible values: "),
    text!("Possible values:"),
    text!("error: "),
    text!("  tip: "),
    text!("unexpected argument "),
    text!("unrecognized subcommand "),
    text!("invalid value "),
    text!("the following required arguments were not provided:"),
    text!("For more information, try "),
    text!("a similar argument exists: "),
];

/// The command line with its help in the language of the program.
pub(super) fn spoken(mut command: Command) -> Command {
    if language() == Language::En {
        return command;
    }
    // What clap adds by itself is there from then on.
    command.build();
    translated(command)
}

fn translated(command: Command) -> Command {
    let (about, long) = (known(command.get_about()), known(command.get_long_about()));
    let mut command = command.mut_args(argument).mut_subcommands(translated);
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(long) = long {
        command = command.long_about(long);
    }
    command.subcommand_help_heading(say!("Commands"))
}

fn argument(argument: Arg) -> Arg {
    let (help, long) = (known(argument.get_help()), known(argument.get_long_help()));
    let heading = match (argument.get_help_heading(), argument.is_positional()) {
        (Some(_), _) => None,
        (None, true) => Some(say!("Arguments")),
        (None, false) => Some(say!("Options")),
    };
    let mut argument = argument;
    if let Some(help) = help {
        argument = argument.help(help);
    }
    if let Some(long) = long {
        argument = argument.long_help(long);
    }
    match heading {
        Some(heading) => argument.help_heading(heading),
        None => argument,
    }
}

fn known(text: Option<&StyledStr>) -> Option<&'static str> {
    look_up(HELP, &text?.to_string())
}

/// What clap has written, with its own words and the meanings of values in the language of the program.
pub(super) fn reworded(text: String) -> String {
    let frames = FRAMES.into_iter();
    let text = frames.fold(text, |text, frame| {
        text.replace(frame.of(Language::En), frame.say())
    });
    let lines = text.lines().map(|line| {
        match line
            .split_once("- ")
            .filter(|(before, _)| before.starts_with(' '))
        {
            // `  - zh: 中文`: the name of a value stays.
            Some((indent, value)) => {
                let (name, meaning) = value
                    .split_once(":  ")
                    .or(value.split_once(": "))
                    .unwrap_or((value, ""));
                match look_up(HELP, meaning.trim()) {
                    Some(meaning) => format!("{indent}- {name}: {meaning}"),
                    None => line.to_owned(),
                }
            }
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    fn texts(command: &Command, into: &mut BTreeSet<String>) {
        let mut add = |text: Option<&StyledStr>| {
            into.extend(text.map(ToString::to_string).filter(|t| !t.is_empty()))
        };
        add(command.get_about());
        add(command.get_long_about());
        for argument in command.get_arguments() {
            add(argument.get_help());
            add(argument.get_long_help());
            let values = argument.get_possible_values();
            values.iter().for_each(|value| add(value.get_help()));
        }
        command.get_subcommands().for_each(|sub| texts(sub, into));
    }

    #[test]
    fn every_text_of_the_help_is_in_the_catalog_and_no_other() {
        let mut command = Cli::command();
        command.build();
        let mut wanted = BTreeSet::new();
        texts(&command, &mut wanted);
        let there: BTreeSet<String> = HELP.iter().map(|(key, _)| (*key).to_owned()).collect();
        let missing: Vec<&String> = wanted.difference(&there).collect();
        let unused: Vec<&String> = there.difference(&wanted).collect();
        assert!(
            missing.is_empty() && unused.is_empty(),
            "missing: {missing:#?}\nunused: {unused:#?}"
        );
        assert!(wanted.len() > 100, "{}", wanted.len());
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(HELP.is_sorted_by_key(|(key, _)| *key));
    }
}
