//! Properties of the fold and of recordings, with random histories.

use std::collections::BTreeMap;

use loadscope_trace::{
    BatchId, Compression, Event, EventKind, Level, LogReader, LogWriter, Message, Nanos, Run,
    RunId, Stage, Track,
};
use proptest::prelude::*;

use crate::history;

use history::{fold, history, moves};

fn assert_tracks_do_not_overlap(run: &Run) {
    for (lane, rows) in run.lanes() {
        for row in 0..rows as u16 {
            let spans = run
                .track(Track { lane, row })
                .expect("a listed track")
                .all();
            for pair in spans.pairs() {
                assert!(pair[0].end <= pair[1].start, "{lane} row {row}: {pair:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_batch_is_in_exactly_one_stage(moves in moves(), probes in prop::collection::vec(0.0..1.0f64, 20)) {
        let events = history(&moves, false);
        let run = fold(&events);
        prop_assert_eq!(run.anomalies().0, 0);
        for at in probes.iter().map(|p| Nanos((p * run.end().0 as f64) as i64)) {
            // A simple replay of the events computes the expected stages.
            let mut stages = BTreeMap::new();
            for e in events.iter().filter(|e| e.at <= at) {
                match &e.kind {
                    EventKind::Dispatched(d) => _ = stages.insert(d.batch, Stage::Queued),
                    EventKind::Entered { batch, stage } => _ = stages.insert(*batch, *stage),
                    _ => {}
                }
            }
            let pipeline = run.pipeline_at(at);
            prop_assert_eq!(pipeline.send_idx as usize, stages.len());
            for batch in run.batches() {
                let known = pipeline.stage_of(batch.id);
                // `Consumer` ends the training of a batch, which the simple replay ignores.
                if known != Some(Stage::Done) {
                    prop_assert_eq!(known, stages.get(&batch.id).copied(), "{} at {:?}", batch.id, at);
                }
            }
            let mut seen = pipeline.batches().map(|b| b.row).collect::<Vec<_>>();
            seen.dedup();
            prop_assert_eq!(seen.len(), pipeline.batches().count());
        }
        for row in 0..run.batches().len() {
            let path = run.path(row);
            prop_assert!(path.windows(2).all(|p| p[0].end == Some(p[1].start)));
            prop_assert!(path.last().is_some_and(|s| s.stage.is_final()));
        }
    }

    #[test]
    fn spans_of_tracks_add_up_to_the_batch_paths(moves in moves()) {
        let run = fold(&history(&moves, false));
        assert_tracks_do_not_overlap(&run);
        let mut in_tracks = 0;
        for (lane, rows) in run.lanes() {
            for row in 0..rows as u16 {
                let track = run.track(Track { lane, row }).expect("a listed track");
                let batches = track.all().iter().filter(|s| s.activity != loadscope_trace::Activity::Waiting);
                in_tracks += batches.map(|s| (s.end - s.start).0).sum::<i64>();
            }
        }
        let in_paths: i64 = (0..run.batches().len())
            .flat_map(|row| run.path(row))
            .filter_map(|s| s.end.map(|end| (end - s.start).0))
            .sum();
        prop_assert_eq!(in_tracks, in_paths);
    }

    #[test]
    fn each_step_shows_the_stage_of_its_transition(moves in moves()) {
        let run = fold(&history(&moves, false));
        for (k, t) in run.transitions().iter().enumerate() {
            let id = run.batches()[t.batch as usize].id;
            prop_assert_eq!(run.pipeline_after(k + 1).stage_of(id), Some(t.stage));
        }
    }

    #[test]
    fn invalid_events_leave_the_run_consistent(moves in moves()) {
        let run = fold(&history(&moves, true));
        assert_tracks_do_not_overlap(&run);
        let pipeline = run.pipeline_at(run.end());
        prop_assert_eq!(pipeline.batches().filter(|b| !b.stage.is_final()).count(), 0);
    }

    #[test]
    fn a_log_round_trip_gives_the_same_run(moves in moves(), zstd in any::<bool>()) {
        let mut events = history(&moves, false);
        let about = Some(BatchId::default());
        events.push(Event { at: Nanos(i64::MAX / 2), run: RunId(0), kind: EventKind::Message(Box::new(Message {
            level: Level::Error, text: "broken: \"ä\u{2009}\n".to_owned(), about, worker: Some(1), sample: Some(9),
        }))});
        let compression = if zstd { Compression::Zstd } else { Compression::None };
        let mut log = LogWriter::new(Vec::new(), compression).expect("a vector takes everything");
        for e in &events {
            log.write(e).expect("a vector takes everything");
        }
        let bytes = log.finish().expect("a vector takes everything");
        let reader = LogReader::new(std::io::Cursor::new(bytes)).expect("our own header");
        let back: Vec<Event> = reader.map(|e| e.expect("our own line")).collect();
        prop_assert_eq!(&back, &events);
        prop_assert_eq!(format!("{:?}", fold(&back)), format!("{:?}", fold(&events)));
    }

    #[test]
    fn a_truncated_log_opens_up_to_the_cut(moves in moves(), cut in 0.0..1.0f64, zstd in any::<bool>()) {
        let events = history(&moves[..moves.len().min(80)], false);
        let compression = if zstd { Compression::Zstd } else { Compression::None };
        let mut log = LogWriter::new(Vec::new(), compression).expect("a vector takes everything");
        for e in &events {
            log.write(e).expect("a vector takes everything");
            log.flush().expect("a vector takes everything");
        }
        let whole = log.finish().expect("a vector takes everything");
        let len = (whole.len() as f64 * cut) as usize;
        let Ok(mut reader) = LogReader::new(std::io::Cursor::new(whole[..len].to_vec())) else {
            // The header and the first event, which are written together, are incomplete.
            prop_assert!(len < 700, "{len}");
            return Ok(());
        };
        let back: Vec<Event> = reader.by_ref().map(|e| e.expect("sound up to the cut")).collect();
        prop_assert_eq!(&back[..], &events[..back.len()]);
        // Every event flushed before the cut is present. The cut is undetected only if it is between two lines, before or after the
        // newline.
        let between = whole[..len].ends_with(b"\n") || whole[len..].starts_with(b"\n");
        prop_assert!(reader.is_truncated() || zstd || between || back.len() == events.len());
    }

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(LogReader::new(std::io::Cursor::new(bytes)).is_err());
    }

    #[test]
    fn random_lines_are_refused_with_their_number(text in "[ -~]{1,80}") {
        let log = format!("{{\"loadscope\":1}}\n{text}\n{{}}\n");
        let reader = LogReader::new(std::io::Cursor::new(log.into_bytes())).expect("a sound header");
        let error = reader.filter_map(Result::err).next().map(|e| e.to_string());
        let line = if text.trim().is_empty() { "line 3" } else { "line 2" };
        prop_assert!(error.is_some_and(|e| e.contains(line)));
    }
}
