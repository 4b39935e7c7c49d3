//! Preferences that are kept between starts. They never contain data.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use egui::ThemePreference;
use loadscope_trace::RunOptions;
use loadscope_words::Language;
use serde::{Deserialize, Serialize};

use crate::state::learn::LearnPrefs;
use crate::thumbnail::Thumbnails;
use crate::view::Workspace;
use crate::watching::ProgramToWatch;

/// Preference for animations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Motion {
    /// Setting of the system.
    #[default]
    System,
    /// No animations.
    Reduced,
    /// All animations.
    Full,
}

/// Annotations drawn over images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Annotations {
    /// Boxes around objects.
    pub boxes: bool,
    /// Masks of objects and of classes.
    pub masks: bool,
    /// Keypoints of objects.
    pub keypoints: bool,
    /// Class names next to the boxes.
    pub names: bool,
}

impl Default for Annotations {
    fn default() -> Self {
        Self {
            boxes: true,
            masks: true,
            keypoints: true,
            names: true,
        }
    }
}

/// Panel sizes chosen by the user, in points. 0 is the default size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Splits {
    /// Width of the options panel.
    pub options: f32,
    /// Width of the inspector.
    pub inspector: f32,
    /// Height of the pipeline. The preferences file keeps the earlier name, `machine`.
    #[serde(rename = "machine")]
    pub pipeline: f32,
}

/// Preferences that are kept between starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prefs {
    /// Theme: dark, light or that of the system.
    pub theme: ThemePreference,
    /// Language of all texts. `None` is that of the system.
    pub language: Option<Language>,
    /// The options of the next run.
    pub options: RunOptions,
    /// Shown workspace.
    pub workspace: Workspace,
    /// True if the options are shown.
    pub options_open: bool,
    /// True if the inspector is shown.
    pub inspector_open: bool,
    /// True if PyTorch's variables are shown next to the pipeline.
    pub variables_open: bool,
    /// Preference for animations.
    pub motion: Motion,
    /// Zoom factor relative to the system.
    pub zoom: f32,
    /// True if performance numbers of Loadscope are shown.
    pub numbers: bool,
    /// True if everything after the cursor is hidden.
    pub hides_future: bool,
    /// Panel sizes.
    pub splits: Splits,
    /// Annotations drawn over images.
    pub annotations: Annotations,
    /// True if Loadscope asks before it replaces an unsaved run.
    pub asks: bool,
    /// Recently opened or saved files, latest first.
    pub recent: Vec<PathBuf>,
    /// Thumbnails of the recent files.
    pub sketches: Thumbnails,
    /// Program that was watched last.
    /// Values of arguments whose names look like secrets (`--api-key`) are not stored.
    pub watched: ProgramToWatch,
    /// Position of the window on the screen.
    pub window: Option<WindowPlace>,
    /// Progress in the lessons.
    pub learned: LearnPrefs,
}

/// Position of a window on the screen, in points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowPlace {
    /// Upper left corner including the frame. `None` if the system does not report it.
    pub position: Option<[f32; 2]>,
    /// Width and height of the content.
    pub size: [f32; 2],
    /// True if the window is maximized.
    pub maximized: bool,
}

impl Default for Prefs {
    fn default() -> Self {
        Self {
            theme: ThemePreference::System,
            language: None,
            options: demo(),
            workspace: Workspace::default(),
            options_open: true,
            inspector_open: true,
            variables_open: false,
            motion: Motion::System,
            zoom: 1.0,
            numbers: false,
            hides_future: false,
            splits: Splits::default(),
            annotations: Annotations::default(),
            asks: true,
            recent: Vec::new(),
            sketches: Thumbnails::default(),
            watched: ProgramToWatch::default(),
            window: None,
            learned: LearnPrefs::default(),
        }
    }
}

impl Prefs {
    /// Key in the window's storage.
    pub const KEY: &'static str = "prefs";

    /// Maximum number of recent files.
    const RECENT: usize = 8;

    /// Moves `path` to the front of the recent files.
    pub fn remember(recent: &mut Vec<PathBuf>, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        recent.retain(|p| *p != path);
        recent.insert(0, path);
        recent.truncate(Self::RECENT);
    }
}

/// Returns the options of the digits demo: 1,797 handwritten digits, shuffled, 4 workers.
/// Digits decode almost instantly. The added costs make each about as slow as a photograph, and a few much slower.
pub fn demo() -> RunOptions {
    RunOptions {
        dataset: "digits".to_owned(),
        batch_size: Some(32),
        shuffle: true,
        seed: Some(0),
        num_workers: 4,
        extra_cost: "cost_ms=8,jitter=0.4,tail=0.004:60".to_owned(),
        step_ms: 55.0,
        epochs: 1,
        ..RunOptions::default()
    }
}

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

    /// A new version must keep the preferences of an older one, and ignore unknown fields.
    #[test]
    fn missing_or_unknown_fields_keep_the_other_preferences() {
        let prefs = Prefs {
            workspace: Workspace::Sampling,
            motion: Motion::Reduced,
            asks: false,
            ..Prefs::default()
        };
        let mut value = serde_json::to_value(&prefs).expect("plain data");
        let back: Prefs = serde_json::from_value(value.clone()).expect("what was written");
        assert_eq!(back, prefs);
        let fields = value.as_object_mut().expect("a struct");
        fields.remove("motion");
        fields.insert("reduce_motion".to_owned(), true.into());
        let back: Prefs = serde_json::from_value(value).expect("of another version");
        assert_eq!(back.workspace, Workspace::Sampling);
        assert_eq!(back.motion, Motion::System);
    }

    /// Keys of the preferences file stay the same after a rename in the window.
    #[test]
    fn renamed_fields_keep_their_keys_in_the_file() {
        let old = serde_json::json!({"splits": {"options": 1.0, "inspector": 2.0, "machine": 3.0}});
        let prefs: Prefs = serde_json::from_value(old).expect("as it was written once");
        let expected = Splits {
            options: 1.0,
            inspector: 2.0,
            pipeline: 3.0,
        };
        assert_eq!(prefs.splits, expected);
    }

    #[test]
    fn recent_files_are_unique_and_at_most_eight() {
        let mut recent = Vec::new();
        for n in 0..20 {
            Prefs::remember(&mut recent, Path::new(&format!("/tmp/{}.jsonl", n % 11)));
        }
        assert_eq!(recent.len(), 8);
        assert_eq!(recent[0], Path::new("/tmp/8.jsonl"));
        Prefs::remember(&mut recent, Path::new("/tmp/5.jsonl"));
        assert_eq!(recent.iter().filter(|p| p.ends_with("5.jsonl")).count(), 1);
    }

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
