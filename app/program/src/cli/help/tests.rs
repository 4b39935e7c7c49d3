//! Tests of the rules for all help texts.

use std::collections::{BTreeMap, BTreeSet};

use clap::CommandFactory as _;
use loadscope_trace::Argument;

use super::*;
use crate::cli::Cli;

/// Help text, with its command and option.
struct Entry {
    place: String,
    text: String,
    is_option: bool,
}

impl Entry {
    fn first(&self) -> &str {
        let first = self.text.split("\n\n").next().unwrap_or_default();
        first.split("[default: ").next().unwrap_or_default().trim()
    }
}

fn entries(command: &Command, into: &mut Vec<Entry>) {
    let name = command.get_name().to_owned();
    let mut add = |place: String, text: Option<&StyledStr>, is_option: bool| {
        let text = text.map(ToString::to_string).filter(|t| !t.is_empty());
        into.extend(text.map(|text| Entry {
            place,
            text,
            is_option,
        }));
    };
    for text in [
        command.get_about(),
        command.get_long_about(),
        command.get_after_help(),
        command.get_after_long_help(),
    ] {
        add(name.clone(), text, false);
    }
    for argument in command.get_arguments() {
        let place = format!("{name} {}", argument.get_id());
        let heading = argument
            .get_help_heading()
            .map(|heading| StyledStr::from(heading.to_owned()));
        add(place.clone(), heading.as_ref(), false);
        add(place.clone(), argument.get_help(), true);
        add(place.clone(), argument.get_long_help(), true);
        for value in argument.get_possible_values() {
            add(
                format!("{place} {}", value.get_name()),
                value.get_help(),
                true,
            );
        }
    }
    command.get_subcommands().for_each(|sub| entries(sub, into));
}

fn all() -> Vec<Entry> {
    let mut found = Vec::new();
    entries(&shown(Cli::command()), &mut found);
    found
}

/// A paragraph without a translation is not tested here. It is shown in English, and `cargo xtask check` lists it.
#[test]
fn every_key_of_the_catalog_is_used() {
    let all = all();
    let used = all.iter().flat_map(|entry| entry.text.split("\n\n"));
    let used: BTreeSet<&str> = used.collect();
    let keys: BTreeSet<&str> = HELP.iter().map(|(key, _)| *key).collect();
    let unused: Vec<_> = keys.difference(&used).collect();
    assert!(unused.is_empty(), "unused: {unused:#?}");
    assert!(keys.len() > 100, "{}", keys.len());
}

#[test]
fn first_paragraphs_of_options_have_at_most_30_words() {
    let all = all();
    let first = all.iter().filter(|entry| entry.is_option);
    let long: Vec<String> = first
        .filter(|entry| entry.first().split_whitespace().count() > 30)
        .map(|entry| format!("{}: {}", entry.place, entry.first()))
        .collect();
    assert_eq!(long, [""; 0]);
}

#[test]
fn sentences_are_short_and_begin_with_a_subject_or_a_verb() {
    const OPENERS: [&str; 7] = [
        "Of ", "What ", "Where ", "Whether ", "Who ", "So ", "Which ",
    ];
    for Entry { place, text, .. } in all() {
        assert!(!text.contains(';'), "{place}: {text}");
        for sentence in text.split("\n\n").flat_map(|text| text.split(". ")) {
            let opens = OPENERS.iter().any(|opener| sentence.starts_with(opener));
            assert!(!opens, "{place}: {sentence}");
        }
    }
}

#[test]
fn paragraphs_of_several_sentences_end_with_a_period() {
    for Entry { place, text, .. } in all() {
        for one in text.split("\n\n").filter(|one| !one.contains('\n')) {
            let is_several = one.trim_end_matches('.').contains(". ");
            assert!(!is_several || one.ends_with('.'), "{place}: {one}");
        }
    }
}

