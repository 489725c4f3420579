use super::link::{Running, Ticking, config};
use super::nats::Nats;
use super::soon;
use super::stub::Stub;
use ovnode::contract::Token;
use ovnode::link::client::{Dispatcher, DispatcherConfig, OfferNews, Offers};
use ovnode::link::{LinkAuth, LinkTls};
use std::time::Duration;
use tokio::process::Command;

pub(crate) fn token(text: &str) -> Token {
    Token::try_from(text.to_owned()).unwrap()
}

/// A dispatcher called `d1`.
pub(crate) async fn dispatcher(
    nats: &Nats,
    offers_every: Duration,
) -> Dispatcher {
    let config = DispatcherConfig {
        servers: vec![nats.url()],
        auth: LinkAuth::None,
        tls: LinkTls::default(),
        prefix: token("ov"),
        inbox_prefix: None,
        dispatcher: token("d1"),
        clock: Ticking::new(),
        offers_every,
        answer_within: Duration::from_secs(20),
    };
    soon(Dispatcher::connect(config)).await.unwrap()
}

/// Whose the next offer is.
pub(crate) async fn said(offers: &mut Offers) -> String {
    loop {
        match soon(offers.next()).await.unwrap() {
            OfferNews::Said(seen) => return seen.node().to_owned(),
            OfferNews::Gone(_) => {}
        }
    }
}

/// Runs an example against the stub; its exit code and what it printed.
pub(crate) async fn run_example(
    mut command: Command,
    args: &str,
) -> (i32, String) {
    let nats = Nats::start();
    let mut stub = Stub::over(Running::serving(config(&nats.url())).await);
    command.args(["--server", &nats.url(), "--trust", "user-owned"]);
    command.args(["--artifact", "echo@1.0.0", "--args", args]);
    let offer = stub.offers();
    let say_offers = async {
        // As a node would, only sooner: the example listens at some moment.
        loop {
            offer();
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let ran = async {
        tokio::select! {
            ran = soon(command.output()) => ran.unwrap(),
            () = say_offers => unreachable!("offers are said for ever"),
        }
    };
    let (ran, ()) = tokio::join!(ran, stub.serve());
    assert_eq!(stub.asked, ["job", "job_exit_ack"], "{ran:?}");
    let printed = String::from_utf8(ran.stdout).unwrap();
    (ran.status.code().unwrap(), printed)
}

/// The example in Python; `None` where Python has no NATS client.
pub(crate) fn python() -> Option<Command> {
    let find = std::process::Command::new("python3")
        .args(["-c", "import nats"])
        .status();
    if !find.is_ok_and(|found| found.success()) {
        eprintln!("skipped: python3 has no nats-py");
        return None;
    }
    let mut command = Command::new("python3");
    let root = env!("CARGO_MANIFEST_DIR");
    command.arg(format!("{root}/examples/dispatch.py"));
    Some(command)
}

/// The example in Rust; `None` where it was not built. `cargo test` builds
/// the examples too; asked for one file of tests only, it may not have.
pub(crate) fn rust() -> Option<Command> {
    // Tests lie in `deps`, examples beside it.
    let own = std::env::current_exe().unwrap();
    let target = own.parent().unwrap().parent().unwrap();
    let example = target.join("examples/dispatch");
    if !example.exists() {
        eprintln!("skipped: `cargo build --example dispatch` comes first");
        return None;
    }
    Some(Command::new(example))
}
