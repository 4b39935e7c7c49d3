//! Table of actions: name, tooltip, key and group in the help.

use egui::{Key, KeyboardShortcut, Modifiers};
use loadscope_words::say;
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
    /// Returns all actions in the order of the help sheet.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied()
    }

    /// Returns the name, tooltip, key and group.
    #[rustfmt::skip]
    #[expect(clippy::too_many_lines, reason = "one line an action")]
    pub fn info(self) -> Info {
        use {Action as A, Group as G};
        let (name, tooltip, shortcut, group) = match self {
            A::RunDemo => (say!("Run the digits demo"), say!("Loads 1,797 handwritten digits with 4 workers"), with(CTRL, Key::D), G::Run),
            A::Run => (say!("Run"), say!("Runs the loader with the options on the left"), with(CTRL, Key::R), G::Run),
            A::RunPaused => (say!("Run, paused"), say!("Starts a run and pauses it before the first batch. Step through it with →."), with(ALT, Key::R), G::Run),
            A::RunSlowly => (say!("Run at 1/10 speed"), say!("Starts a run with all samples and training steps ten times slower"), with(ALT_SHIFT, Key::R), G::Run),
            A::Simulate => (say!("Simulate"), say!("Simulates the run on a virtual clock, with the same result every time"), with(CTRL_SHIFT, Key::R), G::Run),
            A::Stop => (say!("Stop"), say!("Stops the run and keeps the recording"), with(CTRL, Key::Period), G::Run),
            A::PauseResume => (say!("Pause or resume"), say!("Pauses the loader, or plays the recording"), key(Key::Space), G::Travel),
            A::StepForward => (say!("Step forward"), say!("Goes forward to the next change of stage"), key(Key::ArrowRight), G::Travel),
            A::StepBack => (say!("Step back"), say!("Goes back to the previous change of stage"), key(Key::ArrowLeft), G::Travel),
            A::NextBatch => (say!("Next batch"), say!("Jumps to the next yielded batch"), with(SHIFT, Key::ArrowRight), G::Travel),
            A::PreviousBatch => (say!("Previous batch"), say!("Jumps to the previous batch the trainer got"), with(SHIFT, Key::ArrowLeft), G::Travel),
            A::NextStall => (say!("Next wait"), say!("Jumps to the trainer's next wait of at least 5 % of the longest"), key(Key::N), G::Travel),
            A::PreviousStall => (say!("Previous wait"), say!("Jumps to the trainer's previous wait of at least 5 % of the longest"), key(Key::P), G::Travel),
            A::LongestWait => (say!("Longest wait"), say!("Jumps to the trainer's longest wait"), with(SHIFT, Key::N), G::Travel),
            A::Replay => (say!("Replay"), say!("Plays the run from its beginning"), with(SHIFT, Key::Space), G::Travel),
            A::NextOutOfOrder => (say!("Next arrival out of order"), say!("Jumps to the next batch that arrives out of order"), key(Key::O), G::Travel),
            A::PreviousOutOfOrder => (say!("Previous arrival out of order"), say!("Jumps to the previous batch that arrived out of order"), with(SHIFT, Key::O), G::Travel),
            A::NextTrouble => (say!("Next error"), say!("Jumps to the next error, skipped sample or dropped event"), key(Key::E), G::Travel),
            A::PreviousTrouble => (say!("Previous error"), say!("Jumps to the previous error, skipped sample or dropped event"), with(SHIFT, Key::E), G::Travel),
            A::NextStage => (say!("Next stage"), say!("Jumps to the next stage of the selected batch"), key(Key::CloseBracket), G::Travel),
            A::PreviousStage => (say!("Previous stage"), say!("Jumps to the previous stage of the selected batch"), key(Key::OpenBracket), G::Travel),
            A::Slower => (say!("Play slower"), say!("Slows playback, down to 1/100 of real time"), key(Key::Minus), G::Travel),
            A::Faster => (say!("Play faster"), say!("Speeds up playback, up to 10 times real time"), key(Key::Plus), G::Travel),
            A::GoToStart => (say!("Go to start"), say!("Jumps to the time before the first event"), with(CTRL, Key::Home), G::Travel),
            A::FollowLive => (say!("Follow live"), say!("Shows the newest events as they arrive"), key(Key::L), G::Travel),
            A::HideFuture => (say!("Hide the future"), say!("Hides everything after the time cursor, also in totals"), key(Key::H), G::Travel),
            A::ZoomIn => (say!("Zoom in"), say!("Shows less time, in more detail"), key(Key::W), G::View),
            A::ZoomOut => (say!("Zoom out"), say!("Shows more time"), key(Key::S), G::View),
            A::PanLeft => (say!("Move left"), say!("Shows earlier time"), key(Key::A), G::View),
            A::PanRight => (say!("Move right"), say!("Shows later time"), key(Key::D), G::View),
            A::ShowAll => (say!("Show everything"), say!("Shows the whole run and follows new events"), key(Key::Home), G::View),
            A::FitSelection => (say!("Fit the selection"), say!("Zooms to the selection"), key(Key::F), G::View),
            A::ZoomToRange => (say!("Zoom to the range"), say!("Zooms to the range selected on the ruler"), key(Key::Z), G::View),
            A::ViewBack => (say!("Previous view"), say!("Goes back in the zoom history"), with(ALT, Key::ArrowLeft), G::View),
            A::ViewForward => (say!("Next view"), say!("Goes forward in the zoom history"), with(ALT, Key::ArrowRight), G::View),
            A::NextSpan => (say!("Next span"), say!("Selects the next batch on the selected lane"), key(Key::Period), G::Find),
            A::PreviousSpan => (say!("Previous span"), say!("Selects the previous batch on the selected lane"), key(Key::Comma), G::Find),
            A::LaneUp => (say!("Lane above"), say!("Selects the lane above the selected one"), key(Key::ArrowUp), G::Find),
            A::LaneDown => (say!("Lane below"), say!("Selects the lane below the selected one"), key(Key::ArrowDown), G::Find),
            A::Search => (say!("Search…"), say!("Finds batches, samples, workers, slow spans and errors"), key(Key::Slash), G::Find),
            A::NextMatch => (say!("Next match"), say!("Jumps to the next search result"), key(Key::F3), G::Find),
            A::PreviousMatch => (say!("Previous match"), say!("Jumps to the previous search result"), with(SHIFT, Key::F3), G::Find),
            A::ToggleMarker => (say!("Place or remove a marker"), say!("Marks the time at the time cursor"), key(Key::M), G::Find),
            A::NextMarker => (say!("Next marker"), say!("Jumps to the next marker"), key(Key::J), G::Find),
            A::PreviousMarker => (say!("Previous marker"), say!("Jumps to the previous marker"), with(SHIFT, Key::J), G::Find),
            A::ClearMarkers => (say!("Remove all markers"), say!("Removes all markers of this run"), None, G::Find),
            A::Open => (say!("Open a recording…"), say!("Opens a recording, a torch.profiler trace or SPDL statistics"), with(CTRL, Key::O), G::File),
            A::OpenFolder => (say!("Open a folder…"), say!("Opens a folder of recordings as one session, or a folder of LotusTrace logs"), with(CTRL_SHIFT, Key::O), G::File),
            A::Save => (say!("Save as…"), say!("Saves the recording to a file"), with(CTRL, Key::S), G::File),
            A::Compare => (say!("Compare with a recording…"), say!("Compares this run with another recording: throughput, waiting, findings"), None, G::File),
            A::TryProgram => (say!("Run the program with other settings"), say!("Runs the watched program again with the most promising settings"), None, G::File),
            A::EndTries => (say!("Stop measuring"), say!("Asks the program to shut down cleanly and keeps its recordings"), None, G::File),
            A::Export => (say!("Export…"), say!("Exports the run to Perfetto, speedscope, pprof, CSV or Parquet"), with(CTRL, Key::E), G::File),
            A::CancelExport => (say!("Cancel the export"), say!("Stops the export and removes the partial output"), None, G::File),
            A::ChooseFolder => (say!("Choose a folder of images…"), say!("Loads your own JPEG and PNG images"), None, G::File),
            A::WatchProgram => (say!("Watch a PyTorch program"), say!("Runs your training script unchanged and shows its loaders live. In a browser, copies the command instead."), None, G::File),
            A::SavePicture => (say!("Save batch image…"), say!("Saves the enlarged image as a PNG file, pixel by pixel"), None, G::File),
            A::CopyValues => (say!("Copy the values"), say!("Copies the values of the selected batch, one row per sample"), key(Key::C), G::File),
            A::CopyContent => (say!("Copy the content as JSON"), say!("Copies the contents of the selected batch"), with(SHIFT, Key::C), G::File),
            A::CopyIndices => (say!("Copy the indices"), say!("Copies the dataset indices of the selected batch"), None, G::File),
            A::CopyVariables => (say!("Copy the variables"), say!("Copies PyTorch's variables, as Python prints them"), None, G::File),
            A::CopyPlace => (say!("Copy file and line"), say!("Copies the shown line as FILE:LINE"), None, G::File),
            A::OpenEditor => (say!("Open in the editor"), say!("Opens the shown line in the editor that $VISUAL or $EDITOR names"), None, G::File),
            A::Close => (say!("Close run"), say!("Returns to the start page"), with(CTRL, Key::W), G::File),
            A::Undo => (say!("Undo"), say!("Undoes the last change to the options"), with(CTRL, Key::Z), G::File),
            A::Redo => (say!("Redo"), say!("Redoes the last undone change to the options"), with(CTRL_SHIFT, Key::Z), G::File),
            A::TakeOptions => (say!("Load these options"), say!("Copies the options of the shown run to the next run"), None, G::File),
            A::Escape => (say!("Clear the selection"), say!("Closes the topmost popup, then clears the selection"), key(Key::Escape), G::Window),
            A::ShowDebug => (say!("Debug"), say!("Shows the pipeline at any instant, above the timeline"), key(Key::Num1), G::Window),
            A::ShowSampling => (say!("Sampling"), say!("Shows the sample order: coverage, shuffling, classes and ranks"), key(Key::Num2), G::Window),
            A::ShowDiagnose => (say!("Diagnose"), say!("Explains why training waits and forecasts other settings"), key(Key::Num3), G::Window),
            A::ShowTimeline => (say!("Timeline"), say!("Shows every batch in every stage over time"), key(Key::T), G::Window),
            A::ShowBatches => (say!("Batches"), say!("Lists all batches with their time per stage"), key(Key::B), G::Window),
            A::ShowPlots => (say!("Plots"), say!("Plots waiting, throughput and queues over time"), key(Key::G), G::Window),
            A::ShowLoaders => (say!("Loaders"), say!("Lists all loaders and ranks of the session, and the straggler"), key(Key::K), G::Window),
            A::ShowCode => (say!("Code"), say!("Shows the hot lines and the flame graph of the selection"), key(Key::X), G::Window),
            A::NextLoader => (say!("Next loader"), say!("Shows the next loader or rank of the session"), with(CTRL, Key::PageDown), G::Window),
            A::PreviousLoader => (say!("Previous loader"), say!("Shows the previous loader or rank of the session"), with(CTRL, Key::PageUp), G::Window),
            A::ToggleOptions => (say!("Options"), say!("Shows or hides the options on the left"), with(CTRL, Key::B), G::Window),
            A::ToggleInspector => (say!("Inspector"), say!("Shows or hides the inspector on the right"), with(CTRL, Key::I), G::Window),
            A::ToggleVariables => (say!("Variables"), say!("Shows or hides send_idx, rcvd_idx, task_info and workers_status next to the pipeline"), key(Key::V), G::Window),
            A::ToggleTheme => (say!("Toggle theme"), say!("Switches between the dark and the light theme"), with(CTRL, Key::T), G::Window),
            A::ToggleMotion => (say!("Reduce motion"), say!("Turns animations off or on"), None, G::Window),
            A::ToggleAsking => (say!("Ask before quitting"), say!("Warns before unsaved runs are discarded"), None, G::Window),
            A::Present => (say!("Presentation"), say!("Shows only the pipeline, as large as the screen allows"), key(Key::F5), G::Window),
            A::Larger => (say!("Larger"), say!("Makes everything in the window larger"), with(CTRL, Key::Plus), G::Window),
            A::Smaller => (say!("Smaller"), say!("Makes everything in the window smaller"), with(CTRL, Key::Minus), G::Window),
            A::ActualSize => (say!("Actual size"), say!("Resets the size of everything in the window"), with(CTRL, Key::Num0), G::Window),
            A::ToggleNumbers => (say!("Developer's numbers"), say!("Shows the time per frame and the number of events in the status bar"), None, G::Window),
            A::ShowMessages => (say!("Errors and warnings"), say!("Lists the errors and warnings of the loader"), with(CTRL, Key::M), G::Window),
            A::Palette => (say!("All actions…"), say!("Finds actions and parts of the run by name"), with(CTRL, Key::K), G::Window),
            A::Help => (say!("Help"), say!("Lists all keyboard shortcuts"), key(Key::Questionmark), G::Window),
            A::Glossary => (say!("Glossary"), say!("Explains the terms of the pipeline, with their names in PyTorch"), key(Key::F1), G::Window),
            A::Learn => (say!("Learn"), say!("Opens fourteen lessons about the DataLoader, a quiz and detective cases"), with(CTRL, Key::L), G::Learn),
            A::GoOn => (say!("Next step"), say!("Submits the answer, or continues with the next step"), key(Key::Enter), G::Learn),
            A::SkipStep => (say!("Skip the question"), say!("Continues without an answer"), with(SHIFT, Key::Enter), G::Learn),
            A::PreviousPage => (say!("Previous step"), say!("Returns to the previous step of the lesson"), key(Key::Backspace), G::Learn),
            A::ReturnToStep => (say!("Return to the step"), say!("Restores the run, the time and the panels of this lesson step"), key(Key::R), G::Learn),
            A::ToggleLecture => (say!("Lecture mode"), say!("Hides the questions of lessons and enlarges the text"), with(SHIFT, Key::L), G::Learn),
            A::ChangeLanguage => (say!("English or 中文"), say!("Switches the language of the window, reports and lessons"), None, G::Window),
            A::LeaveLesson => (say!("Leave the lesson"), say!("Returns to the list of lessons, then to your own run"), with(CTRL_SHIFT, Key::L), G::Learn),
            A::Quit => (say!("Quit"), say!("Closes the window"), with(CTRL, Key::Q), G::Window),
        };
        Info { name, tooltip, shortcut, group }
    }
}
