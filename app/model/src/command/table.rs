//! What every action is called, what it does, its key, and where it stands in the help.

use egui::{Key, KeyboardShortcut, Modifiers};
use strum::VariantArray as _;

use super::{Action, Group, Info};

const fn key(key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(Modifiers::NONE, key))
}

const fn with(modifiers: Modifiers, key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(modifiers, key))
}

const CTRL: Modifiers = Modifiers::COMMAND;
const SHIFT: Modifiers = Modifiers::SHIFT;
const ALT: Modifiers = Modifiers::ALT;
const ALT_SHIFT: Modifiers = Modifiers::ALT.plus(Modifiers::SHIFT);
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

impl Action {
    /// All actions in the order of the help sheet.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied()
    }

    /// Name, tooltip, key and group.
    #[rustfmt::skip]
    #[expect(clippy::too_many_lines, reason = "one line an action")]
    pub fn info(self) -> Info {
        use {Action as A, Group as G};
        let (name, tooltip, shortcut, group) = match self {
            A::RunDemo => ("Run the digits demo", "Loads 1,797 handwritten digits with 4 workers", with(CTRL, Key::D), G::Run),
            A::Run => ("Run", "Runs the loader with the options on the left", with(CTRL, Key::R), G::Run),
            A::RunPaused => ("Run, paused", "Starts a run and holds it before the first batch: step through it with →", with(ALT, Key::R), G::Run),
            A::RunSlowly => ("Run at 1/10 speed", "Starts a run in which each sample and each training step takes ten times as long", with(ALT_SHIFT, Key::R), G::Run),
            A::Simulate => ("Simulate", "Simulates the run on a virtual clock: exact, and the same every time", with(CTRL_SHIFT, Key::R), G::Run),
            A::Stop => ("Stop", "Stops the run; what was recorded is kept", with(CTRL, Key::Period), G::Run),
            A::PauseResume => ("Pause or resume", "Holds every thread of the loader, or plays the recording", key(Key::Space), G::Travel),
            A::StepForward => ("Step forward", "One transition: a batch enters its next stage", key(Key::ArrowRight), G::Travel),
            A::StepBack => ("Step back", "One transition back in the recording", key(Key::ArrowLeft), G::Travel),
            A::NextBatch => ("Next batch", "To the next batch that the trainer gets", with(SHIFT, Key::ArrowRight), G::Travel),
            A::PreviousBatch => ("Previous batch", "To the batch that the trainer got before", with(SHIFT, Key::ArrowLeft), G::Travel),
            A::NextStall => ("Next wait", "To the next wait of the trainer of at least 5 % of the longest", key(Key::N), G::Travel),
            A::PreviousStall => ("Previous wait", "To the previous wait of the trainer of at least 5 % of the longest", key(Key::P), G::Travel),
            A::LongestWait => ("Longest wait", "Into the longest wait of the trainer, where its cause can be seen", with(SHIFT, Key::N), G::Travel),
            A::Replay => ("Replay", "Plays the run from its beginning", with(SHIFT, Key::Space), G::Travel),
            A::NextOutOfOrder => ("Next arrival out of order", "To the next batch that arrives before one that should come first", key(Key::O), G::Travel),
            A::PreviousOutOfOrder => ("Previous arrival out of order", "To the last batch that arrived before one that should come first", with(SHIFT, Key::O), G::Travel),
            A::NextTrouble => ("Next error", "To the next error, or to where events were lost", key(Key::E), G::Travel),
            A::PreviousTrouble => ("Previous error", "To the last error, or to where events were lost", with(SHIFT, Key::E), G::Travel),
            A::NextStage => ("Next stage", "To where the selected batch enters its next stage", key(Key::CloseBracket), G::Travel),
            A::PreviousStage => ("Previous stage", "To where the selected batch entered the stage before", key(Key::OpenBracket), G::Travel),
            A::Slower => ("Play slower", "Down to a hundredth of real time", key(Key::Minus), G::Travel),
            A::Faster => ("Play faster", "Up to ten times real time", key(Key::Plus), G::Travel),
            A::GoToStart => ("Go to start", "To the moment before anything happened", with(CTRL, Key::Home), G::Travel),
            A::FollowLive => ("Follow live", "Shows what happens now", key(Key::L), G::Travel),
            A::HideFuture => ("Hide the future", "Shows nothing that comes after the moment that is looked at: neither in time nor in any sum", key(Key::H), G::Travel),
            A::ZoomIn => ("Zoom in", "Shows less time, in more detail", key(Key::W), G::Look),
            A::ZoomOut => ("Zoom out", "Shows more time", key(Key::S), G::Look),
            A::PanLeft => ("Move left", "Shows earlier time", key(Key::A), G::Look),
            A::PanRight => ("Move right", "Shows later time", key(Key::D), G::Look),
            A::ShowAll => ("Show everything", "The whole run, and follow what comes", key(Key::Home), G::Look),
            A::FitSelection => ("Fit the selection", "Zooms to what is selected", key(Key::F), G::Look),
            A::ZoomToRange => ("Zoom to the range", "Zooms to the range that was dragged on the ruler", key(Key::Z), G::Look),
            A::ViewBack => ("Previous view", "Back in the history of zooms", with(ALT, Key::ArrowLeft), G::Look),
            A::ViewForward => ("Next view", "Forward in the history of zooms", with(ALT, Key::ArrowRight), G::Look),
            A::NextSpan => ("Next span", "The next batch on the selected lane", key(Key::Period), G::Find),
            A::PreviousSpan => ("Previous span", "The batch before on the selected lane", key(Key::Comma), G::Find),
            A::LaneUp => ("Lane above", "Selects the lane above the selected one", key(Key::ArrowUp), G::Find),
            A::LaneDown => ("Lane below", "Selects the lane below the selected one", key(Key::ArrowDown), G::Find),
            A::Search => ("Search…", "Finds a batch, a sample, a worker, what was slow, errors", key(Key::Slash), G::Find),
            A::NextMatch => ("Next match", "To the next thing that was searched for", key(Key::F3), G::Find),
            A::PreviousMatch => ("Previous match", "To the last thing that was searched for", with(SHIFT, Key::F3), G::Find),
            A::ToggleMarker => ("Place or remove a marker", "Marks the instant that is looked at, so that it can be found again", key(Key::M), G::Find),
            A::NextMarker => ("Next marker", "To the first marker after this moment", key(Key::J), G::Find),
            A::PreviousMarker => ("Previous marker", "To the last marker before this moment", with(SHIFT, Key::J), G::Find),
            A::ClearMarkers => ("Remove all markers", "Takes every marker of this run away", None, G::Find),
            A::Open => ("Open a recording…", "Opens a recording, a trace of torch.profiler or SPDL's statistics", with(CTRL, Key::O), G::File),
            A::OpenFolder => ("Open a folder…", "Opens a folder of recordings as one session, or of LotusTrace logs", with(CTRL_SHIFT, Key::O), G::File),
            A::Save => ("Save as…", "Writes the recording to a file", with(CTRL, Key::S), G::File),
            A::Compare => ("Compare with a recording…", "Compares this run with another recording: throughput, waiting, findings", None, G::File),
            A::TryProgram => ("Try on the program", "Runs the program that is watched again with the settings that the forecast finds promising", None, G::File),
            A::EndTries => ("End the tries", "Asks the program to end in order; what was recorded is kept", None, G::File),
            A::Export => ("Export…", "Writes the run as a trace for Perfetto, or as tables", with(CTRL, Key::E), G::File),
            A::CancelExport => ("Cancel the export", "Stops writing; nothing half-written is left", None, G::File),
            A::ChooseFolder => ("Choose a folder of pictures…", "Loads your own JPEG and PNG pictures", None, G::File),
            A::WatchProgram => ("Watch a PyTorch program", "Copies the command that runs your own training script, unchanged, and shows its loaders live", None, G::File),
            A::SavePicture => ("Save batch image…", "Writes the enlarged picture to a PNG file, pixel by pixel", None, G::File),
            A::CopyValues => ("Copy the values", "Puts the values of the selected batch on the clipboard, one row a sample", key(Key::C), G::File),
            A::CopyContent => ("Copy the content as JSON", "Puts all that is known of the selected batch's content on the clipboard", with(SHIFT, Key::C), G::File),
            A::CopyIndices => ("Copy the indices", "Puts the dataset indices of the selected batch on the clipboard", None, G::File),
            A::CopyVariables => ("Copy the variables", "Puts PyTorch's variables on the clipboard, as Python prints them", None, G::File),
            A::Close => ("Close run", "Back to the start page", with(CTRL, Key::W), G::File),
            A::Undo => ("Undo", "Takes back the last change to the options", with(CTRL, Key::Z), G::File),
            A::Redo => ("Redo", "Makes the change to the options again", with(CTRL_SHIFT, Key::Z), G::File),
            A::TakeOptions => ("Load these options", "Copies the options of the shown run to the next run", None, G::File),
            A::Escape => ("Clear the selection", "Closes the topmost popup, then clears the selection", key(Key::Escape), G::Window),
            A::ShowDebug => ("Debug", "The pipeline at any instant, and what happened when", key(Key::Num1), G::Window),
            A::ShowSampling => ("Sampling", "The order of the samples: what is drawn, how often, by whom", key(Key::Num2), G::Window),
            A::ShowDiagnose => ("Diagnose", "Why training waits, what to change, and what it would bring", key(Key::Num3), G::Window),
            A::ShowTimeline => ("Timeline", "What happened when, lane by lane", key(Key::T), G::Window),
            A::ShowBatches => ("Batches", "A table of all batches and where their time went", key(Key::B), G::Window),
            A::ShowPlots => ("Plots", "Waiting, throughput and queues over time", key(Key::G), G::Window),
            A::ShowLoaders => ("Loaders", "All loaders and ranks of the session, and which rank is the straggler", key(Key::K), G::Window),
            A::NextLoader => ("Next loader", "Shows the next loader or rank of the session", with(CTRL, Key::PageDown), G::Window),
            A::PreviousLoader => ("Previous loader", "Shows the loader or rank before", with(CTRL, Key::PageUp), G::Window),
            A::ToggleOptions => ("Options", "Shows or hides the options on the left", with(CTRL, Key::B), G::Window),
            A::ToggleInspector => ("Inspector", "Shows or hides the inspector on the right", with(CTRL, Key::I), G::Window),
            A::ToggleVariables => ("Variables", "Shows or hides send_idx, rcvd_idx, task_info and workers_status beside the pipeline", key(Key::V), G::Window),
            A::ToggleTheme => ("Toggle theme", "Dark or light", with(CTRL, Key::T), G::Window),
            A::ToggleMotion => ("Reduce motion", "Turns animations off, or on", None, G::Window),
            A::ToggleAsking => ("Ask before quitting", "Warns before runs that were not saved are discarded", None, G::Window),
            A::ShowMessages => ("Errors and warnings", "What the loader complained about, and when", with(CTRL, Key::M), G::Window),
            A::Palette => ("All actions…", "Finds an action, or something in the run, by typing", with(CTRL, Key::K), G::Window),
            A::Help => ("Help", "Shows all keys", key(Key::Questionmark), G::Window),
            A::Learn => ("Learn", "Fourteen lessons about the DataLoader, a quiz and detective cases", with(CTRL, Key::L), G::Learn),
            A::GoOn => ("Next step", "Gives the answer, or goes on to the next step of the lesson", key(Key::Enter), G::Learn),
            A::SkipStep => ("Skip the question", "Goes on without an answer", with(SHIFT, Key::Enter), G::Learn),
            A::PreviousPage => ("Previous step", "Back to the step of the lesson before", key(Key::Backspace), G::Learn),
            A::ReturnToStep => ("Return to the step", "Shows the run, the moment and the panels of the lesson again", key(Key::R), G::Learn),
            A::ToggleLecture => ("Lecture mode", "Hides the questions of lessons and enlarges the type", with(SHIFT, Key::L), G::Learn),
            A::ChangeLanguage => ("English or 中文", "The language of the lessons", None, G::Learn),
            A::LeaveLesson => ("Leave the lesson", "Back to the list of lessons, and from there to your own run", with(CTRL_SHIFT, Key::L), G::Learn),
            A::Quit => ("Quit", "Closes the window", with(CTRL, Key::Q), G::Window),
        };
        Info { name, tooltip, shortcut, group }
    }
}
