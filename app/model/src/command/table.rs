//! What every action is called, what it does, its key, and where it stands in the help.

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
            A::RunDemo => (say!("Run the digits demo"), say!("Loads 1,797 handwritten digits with 4 workers"), with(CTRL, Key::D), G::Run),
            A::Run => (say!("Run"), say!("Runs the loader with the options on the left"), with(CTRL, Key::R), G::Run),
            A::RunPaused => (say!("Run, paused"), say!("Starts a run and holds it before the first batch: step through it with →"), with(ALT, Key::R), G::Run),
            A::RunSlowly => (say!("Run at 1/10 speed"), say!("Starts a run in which each sample and each training step takes ten times as long"), with(ALT_SHIFT, Key::R), G::Run),
            A::Simulate => (say!("Simulate"), say!("Simulates the run on a virtual clock: exact, and the same every time"), with(CTRL_SHIFT, Key::R), G::Run),
            A::Stop => (say!("Stop"), say!("Stops the run; what was recorded is kept"), with(CTRL, Key::Period), G::Run),
            A::PauseResume => (say!("Pause or resume"), say!("Holds every thread of the loader, or plays the recording"), key(Key::Space), G::Travel),
            A::StepForward => (say!("Step forward"), say!("One transition: a batch enters its next stage"), key(Key::ArrowRight), G::Travel),
            A::StepBack => (say!("Step back"), say!("One transition back in the recording"), key(Key::ArrowLeft), G::Travel),
            A::NextBatch => (say!("Next batch"), say!("To the next batch that the trainer gets"), with(SHIFT, Key::ArrowRight), G::Travel),
            A::PreviousBatch => (say!("Previous batch"), say!("To the batch that the trainer got before"), with(SHIFT, Key::ArrowLeft), G::Travel),
            A::NextStall => (say!("Next wait"), say!("To the next wait of the trainer of at least 5 % of the longest"), key(Key::N), G::Travel),
            A::PreviousStall => (say!("Previous wait"), say!("To the previous wait of the trainer of at least 5 % of the longest"), key(Key::P), G::Travel),
            A::LongestWait => (say!("Longest wait"), say!("Into the longest wait of the trainer, where its cause can be seen"), with(SHIFT, Key::N), G::Travel),
            A::Replay => (say!("Replay"), say!("Plays the run from its beginning"), with(SHIFT, Key::Space), G::Travel),
            A::NextOutOfOrder => (say!("Next arrival out of order"), say!("To the next batch that arrives before one that should come first"), key(Key::O), G::Travel),
            A::PreviousOutOfOrder => (say!("Previous arrival out of order"), say!("To the last batch that arrived before one that should come first"), with(SHIFT, Key::O), G::Travel),
            A::NextTrouble => (say!("Next error"), say!("To the next error, or to where events were lost"), key(Key::E), G::Travel),
            A::PreviousTrouble => (say!("Previous error"), say!("To the last error, or to where events were lost"), with(SHIFT, Key::E), G::Travel),
            A::NextStage => (say!("Next stage"), say!("To where the selected batch enters its next stage"), key(Key::CloseBracket), G::Travel),
            A::PreviousStage => (say!("Previous stage"), say!("To where the selected batch entered the stage before"), key(Key::OpenBracket), G::Travel),
            A::Slower => (say!("Play slower"), say!("Down to a hundredth of real time"), key(Key::Minus), G::Travel),
            A::Faster => (say!("Play faster"), say!("Up to ten times real time"), key(Key::Plus), G::Travel),
            A::GoToStart => (say!("Go to start"), say!("To the moment before anything happened"), with(CTRL, Key::Home), G::Travel),
            A::FollowLive => (say!("Follow live"), say!("Shows what happens now"), key(Key::L), G::Travel),
            A::HideFuture => (say!("Hide the future"), say!("Shows nothing that comes after the moment that is looked at: neither in time nor in any sum"), key(Key::H), G::Travel),
            A::ZoomIn => (say!("Zoom in"), say!("Shows less time, in more detail"), key(Key::W), G::Look),
            A::ZoomOut => (say!("Zoom out"), say!("Shows more time"), key(Key::S), G::Look),
            A::PanLeft => (say!("Move left"), say!("Shows earlier time"), key(Key::A), G::Look),
            A::PanRight => (say!("Move right"), say!("Shows later time"), key(Key::D), G::Look),
            A::ShowAll => (say!("Show everything"), say!("The whole run, and follow what comes"), key(Key::Home), G::Look),
            A::FitSelection => (say!("Fit the selection"), say!("Zooms to what is selected"), key(Key::F), G::Look),
            A::ZoomToRange => (say!("Zoom to the range"), say!("Zooms to the range that was dragged on the ruler"), key(Key::Z), G::Look),
            A::ViewBack => (say!("Previous view"), say!("Back in the history of zooms"), with(ALT, Key::ArrowLeft), G::Look),
            A::ViewForward => (say!("Next view"), say!("Forward in the history of zooms"), with(ALT, Key::ArrowRight), G::Look),
            A::NextSpan => (say!("Next span"), say!("The next batch on the selected lane"), key(Key::Period), G::Find),
            A::PreviousSpan => (say!("Previous span"), say!("The batch before on the selected lane"), key(Key::Comma), G::Find),
            A::LaneUp => (say!("Lane above"), say!("Selects the lane above the selected one"), key(Key::ArrowUp), G::Find),
            A::LaneDown => (say!("Lane below"), say!("Selects the lane below the selected one"), key(Key::ArrowDown), G::Find),
            A::Search => (say!("Search…"), say!("Finds a batch, a sample, a worker, what was slow, errors"), key(Key::Slash), G::Find),
            A::NextMatch => (say!("Next match"), say!("To the next thing that was searched for"), key(Key::F3), G::Find),
            A::PreviousMatch => (say!("Previous match"), say!("To the last thing that was searched for"), with(SHIFT, Key::F3), G::Find),
            A::ToggleMarker => (say!("Place or remove a marker"), say!("Marks the instant that is looked at, so that it can be found again"), key(Key::M), G::Find),
            A::NextMarker => (say!("Next marker"), say!("To the first marker after this moment"), key(Key::J), G::Find),
            A::PreviousMarker => (say!("Previous marker"), say!("To the last marker before this moment"), with(SHIFT, Key::J), G::Find),
            A::ClearMarkers => (say!("Remove all markers"), say!("Takes every marker of this run away"), None, G::Find),
            A::Open => (say!("Open a recording…"), say!("Opens a recording, a trace of torch.profiler or SPDL's statistics"), with(CTRL, Key::O), G::File),
            A::OpenFolder => (say!("Open a folder…"), say!("Opens a folder of recordings as one session, or of LotusTrace logs"), with(CTRL_SHIFT, Key::O), G::File),
            A::Save => (say!("Save as…"), say!("Writes the recording to a file"), with(CTRL, Key::S), G::File),
            A::Compare => (say!("Compare with a recording…"), say!("Compares this run with another recording: throughput, waiting, findings"), None, G::File),
            A::TryProgram => (say!("Try on the program"), say!("Runs the program that is watched again with the settings that the forecast finds promising"), None, G::File),
            A::EndTries => (say!("End the tries"), say!("Asks the program to end in order; what was recorded is kept"), None, G::File),
            A::Export => (say!("Export…"), say!("Writes the run as a trace for Perfetto, or as tables"), with(CTRL, Key::E), G::File),
            A::CancelExport => (say!("Cancel the export"), say!("Stops writing; nothing half-written is left"), None, G::File),
            A::ChooseFolder => (say!("Choose a folder of pictures…"), say!("Loads your own JPEG and PNG pictures"), None, G::File),
            A::WatchProgram => (say!("Watch a PyTorch program"), say!("Runs your own training script, unchanged, and shows its loaders live. A page in a browser copies the command that does"), None, G::File),
            A::SavePicture => (say!("Save batch image…"), say!("Writes the enlarged picture to a PNG file, pixel by pixel"), None, G::File),
            A::CopyValues => (say!("Copy the values"), say!("Puts the values of the selected batch on the clipboard, one row a sample"), key(Key::C), G::File),
            A::CopyContent => (say!("Copy the content as JSON"), say!("Puts all that is known of the selected batch's content on the clipboard"), with(SHIFT, Key::C), G::File),
            A::CopyIndices => (say!("Copy the indices"), say!("Puts the dataset indices of the selected batch on the clipboard"), None, G::File),
            A::CopyVariables => (say!("Copy the variables"), say!("Puts PyTorch's variables on the clipboard, as Python prints them"), None, G::File),
            A::Close => (say!("Close run"), say!("Back to the start page"), with(CTRL, Key::W), G::File),
            A::Undo => (say!("Undo"), say!("Takes back the last change to the options"), with(CTRL, Key::Z), G::File),
            A::Redo => (say!("Redo"), say!("Makes the change to the options again"), with(CTRL_SHIFT, Key::Z), G::File),
            A::TakeOptions => (say!("Load these options"), say!("Copies the options of the shown run to the next run"), None, G::File),
            A::Escape => (say!("Clear the selection"), say!("Closes the topmost popup, then clears the selection"), key(Key::Escape), G::Window),
            A::ShowDebug => (say!("Debug"), say!("The pipeline at any instant, and what happened when"), key(Key::Num1), G::Window),
            A::ShowSampling => (say!("Sampling"), say!("The order of the samples: what is drawn, how often, by whom"), key(Key::Num2), G::Window),
            A::ShowDiagnose => (say!("Diagnose"), say!("Why training waits, what to change, and what it would bring"), key(Key::Num3), G::Window),
            A::ShowTimeline => (say!("Timeline"), say!("What happened when, lane by lane"), key(Key::T), G::Window),
            A::ShowBatches => (say!("Batches"), say!("A table of all batches and where their time went"), key(Key::B), G::Window),
            A::ShowPlots => (say!("Plots"), say!("Waiting, throughput and queues over time"), key(Key::G), G::Window),
            A::ShowLoaders => (say!("Loaders"), say!("All loaders and ranks of the session, and which rank is the straggler"), key(Key::K), G::Window),
            A::NextLoader => (say!("Next loader"), say!("Shows the next loader or rank of the session"), with(CTRL, Key::PageDown), G::Window),
            A::PreviousLoader => (say!("Previous loader"), say!("Shows the loader or rank before"), with(CTRL, Key::PageUp), G::Window),
            A::ToggleOptions => (say!("Options"), say!("Shows or hides the options on the left"), with(CTRL, Key::B), G::Window),
            A::ToggleInspector => (say!("Inspector"), say!("Shows or hides the inspector on the right"), with(CTRL, Key::I), G::Window),
            A::ToggleVariables => (say!("Variables"), say!("Shows or hides send_idx, rcvd_idx, task_info and workers_status beside the pipeline"), key(Key::V), G::Window),
            A::ToggleTheme => (say!("Toggle theme"), say!("Dark or light"), with(CTRL, Key::T), G::Window),
            A::ToggleMotion => (say!("Reduce motion"), say!("Turns animations off, or on"), None, G::Window),
            A::ToggleAsking => (say!("Ask before quitting"), say!("Warns before runs that were not saved are discarded"), None, G::Window),
            A::Present => (say!("Presentation"), say!("Shows the pipeline alone, as large as the screen allows: readable from the last row"), key(Key::F5), G::Window),
            A::Larger => (say!("Larger"), say!("Makes everything in the window larger"), with(CTRL, Key::Plus), G::Window),
            A::Smaller => (say!("Smaller"), say!("Makes everything in the window smaller"), with(CTRL, Key::Minus), G::Window),
            A::ActualSize => (say!("Actual size"), say!("Makes everything as large as the system has it"), with(CTRL, Key::Num0), G::Window),
            A::ToggleNumbers => (say!("Developer's numbers"), say!("Shows the time per frame and the number of events in the status bar"), None, G::Window),
            A::ShowMessages => (say!("Errors and warnings"), say!("What the loader complained about, and when"), with(CTRL, Key::M), G::Window),
            A::Palette => (say!("All actions…"), say!("Finds an action, or something in the run, by typing"), with(CTRL, Key::K), G::Window),
            A::Help => (say!("Help"), say!("Shows all keys"), key(Key::Questionmark), G::Window),
            A::Glossary => (say!("Glossary"), say!("What the words of the pipeline mean, and what PyTorch calls them"), key(Key::F1), G::Window),
            A::Learn => (say!("Learn"), say!("Fourteen lessons about the DataLoader, a quiz and detective cases"), with(CTRL, Key::L), G::Learn),
            A::GoOn => (say!("Next step"), say!("Gives the answer, or goes on to the next step of the lesson"), key(Key::Enter), G::Learn),
            A::SkipStep => (say!("Skip the question"), say!("Goes on without an answer"), with(SHIFT, Key::Enter), G::Learn),
            A::PreviousPage => (say!("Previous step"), say!("Back to the step of the lesson before"), key(Key::Backspace), G::Learn),
            A::ReturnToStep => (say!("Return to the step"), say!("Shows the run, the moment and the panels of the lesson again"), key(Key::R), G::Learn),
            A::ToggleLecture => (say!("Lecture mode"), say!("Hides the questions of lessons and enlarges the type"), with(SHIFT, Key::L), G::Learn),
            A::ChangeLanguage => (say!("English or 中文"), say!("The language of the window, of reports and of lessons"), None, G::Window),
            A::LeaveLesson => (say!("Leave the lesson"), say!("Back to the list of lessons, and from there to your own run"), with(CTRL_SHIFT, Key::L), G::Learn),
            A::Quit => (say!("Quit"), say!("Closes the window"), with(CTRL, Key::Q), G::Window),
        };
        Info { name, tooltip, shortcut, group }
    }
}
