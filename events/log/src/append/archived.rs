//! Which streams of a batch are archived: the batch as a whole is refused for them, and the appends
//! that name none of them go again.

use std::collections::{BTreeMap, HashSet};

use weir_events::stream::StreamName;

use super::{Append, plan::Share};
use crate::database::{Database, DatabaseFault};

const ARCHIVED: &str = "SELECT name FROM log.streams WHERE name = ANY ($1) AND archived";

/// Streams that take no more events.
#[derive(Debug)]
pub(super) struct Archived(HashSet<String>);

impl Archived {
    /// Those among the streams of a batch.
    pub(super) async fn of(
        database: &Database,
        streams: &BTreeMap<StreamName, Share>,
    ) -> Result<Self, DatabaseFault> {
        let fault = DatabaseFault::of("look which streams are archived");
        let names: Vec<&str> = streams.keys().map(StreamName::as_str).collect();
        let mut tx = database.begin().await?;
        let found: Vec<String> =
            sqlx::query_scalar(ARCHIVED).bind(names).fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        Ok(Self(found.into_iter().collect()))
    }

    /// The first of them that an append names.
    pub(super) fn named_by<'a>(&self, append: &'a Append) -> Option<&'a StreamName> {
        let streams = append.writes.iter().map(|write| &write.stream);
        streams.into_iter().find(|stream| self.0.contains(stream.as_str()))
    }
}
