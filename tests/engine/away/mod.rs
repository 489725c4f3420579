mod proxy; // before the real engine: says another version, or falls silent

use crate::sandbox::{IMAGE, Sandbox, node, within};
use ovnode::engine::{Docker, Engine, EngineError};
use proxy::Proxy;
use std::path::Path;
use tokio::net::UnixListener;

#[tokio::test]
async fn a_socket_that_is_not_there_is_an_engine_that_is_away() {
    let engine = Docker::connect(Path::new("/nowhere/docker.sock"));
    let fault = engine.info().await.unwrap_err();
    assert!(matches!(fault, EngineError::Away { .. }), "{fault}");
    let said = fault.to_string();
    assert!(said.contains("/nowhere/docker.sock"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_takes_calls_and_never_answers_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("deaf.sock");
    let deaf = UnixListener::bind(&socket).unwrap();
    let engine = Docker::connect(&socket);
    let fault = engine.info().await.unwrap_err();
    assert!(matches!(fault, EngineError::Away { .. }), "{fault}");
    let fault = engine.own(&node()).await.unwrap_err();
    assert!(matches!(fault, EngineError::Away { .. }), "{fault}");
    drop(deaf);
}

#[tokio::test]
async fn an_engine_that_comes_late_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("late.sock");
    let engine = Docker::connect(&socket);
    assert!(engine.info().await.is_err());
    let _proxy = Proxy::at(&socket, "1.41", "1.12");
    assert_eq!(engine.info().await.unwrap().api, "1.41");
}

#[tokio::test]
async fn an_engine_too_old_is_unsupported_in_a_sentence() {
    let proxy = Proxy::new("1.24", "1.12");
    let fault = proxy.engine().info().await.unwrap_err();
    assert!(matches!(fault, EngineError::Unsupported { .. }), "{fault}");
    let said = fault.to_string();
    assert!(said.contains("unsupported") && said.contains("1.24"), "{said}");
}

#[tokio::test]
async fn an_engine_of_tomorrow_is_spoken_to_in_our_newest() {
    let proxy = Proxy::new("1.60", "1.44");
    let engine = proxy.engine();
    assert_eq!(engine.info().await.unwrap().api, "1.53");
    assert!(engine.image(IMAGE).await.unwrap().is_some());
    assert!(proxy.asked().iter().all(|path| path.starts_with("/v1.53/")));
}

#[tokio::test]
async fn an_upgrade_under_a_running_agent_is_followed() {
    let proxy = Proxy::new("1.41", "1.12");
    let engine = proxy.engine();
    assert_eq!(engine.info().await.unwrap().api, "1.41");
    // The engine is another one now, and refuses what it took before.
    proxy.becomes("1.52", "1.44");
    assert_eq!(engine.info().await.unwrap().api, "1.52");
    assert!(engine.image(IMAGE).await.unwrap().is_some());
}

#[tokio::test]
async fn a_wait_ends_in_an_error_when_the_engine_is_cut_off() {
    let proxy = Proxy::new("1.41", "1.12");
    let engine = proxy.engine();
    let sandbox = Sandbox::running_script("sleep 600").await;
    let id = sandbox.started(&engine).await;
    let waits = engine.wait(&id);
    let cut = async {
        while !proxy.asked().iter().any(|path| path.ends_with("not-running")) {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        proxy.cut();
    };
    let (code, ()) = within(async { tokio::join!(waits, cut) }).await;
    let fault = code.unwrap_err();
    assert!(matches!(fault, EngineError::Away { .. }), "{fault}");
}

#[tokio::test]
async fn an_end_that_the_engine_does_not_tell_is_found_all_the_same() {
    let proxy = Proxy::new("1.41", "1.12");
    let engine = proxy.engine();
    let sandbox = Sandbox::running_script("exit 7").await;
    proxy.swallow("/wait");
    let id = sandbox.started(&engine).await;
    assert_eq!(within(engine.wait(&id)).await.unwrap(), 7);
}
