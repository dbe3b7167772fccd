//! OSV: one archive of records for each ecosystem, as its public bucket has them.

use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::PathBuf,
    time::Duration,
};

use futures_util::future::BoxFuture;
use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED},
};
use weir_aggregates::registry::{
    advisory::difference::Losses,
    osv::{MAX_RECORD_BYTES, osv_name},
    visits::Part,
};
use weir_events::registry::{Ecosystem, advisory};

use super::{
    Retry, SecuritySourcePlugin, SyncFault, Synced, Tally, Visit,
    archive::Archive,
    batches::{self, Halt, Reading, Standing},
    zip::{Bounds, Zip},
};
use crate::outbound::{
    Ask, Encoding, OutboundFault, Reach, ReachFault, Reply, Trail, Url,
    polite::{self, Polite},
};

/// The name of the source.
pub const NAME: &str = advisory::OSV;

/// The bucket that OSV publishes.
pub const PUBLIC: &str = "https://storage.googleapis.com/osv-vulnerabilities/";

/// The largest archive that is fetched.
const MAX_ARCHIVE_BYTES: u64 = 2 << 30;

const BOUNDS: Bounds = Bounds {
    entries: 3_000_000,
    entry_bytes: MAX_RECORD_BYTES as u64,
    total_bytes: 32 << 30,
    ratio: 200,
};

/// How a bucket is visited.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the bucket is.
    pub address: Url,
    /// The ecosystems that are asked for.
    pub ecosystems: Vec<Ecosystem>,
    /// How long after a visit the next one is due.
    pub interval: Duration,
    /// How long one try may take.
    pub timeout: Duration,
    /// When a visit is tried again.
    pub retry: Retry,
    /// The least time between two requests.
    pub pause: Duration,
    /// Where archives lie while they are read.
    pub folder: PathBuf,
}

/// The source.
#[derive(Debug)]
pub struct Osv {
    config: Config,
    base: Url,
    reach: Reach,
    polite: Polite,
}

/// What a request for an archive came to.
enum Fetched {
    /// The source says that it is what was read last.
    Same,
    /// The archive, and what the source calls it.
    Archive(File, Option<String>),
}

impl Osv {
    /// The source at an address. Refused when it is none.
    pub fn new(config: Config, polite: Polite) -> Result<Self, ReachFault> {
        let (reach, mut base) = Reach::of_upstream(&config.address)?;
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(Self { config, base, reach, polite })
    }

    async fn fetch(&self, url: &Url, revision: Option<&str>) -> Result<Fetched, SyncFault> {
        let ask = Ask {
            method: Method::GET,
            url: url.clone(),
            reach: &self.reach,
            encoding: Encoding::Verbatim,
            headers: HeaderMap::from_iter(revision.and_then(validator)),
            trail: &Trail::default(),
        };
        let (_turn, mut reply) = self.polite.open(ask, self.config.pause).await??;
        match reply.status() {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if revision.is_some() => return Ok(Fetched::Same),
            status => {
                let retry_after = polite::retry_after(status, reply.headers());
                return Err(SyncFault::Status { url: url.to_string(), status, retry_after });
            }
        }
        let called = |name| reply.headers().get(name)?.to_str().ok().map(str::to_owned);
        let revision = called(ETAG).or_else(|| called(LAST_MODIFIED));
        let file = self.keep(url, &mut reply).await?;
        Ok(Fetched::Archive(file, revision.filter(|name| name.len() <= 256)))
    }

    /// Puts the body of an answer into a file that has no name and goes with its handle.
    async fn keep(&self, url: &Url, reply: &mut Reply) -> Result<File, SyncFault> {
        let doing = "keep an archive while it is read";
        let local = |cause| SyncFault::Local { doing, cause };
        let too_large = || {
            let (url, cap_bytes) = (url.to_string(), MAX_ARCHIVE_BYTES);
            SyncFault::from(OutboundFault::TooLarge { url, cap_bytes })
        };
        let announced = reply.content_length();
        if announced.is_some_and(|n_bytes| n_bytes > MAX_ARCHIVE_BYTES) {
            return Err(too_large());
        }
        tokio::fs::create_dir_all(&self.config.folder).await.map_err(local)?;
        let mut file = tempfile::tempfile_in(&self.config.folder).map_err(local)?;
        let mut n_bytes = 0;
        while let Some(chunk) = reply.chunk().await? {
            n_bytes += chunk.len() as u64;
            if n_bytes > MAX_ARCHIVE_BYTES {
                return Err(too_large());
            }
            // Into the memory of the system, which writes it down when it likes: never long.
            file.write_all(&chunk).map_err(local)?;
        }
        if announced.is_some_and(|announced| announced != n_bytes) {
            return Err(SyncFault::BrokeOff("the archive is shorter than announced"));
        }
        file.seek(SeekFrom::Start(0)).map_err(local)?;
        Ok(file)
    }

