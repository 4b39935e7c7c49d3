//! What is remembered from one start to the next: preferences, never data.

use std::path::{Path, PathBuf};

use egui::ThemePreference;
use loadscope_trace::RunOptions;
use loadscope_words::Language;
use serde::{Deserialize, Serialize};

use crate::state::learn::Learned;
use crate::thumbnail::Thumbnails;
use crate::view::Workspace;
use crate::watching::ProgramToWatch;

/// What the user wants of animations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Motion {
    /// As the system asks.
    #[default]
    System,
    /// None.
    Reduced,
    /// All.
    Full,
}

/// What is drawn over pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Annotations {
    /// Boxes around objects.
    pub boxes: bool,
    /// Masks of objects and of classes.
    pub masks: bool,
    /// Points of objects.
    pub keypoints: bool,
    /// Names of classes at the boxes.
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

/// How wide the user made the panels, points; 0: as they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Splits {
    /// Width of the options.
    pub options: f32,
    /// Width of the inspector.
    pub inspector: f32,
    /// Height of the pipeline. The file keeps the name that it has had.
    #[serde(rename = "machine")]
    pub pipeline: f32,
}

/// What is remembered from one start to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prefs {
    /// Dark, light or as the system.
    pub theme: ThemePreference,
    /// The language of all texts; `None`: that of the system.
    pub language: Option<Language>,
    /// The options of the next run.
    pub options: RunOptions,
    /// What the middle of the window was for.
    pub workspace: Workspace,
    /// The options are shown.
    pub options_open: bool,
    /// The inspector is shown.
    pub inspector_open: bool,
    /// PyTorch's variables are shown beside the pipeline.
    pub variables_open: bool,
    /// What the user wants of animations.
    pub motion: Motion,
    /// How much larger everything is than the system has it.
    pub zoom: f32,
    /// Numbers about the program itself are shown.
    pub numbers: bool,
    /// What comes after the moment that is looked at is not shown.
    pub hides_future: bool,
    /// How wide the panels are.
    pub splits: Splits,
    /// What is drawn over pictures.
    pub annotations: Annotations,
    /// Ask before a run that was not saved is replaced.
    pub asks: bool,
    /// Recently opened or saved, latest first.
    pub recent: Vec<PathBuf>,
    /// Thumbnails of them.
    pub sketches: Thumbnails,
    /// The program that was watched last. Values of arguments whose names look like secrets (`--api-key`) are not remembered.
    pub watched: ProgramToWatch,
    /// Where the window stood on the screen.
    pub window: Option<WindowPlace>,
    /// What was learned so far.
    pub learned: Learned,
}

/// Where a window stands on the screen, in points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowPlace {
    /// Its upper left corner, with the frame, where the system tells it.
    pub position: Option<[f32; 2]>,
    /// Width and height of what is in it.
    pub size: [f32; 2],
    /// It fills the screen.
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
            learned: Learned::default(),
        }
    }
}

impl Prefs {
    /// Where it is kept in the storage of the window.
    pub const KEY: &'static str = "prefs";

    /// So many recent files are listed.
    const RECENT: usize = 8;

    /// Puts `path` first among the recent files.
    pub fn remember(recent: &mut Vec<PathBuf>, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        recent.retain(|p| *p != path);
        recent.insert(0, path);
        recent.truncate(Self::RECENT);
    }
}

/// The digits demo: 1,797 handwritten digits, shuffled, 4 workers. Digits decode almost instantly, so each takes about
/// as long as a photograph, a few take much longer, and the trainer takes its time.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A new version must not forget what an older one remembered, nor stumble over what it does not know.
    #[test]
    fn what_is_missing_or_unknown_is_no_reason_to_forget_the_rest() {
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

    /// The words of the window have changed, the keys of the file have not.
    #[test]
    fn keys_of_the_file_keep_their_names() {
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
    fn recent_files_are_unique_and_few() {
        let mut recent = Vec::new();
        for n in 0..20 {
            Prefs::remember(&mut recent, Path::new(&format!("/tmp/{}.jsonl", n % 11)));
        }
        assert_eq!(recent.len(), 8);
        assert_eq!(recent[0], Path::new("/tmp/8.jsonl"));
        Prefs::remember(&mut recent, Path::new("/tmp/5.jsonl"));
        assert_eq!(recent.iter().filter(|p| p.ends_with("5.jsonl")).count(), 1);
    }
}
