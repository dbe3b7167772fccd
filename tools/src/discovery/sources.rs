//! Whether the sources of advisories can be reached from this machine.

use futures_util::future::join;
use weir_processors::registry::sources::{openssf, osv, probe};

use crate::config::sources::Sources;
use crate::config::without_password;

/// A source that cannot be reached now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutOfReach {
    /// What it is called.
    pub(crate) name: &'static str,
    /// The key that switches it off.
    pub(crate) key: &'static str,
    /// Its address, as it may be shown.
    pub(crate) address: String,
    /// Why not.
    pub(crate) why: String,
}

/// Those of the sources that are switched on and cannot be reached. Takes a few seconds at most.
pub(crate) async fn out_of_reach(sources: &Sources) -> Vec<OutOfReach> {
    let Sources { osv, openssf, blocklist: _ } = sources;
    let of_osv = async {
        let address = osv.address.as_ref().filter(|_| osv.enabled)?;
        let why = probe::bucket(&address.0).await.err()?;
        let address = without_password(&address.to_string());
        Some(OutOfReach { name: osv::NAME, key: "sources.osv.enabled", address, why })
    };
    let of_openssf = async {
        let address = openssf.address.as_ref().filter(|_| openssf.enabled)?;
        let why = probe::repository(&address.0).await.err()?;
        let address = address.to_string();
        Some(OutOfReach { name: openssf::NAME, key: "sources.openssf.enabled", address, why })
    };
    let (osv, openssf) = join(of_osv, of_openssf).await;
    osv.into_iter().chain(openssf).collect()
}

impl OutOfReach {
    /// What it means, and what to do about it.
    pub(crate) fn warning(&self) -> String {
        let Self { name, key, address, why } = self;
        format!(
            "warning: {name} is switched off: {address} cannot be used from this machine now \
             ({why}); set {key} to true when it can"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn sources(osv: &str, openssf: &str) -> Sources {
        let mut sources = Config::default().sources;
        sources.osv.address = Some(osv.parse().unwrap());
        sources.openssf.address = Some(openssf.parse().unwrap());
        sources
    }

    #[tokio::test]
    async fn what_does_not_answer_is_told_with_its_key_and_what_is_off_is_not_asked() {
        // A port that nobody listens at, and a folder that is not there.
        let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let dead = format!("http://{}/", free.local_addr().unwrap());
        drop(free);
        let mut sources = sources(&dead, "file:///nowhere/at/all");
        let found = out_of_reach(&sources).await;
        let keys: Vec<_> = found.iter().map(|source| source.key).collect();
        assert_eq!(keys, ["sources.osv.enabled", "sources.openssf.enabled"]);
        assert!(found[0].warning().contains(&dead), "{}", found[0].warning());
        assert!(found[1].warning().contains("/nowhere/at/all"), "{}", found[1].warning());
        (sources.osv.enabled, sources.openssf.enabled) = (false, false);
        assert_eq!(out_of_reach(&sources).await, []);
    }
}
