//! What a batch of events adds to the counters. A request that was refused for its pace may come again:
//! it counts once, as what it came to last, in the cycle of that, unless it comes so late that the
//! gateway does not know its id again. A report that was made before still says that it was refused.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::PgConnection;
use weir_events::web::{
    Asked, Event, Invalidated, WebRequestCompleted,
    request::{AgentId, Cost, Hash256},
};

use super::{
    super::{agent, cache::Identity, hash, host_of, names_of, number, unsigned},
    digest::{self, Digest},
};
use crate::engine::ApplyFault;

/// What those are refused with that may come again.
const EARLY_ERROR: &str = "RateLimited";

/// A request, among all agents' requests.
type Request = (Hash256, AgentId);

/// What is added to a cycle, or to an agent in it.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n_requests: i64,
    n_completed: i64,
    n_cached: i64,
    n_blocked: i64,
    n_failed: i64,
    n_stripped: i64,
    ticks: i64,
    spark: i64,
    tax: i64,
}

/// What only agents have.
#[derive(Debug, Clone, Copy, Default)]
struct Quota {
    n_used: i64,
    max: i64,
    exhausted: bool,
}

/// What a batch adds up to.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Those that were admitted and not settled, before the batch and after it.
    before: BTreeSet<Request>,
    open: BTreeSet<Request>,
    /// Those that were refused for their pace, and in which cycle, before the batch and after it.
    early_before: BTreeMap<Request, u64>,
    early: BTreeMap<Request, u64>,
    cycles: BTreeMap<u64, Sums>,
    agents: BTreeMap<(u64, AgentId), (Sums, Quota)>,
    hosts: BTreeMap<(u64, String), i64>,
    requests: BTreeMap<Request, Digest>,
    pages: BTreeMap<Identity, Option<Page>>,
    /// Of the pages that were cached before: all are gone that are not shown any more in this cycle.
    expired: Option<u64>,
    /// The same: all are gone that come from these addresses.
    invalidated: BTreeSet<Hash256>,
}

/// A page that is cached.
#[derive(Debug, Clone)]
struct Page {
    digest: Digest,
    expires_at: u64,
    /// The keys that GET has of the other addresses it comes from.
    also: Vec<Hash256>,
}

const OPEN: &str = "
    SELECT o.id, o.agent FROM open_requests AS o
    JOIN unnest($1::bytea[], $2::text[]) AS asked (id, agent) USING (id, agent)";

const EARLY: &str = "
    SELECT e.id, e.agent, e.cycle FROM early_requests AS e
    JOIN unnest($1::bytea[], $2::text[]) AS asked (id, agent) USING (id, agent)";

/// The request that an event is about.
pub(super) const fn asked(event: &Event) -> Option<&Asked> {
    match event {
        Event::WebRequestSubmitted(it) => Some(&it.asked),
        Event::WebRequestCompleted(it) => Some(&it.asked),
        Event::WebRequestBlocked(it) => Some(&it.asked),
        Event::WebRequestFailed(it) => Some(&it.asked),
        _ => None,
    }
}

const fn request(asked: &Asked) -> Request {
    (asked.request, asked.agent)
}

fn ids<'a>(requests: impl IntoIterator<Item = &'a Request>) -> (Vec<&'a [u8]>, Vec<String>) {
    requests.into_iter().map(|(id, agent)| (id.as_bytes().as_slice(), agent.to_string())).unzip()
}

/// How a request ended.
struct End<'a> {
    asked: &'a Asked,
    cost: Cost,
    tax: u64,
    /// Whether nothing left for it, so that its place in the quota is free again.
    gives_back: bool,
    digest: Digest,
}

