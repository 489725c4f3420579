//! Hears everything a node says, and holds it to the contracts and to the
//! invariants that no fault may break.

use async_nats::Subscriber;
use futures::StreamExt;
use ovnode::contract::validate;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Everything heard so far.
pub(crate) struct Recorder {
    heard: Subscriber,
    /// Offers and frames with their subjects, in order.
    pub(crate) documents: Vec<(String, Value)>,
}

impl Recorder {
    /// Hears everything from now on.
    pub(crate) async fn on(nats: &async_nats::Client) -> Self {
        let heard = nats.subscribe("ov.>").await.unwrap();
        nats.flush().await.unwrap();
        Self { heard, documents: Vec::new() }
    }

    /// Takes in what came, until nothing comes for a moment; then holds all
    /// of it to the contracts and the invariants.
    pub(crate) async fn check(&mut self) {
        let moment = Duration::from_millis(500);
        while let Ok(Some(message)) =
            tokio::time::timeout(moment, self.heard.next()).await
        {
            let subject = message.subject.to_string();
            let contract = match subject.split('.').nth(1) {
                Some("offer") => "resource-offer",
                Some("job") if !subject.contains("._self.") => "job-frame",
                _ => continue,
            };
            let text = std::str::from_utf8(&message.payload).unwrap();
            if let Err(faults) = validate(contract, text) {
                panic!("{subject}: {faults}\n{text}");
            }
            let document = serde_json::from_str(text).unwrap();
            self.documents.push((subject, document));
        }
        self.invariants();
    }

    /// One exit a job, nothing after it but itself, `seq` rising, seconds
    /// without a gap.
    fn invariants(&self) {
        let mut stories: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for (subject, document) in &self.documents {
            if subject.starts_with("ov.job.") {
                let id = document["id"].as_str().unwrap();
                stories.entry(id).or_default().push(document);
            }
        }
        for (id, frames) in stories {
            let exits: BTreeSet<String> = frames
                .iter()
                .filter(|frame| frame["type"] == "job_exit")
                .map(ToString::to_string)
                .collect();
            assert!(exits.len() <= 1, "{id} ended in two ways: {exits:?}");
            let end = frames.iter().position(|it| it["type"] == "job_exit");
            let (told, after) = frames.split_at(end.unwrap_or(frames.len()));
            let strange = after.iter().find(|it| it["type"] != "job_exit");
            assert_eq!(strange, None, "{id}: after its exit");
            let numbers: Vec<_> =
                told.iter().map(|frame| frame["seq"].as_u64()).collect();
            assert!(numbers.is_sorted_by(|a, b| a < b), "{id}: {numbers:?}");
            let seconds = told
                .iter()
                .filter(|frame| frame["type"] == "job_usage")
                .map(|frame| frame["second"].as_u64().unwrap());
            assert!(
                seconds.eq(0..told
                    .iter()
                    .filter(|frame| frame["type"] == "job_usage")
                    .count() as u64)
            );
        }
    }

    /// The offers heard, oldest first.
    pub(crate) fn offers(&self) -> impl Iterator<Item = &Value> {
        let offers =
            self.documents.iter().filter(|it| it.0.starts_with("ov.offer."));
        offers.map(|(_, offer)| offer)
    }
}