    async fn visit(&self, visit: &Visit, archive: &dyn Archive) -> Result<Synced, SyncFault> {
        let unknown = SyncFault::BrokeOff("the source has nothing about this ecosystem");
        let Some((ecosystem, name)) = visit.part.and_then(|it| Some((it, osv_name(it)?))) else {
            return Err(unknown);
        };
        let url = self.base.join(&format!("{name}/all.zip")).map_err(|_| unknown)?;
        let (file, revision) = match self.fetch(&url, visit.revision.as_deref()).await? {
            Fetched::Same => {
                let revision = visit.revision.clone();
                return Ok(Synced { tally: Tally::default(), revision });
            }
            Fetched::Archive(file, revision) => (file, revision),
        };
        let tally = ingest(file, &url, ecosystem, visit.losses, archive).await?;
        Ok(Synced { tally, revision })
    }
}

/// Reads an archive, and appends what is news in it.
async fn ingest(
    file: File,
    url: &Url,
    ecosystem: Ecosystem,
    losses: Losses,
    archive: &dyn Archive,
) -> Result<Tally, SyncFault> {
    let differences = batches::differences(archive, [ecosystem]).await?;
    let (reading, batches) = Reading::new(NAME, differences);
    let url = url.to_string();
    let reader = tokio::task::spawn_blocking(move || read(&file, &url, reading, losses));
    // When this is dropped nobody takes batches any more, and the reader ends.
    let (read, appended) = tokio::join!(reader, batches::append(archive, batches));
    let read = read.unwrap_or(Err(Halt::Gone));
    batches::both(read, appended)
}

fn read(file: &File, url: &str, mut reading: Reading, losses: Losses) -> Result<Tally, Halt> {
    let fault = |cause| Halt::Fault(SyncFault::Feed { url: url.to_owned(), cause });
    let mut zip = Zip::open(file, BOUNDS).map_err(fault)?;
    let mut body = Vec::new();
    while let Some(entry) = zip.next(&mut body).map_err(fault)? {
        let Some(id) = batches::id_of(&entry.name) else { continue };
        match entry.fault {
            None => reading.show(id, Standing::Own, &body)?,
            Some(why) => {
                tracing::debug!(id, why, "record passed over");
                reading.cannot_show(id);
            }
        }
    }
    reading.finish(losses)
}

/// Asks for something only if it is not what it was: by its tag, else by its date.
fn validator(revision: &str) -> Option<(http::HeaderName, HeaderValue)> {
    let tag = revision.starts_with('"') || revision.starts_with("W/");
    let name = if tag { IF_NONE_MATCH } else { IF_MODIFIED_SINCE };
    Some((name, HeaderValue::from_str(revision).ok()?))
}

impl SecuritySourcePlugin for Osv {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supported_ecosystems(&self) -> &[Ecosystem] {
        &self.config.ecosystems
    }

    fn parts(&self) -> Vec<Part> {
        self.config.ecosystems.iter().copied().map(Some).collect()
    }

    fn sync_interval(&self) -> Duration {
        self.config.interval
    }

    fn retry(&self) -> Retry {
        self.config.retry
    }

    fn sync_timeout(&self) -> Duration {
        self.config.timeout
    }

    fn sync<'a>(
        &'a self,
        visit: &'a Visit,
        archive: &'a dyn Archive,
    ) -> BoxFuture<'a, Result<Synced, SyncFault>> {
        Box::pin(self.visit(visit, archive))
    }
}

#[cfg(test)]
mod tests;
