//! A resolver of names for the client of the registry's upstreams, which gives back only addresses of
//! the world.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::{address::public, reach::ReachFault};

/// Resolves names to public addresses only. What it gives back is what is connected to: there is no
/// second look at the name in between.
#[derive(Debug)]
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses: Vec<SocketAddr> = found.filter(|found| public(found.ip())).collect();
            if addresses.is_empty() {
                return Err(ReachFault::ResolvesInside(name.as_str().into()).into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_for_an_address_inside_does_not_resolve() {
        let fault = PublicOnly.resolve("localhost".parse().unwrap()).await.err().unwrap();
        assert_eq!(fault.to_string(), "`localhost` resolves to an address that is not public");
    }
}
