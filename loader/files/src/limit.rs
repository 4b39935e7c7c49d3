//! File size limit of a shell or a job system.

/// Makes writes beyond the file size limit (`ulimit -f`) fail with an error instead of ending this process.
/// Programs that it starts are unaffected.
pub fn ignore_file_size_signal() {
    #[cfg(unix)]
    {
        extern "C" fn nothing(_: libc::c_int) {}
        // SAFETY: the handler does nothing. Unlike an ignored signal, a signal with a handler is reset to its default in started
        // programs.
        unsafe {
            libc::signal(libc::SIGXFSZ, nothing as *const () as libc::sighandler_t);
        }
    }
}
