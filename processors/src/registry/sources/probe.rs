//! Whether a source can be reached from this machine, for a configuration that is to be written:
//! asked once, quickly, and nothing is fetched.

use std::time::Duration;

use http::{HeaderMap, Method};

use crate::outbound::{
    Ask, Encoding, Limits, Outbound, OutboundFault, Reach, Trail, Url, git::GitAddress,
};

/// How long an answer may take.
pub const BOUND: Duration = Duration::from_secs(3);

/// Whether the bucket of a feed answers.
pub async fn bucket(address: &Url) -> Result<(), String> {
    ask(address, "ecosystems.txt").await
}

/// Whether a repository answers, and git is there to fetch it.
pub async fn repository(address: &GitAddress) -> Result<(), String> {
    let version = tokio::process::Command::new("git").arg("--version").output();
    match tokio::time::timeout(BOUND, version).await {
        Ok(Ok(output)) if output.status.success() => {}
        _ => return Err("git is not installed".to_owned()),
    }
    let url = address.url();
    if url.scheme() == "file" {
        let there = tokio::fs::try_exists(url.path()).await.unwrap_or(false);
        return if there { Ok(()) } else { Err(format!("there is no folder {}", url.path())) };
    }
    ask(url, "info/refs?service=git-upload-pack").await
}

/// Asks for something below an address. Any answer but a fault of the server's shows that it is
/// there.
async fn ask(address: &Url, below: &str) -> Result<(), String> {
    let (reach, mut base) = Reach::of_upstream(address).map_err(|fault| fault.to_string())?;
    if !base.path().ends_with('/') {
        base.set_path(&format!("{}/", base.path()));
    }
    let url = base.join(below).map_err(|fault| fault.to_string())?;
    let outbound = Outbound::new(uuid::Uuid::nil(), Limits { connect: BOUND, idle: BOUND });
    let outbound = outbound.map_err(|fault| fault.to_string())?;
    let trail = Trail::default();
    let asking = outbound.open(Ask {
        method: Method::GET,
        url,
        reach: &reach,
        encoding: Encoding::Decoded,
        headers: HeaderMap::new(),
        trail: &trail,
    });
    match tokio::time::timeout(BOUND, asking).await {
        Err(_) => Err(format!("it does not answer within {} s", BOUND.as_secs())),
        Ok(Ok(reply)) if reply.status().is_server_error() => {
            Err(format!("it answers {}", reply.status()))
        }
        // It leads elsewhere: somebody is there.
        Ok(Ok(_) | Err(OutboundFault::Redirects { .. } | OutboundFault::Refused { .. })) => Ok(()),
        Ok(Err(fault)) => {
            let causes = std::iter::successors(std::error::Error::source(&fault), |c| c.source());
            let last = causes.last().map_or_else(|| fault.to_string(), ToString::to_string);
            Err(format!("it cannot be reached: {last}"))
        }
    }
}