#[test]
fn commands_with_exit_codes_of_their_own_list_them() {
    let command = shown(Cli::command());
    for (name, codes) in [
        ("record", &["130", "143", "2 ", "126", "127"][..]),
        ("watch", &["130", "143", "2 ", "126", "127"]),
        ("report", &["0 ", "1 ", "2 ", "130", "143"]),
        ("compare", &["0 ", "1 ", "2 ", "130", "143"]),
        ("run", &["0 ", "2 ", "130", "143"]),
        ("tune", &["0 ", "2 ", "127", "130", "143"]),
    ] {
        let sub = command.find_subcommand(name);
        let help = sub.and_then(Command::get_after_long_help);
        let help = help.map(ToString::to_string).unwrap_or_default();
        let (_, list) = help.split_once("Exit code:").unwrap_or_default();
        for code in codes {
            assert!(list.contains(code), "{name}, {code}: {help}");
        }
    }
}

#[test]
fn an_option_has_the_same_help_in_all_commands() {
    // Options with the same name but another meaning or default.
    const DIFFER: [&str; 6] = ["loader", "output", "set", "epochs", "dataset", "fail_on"];
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let command = shown(Cli::command());
    for sub in command.get_subcommands() {
        for argument in sub.get_arguments().filter(|one| !one.is_positional()) {
            let id = argument.get_id().to_string();
            // The second half of `Print help` depends on whether the command has a longer help.
            if DIFFER.contains(&&*id) || id == "help" {
                continue;
            }
            let help = argument.get_help().map(ToString::to_string);
            let name = argument.get_value_names().unwrap_or_default();
            let both = format!("{name:?} {}", help.unwrap_or_default());
            found.entry(id).or_default().insert(both);
        }
    }
    assert!(found.len() > 40, "{}", found.len());
    for (id, texts) in found {
        assert_eq!(texts.len(), 1, "--{id}: {texts:#?}");
    }
}

#[test]
fn window_options_show_in_commands_that_open_the_window() {
    let command = shown(Cli::command());
    let shows = |command: &Command| {
        let window = command.get_arguments();
        let mut window = window.filter(|argument| argument.get_help_heading() == Some(WINDOW));
        window.any(|argument| !argument.is_hide_set())
    };
    assert!(shows(&command));
    for sub in command.get_subcommands() {
        let opens = WITH_WINDOW.contains(&sub.get_name());
        assert_eq!(shows(sub), opens, "{}", sub.get_name());
    }
}

#[test]
fn hidden_window_options_are_accepted() {
    let line = "loadscope order --len 3 --renderer glow --reduce-motion --memory 1GB";
    let matches = shown(Cli::command()).try_get_matches_from(line.split(' '));
    assert!(matches.is_ok(), "{matches:?}");
}

#[test]
fn run_has_an_option_for_each_argument_of_the_loader() {
    let cli = Cli::command();
    let run = cli.find_subcommand("run").expect("a command");
    for field in Argument::ALL.iter().flat_map(|one| one.fields()) {
        let option = match *field {
            "world_size" => "world".to_owned(),
            "set_epoch" => "no-set-epoch".to_owned(),
            field => field.replace('_', "-"),
        };
        let mut longs = run.get_arguments().filter_map(|one| one.get_long());
        assert!(longs.any(|long| long == option), "--{option}");
    }
}

#[test]
fn the_table_is_sorted() {
    assert!(HELP.is_sorted_by_key(|(key, _)| *key));
}

/// Returns the printed error for a command line.
fn refused(line: &str) -> String {
    let refused = shown(Cli::command()).try_get_matches_from(line.split(' '));
    let error = refused.expect_err(line);
    with_tip(error).render().to_string()
}

#[test]
fn tips_name_a_correction_or_are_absent() {
    for (line, tip) in [
        (
            "loadscope record python train.py",
            "tip: write -- before the program",
        ),
        (
            "loadscope tune --set num_workers=4 -- python train.py",
            "tip: write --try num_workers=4",
        ),
        ("loadscope reprot run.jsonl", "'report'"),
        ("loadscope report run.jsonl --fail-no wait>1s", "'--fail-on"),
    ] {
        let said = refused(line);
        assert!(said.contains(tip), "{line}: {said}");
    }
    for line in [
        "loadscope report run.jsonl --nonsense",
        "loadscope record --nonsense -- python train.py",
        "loadscope info run.jsonl -x",
    ] {
        let said = refused(line);
        assert!(said.contains("unexpected argument"), "{line}: {said}");
        assert!(!said.contains("tip:"), "{line}: {said}");
    }
}
