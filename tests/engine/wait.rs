use crate::sandbox::{Sandbox, docker, script};
use ovnode::engine::{Engine, EngineError};

#[tokio::test]
async fn every_exit_code_comes_back_as_it_was() {
    let engine = docker();
    for code in [0, 1, 2, 77, 125, 126, 127, 128, 130, 137, 139, 254, 255] {
        let sandbox = Sandbox::running_script(&format!("exit {code}")).await;
        assert_eq!(sandbox.ended(&engine).await, code);
    }
}

#[tokio::test]
async fn a_missing_init_is_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let init = folder.path().join("nowhere");
    let sandbox = Sandbox::with_init(folder, init).await;
    let refused = docker().create(&sandbox.spec).await.unwrap_err();
    assert!(
        matches!(&refused, EngineError::Refused { status: 400, message, .. }
            if message.contains("nowhere")),
        "{refused}"
    );
}

#[tokio::test]
async fn an_init_that_is_no_program_does_not_start_and_never_ran() {
    let engine = docker();
    let folder = tempfile::tempdir().unwrap();
    let init = folder.path().join("text");
    std::fs::write(&init, "not a program").unwrap();
    let sandbox = Sandbox::with_init(folder, init).await;
    let id = engine.create(&sandbox.spec).await.unwrap();
    let refused = engine.start(&id).await.unwrap_err();
    assert!(matches!(refused, EngineError::Refused { .. }), "{refused}");
    let found = engine.inspect(&id).await.unwrap().unwrap();
    assert!(!found.running && found.exit_code.is_none());
    assert!(found.error.is_some());
    engine.remove(&id).await.unwrap();
}

#[tokio::test]
async fn an_init_that_ends_before_it_stands_leaves_no_trace_of_a_job() {
    let engine = docker();
    let folder = tempfile::tempdir().unwrap();
    let init = script(folder.path(), "");
    std::fs::write(&init, "#!/no/such/shell\n").unwrap();
    let sandbox = Sandbox::with_init(folder, init).await;
    // The engine says that it started; only the record tells what ran.
    assert_ne!(sandbox.ended(&engine).await, 0);
    assert!(!sandbox.record.begun().unwrap());
    assert_eq!(sandbox.record.exit().unwrap(), None);
}
