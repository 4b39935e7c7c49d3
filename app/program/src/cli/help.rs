//! The help of the command line: the doc comments of the commands and their arguments. The first paragraph is for `-h`, all paragraphs
//! are for `--help`. `words/help.zh.toml` translates them paragraph by paragraph.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use loadscope_session::HAS_ENGINE;
use loadscope_words::{Language, Text, language, look_up, say, table, text};

use super::window::WINDOW;

/// All paragraphs of the help, sorted by their English text.
static HELP: &[(&str, Text)] = table!("help");

/// Commands that open the window. The program also opens it without a command.
const WITH_WINDOW: [&str; 4] = ["demo", "learn", "open", "watch"];

/// Commands of the embedded loader. A build without it hides them.
const OF_LOADER: [&str; 2] = ["demo", "run"];

/// Shared options without an effect in a command. The command accepts and hides them.
const WITHOUT_EFFECT: [(&str, &str); 1] = [("order", "prefetch_factor")];

/// Texts of clap in help and errors.
const FRAMES: [Text; 14] = [
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
    text!("a similar subcommand exists: "),
    text!("some similar subcommands exist: "),
];

/// Returns the command line with the help of each command. Every command accepts the window options, but only commands that open the window
/// show them.
pub(super) fn shown(mut command: Command) -> Command {
    // `build` copies the global options and clap's own options into the commands.
    command.build();
    let command = command.mut_subcommands(|sub| match WITH_WINDOW.contains(&sub.get_name()) {
        true => sub,
        false => without_window(sub),
    });
    let hidden = WITHOUT_EFFECT.into_iter();
    let command = hidden.fold(command, |command, (name, option)| {
        command.mut_subcommand(name, |sub| {
            sub.mut_args(|argument| {
                let hidden = argument.is_hide_set() || argument.get_id() == option;
                argument.hide(hidden)
            })
        })
    });
    let of_loader = OF_LOADER.into_iter();
    let command = of_loader.fold(command, |command, name| {
        command.mut_subcommand(name, |sub| {
            let hidden = sub.is_hide_set() || !HAS_ENGINE;
            sub.hide(hidden)
        })
    });
    general_last(command)
}

/// Moves the options of all commands after the options of a command.
fn general_last(command: Command) -> Command {
    let order = |argument: Arg| match argument.get_id().as_str() {
        "lang" => argument.display_order(1_000),
        "help" => argument.display_order(1_001),
        "version" => argument.display_order(1_002),
        _ => argument,
    };
    command.mut_args(order).mut_subcommands(general_last)
}

fn without_window(command: Command) -> Command {
    let hide = |argument: Arg| {
        let hidden = argument.is_hide_set() || argument.get_help_heading() == Some(WINDOW);
        argument.hide(hidden)
    };
    command.mut_args(hide).mut_subcommands(without_window)
}

/// Returns the command line with its help in the program's language.
pub(super) fn translated(command: Command) -> Command {
    match language() {
        Language::En => command,
        Language::Zh => in_language(command),
    }
}

fn in_language(command: Command) -> Command {
    let about = paragraphs(command.get_about());
    let long_about = paragraphs(command.get_long_about());
    let after = paragraphs(command.get_after_help());
    let long_after = paragraphs(command.get_after_long_help());
    let mut command = command.mut_args(argument).mut_subcommands(in_language);
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(about) = long_about {
        command = command.long_about(about);
    }
    if let Some(after) = after {
        command = command.after_help(after);
    }
    if let Some(after) = long_after {
        command = command.after_long_help(after);
    }
    command.subcommand_help_heading(say!("Commands"))
}

fn argument(argument: Arg) -> Arg {
    let help = paragraphs(argument.get_help());
    let long = paragraphs(argument.get_long_help());
    let heading = match (argument.get_help_heading(), argument.is_positional()) {
        (Some(heading), _) => look_up(HELP, heading),
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

/// Translates each paragraph of a help text.
fn paragraphs(text: Option<&StyledStr>) -> Option<String> {
    let text = text?.to_string();
    let translated = text.split("\n\n");
    let translated = translated.map(|one| look_up(HELP, one).unwrap_or(one));
    Some(translated.collect::<Vec<_>>().join("\n\n"))
}

/// Adds Loadscope's tip to an error, and removes clap's misleading tips.
pub(super) fn with_tip(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.clone(),
        _ => String::new(),
    };
    if argument.starts_with('-') {
        remove_dashes(&mut error);
    }
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    let has_command = usage.is_some_and(|usage| usage.contains("-- <COMMAND>"));
    let has_tip = error.get(ContextKind::Suggested).is_some()
        || error.get(ContextKind::SuggestedArg).is_some();
    let tip = match &*argument {
        // Only `tune` takes a program and has no --set.
        "--set" if has_command => say!("write --try num_workers=4 to try a setting"),
        option if option.starts_with('-') || has_tip || !has_command => return error,
        _ => say!("write -- before the program, such as -- python train.py"),
    };
    let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, tips);
    error
}

/// Removes clap's tip to pass an option as a value after `--`. After `--`, the option would be the name of a program or a file.
fn remove_dashes(error: &mut clap::Error) {
    let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) else {
        return;
    };
    tips.retain(|tip| !tip.to_string().starts_with("to pass "));
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// Translates clap's texts and the meanings of values in rendered help or errors.
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
            // In `  - zh: 中文`, the name of the value stays.
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
mod tests;
