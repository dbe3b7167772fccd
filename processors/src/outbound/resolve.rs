//! Where names become addresses for the web gateway: once for each connection, and what comes out is
//! judged before anything is sent there.

use std::{
    fmt::Debug,
    io,
    net::{IpAddr, ToSocketAddrs as _},
    sync::Arc,
};

use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;

/// How many names the system is asked for at once. Its resolver cannot be interrupted: a lookup whose
/// asker has gone holds its place until the system gives up.
const MAX_LOOKUPS: usize = 32;

/// Resolves names: the system's way, or the way a test has written down.
pub trait Resolve: Debug + Send + Sync + 'static {
    /// All addresses of a name. An error is final: nobody goes on without an answer.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Asks the system.
#[derive(Debug)]
pub struct SystemResolver {
    places: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let place = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
            let host = host.to_owned();
            let lookup = move || {
                let _place = place;
                let found = (host.as_str(), 0).to_socket_addrs()?;
                Ok(found.map(|found| found.ip()).collect())
            };
            tokio::task::spawn_blocking(lookup).await.map_err(io::Error::other)?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_system_knows_this_machine() {
        let found = SystemResolver::default().resolve("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
    }
}
