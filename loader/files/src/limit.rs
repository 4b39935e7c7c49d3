//! The limit for the size of files that a shell or a job system sets.

/// From now on writing beyond the limit for file sizes (`ulimit -f`) is an error with a sentence, not the end of this
/// process. Programs that it starts are not changed by that.
pub fn survive_size_limit() {
    #[cfg(unix)]
    {
        extern "C" fn nothing(_: libc::c_int) {}
        // SAFETY: the handler does nothing. Unlike an ignored signal, one with a handler is back to its default in programs
        // that are started.
        unsafe {
            libc::signal(libc::SIGXFSZ, nothing as *const () as libc::sighandler_t);
        }
    }
}
