use super::*;

#[tokio::test(start_paused = true)]
async fn a_deaf_pid_1_is_killed_from_outside_until_it_is_gone() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    let began = Instant::now();
    stage.orders.send(Order::Cancel).await.unwrap();
    sandbox.until(|inside| inside.kills == 1).await;
    assert_eq!(began.elapsed().as_secs(), 6); // 5 s grace, 1 s for PID 1
    sandbox.until(|inside| inside.kills == 3).await;
    assert_eq!(stage.free(), 0);
    sandbox.says(Word::Gone).await;
    let (story, _) = stage.story().await;
    assert_eq!(reason(story.last().unwrap()), ExitReason::Cancelled);
    assert_eq!(sandbox.inside().terms, 1);
}

#[tokio::test(start_paused = true)]
async fn a_wall_limit_is_enforced_when_pid_1_does_not() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    sandbox.until(|inside| inside.terms == 1).await;
    let ended = stage.record(Outcome::Signalled(15), EndedBy::Cancel, 11_000);
    sandbox.ends(ended, b"").await;
    let (story, exit) = stage.story().await;
    assert_eq!(reason(story.last().unwrap()), ExitReason::Limit);
    assert_eq!(exit.reasons[0].code, ReasonCode::LimitReached);
    assert_eq!(seconds(&story), Vec::from_iter(0..11));
}

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

#[tokio::test(start_paused = true)]
async fn a_sandbox_that_vanishes_is_judged_by_the_last_look() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    sandbox.inside().look = Look {
        cpu: Some(Duration::from_millis(700)),
        memory_peak: Some(Bytes(9)),
        oom_kills: Some(1),
        processes: Some(3),
    };
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    sandbox.says(Word::Gone).await;
    let (story, exit) = stage.story().await;
    let JobEvent::Exit(said) = &story.last().unwrap().event else { panic!() };
    assert_eq!(said.reason, ExitReason::Limit);
    assert_eq!(said.usage.wall_ms, 1_000);
    assert_eq!(said.usage.cpu_ms, Some(700));
    assert_eq!(exit.reasons[0].code, ReasonCode::OomKill);
}

#[tokio::test(start_paused = true)]
async fn kept_output_can_be_asked_for_while_and_after_the_job_runs() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    sandbox.writes(b"abcdef").await;
    let shelf = &stage.context.shelf;
    assert_eq!(shelf.last(&stage.job.id, 3).unwrap(), b"def");
    let ended = stage.record(Outcome::Exited(0), EndedBy::Program, 0);
    sandbox.ends(ended, b"").await;
    stage.story().await;
    let shelf = &stage.context.shelf;
    assert_eq!(shelf.last(&stage.job.id, 9).unwrap(), b"abcdef");
    assert_eq!(shelf.dispatcher(&stage.job.id), Some(dispatcher("alice")));
    assert!(shelf.last(&job_id(0, 9), 9).is_err());
}
