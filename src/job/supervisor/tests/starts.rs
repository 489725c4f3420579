use super::*;

#[tokio::test(start_paused = true)]
async fn a_job_cancelled_while_its_sandbox_is_made_leaves_nothing() {
    let workshop = FakeWorkshop::default();
    workshop.next(Making::Late(Duration::from_secs(20)));
    let mut stage = Stage::new(workshop);
    stage.orders.send(Order::Cancel).await.unwrap();
    let (story, _) = stage.story().await;
    assert_eq!(story.len(), 1, "it never started");
    assert_eq!(reason(&story[0]), ExitReason::Cancelled);
    assert_eq!(stage.free(), 0, "something is still being made");
    let sandbox = stage.workshop.sandbox(0).await;
    sandbox.until(|inside| inside.dropped).await;
    assert_eq!(sandbox.inside().ordered, []);
    stage.context.tasks.close();
    stage.context.tasks.wait().await;
    assert_eq!(stage.free(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_comes_back_makes_a_new_sandbox() {
    let workshop = FakeWorkshop::default();
    for _ in 0..3 {
        let away = OpenFault::Away("no answer".to_owned());
        workshop.next(Making::Fails(away));
    }
    let mut stage = Stage::new(workshop);
    let sandbox = stage.running().await;
    assert_eq!(stage.workshop.made(), 1);
    assert_eq!(sandbox.inside().ordered.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_time_is_over_before_its_start_exits_with_ttl() {
    let workshop = FakeWorkshop::default();
    workshop.next(Making::Late(Duration::from_secs(300)));
    let mut stage = Stage::new(workshop);
    let began = Instant::now();
    let (story, _) = stage.story().await;
    assert_eq!(reason(&story[0]), ExitReason::Ttl);
    assert_eq!(began.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn an_image_that_is_not_there_fails_the_job() {
    let workshop = FakeWorkshop::default();
    let missing = OpenFault::Refused("image x is not there".to_owned());
    workshop.next(Making::Fails(missing));
    let mut stage = Stage::new(workshop);
    let (story, exit) = stage.story().await;
    assert_eq!(reason(&story[0]), ExitReason::Failed);
    assert_eq!(exit.reasons[0].code, ReasonCode::CannotStart);
    assert_eq!(exit.reasons[0].text, "image x is not there");
    assert_eq!(stage.free(), 1);
}

#[tokio::test(start_paused = true)]
async fn orders_that_may_have_been_read_are_never_given_again() {
    let workshop = FakeWorkshop::default();
    workshop.next(Making::Deaf);
    let mut stage = Stage::new(workshop);
    let sandbox = stage.workshop.sandbox(0).await;
    sandbox.until(|inside| inside.kills == 1).await;
    sandbox.says(Word::Gone).await;
    let (story, exit) = stage.story().await;
    assert_eq!(reason(&story[0]), ExitReason::Failed);
    assert_eq!(exit.reasons[0].code, ReasonCode::SandboxLost);
    assert_eq!(stage.workshop.made(), 1);
}
