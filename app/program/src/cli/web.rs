//! `--web` and `loadscope view`: show the window in a browser, from a server that only this host can reach.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use clap::Args;
use loadscope_session::{Limits, check_path, describe_open_error};
use loadscope_words::{cause, explain, say, shell_quoted};

use super::follow::{follow, new_spool};
use super::number::whole_number;
use super::share::{name_of, recording, report};
use super::terminal::{print_line, print_message};
use crate::page::{About, Content, HAS_PAGE, NoPage, page};
use crate::serve::{Data, LIVE, OTHER, RECORDING, Server, Site, USUAL_SIZE, Writer};

/// Polling interval for the number of open pages.
const EVERY: Duration = Duration::from_millis(20);

/// Time for open pages to receive the rest after the end of the program.
const PATIENCE: Duration = Duration::from_secs(20);

/// The port of the server.
#[derive(Clone, Debug, Default, Args)]
pub struct PortArg {
    /// Port to listen on [default: 7777, or any free port]
    ///
    /// From another host, forward the port: ssh -L 7777:localhost:7777 HOST
    #[arg(long, value_name = "N", value_parser = whole_number(0_u16, u16::MAX))]
    port: Option<u16>,
}

/// Options to show a run in a browser.
#[derive(Clone, Debug, Default, Args)]
pub struct WebArgs {
    /// Show the run live in a browser
    ///
    /// Prints a link that works on this host only. No window opens.
    ///
    /// A page that is opened late shows the last 256 MB of the run, or the last --max-size, in full. Older data is reduced to sums per minute.
    #[arg(long)]
    pub web: bool,
    /// Port to listen on [default: 7777, or any free port]
    ///
    /// From another host, forward the port: ssh -L 7777:localhost:7777 HOST
    #[arg(long, value_name = "N", requires = "web", value_parser = whole_number(0_u16, u16::MAX))]
    port: Option<u16>,
}

/// The recordings to show, and the port.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Recording, folder of recordings, or trace of another tool
    file: PathBuf,
    /// Recording to compare with
    other: Option<PathBuf>,
    #[command(flatten)]
    port: PortArg,
}

/// Shows a recording in a browser until it is interrupted.
pub fn view(args: &ViewArgs) -> anyhow::Result<ExitCode> {
    ensure!(HAS_PAGE, NoPage);
    check_path(&args.file).map_err(|e| anyhow!(describe_open_error(&args.file, &e)))?;
    if let Some(other) = &args.other {
        check_path(other).map_err(|e| anyhow!(describe_open_error(other, &e)))?;
    }
    let server = start(site(args)?, args.port.port)?;
    print_line(&server.link())?;
    print_message(say!("Press Ctrl+C to stop"));
    loop {
        sleep(Duration::from_secs(3600));
    }
}

/// Returns the page and its recordings. A recording that is still being written is shown live.
fn site(args: &ViewArgs) -> anyhow::Result<Site> {
    let name = name_of(&args.file);
    let other = args.other.as_deref().map(name_of);
    let growing = match other {
        None => follow(&args.file)?,
        Some(_) => None,
    };
    let about = About {
        name: Some(&name),
        other: other.as_deref(),
        url: growing.is_none().then_some(RECORDING),
        other_url: other.is_some().then_some(OTHER),
        live: growing.is_some().then_some(LIVE),
    };
    let content = Content {
        report: &report(&args.file),
        ..Content::default()
    };
    let packed = |file: &PathBuf| anyhow::Ok(recording(file, true)?.bytes);
    Ok(Site {
        page: page(&about, content)?.into_bytes(),
        data: match growing {
            Some(spool) => Data::Growing(spool),
            None => Data::Recording(
                packed(&args.file)?,
                args.other.as_ref().map(packed).transpose()?,
            ),
        },
        in_frame: false,
    })
}

