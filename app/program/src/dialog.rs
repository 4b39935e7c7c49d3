//! File dialogs. Each sends a [`Command`] when the user has chosen.

use std::future::Future;
use std::path::Path;
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};
use rfd::{AsyncFileDialog, FileHandle};

use loadscope_insight::session_event::Notice;
use loadscope_model::command::Command;
use loadscope_model::effect::Effect;
use loadscope_model::effect::Output;
use loadscope_model::effect::Picture;
use loadscope_model::typing::{PathFor, TypedPath};
use loadscope_session::{ExportFormat, Waker};
use loadscope_words::say;

mod picture;

/// Open dialogs and their answers.
pub struct Dialogs {
    answers: Receiver<Command>,
    out: Sender<Command>,
    wake: Waker,
}

impl Dialogs {
    /// Creates dialogs that call `wake` when the user has chosen.
    pub fn new(wake: Waker) -> Self {
        // The channel needs no bound: each dialog has one answer, and people open them one by one.
        let (out, answers) = unbounded();
        Self { answers, out, wake }
    }

    /// Returns the answers since the last call.
    pub fn commands(&self) -> impl Iterator<Item = Command> + '_ {
        self.answers.try_iter()
    }

    /// Asks for a recording to open.
    pub fn open(&self) {
        let dialog = AsyncFileDialog::new()
            .set_title(say!("Open a recording"))
            .add_filter(
                say!("Recordings and traces"),
                &["jsonl", "zst", "json", "gz", "sqlite", "db", "sqlite3"],
            )
            .add_filter(say!("All files"), &["*"]);
        self.show_dialog(dialog.pick_file(), Some(PathFor::Open), |f| {
            Command::Perform(Effect::Open(f.path().to_owned()))
        });
    }

    /// Asks for the program to watch.
    pub fn script(&self) {
        let dialog = AsyncFileDialog::new()
            .set_title(say!("Choose a program"))
            .add_filter(say!("Python programs"), &["py"])
            .add_filter(say!("All files"), &["*"]);
        self.show_dialog(dialog.pick_file(), None, |f| {
            Command::UseScript(f.path().to_owned())
        });
    }

    /// Asks for a recording to compare with.
    pub fn compare(&self) {
        let dialog = AsyncFileDialog::new()
            .set_title(say!("Compare with a recording"))
            .add_filter(say!("Loadscope recordings"), &["jsonl", "zst"])
            .add_filter(say!("All files"), &["*"]);
        self.show_dialog(dialog.pick_file(), Some(PathFor::Compare), |f| {
            Command::Perform(Effect::Compare(f.path().to_owned()))
        });
    }

    /// Asks for the output file of the recording.
    pub fn save(&self) {
        let dialog = AsyncFileDialog::new()
            .set_title(say!("Save the recording"))
            .set_file_name("run.jsonl.zst")
            .add_filter(say!("Compressed recording"), &["zst"])
            .add_filter(say!("Plain recording"), &["jsonl"]);
        self.show_dialog(dialog.save_file(), Some(PathFor::Save), |f| {
            // The dialog has asked before replacing a file.
            Command::Overwrite(Output::Recording(f.path().to_owned()))
        });
    }

    /// Asks for a folder of recordings or logs to open.
    pub fn open_folder(&self) {
        let dialog = AsyncFileDialog::new().set_title(say!("Open a folder of recordings"));
        self.show_dialog(dialog.pick_folder(), Some(PathFor::OpenFolder), |f| {
            Command::Perform(Effect::Open(f.path().to_owned()))
        });
    }

    /// Asks for the output file of an export. Its extension sets the format.
    pub fn export(&self) {
        let dialog = AsyncFileDialog::new()
            .set_title(say!("Export the run"))
            .set_file_name("run.json.gz")
            .add_filter(say!("Trace for Perfetto"), &["gz", "json"])
            .add_filter(say!("Tables, Parquet"), &["parquet"])
            .add_filter(say!("Tables, CSV"), &["csv"])
            .add_filter(say!("Stacks for speedscope"), &["speedscope.json"])
            .add_filter(say!("Stacks for pprof"), &["pb.gz"]);
        self.show_dialog(dialog.save_file(), Some(PathFor::Export), |f| {
            // The dialog has asked before replacing this name. The dialog does not know the names of the files with tables.
            let path = f.path().to_owned();
            match ExportFormat::for_path(&path) {
                Some(format) if !format.has_tables() => {
                    Command::Overwrite(Output::Export(path, None))
                }
                Some(_) | None => Command::ExportTo(path),
            }
        });
    }

    /// Asks for the output file of an image, and saves it. `input` is the recording of the run.
    pub fn picture(&self, picture: Picture, input: Option<&Path>) {
        let input = input.map(Path::to_owned);
        let dialog = AsyncFileDialog::new()
            .set_title(say!("Save batch image"))
            .set_file_name(picture.file_name())
            .add_filter(say!("PNG image"), &["png"]);
        self.show_dialog(dialog.save_file(), None, move |f| {
            let path = f.path();
            Command::Notify(match picture::save(&picture, path, input.as_deref()) {
                Ok(()) => Notice::note(say!("Saved to {}", path.display())),
                Err(e) => Notice::error(say!("cannot save {}: {e}", path.display())),
            })
        });
    }

    /// Asks for a folder of images.
    pub fn folder(&self) {
        let dialog = AsyncFileDialog::new().set_title(say!("Choose a folder of images"));
        self.show_dialog(dialog.pick_folder(), Some(PathFor::Folder), |f| {
            Command::UseFolder(f.path().to_owned())
        });
    }

    /// Asks for the file or folder of a dataset.
    pub fn data(&self, word: &'static str, is_folder: bool) {
        let use_it = move |f: FileHandle| Command::UseData {
            word,
            path: f.path().to_owned(),
        };
        let dialog = AsyncFileDialog::new();
        // Without a dialog, the user can type the path in the options.
        match is_folder {
            true => self.show_dialog(
                dialog.set_title(say!("Choose a data folder")).pick_folder(),
                None,
                use_it,
            ),
            false => self.show_dialog(
                dialog.set_title(say!("Choose a data file")).pick_file(),
                None,
                use_it,
            ),
        }
    }

    fn show_dialog(
        &self,
        dialog: impl Future<Output = Option<FileHandle>> + Send + 'static,
        otherwise: Option<PathFor>,
        answer: impl FnOnce(FileHandle) -> Command + Send + 'static,
    ) {
        let (out, wake) = (self.out.clone(), self.wake.clone());
        let wait = move || {
            let start = Instant::now();
            let answer = match pollster::block_on(dialog) {
                Some(file) => answer(file),
                // No user cancels that fast, so the system has no dialog.
                None if start.elapsed() < Duration::from_millis(250) => missing(otherwise),
                None => return,
            };
            let _ = out.send(answer);
            wake();
        };
        // Without a thread there is no dialog. The user can type the path in the options or on the command line.
        let _ = Builder::new().name("file-dialog".to_owned()).spawn(wait);
    }
}

/// Returns the command for a system without a dialog: type the path, or show an error.
fn missing(otherwise: Option<PathFor>) -> Command {
    if let Some(what) = otherwise {
        let text = String::new();
        return Command::TypePath(Some(TypedPath { what, text }));
    }
    let text = say!("The system has no file dialog. Install zenity or xdg-desktop-portal.");
    Command::Notify(Notice::error(text.to_owned()))
}
