use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// What the proxy does with what passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Pass,
    /// Connections stay open and nothing passes: a silent server.
    Stall,
    /// Connections are closed, and new ones too.
    Cut,
    /// Everything passes later.
    Delay(Duration),
}

/// A TCP proxy in front of a server, on a free loopback port.
pub(crate) struct Proxy {
    port: u16,
    mode: watch::Sender<Mode>,
    _stop: DropGuard,
}

impl Proxy {
    /// A proxy that lets everything pass to `target`.
    pub(crate) async fn to(target: u16) -> Self {
        let here = (Ipv4Addr::LOCALHOST, 0);
        let listener = TcpListener::bind(here).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (mode, _) = watch::channel(Mode::Pass);
        let stop = CancellationToken::new();
        let (tasks, told) = (TaskTracker::new(), mode.clone());
        let serve = serve(listener, target, told, tasks.clone());
        let until = stop.clone();
        tasks.spawn(async move { until.run_until_cancelled(serve).await });
        Self { port, mode, _stop: stop.drop_guard() }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn pass(&self) {
        self.mode.send_replace(Mode::Pass);
    }

    pub(crate) fn stall(&self) {
        self.mode.send_replace(Mode::Stall);
    }

    pub(crate) fn cut(&self) {
        self.mode.send_replace(Mode::Cut);
    }

    pub(crate) fn delay(&self, by: Duration) {
        self.mode.send_replace(Mode::Delay(by));
    }
}

async fn serve(
    listener: TcpListener,
    target: u16,
    mode: watch::Sender<Mode>,
    tasks: TaskTracker,
) {
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        let (mode, mut cut) = (mode.subscribe(), mode.subscribe());
        tasks.spawn(async move {
            let there = (Ipv4Addr::LOCALHOST, target);
            let Ok(server) = TcpStream::connect(there).await else { return };
            let cut = async { drop(cut.wait_for(|m| *m == Mode::Cut).await) };
            let (client_in, client_out) = client.into_split();
            let (server_in, server_out) = server.into_split();
            tokio::select! {
                () = cut => {}
                () = copy(client_in, server_out, mode.clone()) => {}
                () = copy(server_in, client_out, mode.clone()) => {}
            }
        });
    }
}

async fn copy(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut mode: watch::Receiver<Mode>,
) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let now = *mode.borrow();
        match now {
            Mode::Delay(by) => tokio::time::sleep(by).await,
            Mode::Stall => {
                let moved = mode.wait_for(|m| *m != Mode::Stall).await;
                drop(moved.unwrap());
            }
            Mode::Pass | Mode::Cut => {}
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
