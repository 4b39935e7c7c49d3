//! An epoch without workers, in the caller's thread.

use std::sync::Arc;

use loadscope_trace::{BatchId, Stage};

use super::super::DataLoader;
use super::events::record_dispatch;
use super::{LoaderIter, NextOutcome, Source};
use crate::batch::Batch as _;
use crate::collate::CollateSite;
use crate::error::LoaderError;
use crate::fetch::{Fetch, Fetcher, Request};
use crate::panics::catch_panic;
use crate::pin::Lease;
use crate::probe::Probe;
use crate::worker::{FetchedBatch, TaskOutput, fetch_batch, skip_batch};

impl<F: Fetch> LoaderIter<'_, F> {
    /// `_SingleProcessDataLoaderIter._next_data`
    pub(super) fn next_single(&mut self) -> NextOutcome<F> {
        loop {
            let Source::Single {
                fetcher,
                next,
                stream_ended: false,
                budget,
            } = &mut self.source
            else {
                return NextOutcome::End;
            };
            let request = match self.requests.next() {
                Some(Ok(request)) => request,
                // The sampler's error was raised before the state was saved.
                Some(Err(_)) if self.resume_skip.sampler_failed(*next) => continue,
                Some(Err(e)) => {
                    self.progress.record_yielded(*next, 0);
                    return self.raise(e);
                }
                None => return NextOutcome::End,
            };
            let idx = *next;
            *next += 1;
            let id = BatchId {
                epoch: self.epoch,
                idx: idx as u32,
            };
            let loader = &*self.loader;
            let watched =
                (loader.interrupt.as_ref()).map(|i| loader.probe.with_done(Arc::clone(i)));
            let probe = watched.as_ref().unwrap_or(&loader.probe);
            let ended;
            if self.resume_skip.skip(idx, 0) {
                ended = !skip_batch(&mut **fetcher, probe, id, CollateSite::Main, &request);
            } else {
                record_dispatch(probe, id, None, &request);
                match fetch_and_pin(&mut **fetcher, loader, probe, id, &request) {
                    Ok(Some((made, left_out))) => {
                        if let TaskOutput::Batch(batch, _) = &made
                            && budget.may_summarize()
                        {
                            budget.summarize(id, batch, &left_out);
                        }
                        return self.yield_batch(id, None, Ok(made));
                    }
                    Ok(None) => {
                        probe.enter(id, Stage::Discarded);
                        ended = true;
                    }
                    Err(error) => return self.yield_batch(id, None, Err(error)),
                }
            }
            if let Source::Single { stream_ended, .. } = &mut self.source {
                *stream_ended = ended;
            }
        }
    }
}

/// Fetched and pinned batch, and the positions of failed samples that are missing in it.
type PinnedBatch<F> = (TaskOutput<<F as Fetch>::Batch>, Vec<u32>);

/// Fetches and pins in the caller's thread.
fn fetch_and_pin<F: Fetch>(
    fetcher: &mut dyn Fetcher<Batch = F::Batch>,
    loader: &DataLoader<F>,
    probe: &Probe,
    id: BatchId,
    request: &Request,
) -> Result<Option<PinnedBatch<F>>, LoaderError> {
    let Some(FetchedBatch { made, left_out }) = fetch_batch(fetcher, probe, id, None, request)?
    else {
        return Ok(None);
    };
    let (made, lease) = match &loader.pinner {
        Some(pinner) => {
            probe.enter(id, Stage::Pinning);
            catch_panic(|| made.pin(pinner)).flatten()?
        }
        None => (made, Lease::default()),
    };
    Ok(Some((TaskOutput::Batch(made, lease), left_out)))
}
