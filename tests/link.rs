//! The link's promises about its connection, over a real NATS server.

#[expect(dead_code, reason = "this file uses a part of the harness")]
mod support;

use ovnode::contract::Timestamp;
use ovnode::link::{LinkAuth, LinkState, LinkTiming, Secret};
use std::time::{Duration, Instant};
use support::link::{Running, config};
use support::nats::Nats;
use support::proxy::Proxy;
use support::recorder::Recorder;

#[tokio::test]
async fn the_first_connection_is_retried_until_the_server_is_there() {
    let mut nats = Nats::down();
    let link = Running::start(config(&nats.url()));
    let waiting = link
        .until(|state| {
            matches!(state, LinkState::Connecting { attempts: 2.., .. })
        })
        .await;
    assert!(waiting.to_string().contains("attempts failed"), "{waiting}");
    nats.up();
    let up = link.until(LinkState::serving).await;
    assert_eq!(up.session(), Some(1));
}

#[tokio::test]
async fn a_silent_server_is_noticed_within_15_seconds() {
    let nats = Nats::start();
    let proxy = Proxy::to(nats.port()).await;
    let mut config = config(&proxy.url());
    let usual = LinkTiming::default();
    config.timing.ping = usual.ping;
    config.timing.echo_every = usual.echo_every;
    config.timing.echo_limit = usual.echo_limit;
    let link = Running::serving(config).await;
    let start = Instant::now();
    proxy.stall();
    link.until(|state| !state.serving()).await;
    assert!(start.elapsed() < Duration::from_secs(15));
    proxy.pass();
    link.until(LinkState::serving).await;
}

#[tokio::test]
async fn a_link_through_a_broken_connection_is_a_new_session() {
    let mut nats = Nats::start();
    let link = Running::serving(config(&nats.url())).await;
    nats.kill();
    link.until(|state| matches!(state, LinkState::Disconnected { .. })).await;
    nats.up();
    let again = link.until(LinkState::serving).await;
    assert_eq!(again.session(), Some(2));
}

#[tokio::test]
async fn refused_credentials_are_named_and_a_changed_file_mends_them() {
    let users = "authorization { users: [{user: u1, password: right}] }";
    let nats = Nats::with(users);
    let file = nats.file("password");
    std::fs::write(&file, "wrong\n").unwrap();
    let mut config = config(&nats.url());
    config.auth = LinkAuth::UserPassword {
        user: "u1".to_owned(),
        password: Secret::File(file.clone()),
    };
    // Minutes, as in the field: only the changed file can end the wait.
    config.timing.refused_base = Duration::from_secs(300);
    let link = Running::start(config);
    let refused =
        link.until(|state| matches!(state, LinkState::Refused { .. })).await;
    let text = refused.to_string();
    assert!(text.contains("user `u1`"), "{text}");
    assert!(text.contains(file.to_str().unwrap()), "{text}");
    assert!(!text.contains("wrong"), "{text}");
    std::fs::write(&file, "right\n").unwrap();
    link.until(LinkState::serving).await;
}

#[tokio::test]
async fn a_secret_that_cannot_be_read_is_named() {
    let nats = Nats::start();
    let mut config = config(&nats.url());
    config.auth = LinkAuth::CredsFile("/nowhere/node.creds".into());
    let link = Running::start(config);
    let refused =
        link.until(|state| matches!(state, LinkState::Refused { .. })).await;
    assert!(refused.to_string().contains("`/nowhere/node.creds`"));
}

#[tokio::test]
async fn what_the_server_forbids_is_named_and_gone_after_a_reconnect() {
    let nats = Nats::with(PINNED);
    let link = Running::start(config(&nats.url()));
    let denied = link
        .until(|state| {
            matches!(state, LinkState::Denied { denied, .. }
                if denied.len() == 2)
        })
        .await;
    let text = denied.to_string();
    assert!(text.contains("subscribe to ov.node.n1.in.*"), "{text}");
    assert!(text.contains("publish to ov.job.probe._self.n1.nack"), "{text}");
    assert!(!denied.serving(), "it can take no jobs");
    drop(nats);
}

