use crate::sandbox::{IMAGE, Sandbox, docker, script, within};
use ovnode::contract::RuntimeClass;
use ovnode::engine::fake::{Call, FakeEngine, Turn};
use ovnode::engine::{
    ContainerId, Engine, EngineError, LaunchSpec, SandboxId, allowed_env,
    covers, verify,
};

#[tokio::test]
async fn the_real_engine_keeps_the_contract() {
    let sandbox = Sandbox::running_script("sleep 600").await;
    keeps_the_contract(&docker(), IMAGE, &sandbox.spec).await;
}

#[tokio::test]
async fn the_fake_engine_keeps_the_contract() {
    let engine = FakeEngine::with_image(IMAGE);
    let folder = tempfile::tempdir().unwrap();
    let init = script(folder.path(), "");
    let image = engine.image(IMAGE).await.unwrap().unwrap().id;
    let sandbox = Sandbox::of_image(folder, init, image);
    keeps_the_contract(&engine, IMAGE, &sandbox.spec).await;
}

/// One story that every engine tells alike; its sandbox runs until killed.
async fn keeps_the_contract(
    engine: &impl Engine,
    image: &str,
    spec: &LaunchSpec,
) {
    assert!(!engine.info().await.unwrap().version.is_empty());
    what_is_not_there(engine, spec).await;
    let facts = engine.image(image).await.unwrap().unwrap();
    assert_eq!(facts.id, spec.image);

    let id = engine.create(spec).await.unwrap();
    let made = engine.inspect(&id).await.unwrap().unwrap();
    verify(spec, &made).unwrap();
    assert!(!made.running && made.pid.is_none() && made.exit_code.is_none());
    let twice = engine.create(spec).await;
    assert!(matches!(twice, Err(EngineError::Refused { status: 409, .. })));
    // Never started: there is nothing to kill, and that is fine.
    engine.kill(&id).await.unwrap();

    engine.start(&id).await.unwrap();
    let runs = engine.inspect(&id).await.unwrap().unwrap();
    verify(spec, &runs).unwrap();
    assert!(runs.running && runs.pid.is_some() && runs.exit_code.is_none());
    let own = engine.own(&spec.node).await.unwrap();
    assert_eq!(own.len(), 1);
    assert_eq!((&own[0].id, &own[0].sandbox), (&id, &spec.sandbox));
    assert!(own[0].running);

    killed_and_removed(engine, &id).await;
    assert_eq!(engine.own(&spec.node).await.unwrap(), []);
}

async fn what_is_not_there(engine: &impl Engine, spec: &LaunchSpec) {
    let nothing = ContainerId("0".repeat(64));
    assert_eq!(engine.image("ovnode/none:0").await.unwrap(), None);
    assert_eq!(engine.inspect(&nothing).await.unwrap(), None);
    engine.kill(&nothing).await.unwrap();
    engine.remove(&nothing).await.unwrap();
    let unknown =
        |answer| matches!(answer, EngineError::Refused { status: 404, .. });
    assert!(unknown(engine.start(&nothing).await.unwrap_err()));
    assert!(unknown(within(engine.wait(&nothing)).await.unwrap_err()));
    let image = format!("sha256:{}", "0".repeat(64));
    let sandbox = SandboxId(format!("{}-none", spec.sandbox.0));
    let spec = LaunchSpec { image, sandbox, ..spec.clone() };
    assert!(unknown(engine.create(&spec).await.unwrap_err()));
}

async fn killed_and_removed(engine: &impl Engine, id: &ContainerId) {
    let waits = engine.wait(id);
    let kills = async {
        engine.kill(id).await.unwrap();
        engine.kill(id).await.unwrap();
    };
    let (code, ()) = within(async { tokio::join!(waits, kills) }).await;
    assert_eq!(code.unwrap(), 137);
    let dead = engine.inspect(id).await.unwrap().unwrap();
    assert!(!dead.running && dead.pid.is_none());
    assert_eq!(dead.exit_code, Some(137));
    // Waiting for what has ended already is answered at once.
    assert_eq!(within(engine.wait(id)).await.unwrap(), 137);
    engine.remove(id).await.unwrap();
    engine.remove(id).await.unwrap();
    assert_eq!(engine.inspect(id).await.unwrap(), None);
}

#[tokio::test]
async fn a_call_that_is_lost_was_done_and_one_that_is_away_was_not() {
    let engine = FakeEngine::with_image(IMAGE);
    let folder = tempfile::tempdir().unwrap();
    let init = script(folder.path(), "");
    let image = engine.image(IMAGE).await.unwrap().unwrap().id;
    let sandbox = Sandbox::of_image(folder, init, image);
    engine.next(Call::Create, Turn::Away);
    assert!(engine.create(&sandbox.spec).await.is_err());
    assert_eq!(engine.container(&sandbox.spec.sandbox), None);
    engine.next(Call::Create, Turn::Lost);
    assert!(engine.create(&sandbox.spec).await.is_err());
    let id = engine.container(&sandbox.spec.sandbox).unwrap();
    engine.start(&id).await.unwrap();
    let goes = async { engine.set_away(true) };
    let (code, ()) =
        within(async { tokio::join!(engine.wait(&id), goes) }).await;
    assert!(matches!(code, Err(EngineError::Away { .. })));
    engine.set_away(false);
    engine.exits(&id, 9);
    assert_eq!(engine.wait(&id).await.unwrap(), 9);
}

#[tokio::test]
async fn images_of_ours_are_found_by_their_class() {
    let own = docker().own_images().await.unwrap();
    let found = own.iter().find(|image| image.tags.contains(&IMAGE.to_owned()));
    let found = found.expect("`workers/build` makes it");
    assert_eq!(found.class, RuntimeClass::Function);
    let facts = docker().image(IMAGE).await.unwrap().unwrap();
    assert_eq!(found.id, facts.id);
    assert!(covers(&facts).unwrap().is_empty());
    assert!(allowed_env(&facts).contains_key("PATH"));
}
