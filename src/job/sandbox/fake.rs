//! A sandbox of memory and channels: a test says what happens in it.

use super::{Look, Piece, Sandbox, Tail, Wish, Word, Workshop};
use crate::init::{ExitRecord, Identity, Orders};
use crate::job::shelf::KeptOutput;
use crate::job::step::OpenFault;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// What a test knows and decides of one sandbox.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) ring: Vec<u8>,
    /// Bytes before this offset were overwritten.
    pub(crate) oldest: u64,
    pub(crate) end: Option<(ExitRecord, Vec<u8>)>,
    pub(crate) look: Look,
    /// How often it was looked at.
    pub(crate) looks: usize,
    /// Looking at it panics.
    pub(crate) breaks: bool,
    pub(crate) ordered: Vec<(Identity, Orders)>,
    pub(crate) refuses_orders: bool,
    pub(crate) terms: usize,
    pub(crate) kills: usize,
    pub(crate) released: bool,
    pub(crate) dropped: bool,
}

/// A test's end of a sandbox.
#[derive(Clone)]
pub(crate) struct Handle {
    inside: Arc<Mutex<Inside>>,
    words: mpsc::Sender<Word>,
    /// Rings with every order, TERM, KILL and release.
    touched: Arc<Notify>,
}

impl Handle {
    pub(crate) fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap()
    }
    pub(crate) async fn says(&self, word: Word) {
        self.words.send(word).await.unwrap();
    }
    pub(crate) async fn writes(&self, bytes: &[u8]) {
        self.inside().ring.extend_from_slice(bytes);
        self.says(Word::Output).await;
    }
    pub(crate) async fn ends(&self, record: ExitRecord, result: &[u8]) {
        self.inside().end = Some((record, result.to_vec()));
        self.says(Word::Gone).await;
    }
    /// Waits until the supervisor did something that `seen` looks for.
    pub(crate) async fn until(&self, seen: impl Fn(&Inside) -> bool) {
        while !seen(&self.inside()) {
            self.touched.notified().await;
        }
    }
}

/// How one making of a sandbox goes.
pub(crate) enum Making {
    Fails(OpenFault),
    Late(Duration),
    /// It stands, and the line breaks while its orders are sent.
    Deaf,
}

/// A workshop whose sandboxes are tests' puppets.
#[derive(Clone, Default)]
pub(crate) struct FakeWorkshop {
    makings: Arc<Mutex<VecDeque<Making>>>,
    made: Arc<Mutex<Vec<Handle>>>,
    touched: Arc<Notify>,
}

impl FakeWorkshop {
    /// The next making goes so; beyond the script, all stand at once.
    pub(crate) fn next(&self, making: Making) {
        self.makings.lock().unwrap().push_back(making);
    }
    pub(crate) fn made(&self) -> usize {
        self.made.lock().unwrap().len()
    }
    /// The `n`th sandbox, once it stands.
    pub(crate) async fn sandbox(&self, n: usize) -> Handle {
        loop {
            if let Some(found) = self.made.lock().unwrap().get(n) {
                return found.clone();
            }
            self.touched.notified().await;
        }
    }
}

pub(crate) struct FakeSandbox {
    handle: Handle,
    words: mpsc::Receiver<Word>,
    env: BTreeMap<String, String>,
}

impl Workshop for FakeWorkshop {
    type Sandbox = FakeSandbox;

    async fn open(&self, _: Wish) -> Result<FakeSandbox, OpenFault> {
        let making = self.makings.lock().unwrap().pop_front();
        match making {
            Some(Making::Fails(fault)) => return Err(fault),
            Some(Making::Late(by)) => tokio::time::sleep(by).await,
            Some(Making::Deaf) | None => {}
        }
        let (said, words) = mpsc::channel(16);
        let refuses_orders = matches!(making, Some(Making::Deaf));
        let inside = Inside { refuses_orders, ..Inside::default() };
        let inside = Arc::new(Mutex::new(inside));
        let touched = Arc::default();
        let handle = Handle { inside, words: said, touched };
        self.made.lock().unwrap().push(handle.clone());
        self.touched.notify_one();
        Ok(FakeSandbox { handle, words, env: BTreeMap::new() })
    }
}

impl FakeSandbox {
    fn touch(&self, change: impl FnOnce(&mut Inside)) {
        change(&mut self.handle.inside());
        self.handle.touched.notify_one();
    }
}

impl Sandbox for FakeSandbox {
    async fn order(
        &mut self,
        identity: Identity,
        orders: Orders,
    ) -> Result<(), String> {
        self.touch(|inside| inside.ordered.push((identity, orders)));
        let refuses = self.handle.inside().refuses_orders;
        if refuses { Err("the line broke".to_owned()) } else { Ok(()) }
    }
    async fn next(&mut self) -> Word {
        match self.words.recv().await {
            Some(word) => word,
            None => std::future::pending().await,
        }
    }
    async fn term(&mut self, _: Duration) {
        self.touch(|inside| inside.terms += 1);
    }
    fn kill(&self) -> impl Future<Output = ()> + Send + 'static {
        let handle = self.handle.clone();
        async move {
            handle.inside().kills += 1;
            handle.touched.notify_one();
        }
    }
    fn look(&self) -> Look {
        let mut inside = self.handle.inside();
        inside.looks += 1;
        let (look, breaks) = (inside.look, inside.breaks);
        drop(inside); // a lock is poisoned by a panic
        assert!(!breaks, "a test wants that");
        look
    }
    fn read(&mut self, from: u64, max: usize) -> Result<Piece, String> {
        let inside = self.handle.inside();
        let end = inside.ring.len() as u64;
        let start = from.max(inside.oldest).min(end);
        let at = usize::try_from(start).unwrap();
        let bytes = inside.ring[at..].iter().take(max).copied().collect();
        Ok(Piece { start, bytes })
    }
    fn end(&mut self) -> Result<Option<(ExitRecord, Vec<u8>)>, String> {
        Ok(self.handle.inside().end.take())
    }
    fn image_env(&self) -> &BTreeMap<String, String> {
        &self.env
    }
    fn release(&mut self) {
        self.touch(|inside| inside.released = true);
    }
    fn tail(&self) -> Box<dyn Tail> {
        Box::new(FakeTail(self.handle.clone()))
    }
}

impl Drop for FakeSandbox {
    fn drop(&mut self) {
        self.touch(|inside| inside.dropped = true);
    }
}

struct FakeTail(Handle);

impl Tail for FakeTail {
    fn read(&mut self, from: u64, most: usize) -> Result<KeptOutput, String> {
        let inside = self.0.inside();
        let end = u64::try_from(inside.ring.len()).unwrap();
        let start = from.max(inside.oldest).min(end);
        let ring = &inside.ring[usize::try_from(start).unwrap()..];
        let bytes = ring[..ring.len().min(most)].to_vec();
        Ok(KeptOutput { start, bytes, end })
    }
}
