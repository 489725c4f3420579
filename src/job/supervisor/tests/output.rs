use super::*;

#[tokio::test(start_paused = true)]
async fn the_exit_comes_after_output_that_was_still_in_the_ring() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    let text = "→".repeat(100_000);
    sandbox.inside().ring = text.clone().into_bytes();
    let ended = stage.record(Outcome::Exited(1), EndedBy::Program, 0);
    sandbox.ends(ended, b"").await;
    let (story, exit) = stage.story().await;
    assert_eq!(output(&story), text);
    assert_eq!(exit.reasons, []);
}

#[tokio::test(start_paused = true)]
async fn output_that_the_link_does_not_take_stays_in_the_ring() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    let loud = vec![b'x'; 6 << 20]; // more than the outbox holds
    sandbox.writes(&loud).await;
    tokio::time::sleep(Duration::from_millis(3_500)).await;
    // Nobody reads, and the job can still be cancelled.
    stage.orders.send(Order::Cancel).await.unwrap();
    sandbox.until(|inside| inside.terms == 1).await;
    let ended = stage.record(Outcome::Signalled(15), EndedBy::Cancel, 3_500);
    sandbox.ends(ended, b"").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(stage.is_held(), "the exit waits for the output");
    assert_eq!(stage.free(), 1, "the slot does not");
    assert_eq!(stage.context.board.unsent(), 1);
    let (story, _) = stage.story().await;
    assert_eq!(output(&story).len(), loud.len());
    assert_eq!(seconds(&story), [0, 1, 2]);
    assert_eq!(reason(story.last().unwrap()), ExitReason::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn output_that_was_overwritten_is_declared() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    sandbox.inside().oldest = 50;
    sandbox.writes(&[b'x'; 60]).await;
    let ended = stage.record(Outcome::Exited(0), EndedBy::Program, 0);
    sandbox.ends(ended, b"").await;
    let (story, exit) = stage.story().await;
    let JobEvent::Stdout { chunk_seq, chunk } = &story[0].event else {
        panic!()
    };
    assert_eq!((*chunk_seq, chunk.len()), (2, 10));
    assert_eq!(exit.reasons[0].code, ReasonCode::OutputLost);
}

#[tokio::test(start_paused = true)]
async fn kept_output_can_be_asked_for_while_and_after_the_job_runs() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    sandbox.writes(b"abcdef").await;
    let shelf = &stage.context.shelf;
    let last = shelf.last(&stage.job.id, 3).unwrap();
    assert_eq!((last.start, last.bytes, last.end), (3, b"def".to_vec(), 6));
    let ended = stage.record(Outcome::Exited(0), EndedBy::Program, 0);
    sandbox.ends(ended, b"").await;
    stage.story().await;
    let shelf = &stage.context.shelf;
    let all = shelf.last(&stage.job.id, 9).unwrap();
    assert_eq!((all.start, all.bytes, all.end), (0, b"abcdef".to_vec(), 6));
    let some = shelf.from(&stage.job.id, 2, 2).unwrap();
    assert_eq!((some.start, some.bytes, some.end), (2, b"cd".to_vec(), 6));
    assert!(shelf.last(&job_id(0, 9), 9).is_err());
}
