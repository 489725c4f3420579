//! Answers to what a node can be asked over NATS.

use super::engine_watch::EngineState;
use super::offers::OfferLog;
use super::senses::Senses;
use crate::contract::AskKind;
use crate::engine::{Docker, Engine};
use crate::job::{ArtifactPlan, ArtifactSource};
use crate::link::AskReceived;
use bytes::Bytes as Payload;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Answers questions, one after the other.
pub(crate) struct AsksTask {
    pub(crate) asks: mpsc::Receiver<AskReceived>,
    pub(crate) senses: Senses,
    pub(crate) engine: Arc<Docker>,
    pub(crate) offers: OfferLog,
}

/// The answer to `ask.artifacts`.
#[derive(Serialize)]
struct Artifacts {
    artifacts: Vec<Artifact>,
}

#[derive(Serialize)]
struct Artifact {
    name: String,
    version: String,
    class: &'static str,
    /// The engine's id of the image it runs in; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    ready: bool,
}

impl AsksTask {
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        while let Some(Some(ask)) =
            stop.run_until_cancelled(self.asks.recv()).await
        {
            let Some(reply) = ask.reply else { continue };
            match ask.what {
                AskKind::Status => {
                    let document = self.senses.document(self.offers.report());
                    reply.answer(document.public().to_json().into(), &[]);
                }
                AskKind::Artifacts => {
                    reply.answer(self.artifacts().await, &[]);
                }
                // Nobody answers these yet: the asker's wait runs out.
                AskKind::Logs | AskKind::Outputs => {}
            }
        }
    }

    async fn artifacts(&self) -> Payload {
        // One that is away would hold up every other question, too.
        let up = matches!(&*self.senses.engine.borrow(), EngineState::Up(_));
        let mut digests: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut artifacts = Vec::new();
        for plan in &self.senses.config.artifacts {
            let Some(image) = self.image(plan) else { continue };
            if up && !digests.contains_key(&image) {
                let found = self.engine.image(&image).await.ok().flatten();
                digests.insert(image.clone(), found.map(|it| it.id));
            }
            let digest = digests.get(&image).cloned().flatten();
            artifacts.push(self.artifact(plan, digest));
        }
        let json = serde_json::to_vec(&Artifacts { artifacts });
        json.unwrap_or_default().into()
    }

    fn image(&self, plan: &ArtifactPlan) -> Option<String> {
        match &plan.source {
            ArtifactSource::Image(image) => Some(image.clone()),
            ArtifactSource::Directory(_) => {
                let classes = &self.senses.config.classes;
                classes.get(&plan.class).map(|class| class.image.clone())
            }
        }
    }

    fn artifact(
        &self,
        plan: &ArtifactPlan,
        digest: Option<String>,
    ) -> Artifact {
        let jobs = self.senses.jobs.borrow();
        let mut classes = jobs.classes.iter();
        let offered = classes
            .any(|view| view.class == plan.class && view.withdrawn.is_none());
        Artifact {
            name: plan.id.name.clone(),
            version: plan.id.version.clone(),
            class: plan.class.as_str(),
            ready: offered && digest.is_some(),
            digest,
        }
    }
}