impl Counts {
    /// Nothing yet; with what was known before of the requests that events are about.
    pub(super) async fn of(events: &[Event], tx: &mut PgConnection) -> Result<Self, ApplyFault> {
        let requests: BTreeSet<Request> = events.iter().filter_map(asked).map(request).collect();
        let mut counts = Self::default();
        if requests.is_empty() {
            return Ok(counts);
        }
        let (ids, agents) = ids(&requests);
        let rows = sqlx::query(OPEN).bind(&ids).bind(&agents).fetch_all(&mut *tx).await?;
        for row in &rows {
            counts.before.insert((hash(row, "id")?, agent(row, "agent")?));
        }
        let rows = sqlx::query(EARLY).bind(&ids).bind(&agents).fetch_all(tx).await?;
        for row in &rows {
            let request = (hash(row, "id")?, agent(row, "agent")?);
            counts.early_before.insert(request, unsigned(row, "cycle")?);
        }
        counts.open.clone_from(&counts.before);
        counts.early.clone_from(&counts.early_before);
        Ok(counts)
    }

    pub(super) fn fold(&mut self, event: Event) {
        match event {
            Event::WebRequestSubmitted(it) => {
                let request = request(&it.asked);
                self.comes_again(request);
                self.open.insert(request);
                self.requests.insert(request, digest::submitted(&it));
                self.add(&it.asked, |sums, quota| {
                    sums.n_requests += 1;
                    quota.n_used += 1;
                    quota.max = quota.max.max(i64::from(it.quota));
                });
            }
            Event::WebRequestCompleted(it) => self.completed(&it),
            Event::WebRequestBlocked(it) => {
                let digest = digest::blocked(&it);
                let gives_back = it.cost == Cost::NONE;
                let (asked, cost, tax) = (&it.asked, it.cost, it.tax);
                self.end(&End { asked, cost, tax, gives_back, digest });
                self.add(asked, |sums, _| sums.n_blocked += 1);
                if it.error == EARLY_ERROR && gives_back {
                    self.early.insert(request(asked), asked.cycle);
                }
                self.accessed(asked.cycle, it.hosts);
            }
            Event::WebRequestFailed(it) => {
                let digest = digest::failed(&it);
                let gives_back = it.cost == Cost::NONE;
                let (asked, cost, tax) = (&it.asked, it.cost, it.tax);
                self.end(&End { asked, cost, tax, gives_back, digest });
                self.add(asked, |sums, _| sums.n_failed += 1);
                self.accessed(asked.cycle, it.hosts);
            }
            Event::WebCacheStored(it) => {
                let (digest, expires_at) = (digest::stored(&it), it.expires_at());
                let (identity, also) = (Identity::from(&it), it.also);
                self.pages.insert(identity, Some(Page { digest, expires_at, also }));
            }
            Event::WebCacheEvicted(it) => {
                self.pages.insert(Identity::from(&it), None);
            }
            Event::WebCacheExpired(it) => self.expire(it.cycle),
            Event::WebCacheInvalidated(it) => {
                if let Invalidated::Keys(keys) = it.pages {
                    self.invalidate(&keys);
                }
            }
            Event::QuotaExhausted(it) => {
                let (_, quota) = self.agents.entry((it.cycle, it.agent)).or_default();
                quota.exhausted = true;
                quota.max = quota.max.max(i64::from(it.max));
            }
            _ => {}
        }
    }

    fn completed(&mut self, it: &WebRequestCompleted) {
        let (asked, cost, tax) = (&it.asked, it.cost, it.tax);
        let digest = digest::completed(it);
        self.end(&End { asked, cost, tax, gives_back: it.cached, digest });
        self.add(asked, |sums, _| {
            sums.n_completed += 1;
            sums.n_cached += i64::from(it.cached);
            sums.n_stripped += i64::from(it.filtered.code_blocks_removed > 0);
        });
        let mut hosts = it.hosts.clone();
        if it.cached {
            hosts.push(host_of(&asked.url));
        }
        self.accessed(asked.cycle, hosts);
    }

    fn end(&mut self, end: &End<'_>) {
        let request = request(end.asked);
        self.comes_again(request);
        let was_open = self.open.remove(&request);
        self.requests.insert(request, end.digest);
        self.add(end.asked, |sums, quota| {
            sums.n_requests += i64::from(!was_open);
            quota.n_used -= i64::from(was_open && end.gives_back);
            sums.ticks += number(end.cost.ticks);
            sums.spark += number(end.cost.spark);
            sums.tax += number(end.tax);
        });
    }

