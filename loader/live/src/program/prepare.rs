//! Preparation of the probe's folder and the listener.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use loadscope_files::TemporaryFolder;
use loadscope_words::cause;

use super::error::ProgramError;
use crate::{Listener, PROBE, SITECUSTOMIZE};

/// Memory that must be available when a recording starts, bytes. Later, a failed allocation would abort the recorder.
const MIN_MEMORY: usize = 128 << 20;

/// Creates a listener in the folder `place`, and its token. `with_probe` also writes the probe there.
pub(super) fn prepare_listener(
    place: &TemporaryFolder,
    with_probe: bool,
) -> Result<(Listener, String), ProgramError> {
    let mut memory = Vec::<u8>::new();
    let reserved = memory.try_reserve_exact(MIN_MEMORY);
    reserved.map_err(|_| ProgramError::Memory)?;
    // Without it, the compiler removes the allocation.
    drop(std::hint::black_box(memory));
    let folder = place.path();
    let prepare = || -> io::Result<(Listener, String)> {
        let files = [
            ("loadscope_probe.py", PROBE),
            ("sitecustomize.py", SITECUSTOMIZE),
        ];
        for (name, text) in files.into_iter().filter(|_| with_probe) {
            File::create_new(folder.join(name))?.write_all(text.as_bytes())?;
        }
        let token = token()?;
        #[cfg(unix)]
        let listener = Listener::unix(&folder.join("socket"), token.clone())?;
        #[cfg(not(unix))]
        let listener = Listener::tcp(token.clone())?;
        Ok((listener, token))
    };
    let placed =
        |e: io::Error| io::Error::new(e.kind(), format!("{}: {}", folder.display(), cause(&e)));
    prepare().map_err(|e| ProgramError::Preparing(placed(e)))
}

/// Returns `PYTHONPATH` with `folder` in front.
pub(super) fn prepend_python_path(folder: &Path) -> io::Result<OsString> {
    let before = std::env::var_os("PYTHONPATH").unwrap_or_default();
    let paths = std::iter::once(folder.to_owned())
        .chain(std::env::split_paths(&before).filter(|_| !before.is_empty()));
    std::env::join_paths(paths).map_err(io::Error::other)
}

/// Returns a random token of 128 bits.
pub(super) fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| io::Error::other(e.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