fn start(site: Site, port: Option<u16>) -> anyhow::Result<Server> {
    Server::start(site, port).map_err(|e| {
        anyhow!(match port {
            Some(port) => say!(
                "cannot listen on port {port}: {e}. Choose another one with --port.",
                e = cause(&e)
            ),
            None => say!(
                "cannot listen on any port of this host: {e}",
                e = explain(&e)
            ),
        })
    })
}

/// Prints the command that shows a finished run in a browser.
pub(super) fn print_view_command(path: &Path) {
    print_message(say!(
        "To show the run in a browser again, run `loadscope view {}`.",
        shell_quoted(path)
    ));
}

/// Returns the maximum size of the live view, bytes. It is at most the size limit of the recording.
fn spool_size(limits: Option<Limits>) -> u64 {
    limits.map_or(USUAL_SIZE, |limits| limits.max_size.min(USUAL_SIZE))
}

/// Server that shows a program in a browser while it is recorded.
pub(super) struct LiveView {
    server: Server,
    writer: Writer,
}

impl LiveView {
    /// Starts the server and prints the link. Returns `None` without `--web`.
    ///
    /// # Errors
    /// If this build has no page, or the port is taken.
    pub fn begin(
        args: &WebArgs,
        name: Option<&str>,
        limits: Option<Limits>,
    ) -> anyhow::Result<Option<Self>> {
        let shown = Self::open(args, name, limits, false)?;
        if let Some(shown) = &shown {
            // Standard output belongs to the program.
            print_message(shown.server.link());
        }
        Ok(shown)
    }

    /// Starts the server for a page inside a notebook, without printing the link.
    ///
    /// # Errors
    /// The same as [`Self::begin`].
    pub fn in_frame(
        args: &WebArgs,
        name: Option<&str>,
        limits: Option<Limits>,
    ) -> anyhow::Result<Option<Self>> {
        Self::open(args, name, limits, true)
    }

    fn open(
        args: &WebArgs,
        name: Option<&str>,
        limits: Option<Limits>,
        in_frame: bool,
    ) -> anyhow::Result<Option<Self>> {
        if !args.web {
            return Ok(None);
        }
        let about = About {
            name,
            live: Some(LIVE),
            ..About::default()
        };
        let page = page(&about, Content::default())?.into_bytes();
        let (spool, writer) = new_spool(spool_size(limits))?;
        let data = Data::Growing(spool);
        let site = Site {
            page,
            data,
            in_frame,
        };
        let server = start(site, args.port)?;
        Ok(Some(Self { server, writer }))
    }

    /// Returns the link for a browser.
    pub fn link(&self) -> String {
        self.server.link()
    }

    /// Returns the writer of events for all pages.
    pub fn writer(&mut self) -> &mut Writer {
        &mut self.writer
    }

    /// Ends the run, with the reason `why` if nothing was recorded. Waits until the open pages have received everything. With
    /// `waits_for_one`, it first waits until a page was opened.
    pub fn end(mut self, why: Option<&str>, waits_for_one: bool) {
        self.writer.end(why.unwrap_or_default());
        if waits_for_one && self.server.total_viewers() == 0 {
            print_message(say!(
                "the program has ended. Open {} once to see the run, or press Ctrl+C.",
                self.server.link()
            ));
            while self.server.total_viewers() == 0 {
                sleep(EVERY);
            }
        }
        let until = Instant::now() + PATIENCE;
        while self.server.viewers() > 0 && Instant::now() < until {
            sleep(EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_view_is_no_larger_than_the_recording() {
        let limited = |max_size| {
            spool_size(Some(Limits {
                last: None,
                max_size,
                long_wait: Limits::USUAL_LONG_WAIT,
                keep_slowest: 0,
            }))
        };
        assert_eq!(spool_size(None), USUAL_SIZE);
        assert_eq!(limited(1_000_000), 1_000_000);
        assert_eq!(limited(2_000_000_000), USUAL_SIZE);
    }
}