    /// If it was too early before, that does not count any more.
    fn comes_again(&mut self, request: Request) {
        let Some(cycle) = self.early.remove(&request) else { return };
        let not = |sums: &mut Sums| {
            sums.n_requests -= 1;
            sums.n_blocked -= 1;
        };
        not(self.cycles.entry(cycle).or_default());
        not(&mut self.agents.entry((cycle, request.1)).or_default().0);
    }

    /// The same to the cycle and to the agent in it.
    fn add(&mut self, asked: &Asked, change: impl Fn(&mut Sums, &mut Quota)) {
        change(self.cycles.entry(asked.cycle).or_default(), &mut Quota::default());
        let (sums, quota) = self.agents.entry((asked.cycle, asked.agent)).or_default();
        change(sums, quota);
    }

    fn accessed(&mut self, cycle: u64, hosts: Vec<String>) {
        let hosts: BTreeSet<String> = hosts.into_iter().filter(|host| !host.is_empty()).collect();
        for host in hosts {
            *self.hosts.entry((cycle, host)).or_default() += 1;
        }
    }

    fn expire(&mut self, cycle: u64) {
        self.expired = self.expired.max(Some(cycle));
        for page in self.pages.values_mut() {
            drop(page.take_if(|page| page.expires_at <= cycle));
        }
    }

    fn invalidate(&mut self, keys: &[Hash256]) {
        for (identity, page) in &mut self.pages {
            let own = keys.contains(&identity.key);
            drop(page.take_if(|page| own || page.also.iter().any(|also| keys.contains(also))));
        }
        self.invalidated.extend(keys);
    }

    pub(super) async fn write(self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        self.write_cycles(tx).await?;
        self.write_agents(tx).await?;
        self.write_hosts(tx).await?;
        self.write_open(tx).await?;
        self.write_early(tx).await?;
        self.write_requests(tx).await?;
        self.write_pages(tx).await
    }

    async fn write_cycles(&self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        if self.cycles.is_empty() {
            return Ok(());
        }
        let column = |of: fn(&Sums) -> i64| self.cycles.values().map(of).collect::<Vec<_>>();
        sqlx::query(CYCLES)
            .bind(self.cycles.keys().map(|cycle| number(*cycle)).collect::<Vec<_>>())
            .bind(column(|s| s.n_requests))
            .bind(column(|s| s.n_completed))
            .bind(column(|s| s.n_cached))
            .bind(column(|s| s.n_blocked))
            .bind(column(|s| s.n_failed))
            .bind(column(|s| s.n_stripped))
            .bind(column(|s| s.ticks))
            .bind(column(|s| s.spark))
            .bind(column(|s| s.tax))
            .execute(tx)
            .await?;
        Ok(())
    }

    async fn write_agents(&self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        if self.agents.is_empty() {
            return Ok(());
        }
        let column = |of: fn(&Sums) -> i64| {
            self.agents.values().map(|(sums, _)| of(sums)).collect::<Vec<_>>()
        };
        sqlx::query(AGENTS)
            .bind(self.agents.keys().map(|(cycle, _)| number(*cycle)).collect::<Vec<_>>())
            .bind(self.agents.keys().map(|(_, agent)| agent.to_string()).collect::<Vec<_>>())
            .bind(column(|s| s.n_requests))
            .bind(self.agents.values().map(|(_, quota)| quota.n_used).collect::<Vec<_>>())
            .bind(self.agents.values().map(|(_, quota)| quota.max).collect::<Vec<_>>())
            .bind(self.agents.values().map(|(_, quota)| quota.exhausted).collect::<Vec<_>>())
            .bind(column(|s| s.n_cached))
            .bind(column(|s| s.n_blocked))
            .bind(column(|s| s.n_failed))
            .bind(column(|s| s.ticks))
            .bind(column(|s| s.spark))
            .bind(column(|s| s.tax))
            .execute(tx)
            .await?;
        Ok(())
    }

