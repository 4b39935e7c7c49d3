//! Actions: commands with a name, and perhaps a key.

use strum::VariantArray;

/// A command with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray)]
pub enum Action {
    /// Run the digits demo.
    RunDemo,
    /// Start a run with the options.
    Run,
    /// The same, held before anything happens.
    RunPaused,
    /// The same at a tenth of its speed.
    RunSlowly,
    /// Simulate a run with the options on a virtual clock.
    Simulate,
    /// Stop the run.
    Stop,
    /// Pause or resume: the engine while live, playback in a recording.
    PauseResume,
    /// One transition forwards; live and paused: let the engine take one.
    StepForward,
    /// One transition back.
    StepBack,
    /// To the next batch yielded.
    NextBatch,
    /// To the batch yielded before.
    PreviousBatch,
    /// To the next wait of the trainer.
    NextStall,
    /// To the wait before.
    PreviousStall,
    /// Into the longest wait.
    LongestWait,
    /// Play from the beginning.
    Replay,
    /// To the next arrival out of order.
    NextOutOfOrder,
    /// To the arrival out of order before.
    PreviousOutOfOrder,
    /// To the next error or loss.
    NextTrouble,
    /// To the error or loss before.
    PreviousTrouble,
    /// To the next change of stage of the selected batch.
    NextStage,
    /// To the change of stage before.
    PreviousStage,
    /// Play slower.
    Slower,
    /// Play faster.
    Faster,
    /// To the beginning of the run.
    GoToStart,
    /// Follow what happens now.
    FollowLive,
    /// Hide what comes after the instant that is looked at, or show it.
    HideFuture,
    /// Zoom in.
    ZoomIn,
    /// Zoom out.
    ZoomOut,
    /// Move left.
    PanLeft,
    /// Move right.
    PanRight,
    /// Show everything.
    ShowAll,
    /// Show what is selected.
    FitSelection,
    /// Show the selected range.
    ZoomToRange,
    /// The view before.
    ViewBack,
    /// The view after.
    ViewForward,
    /// Next span on this lane.
    NextSpan,
    /// Previous span on this lane.
    PreviousSpan,
    /// The lane above.
    LaneUp,
    /// The lane below.
    LaneDown,
    /// Look for a batch, a sample, what was slow.
    Search,
    /// To the next hit of the search.
    NextMatch,
    /// To the hit before.
    PreviousMatch,
    /// Place a marker at the instant that is looked at, or take it away.
    ToggleMarker,
    /// To the next marker.
    NextMarker,
    /// To the marker before.
    PreviousMarker,
    /// Take all markers away.
    ClearMarkers,
    /// Choose a recording.
    Open,
    /// Choose a folder of logs.
    OpenFolder,
    /// Save the recording.
    Save,
    /// Choose a recording to compare with.
    Compare,
    /// Run the program that is watched with other arguments.
    TryProgram,
    /// End the program that is run with other arguments.
    EndTries,
    /// Write the run for other tools.
    Export,
    /// Break the export off.
    CancelExport,
    /// Choose a folder of pictures.
    ChooseFolder,
    /// Ask for a PyTorch program, start it and watch it.
    WatchProgram,
    /// Save the enlarged picture.
    SavePicture,
    /// Values of the selected batch to the clipboard.
    CopyValues,
    /// Content of the selected batch to the clipboard, as JSON.
    CopyContent,
    /// Dataset indices of the selected batch to the clipboard.
    CopyIndices,
    /// PyTorch's variables to the clipboard.
    CopyVariables,
    /// Close the run.
    Close,
    /// Undo the last change to the options.
    Undo,
    /// Make it again.
    Redo,
    /// Copy the options of the run that is shown to the next run.
    TakeOptions,
    /// Clear the innermost thing.
    Escape,
    /// The pipeline and what happened in it.
    ShowDebug,
    /// The order of the samples.
    ShowSampling,
    /// Why training waits, and what would help.
    ShowDiagnose,
    /// The timeline below the pipeline.
    ShowTimeline,
    /// The table of batches below the pipeline.
    ShowBatches,
    /// Counters over time below the pipeline.
    ShowPlots,
    /// All loaders and ranks below the pipeline.
    ShowLoaders,
    /// Show the next loader.
    NextLoader,
    /// Show the loader before.
    PreviousLoader,
    /// Options on or off.
    ToggleOptions,
    /// Inspector on or off.
    ToggleInspector,
    /// PyTorch's variables beside the pipeline on or off.
    ToggleVariables,
    /// Dark or light.
    ToggleTheme,
    /// Animations on or off.
    ToggleMotion,
    /// Ask before a run that was not saved is replaced, or don't.
    ToggleAsking,
    /// The pipeline alone, as large as the screen allows, on or off.
    Present,
    /// Everything larger.
    Larger,
    /// Everything smaller.
    Smaller,
    /// Everything as large as the system has it.
    ActualSize,
    /// Numbers about the program itself on or off.
    ToggleNumbers,
    /// The list of errors and warnings on or off.
    ShowMessages,
    /// All actions, to be found by typing.
    Palette,
    /// Help on or off.
    Help,
    /// What the words of the pipeline mean, on or off.
    Glossary,
    /// The list of lessons.
    Learn,
    /// Answer, or on to the next step of the lesson.
    GoOn,
    /// On to the next step without an answer.
    SkipStep,
    /// The step of the lesson before.
    PreviousPage,
    /// Show again what the step of the lesson is about.
    ReturnToStep,
    /// Lessons for a lecture.
    ToggleLecture,
    /// Lessons in the other language.
    ChangeLanguage,
    /// Out of the lesson, and out of the list.
    LeaveLesson,
    /// Quit.
    Quit,
}
