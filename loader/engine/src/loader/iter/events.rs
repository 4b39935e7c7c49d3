//! Events and messages of an epoch's tasks.

use loadscope_trace::{BatchId, Level, Message, WorkerId};

use crate::error::LoaderError;
use crate::fetch::Request;
use crate::probe::Probe;

pub(super) fn record_dispatch(
    probe: &Probe,
    batch: BatchId,
    worker: Option<WorkerId>,
    request: &Request,
) {
    probe.record_dispatch(batch, worker, request.indices());
}

pub(super) fn error_message(
    error: &LoaderError,
    about: BatchId,
    worker: Option<WorkerId>,
) -> Message {
    let sample = match error {
        LoaderError::Worker { sample, .. } => sample.map(|s| s as u64),
        _ => None,
    };
    let mut text = error.to_string();
    if error.is_stop_iteration() {
        text.push_str(". PyTorch ends the epoch here without a word, and this batch is lost");
    }
    Message {
        level: Level::Error,
        text,
        about: Some(about),
        worker,
        sample,
    }
}
