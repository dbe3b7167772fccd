//! Manners towards hosts that are asked on our own account, not for a client: a pause between two
//! requests, few at once, and whoever asks us to come back later is left alone until then.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use http::{
    HeaderMap, StatusCode,
    header::{DATE, RETRY_AFTER},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use super::{Ask, Outbound, OutboundFault, Reply, Url};

/// How many requests to one host may be under way.
const AT_ONCE: usize = 2;
/// Longer than this nobody waits for a turn.
const PATIENCE: Duration = Duration::from_mins(5);
/// Longer than this no host is left alone, whatever it asks for.
const MAX_AWAY: Duration = Duration::from_hours(24);

/// A way out with manners. Cheap to clone; the clones share them.
#[derive(Debug, Clone)]
pub struct Polite {
    outbound: Outbound,
    hosts: Arc<Mutex<HashMap<Box<str>, Host>>>,
}

#[derive(Debug)]
struct Host {
    slots: Arc<Semaphore>,
    free_at: Instant,
}

/// The host has asked to be left alone for longer than anybody waits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{host} has asked us to stay away for another {} s", left.as_secs())]
pub struct NotYet {
    /// The host.
    pub host: Box<str>,
    /// How long it is to be left alone yet.
    pub left: Duration,
}

/// A turn with a host: others wait while it is held.
#[derive(Debug)]
pub struct Turn {
    _permit: OwnedSemaphorePermit,
}

impl Polite {
    /// The same way out, with manners.
    #[must_use]
    pub fn new(outbound: Outbound) -> Self {
        Self { outbound, hosts: Arc::default() }
    }

    /// Waits for a turn with a host, at least `pause` after the one before began.
    pub async fn turn(&self, host: &str, pause: Duration) -> Result<Turn, NotYet> {
        let slots = self.with(host, |known| Arc::clone(&known.slots));
        let away = |left| NotYet { host: host.into(), left };
        // Never closed.
        let permit = slots.acquire_owned().await.map_err(|_| away(PATIENCE))?;
        let wait = self.with(host, |known| {
            let now = Instant::now();
            let wait = known.free_at.saturating_duration_since(now);
            if wait <= PATIENCE {
                known.free_at = now + wait + pause;
            }
            wait
        });
        if wait > PATIENCE {
            return Err(away(wait));
        }
        tokio::time::sleep(wait).await;
        Ok(Turn { _permit: permit })
    }

    /// Leaves a host alone for a while.
    pub fn stay_away(&self, host: &str, left: Duration) {
        let until = Instant::now() + left.min(MAX_AWAY);
        self.with(host, |known| known.free_at = known.free_at.max(until));
    }

    /// Asks, in turn. An answer that asks us to stay away is obeyed from then on.
    pub async fn open(
        &self,
        ask: Ask<'_>,
        pause: Duration,
    ) -> Result<Result<(Turn, Reply), OutboundFault>, NotYet> {
        let host = host(&ask.url);
        let turn = self.turn(&host, pause).await?;
        let opened = self.outbound.open(ask).await;
        if let Ok(reply) = &opened
            && let Some(left) = retry_after(reply.status(), reply.headers())
        {
            self.stay_away(&host, left);
        }
        Ok(opened.map(|reply| (turn, reply)))
    }

    fn with<T>(&self, host: &str, act: impl FnOnce(&mut Host) -> T) -> T {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Host { slots: Arc::new(Semaphore::new(AT_ONCE)), free_at: Instant::now() };
        act(hosts.entry(host.into()).or_insert_with(new))
    }
}

/// Who is asked, for manners: host and port.
#[must_use]
pub fn host(url: &Url) -> Box<str> {
    let port = url.port_or_known_default().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default()).into()
}

/// How long an answer asks us to stay away: in seconds, or until a date, measured by the date of
/// the answer itself, so that no clock of ours needs to be right.
#[must_use]
pub fn retry_after(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    if status != StatusCode::TOO_MANY_REQUESTS && status != StatusCode::SERVICE_UNAVAILABLE {
        return None;
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let asked = text(RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds).min(MAX_AWAY));
    }
    let left = u64::try_from(date(asked)? - date(text(DATE)?)?).ok()?;
    Some(Duration::from_secs(left).min(MAX_AWAY))
}

/// A date of HTTP, in any of the three ways that it may be written, in seconds since 1970.
#[must_use]
pub fn date(text: &str) -> Option<i64> {
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::outbound::Limits;

    fn polite() -> Polite {
        Polite::new(Outbound::new(Uuid::nil(), Limits::default()).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn turns_with_one_host_are_a_pause_apart_and_other_hosts_do_not_wait() {
        let (polite, pause) = (polite(), Duration::from_secs(3));
        let start = Instant::now();
        for n in 0..4 {
            polite.turn("a", pause).await.unwrap();
            assert_eq!(start.elapsed().as_secs(), n * 3);
        }
        polite.turn("b", pause).await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 9);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_than_two_requests_to_a_host_are_under_way() {
        let polite = polite();
        let one = polite.turn("a", Duration::ZERO).await.unwrap();
        let _two = polite.turn("a", Duration::ZERO).await.unwrap();
        let third = polite.turn("a", Duration::ZERO);
        tokio::pin!(third);
        assert!(tokio::time::timeout(Duration::from_mins(1), &mut third).await.is_err());
        drop(one);
        third.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_wants_to_be_left_alone_is() {
        let polite = polite();
        polite.stay_away("a", Duration::from_secs(20));
        let start = Instant::now();
        polite.turn("a", Duration::ZERO).await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 20);
        polite.stay_away("a", Duration::from_hours(1));
        let away = polite.turn("a", Duration::ZERO).await.unwrap_err();
        assert_eq!(away.to_string(), "a has asked us to stay away for another 3600 s");
    }

    #[test]
    fn how_long_is_said_in_seconds_or_as_a_date() {
        let of = |status, asked: &str, now: &str| {
            let pairs = [(RETRY_AFTER, asked), (DATE, now)];
            let pairs = pairs.map(|(name, value)| (name, value.parse().unwrap()));
            retry_after(status, &HeaderMap::from_iter(pairs)).map(|left| left.as_secs())
        };
        let (busy, now) = (StatusCode::TOO_MANY_REQUESTS, "Sat, 28 Nov 2026 08:00:00 GMT");
        assert_eq!(of(busy, "7", now), Some(7));
        for date in [
            "Sat, 28 Nov 2026 08:01:30 GMT",
            "Saturday, 28-Nov-26 08:01:30 GMT",
            "Sat Nov 28 08:01:30 2026",
        ] {
            assert_eq!(of(busy, date, now), Some(90), "{date}");
        }
        assert_eq!(of(busy, "Sat, 28 Nov 2026 07:00:00 GMT", now), None);
        assert_eq!(of(busy, "soon", now), None);
        assert_eq!(of(busy, "99999999999", now), Some(24 * 3_600));
        assert_eq!(of(StatusCode::OK, "7", now), None);
    }
}
