use super::*;

fn refused(change: impl FnOnce(&mut RunOptions)) -> String {
    let mut o = RunOptions::default();
    change(&mut o);
    check(&o).expect_err("that is too much").to_string()
}

#[test]
fn options_at_their_limits_are_accepted() {
    assert_eq!(check(&RunOptions::default()), Ok(()));
    let most = RunOptions {
        num_workers: WORKERS,
        prefetch_factor: Some(WINDOW / WORKERS),
        batch_size: Some(BATCH_SIZE),
        num_samples: Some(SAMPLES),
        epochs: EPOCHS,
        world_size: RANKS,
        timeout: TIMEOUT,
        step_ms: STEP_MS,
        image_size: IMAGE_SIZE,
        ..RunOptions::default()
    };
    assert_eq!(check(&most), Ok(()));
}

#[test]
fn refusals_name_the_value_the_limit_and_the_remedy() {
    let texts = [
        (
            refused(|o| o.num_workers = 65_535),
            "1,024, but got num_workers=65535. Use fewer",
        ),
        (
            refused(|o| o.prefetch_factor = Some(20_000)),
            "10,000, but got prefetch_factor=20000. Choose",
        ),
        (
            refused(|o| o.batch_size = Some(usize::MAX)),
            "got batch_size=18446744073709551615. Choose",
        ),
        (
            refused(|o| o.num_samples = Some(u64::MAX)),
            "got num_samples=18446744073709551615. Draw fewer",
        ),
        (
            refused(|o| o.epochs = u32::MAX),
            "1,000,000, but got epochs=4294967295. Choose fewer",
        ),
        (
            refused(|o| o.world_size = 0),
            "at least 1, but got world_size=0",
        ),
        (
            refused(|o| o.world_size = u32::MAX),
            "got world_size=4294967295. Choose fewer",
        ),
        (
            refused(|o| o.timeout = 1e308),
            "at most 1,000,000,000 s, but got timeout=1e+308. Use 0",
        ),
        (
            refused(|o| o.timeout = f64::NAN),
            "a number from 0 to 1,000,000,000 s, but got timeout=nan",
        ),
        (
            refused(|o| o.step_ms = 4e6),
            "3,600,000 (one hour), but got step_ms=4000000.0. Choose",
        ),
        (refused(|o| o.step_ms = -1.0), "but got step_ms=-1.0"),
        (
            refused(|o| o.image_size = 0),
            "between 1 and 4,096 pixels, but got image_size=0",
        ),
    ];
    for (text, says) in texts {
        assert!(text.contains(says), "{text}");
    }
    let text = refused(|o| (o.num_workers, o.prefetch_factor) = (1000, Some(1001)));
    assert!(
        text.contains("1,001,000 batches in flight, but the limit is 1,000,000"),
        "{text}"
    );
}

#[test]
fn runs_with_too_many_batches_or_bytes_are_refused() {
    let epochs = |epochs| RunOptions {
        epochs,
        ..RunOptions::default()
    };
    let of = |batches, samples| Epoch { batches, samples };
    assert_eq!(check_run(&epochs(10), of(57, 1797)), Ok(()));
    let text = check_run(&epochs(EPOCHS), of(57, 1797)).expect_err("too long");
    let text = text.to_string();
    assert!(
        text.contains("20,000,000 batches, but 1,000,000 epochs of 57 batches are 57,000,000"),
        "{text}"
    );
    let text = check_run(&epochs(EPOCHS), of(1, SAMPLES)).expect_err("no host has so much");
    assert!(
        text.to_string()
            .contains("of memory, but this program may use"),
        "{text}"
    );
    assert!(check_run(&epochs(u32::MAX), of(u64::MAX, u64::MAX)).is_err());
}

#[test]
fn batches_in_flight_above_the_memory_are_refused() {
    let o = RunOptions {
        batch_size: Some(10_000_000),
        num_workers: 4,
        ..RunOptions::default()
    };
    let of = |batches, samples| Epoch { batches, samples };
    // The dataset is smaller than a batch.
    assert_eq!(check_in_flight(&o, of(1, 1797), 256), Ok(()));
    let text = check_in_flight(&o, of(100, SAMPLES), 1 << 28).expect_err("no host has so much");
    let text = text.to_string();
    assert!(
        text.starts_with("9 batches of 10,000,000 samples in flight take")
            && text.contains("TB of memory"),
        "{text}"
    );
    assert!(check_in_flight(&o, of(u64::MAX, u64::MAX), u64::MAX).is_err());
}

#[test]
fn epochs_above_the_sample_limit_are_refused() {
    assert_eq!(check_samples(1_000_000_000), Ok(()));
    let text = check_samples(1_000_000_001)
        .expect_err("one more")
        .to_string();
    assert!(
        text.contains("at most 1,000,000,000 samples, but this one has 1,000,000,001"),
        "{text}"
    );
}
