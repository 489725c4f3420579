use super::connect::Connection;
use super::docker::LOOK;
use super::{Docker, EngineError};
use crate::contract::{Bytes, RuntimeClass, Timestamp};
use bollard::models::ImageSummary;
use bollard::query_parameters::ListImagesOptionsBuilder;
use std::collections::HashMap;

/// Which class an image is for; written by `workers/build`. Not of the prefix
/// of our containers' labels, since a container inherits its image's.
const CLASS: &str = "image.ovnode.class";

/// An image that `workers/build` made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnImage {
    /// For which class.
    pub class: RuntimeClass,
    /// Its names; none once a newer build has taken them.
    pub tags: Vec<String>,
    /// The engine's id of it, opaque.
    pub id: String,
    /// On disk, layers that it shares with others included.
    pub size: Bytes,
    /// When it was made.
    pub created: Timestamp,
}

impl Docker {
    /// Images that `workers/build` made, those replaced since included.
    ///
    /// # Errors
    ///
    /// As every call to the engine.
    pub async fn own_images(&self) -> Result<Vec<OwnImage>, EngineError> {
        let filters = HashMap::from([("label", vec![CLASS])]);
        let filters = &filters;
        let ask = |c: Connection| async move {
            let options = ListImagesOptionsBuilder::default().filters(filters);
            c.client.list_images(Some(options.build())).await
        };
        let found = self.connector().call("listing images", LOOK, ask).await?;
        let mut own: Vec<_> = found.into_iter().filter_map(own_image).collect();
        own.sort_by(|a, b| {
            (a.class, b.created, &a.id).cmp(&(b.class, a.created, &b.id))
        });
        Ok(own)
    }
}

fn own_image(said: ImageSummary) -> Option<OwnImage> {
    let class = RuntimeClass::from_name(said.labels.get(CLASS)?)?;
    let created = u64::try_from(said.created).unwrap_or(0);
    Some(OwnImage {
        class,
        // What a replaced image is called by engines.
        tags: said
            .repo_tags
            .into_iter()
            .filter(|tag| tag != "<none>:<none>")
            .collect(),
        id: said.id,
        size: Bytes(u64::try_from(said.size).unwrap_or(0)),
        created: Timestamp(created.saturating_mul(1000)),
    })
}
