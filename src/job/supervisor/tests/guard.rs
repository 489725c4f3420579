use super::*;

#[tokio::test(start_paused = true)]
async fn a_job_whose_supervision_panics_is_ended_and_said_to_have_failed() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    sandbox.inside().breaks = true;
    sandbox.until(|inside| inside.kills == 1).await;
    assert_eq!(stage.free(), 0, "its processes may still be there");
    sandbox.says(Word::Gone).await;
    let (story, exit) = stage.story().await;
    let JobEvent::Exit(said) = &story.last().unwrap().event else { panic!() };
    assert_eq!(said.reason, ExitReason::Failed);
    assert_eq!(exit.reasons[0].code, ReasonCode::SandboxLost);
    assert!(said.usage.started_ms.is_some() && said.usage.wall_ms >= 1_000);
    assert!(sandbox.inside().dropped && !stage.is_held());
    stage.context.tasks.close();
    stage.context.tasks.wait().await;
    assert_eq!(stage.free(), 1);
    assert!(stage.context.board.jobs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_sandbox_that_does_not_die_holds_up_no_failure_for_ever() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    sandbox.inside().breaks = true;
    let (story, _) = stage.story().await;
    assert_eq!(reason(story.last().unwrap()), ExitReason::Failed);
    assert_eq!((stage.free(), sandbox.inside().dropped), (1, true));
}