    async fn write_hosts(&self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        if self.hosts.is_empty() {
            return Ok(());
        }
        sqlx::query(HOSTS)
            .bind(self.hosts.keys().map(|(cycle, _)| number(*cycle)).collect::<Vec<_>>())
            .bind(self.hosts.keys().map(|(_, host)| host.as_str()).collect::<Vec<_>>())
            .bind(self.hosts.values().copied().collect::<Vec<_>>())
            .execute(tx)
            .await?;
        Ok(())
    }

    async fn write_open(&self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        let settled = self.before.difference(&self.open);
        let admitted = self.open.difference(&self.before);
        for (statement, requests) in
            [(SETTLED, settled.collect::<Vec<_>>()), (ADMITTED, admitted.collect::<Vec<_>>())]
        {
            if requests.is_empty() {
                continue;
            }
            let (ids, agents) = ids(requests);
            sqlx::query(statement).bind(ids).bind(agents).execute(&mut *tx).await?;
        }
        Ok(())
    }

    async fn write_early(&self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        let gone = self.early_before.keys().filter(|it| !self.early.contains_key(it));
        let (gone_ids, gone_agents) = ids(gone);
        if !gone_ids.is_empty() {
            sqlx::query(CAME_AGAIN).bind(gone_ids).bind(gone_agents).execute(&mut *tx).await?;
        }
        let new =
            || self.early.iter().filter(|(it, cycle)| self.early_before.get(it) != Some(cycle));
        let (new_ids, new_agents) = ids(new().map(|(request, _)| request));
        if !new_ids.is_empty() {
            let cycles: Vec<i64> = new().map(|(_, cycle)| number(*cycle)).collect();
            let early = sqlx::query(WAS_EARLY).bind(new_ids).bind(new_agents).bind(cycles);
            early.execute(tx).await?;
        }
        Ok(())
    }

    async fn write_requests(&self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        if self.requests.is_empty() {
            return Ok(());
        }
        let keys = self.requests.keys();
        sqlx::query(REQUESTS)
            .bind(keys.clone().map(|(id, _)| id.as_bytes().as_slice()).collect::<Vec<_>>())
            .bind(keys.map(|(_, agent)| agent.to_string()).collect::<Vec<_>>())
            .bind(self.requests.values().map(Digest::as_slice).collect::<Vec<_>>())
            .execute(tx)
            .await?;
        Ok(())
    }

    async fn write_pages(&self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        if let Some(cycle) = self.expired {
            sqlx::query(EXPIRED).bind(number(cycle)).execute(&mut *tx).await?;
        }
        if !self.invalidated.is_empty() {
            let keys = self.invalidated.iter().map(|key| key.as_bytes().as_slice());
            let (keys, names) = (keys.collect::<Vec<_>>(), names_of(&self.invalidated));
            sqlx::query(INVALIDATED).bind(keys).bind(names).execute(&mut *tx).await?;
        }
        let mut columns = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (identity, page) in &self.pages {
            columns.0.push(identity.key.as_bytes().as_slice());
            columns.1.push(identity.variant.as_bytes().as_slice());
            columns.2.push(identity.owner_text());
            columns.3.push(page.as_ref().map(|page| page.digest.as_slice()));
            columns.4.push(page.as_ref().map(|page| number(page.expires_at)));
            columns.5.push(page.as_ref().map(|page| names_of(&page.also).join("\n")));
        }
        if columns.0.is_empty() {
            return Ok(());
        }
        let (keys, variants, owners, digests, expiries, also) = columns;
        sqlx::query(GONE)
            .bind(&keys)
            .bind(&variants)
            .bind(&owners)
            .bind(&digests)
            .execute(&mut *tx)
            .await?;
        sqlx::query(PAGES)
            .bind(&keys)
            .bind(&variants)
            .bind(&owners)
            .bind(&digests)
            .bind(&expiries)
            .bind(&also)
            .execute(tx)
            .await?;
        Ok(())
    }
}

