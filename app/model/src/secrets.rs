//! Secrets in program arguments. They are not written to disk.

use std::borrow::Cow;

/// Replacement of a secret.
const HIDDEN: &str = "***";

/// Name endings of secret arguments.
const NAMES: [&str; 9] = [
    "key",
    "token",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secrets",
    "credentials",
];

/// Returns shell arguments without the values of secret-looking names: `--api-key ***`.
pub fn without_secrets(arguments: &str) -> String {
    let Some(words) = shlex::split(arguments) else {
        // The text has an unclosed quote, so the arguments cannot be separated.
        return String::new();
    };
    let mut shown = Vec::with_capacity(words.len());
    let (mut is_value, mut hides) = (false, false);
    for word in &words {
        let is_hidden = std::mem::take(&mut is_value) && !word.starts_with('-');
        hides |= is_hidden;
        let value = word.split_once('=').filter(|(name, _)| is_secret(name));
        shown.push(match value {
            _ if is_hidden => HIDDEN.to_owned(),
            Some((name, _)) => {
                hides = true;
                format!("{}={HIDDEN}", quoted(name))
            }
            None => {
                is_value = word.starts_with('-') && is_secret(word);
                quoted(word).into_owned()
            }
        });
    }
    match hides {
        true => shown.join(" "),
        // Without secrets, the typed text stays unchanged.
        false => arguments.to_owned(),
    }
}

fn quoted(word: &str) -> Cow<'_, str> {
    if shlex::split(word).is_some_and(|words| words == [word]) {
        return Cow::Borrowed(word);
    }
    // Only a NUL byte cannot be quoted, and no argument contains one.
    shlex::try_quote(word).unwrap_or_default()
}

/// Returns true for `--api-key`, `wandb.apiKey`, `HF_TOKEN`, but not for `--max-tokens` or `--tokenizer`.
fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|word| NAMES.iter().any(|secret| word.ends_with(secret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_values_are_masked_and_other_arguments_stay() {
        for (typed, kept) in [
            ("--api-key abc --epochs 3", "--api-key *** --epochs 3"),
            ("--token=abc", "--token=***"),
            ("--password 'a b' -v", "--password *** -v"),
            ("wandb.apiKey=abc lr=0.1", "wandb.apiKey=*** lr=0.1"),
            ("HF_TOKEN=abc \"two words\"", "HF_TOKEN=*** 'two words'"),
            // A switch has no value.
            ("--use-token --epochs 3", "--use-token --epochs 3"),
            ("--max-tokens 100", "--max-tokens 100"),
            ("--tokenizer  \"bert base\"", "--tokenizer  \"bert base\""),
            ("--client-secret abc=d", "--client-secret ***"),
            ("'open --token abc", ""),
            ("", ""),
        ] {
            assert_eq!(without_secrets(typed), kept, "{typed}");
        }
    }
}