/// All but listening for requests and telling of jobs.
const PINNED: &str = r#"
    authorization { users: [{ user: any, password: any, permissions: {
        publish: { deny: ["ov.job.>"] },
        subscribe: { deny: ["ov.node.*.in.>"] } } }] }
    no_auth_user: any
"#;

#[tokio::test]
async fn permissions_given_later_count_after_the_next_connection() {
    let mut nats = Nats::with(PINNED);
    let link = Running::start(config(&nats.url()));
    link.until(|state| matches!(state, LinkState::Denied { .. })).await;
    nats.kill();
    nats.configure("");
    nats.up();
    link.until(|state| matches!(state, LinkState::Connected { .. })).await;
}

#[tokio::test]
async fn of_two_daemons_under_one_id_the_later_yields_until_it_is_alone() {
    let nats = Nats::start();
    let first = Running::serving(config(&nats.url())).await;
    let mut clone = config(&nats.url());
    clone.instance = "instance-b".to_owned();
    clone.started = Timestamp(clone.started.0 + 5);
    let second = Running::start(clone);
    let yielded =
        second.until(|state| matches!(state, LinkState::Yielded { .. })).await;
    assert!(yielded.to_string().contains("instance-a"), "{yielded}");
    assert!(first.handle.state().borrow().serving());
    drop(first);
    second.until(LinkState::serving).await;
}

#[tokio::test]
async fn an_earlier_daemon_that_comes_back_makes_the_later_one_yield() {
    let nats = Nats::start();
    let mut late = config(&nats.url());
    late.instance = "instance-b".to_owned();
    late.started = Timestamp(late.started.0 + 5);
    let late = Running::serving(late).await;
    let early = Running::serving(config(&nats.url())).await;
    late.until(|state| matches!(state, LinkState::Yielded { .. })).await;
    assert!(early.handle.state().borrow().serving());
}

#[tokio::test]
async fn rights_are_proven_by_an_empty_message_that_says_so() {
    let nats = Nats::start();
    let mut recorder = Recorder::of(&nats, "ov.job.>").await;
    let _link = Running::serving(config(&nats.url())).await;
    let probe = recorder.next().await;
    assert_eq!(probe.subject, "ov.job.probe._self.n1.nack");
    assert_eq!(probe.text, "");
}

#[tokio::test]
async fn round_trips_are_measured() {
    let nats = Nats::start();
    let proxy = Proxy::to(nats.port()).await;
    let link = Running::serving(config(&proxy.url())).await;
    proxy.delay(Duration::from_millis(30));
    let mut trips = link.handle.round_trips();
    let slow = |trip: &ovnode::link::RoundTrip| trip.took.as_millis() >= 60;
    support::soon(trips.wait_for(slow)).await.unwrap();
}

#[tokio::test]
async fn a_seed_file_signs_us_in() {
    let pair = nkeys::KeyPair::new_user();
    let public = pair.public_key();
    let users = format!("authorization {{ users: [{{nkey: {public}}}] }}");
    let nats = Nats::with(&users);
    let file = nats.file("node.nk");
    std::fs::write(&file, format!("{}\n", pair.seed().unwrap())).unwrap();
    let mut config = config(&nats.url());
    config.auth = LinkAuth::NkeySeedFile(file);
    Running::serving(config).await;
}

#[tokio::test]
async fn a_name_and_password_may_stand_in_the_address() {
    let users = "authorization { users: [{user: u1, password: p1}] }";
    let nats = Nats::with(users);
    let url = format!("nats://u1:p1@127.0.0.1:{}", nats.port());
    let link = Running::serving(config(&url)).await;
    let text = link.handle.state().borrow().to_string();
    assert!(!text.contains("p1"), "{text}");
}
