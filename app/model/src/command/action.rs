//! Actions: commands with a name, and perhaps a key.

use strum::VariantArray;

/// A command with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray)]
pub enum Action {
    /// Run the digits demo.
    RunDemo,
    /// Start a run with the options.
    Run,
    /// Start a run that is paused before the first batch.
    RunPaused,
    /// Start a run at a tenth of its speed.
    RunSlowly,
    /// Simulate a run with the options on a virtual clock.
    Simulate,
    /// Stop the run.
    Stop,
    /// Pause or resume the engine of a live run, or the playback of a recording.
    PauseResume,
    /// Go forward by one transition. If the run is live and paused, the engine performs one.
    StepForward,
    /// Go back by one transition.
    StepBack,
    /// Go to the next yielded batch.
    NextBatch,
    /// Go to the previous yielded batch.
    PreviousBatch,
    /// Go to the trainer's next wait.
    NextStall,
    /// Go to the trainer's previous wait.
    PreviousStall,
    /// Go to the longest wait.
    LongestWait,
    /// Play from the start.
    Replay,
    /// Go to the next out-of-order arrival.
    NextOutOfOrder,
    /// Go to the previous out-of-order arrival.
    PreviousOutOfOrder,
    /// Go to the next error or loss.
    NextTrouble,
    /// Go to the previous error or loss.
    PreviousTrouble,
    /// Go to the next stage change of the selected batch.
    NextStage,
    /// Go to the previous stage change of the selected batch.
    PreviousStage,
    /// Play slower.
    Slower,
    /// Play faster.
    Faster,
    /// Go to the start of the run.
    GoToStart,
    /// Follow the live run.
    FollowLive,
    /// Hide or show everything after the cursor.
    HideFuture,
    /// Zoom in.
    ZoomIn,
    /// Zoom out.
    ZoomOut,
    /// Move the view left.
    PanLeft,
    /// Move the view right.
    PanRight,
    /// Show the whole run.
    ShowAll,
    /// Zoom to the selected item.
    FitSelection,
    /// Zoom to the selected range.
    ZoomToRange,
    /// Return to the previous view.
    ViewBack,
    /// Go to the next view in the history.
    ViewForward,
    /// Select the next span on this lane.
    NextSpan,
    /// Select the previous span on this lane.
    PreviousSpan,
    /// Select the lane above.
    LaneUp,
    /// Select the lane below.
    LaneDown,
    /// Search for batches, samples or slow items.
    Search,
    /// Go to the next search result.
    NextMatch,
    /// Go to the previous search result.
    PreviousMatch,
    /// Place or remove a marker at the cursor.
    ToggleMarker,
    /// Go to the next marker.
    NextMarker,
    /// Go to the previous marker.
    PreviousMarker,
    /// Remove all markers.
    ClearMarkers,
    /// Choose a recording to open.
    Open,
    /// Choose a folder of logs.
    OpenFolder,
    /// Save the recording.
    Save,
    /// Choose a recording to compare with.
    Compare,
    /// Run the watched program with other arguments.
    TryProgram,
    /// End the runs with other arguments.
    EndTries,
    /// Export the run for other tools.
    Export,
    /// Cancel the export.
    CancelExport,
    /// Choose a folder of images.
    ChooseFolder,
    /// Show the dialog for a PyTorch program to start and watch.
    WatchProgram,
    /// Save the enlarged image.
    SavePicture,
    /// Copy the values of the selected batch.
    CopyValues,
    /// Copy the content of the selected batch as JSON.
    CopyContent,
    /// Copy the dataset indices of the selected batch.
    CopyIndices,
    /// Copy PyTorch's variables.
    CopyVariables,
    /// Copy the file and line of the shown code.
    CopyPlace,
    /// Open the shown line in the editor of the user.
    OpenEditor,
    /// Close the run.
    Close,
    /// Undo the last change to the options.
    Undo,
    /// Redo the last undone change to the options.
    Redo,
    /// Copy the options of the shown run to the next run.
    TakeOptions,
    /// Close or clear the innermost item.
    Escape,
    /// Show the pipeline and its events.
    ShowDebug,
    /// Show the sample order.
    ShowSampling,
    /// Show the causes of waits and their remedies.
    ShowDiagnose,
    /// Show the timeline below the pipeline.
    ShowTimeline,
    /// Show the table of batches below the pipeline.
    ShowBatches,
    /// Show counters over time below the pipeline.
    ShowPlots,
    /// Show all loaders and ranks below the pipeline.
    ShowLoaders,
    /// Show the code of the selection below the pipeline.
    ShowCode,
    /// Show the next loader.
    NextLoader,
    /// Show the previous loader.
    PreviousLoader,
    /// Show or hide the options.
    ToggleOptions,
    /// Show or hide the inspector.
    ToggleInspector,
    /// Show or hide PyTorch's variables next to the pipeline.
    ToggleVariables,
    /// Switch between dark and light.
    ToggleTheme,
    /// Turn animations on or off.
    ToggleMotion,
    /// Turn the question before an unsaved run is replaced on or off.
    ToggleAsking,
    /// Show the pipeline alone and as large as possible, or end this.
    Present,
    /// Enlarge everything.
    Larger,
    /// Shrink everything.
    Smaller,
    /// Reset the zoom to that of the system.
    ActualSize,
    /// Show or hide performance numbers of Loadscope.
    ToggleNumbers,
    /// Show or hide the list of errors and warnings.
    ShowMessages,
    /// Show a searchable list of all actions.
    Palette,
    /// Show or hide the help.
    Help,
    /// Show or hide the glossary of pipeline terms.
    Glossary,
    /// Show the list of lessons.
    Learn,
    /// Answer, or go to the next step of the lesson.
    GoOn,
    /// Go to the next step without an answer.
    SkipStep,
    /// Go to the previous step of the lesson.
    PreviousPage,
    /// Show the subject of the lesson step again.
    ReturnToStep,
    /// Turn lecture mode of lessons on or off.
    ToggleLecture,
    /// Switch lessons to the other language.
    ChangeLanguage,
    /// Leave the lesson, or close the list of lessons.
    LeaveLesson,
    /// Close the window, after a question about unsaved runs.
    Quit,
}
