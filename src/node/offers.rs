//! Offers on their way from the offer room to the link; the last of each
//! subject is kept for whoever looks.

use super::config::Config;
use crate::contract::{Clock, OfferReport, Subjects};
use crate::link::{LinkHandle, OfferOut};
use crate::offer::{Say, Statement};
use bytes::Bytes as Payload;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// Offers that a follower has not taken yet: at four a second, the quarter
/// of a minute that it may be busy with others.
const BEHIND: usize = 64;

/// What was said last, and how often.
#[derive(Clone, Debug)]
pub(crate) struct OfferLog {
    book: Arc<Mutex<Book>>,
    said: broadcast::Sender<Payload>,
}

#[derive(Debug, Default)]
struct Book {
    last: BTreeMap<String, Payload>,
    report: OfferReport,
}

impl Default for OfferLog {
    fn default() -> Self {
        let (said, _) = broadcast::channel(BEHIND);
        Self { book: Arc::default(), said }
    }
}

impl OfferLog {
    /// When the last one was said, and how many were.
    pub(crate) fn report(&self) -> OfferReport {
        self.book().report.clone()
    }

    /// The last of each subject.
    pub(crate) fn last(&self) -> Vec<Payload> {
        self.book().last.values().cloned().collect()
    }

    /// Each as it is said from now on.
    pub(crate) fn follow(&self) -> broadcast::Receiver<Payload> {
        self.said.subscribe()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // Every change is an insert or an assignment: none is half done.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands statements to the link, and keeps them in the log.
pub(crate) fn adapt(
    config: &Config,
    link: &LinkHandle,
    log: &OfferLog,
    clock: &Arc<dyn Clock>,
) -> impl Say {
    let subjects = Subjects::new(config.nats.prefix.clone());
    let (link, log, clock) = (link.clone(), log.clone(), Arc::clone(clock));
    move |statements: Vec<Statement>| {
        let out = statements.into_iter().filter_map(|it| out(it, &subjects));
        let out: Vec<OfferOut> = out.collect();
        let mut book = log.book();
        for offer in &out {
            let (subject, payload) = (&offer.subject, &offer.payload);
            book.last.insert(subject.clone(), payload.clone());
            book.report.count = book.report.count.saturating_add(1);
            book.report.last_published = Some(clock.now().wall);
            // Nobody may be following; that is no fault.
            drop(log.said.send(payload.clone()));
        }
        drop(book);
        link.say(out);
    }
}

fn out(statement: Statement, subjects: &Subjects) -> Option<OfferOut> {
    let Statement { offer, reasons } = statement;
    let Some(subject) = offer.subject(subjects) else {
        tracing::error!(offer.id = offer.offer_id, "an offer has no subject");
        return None;
    };
    let payload = offer.to_json().into();
    Some(OfferOut { subject, payload, reasons })
}