const CYCLES: &str = "
    INSERT INTO cycle_totals AS old (cycle, n_requests, n_completed, n_cached, n_blocked, n_failed,
        n_stripped, ticks, spark, tax, ended)
    SELECT new.*, false FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],
        $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[]) AS new
    ON CONFLICT (cycle) DO UPDATE SET
        n_requests = old.n_requests + excluded.n_requests,
        n_completed = old.n_completed + excluded.n_completed,
        n_cached = old.n_cached + excluded.n_cached, n_blocked = old.n_blocked + excluded.n_blocked,
        n_failed = old.n_failed + excluded.n_failed,
        n_stripped = old.n_stripped + excluded.n_stripped, ticks = old.ticks + excluded.ticks,
        spark = old.spark + excluded.spark, tax = old.tax + excluded.tax";

const AGENTS: &str = "
    INSERT INTO cycle_agents AS old (cycle, agent, n_requests, n_used, quota, exhausted, n_cached,
        n_blocked, n_failed, ticks, spark, tax)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[],
        $6::boolean[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
        $12::bigint[])
    ON CONFLICT (cycle, agent) DO UPDATE SET
        n_requests = old.n_requests + excluded.n_requests, n_used = old.n_used + excluded.n_used,
        quota = greatest(old.quota, excluded.quota),
        exhausted = old.exhausted OR excluded.exhausted,
        n_cached = old.n_cached + excluded.n_cached, n_blocked = old.n_blocked + excluded.n_blocked,
        n_failed = old.n_failed + excluded.n_failed, ticks = old.ticks + excluded.ticks,
        spark = old.spark + excluded.spark, tax = old.tax + excluded.tax";

const HOSTS: &str = "
    INSERT INTO cycle_hosts AS old (cycle, host, n_requests)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[])
    ON CONFLICT (cycle, host) DO UPDATE SET n_requests = old.n_requests + excluded.n_requests";

const SETTLED: &str = "
    DELETE FROM open_requests AS o USING unnest($1::bytea[], $2::text[]) AS gone (id, agent)
    WHERE o.id = gone.id AND o.agent = gone.agent";

const ADMITTED: &str = "
    INSERT INTO open_requests (id, agent) SELECT * FROM unnest($1::bytea[], $2::text[])
    ON CONFLICT (id, agent) DO NOTHING";

const CAME_AGAIN: &str = "
    DELETE FROM early_requests AS e USING unnest($1::bytea[], $2::text[]) AS gone (id, agent)
    WHERE e.id = gone.id AND e.agent = gone.agent";

const WAS_EARLY: &str = "
    INSERT INTO early_requests (id, agent, cycle)
    SELECT * FROM unnest($1::bytea[], $2::text[], $3::bigint[])
    ON CONFLICT (id, agent) DO UPDATE SET cycle = excluded.cycle";

const REQUESTS: &str = "
    INSERT INTO request_digests (id, agent, digest)
    SELECT * FROM unnest($1::bytea[], $2::text[], $3::bytea[])
    ON CONFLICT (id, agent) DO UPDATE SET digest = excluded.digest";

const EXPIRED: &str = "DELETE FROM cache_digests WHERE expires_at <= $1";

const INVALIDATED: &str =
    "DELETE FROM cache_digests WHERE key = ANY($1) OR (also <> '{}' AND also && $2)";

const GONE: &str = "
    DELETE FROM cache_digests AS c
    USING unnest($1::bytea[], $2::bytea[], $3::text[], $4::bytea[])
        AS gone (key, variant, owner, digest)
    WHERE c.key = gone.key AND c.variant = gone.variant AND c.owner = gone.owner
        AND gone.digest IS NULL";

const PAGES: &str = "
    INSERT INTO cache_digests (key, variant, owner, digest, expires_at, also)
    SELECT key, variant, owner, digest, expires_at, string_to_array(also, E'\\n')
    FROM unnest($1::bytea[], $2::bytea[], $3::text[], $4::bytea[], $5::bigint[], $6::text[])
        AS new (key, variant, owner, digest, expires_at, also) WHERE digest IS NOT NULL
    ON CONFLICT (key, variant, owner) DO UPDATE SET
        digest = excluded.digest, expires_at = excluded.expires_at, also = excluded.also";
