//! What a batch of events changes of the cache.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{PgConnection, Postgres, Row, postgres::PgArguments, query::Query};
use weir_events::{
    envelope::Recorded,
    web::{Event, Invalidated, WebCacheStored, request::Hash256},
};

use super::{
    super::{content, host_of, names_of, number, packed},
    Identity,
};
use crate::engine::ApplyFault;

/// What the last word of a batch on a rendering is.
#[derive(Debug, Default)]
enum Last {
    /// None: it is what it was.
    #[default]
    Nothing,
    Stored(Box<Page>),
    Evicted,
}

#[derive(Debug)]
struct Page {
    stored: WebCacheStored,
    filter_report: Vec<u8>,
    position: i64,
}

impl Page {
    fn asked_at(&self) -> i64 {
        self.stored.asked_at.map_or(self.position, |asked_at| asked_at.0)
    }
}

/// What becomes of a rendering.
#[derive(Debug, Default)]
struct Change {
    last: Last,
    /// How often it was shown after that, and when last.
    n_hits: i64,
    used_at: i64,
}

/// What becomes of renderings.
#[derive(Debug, Default)]
pub(super) struct Changes {
    of_one: BTreeMap<Identity, Change>,
    /// Of those that stood there before: all go that are not shown any more in this cycle.
    expired: Option<u64>,
    /// The same: all go that come from these addresses.
    invalidated: BTreeSet<Hash256>,
}

impl Changes {
    pub(super) fn fold(&mut self, at: &Recorded, event: Event) -> Result<(), ApplyFault> {
        let position = at.position.0;
        match event {
            Event::WebCacheStored(stored) => {
                let filter_report = packed(at, "FilterReport", &stored.filtered)?;
                let identity = Identity::from(&stored);
                let page = Page { stored, filter_report, position };
                let last = Last::Stored(Box::new(page));
                self.of_one.insert(identity, Change { last, n_hits: 0, used_at: position });
            }
            Event::WebCacheEvicted(evicted) => {
                let gone = Change { last: Last::Evicted, n_hits: 0, used_at: position };
                self.of_one.insert(Identity::from(&evicted), gone);
            }
            Event::WebCacheExpired(expired) => self.expire(expired.cycle),
            Event::WebCacheInvalidated(said) => {
                if let Invalidated::Keys(keys) = said.pages {
                    self.invalidate(&keys);
                }
            }
            // The event does not say whether it was the agent's own or everybody's. Where there are
            // both, both were used: it only counts when room is made.
            Event::WebCacheHit(hit) => {
                for owner in [None, Some(hit.agent)] {
                    let identity = Identity { key: hit.key, variant: hit.variant, owner };
                    let change = self.of_one.entry(identity).or_default();
                    change.n_hits += 1;
                    change.used_at = position;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What this batch stored before is not there any more either, where its time has come.
    fn expire(&mut self, cycle: u64) {
        self.expired = self.expired.max(Some(cycle));
        for change in self.of_one.values_mut() {
            if matches!(&change.last, Last::Stored(page) if page.stored.expires_at() <= cycle) {
                change.last = Last::Evicted;
            }
        }
    }

    /// Nor is what comes from these addresses.
    fn invalidate(&mut self, keys: &[Hash256]) {
        for change in self.of_one.values_mut() {
            if matches!(&change.last, Last::Stored(page) if page.stored.comes_from(keys)) {
                change.last = Last::Evicted;
            }
        }
        self.invalidated.extend(keys);
    }

    pub(super) async fn write(self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        if let Some(cycle) = self.expired {
            let gone = expire(cycle, tx).await?;
            count(gone, tx).await?;
        }
        if !self.invalidated.is_empty() {
            let gone = invalidate(&self.invalidated, tx).await?;
            count(gone, tx).await?;
        }
        let (mut gone, mut stored, mut used) = (Vec::new(), Vec::new(), Vec::new());
        for (identity, change) in self.of_one {
            match change.last {
                Last::Evicted => gone.push(identity),
                Last::Stored(page) => stored.push((page, change.n_hits, change.used_at)),
                Last::Nothing => used.push((identity, change.n_hits, change.used_at)),
            }
        }
        if !gone.is_empty() || !stored.is_empty() {
            let mut change = delete(&gone, tx).await?;
            let before = known(&stored, tx).await?;
            upsert(&stored, tx).await?;
            change.n_pages += number(stored.len() as u64) - before.n_pages;
            let sizes = stored.iter().map(|(page, ..)| number(page.stored.content_size));
            change.n_bytes += sizes.sum::<i64>() - before.n_bytes;
            count(change, tx).await?;
        }
        if !used.is_empty() {
            touch(&used, tx).await?;
        }
        Ok(())
    }
}

/// How many renderings, and how many bytes they have.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    n_pages: i64,
    n_bytes: i64,
}

async fn sum(
    query: Query<'_, Postgres, PgArguments>,
    tx: &mut PgConnection,
) -> Result<Sum, ApplyFault> {
    let rows = query.fetch_all(tx).await?;
    let Some(row) = rows.first() else { return Ok(Sum::default()) };
    Ok(Sum { n_pages: row.try_get("n_pages")?, n_bytes: row.try_get("n_bytes")? })
}

const EXPIRE: &str = "
    WITH gone AS (DELETE FROM cache WHERE expires_at <= $1 RETURNING content_size)
    SELECT count(*) AS n_pages, coalesce(sum(-content_size), 0)::bigint AS n_bytes FROM gone";

/// Forgets all whose time has come; answers what that adds to the sum.
async fn expire(cycle: u64, tx: &mut PgConnection) -> Result<Sum, ApplyFault> {
    let Sum { n_pages, n_bytes } = sum(sqlx::query(EXPIRE).bind(number(cycle)), tx).await?;
    Ok(Sum { n_pages: -n_pages, n_bytes })
}

const INVALIDATE: &str = "
    WITH gone AS (
        DELETE FROM cache WHERE key = ANY($1) OR (also <> '{}' AND also && $2) RETURNING content_size)
    SELECT count(*) AS n_pages, coalesce(sum(-content_size), 0)::bigint AS n_bytes FROM gone";

/// Forgets all that come from these addresses; answers what that adds to the sum.
async fn invalidate(keys: &BTreeSet<Hash256>, tx: &mut PgConnection) -> Result<Sum, ApplyFault> {
    let (bytes, names) = (keys.iter().map(|key| key.as_bytes().as_slice()), names_of(keys));
    let query = sqlx::query(INVALIDATE).bind(bytes.collect::<Vec<_>>()).bind(names);
    let Sum { n_pages, n_bytes } = sum(query, tx).await?;
    Ok(Sum { n_pages: -n_pages, n_bytes })
}

const DELETE: &str = "
    WITH gone AS (
        DELETE FROM cache AS c
        USING unnest($1::bytea[], $2::bytea[], $3::text[]) AS named (key, variant, owner)
        WHERE c.key = named.key AND c.variant = named.variant
            AND coalesce(c.owner, '') = named.owner
        RETURNING c.content_size)
    SELECT count(*) AS n_pages, coalesce(sum(-content_size), 0)::bigint AS n_bytes FROM gone";

/// Forgets renderings; answers what that adds to the sum.
async fn delete(gone: &[Identity], tx: &mut PgConnection) -> Result<Sum, ApplyFault> {
    if gone.is_empty() {
        return Ok(Sum::default());
    }
    let query = sqlx::query(DELETE)
        .bind(gone.iter().map(|it| it.key.as_bytes().as_slice()).collect::<Vec<_>>())
        .bind(gone.iter().map(|it| it.variant.as_bytes().as_slice()).collect::<Vec<_>>())
        .bind(gone.iter().map(Identity::owner_text).collect::<Vec<_>>());
    let Sum { n_pages, n_bytes } = sum(query, tx).await?;
    Ok(Sum { n_pages: -n_pages, n_bytes })
}

const KNOWN: &str = "
    SELECT count(*) AS n_pages, coalesce(sum(c.content_size), 0)::bigint AS n_bytes
    FROM unnest($1::bytea[], $2::bytea[], $3::text[]) AS named (key, variant, owner)
    JOIN cache AS c ON c.key = named.key AND c.variant = named.variant
        AND coalesce(c.owner, '') = named.owner";

/// What stands there of renderings that are stored again.
async fn known(pages: &[(Box<Page>, i64, i64)], tx: &mut PgConnection) -> Result<Sum, ApplyFault> {
    let stored = || pages.iter().map(|(page, ..)| &page.stored);
    let query = sqlx::query(KNOWN)
        .bind(stored().map(|it| it.key.as_bytes().as_slice()).collect::<Vec<_>>())
        .bind(stored().map(|it| it.variant.as_bytes().as_slice()).collect::<Vec<_>>())
        .bind(stored().map(|it| Identity::from(it).owner_text()).collect::<Vec<_>>());
    sum(query, tx).await
}

const COUNT: &str = "
    INSERT INTO cache_totals AS old (one, n_pages, n_bytes) VALUES (true, $1, $2)
    ON CONFLICT (one) DO UPDATE SET
        n_pages = old.n_pages + excluded.n_pages, n_bytes = old.n_bytes + excluded.n_bytes";

async fn count(change: Sum, tx: &mut PgConnection) -> Result<(), ApplyFault> {
    sqlx::query(COUNT).bind(change.n_pages).bind(change.n_bytes).execute(tx).await?;
    Ok(())
}

const TOUCH: &str = "
    UPDATE cache AS c SET n_hits = c.n_hits + used.n_hits, used_at = used.used_at
    FROM unnest($1::bytea[], $2::bytea[], $3::text[], $4::bigint[], $5::bigint[])
        AS used (key, variant, owner, n_hits, used_at)
    WHERE c.key = used.key AND c.variant = used.variant AND coalesce(c.owner, '') = used.owner";

async fn touch(used: &[(Identity, i64, i64)], tx: &mut PgConnection) -> Result<(), ApplyFault> {
    sqlx::query(TOUCH)
        .bind(used.iter().map(|(it, ..)| it.key.as_bytes().as_slice()).collect::<Vec<_>>())
        .bind(used.iter().map(|(it, ..)| it.variant.as_bytes().as_slice()).collect::<Vec<_>>())
        .bind(used.iter().map(|(it, ..)| it.owner_text()).collect::<Vec<_>>())
        .bind(used.iter().map(|(_, n_hits, _)| *n_hits).collect::<Vec<_>>())
        .bind(used.iter().map(|(.., used_at)| *used_at).collect::<Vec<_>>())
        .execute(tx)
        .await?;
    Ok(())
}

const UPSERT: &str = "
    INSERT INTO cache (key, variant, owner, url, host, method, status, content, content_size,
        content_type, filter_report, title, request, created_at, expires_at, n_hits, used_at,
        position, redirected, also, asked_at)
    SELECT key, variant, owner, url, host, method, status, content, content_size, content_type,
        filter_report, title, request, created_at, expires_at, n_hits, used_at, position,
        string_to_array(redirected, E'\\n'), string_to_array(also, E'\\n'), asked_at
    FROM unnest($1::bytea[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[],
        $7::integer[], $8::bytea[], $9::bigint[], $10::text[], $11::bytea[], $12::text[],
        $13::bytea[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[],
        $19::text[], $20::text[], $21::bigint[])
        AS page (key, variant, owner, url, host, method, status, content, content_size,
        content_type, filter_report, title, request, created_at, expires_at, n_hits, used_at,
        position, redirected, also, asked_at)
    ON CONFLICT (key, variant, coalesce(owner, '')) DO UPDATE SET
        url = excluded.url, host = excluded.host, method = excluded.method,
        status = excluded.status, content = excluded.content,
        content_size = excluded.content_size, content_type = excluded.content_type,
        filter_report = excluded.filter_report, title = excluded.title,
        request = excluded.request, created_at = excluded.created_at,
        expires_at = excluded.expires_at, n_hits = excluded.n_hits, used_at = excluded.used_at,
        position = excluded.position, redirected = excluded.redirected,
        also = excluded.also, asked_at = excluded.asked_at";

fn column<'a, T>(
    pages: &'a [(Box<Page>, i64, i64)],
    of: impl Fn(&'a WebCacheStored) -> T,
) -> Vec<T> {
    pages.iter().map(|(page, ..)| of(&page.stored)).collect()
}

async fn upsert(pages: &[(Box<Page>, i64, i64)], tx: &mut PgConnection) -> Result<(), ApplyFault> {
    if pages.is_empty() {
        return Ok(());
    }
    let reports: Vec<_> = pages.iter().map(|(page, ..)| page.filter_report.as_slice()).collect();
    sqlx::query(UPSERT)
        .bind(column(pages, |it| it.key.as_bytes().as_slice()))
        .bind(column(pages, |it| it.variant.as_bytes().as_slice()))
        .bind(column(pages, |it| it.owner.map(|owner| owner.to_string())))
        .bind(column(pages, |it| it.url.as_str()))
        .bind(column(pages, |it| host_of(&it.url)))
        .bind(column(pages, |it| it.method.as_str()))
        .bind(column(pages, |it| i32::from(it.status)))
        .bind(column(pages, |it| it.content.as_bytes().as_slice()))
        .bind(column(pages, |it| number(it.content_size)))
        .bind(column(pages, |it| it.content_type.as_str()))
        .bind(reports)
        .bind(column(pages, |it| it.title.as_deref()))
        .bind(column(pages, |it| it.request.as_bytes().as_slice()))
        .bind(column(pages, |it| number(it.cycle)))
        .bind(column(pages, |it| number(it.expires_at())))
        .bind(pages.iter().map(|(_, n_hits, _)| *n_hits).collect::<Vec<_>>())
        .bind(pages.iter().map(|(.., used_at)| *used_at).collect::<Vec<_>>())
        .bind(pages.iter().map(|(page, ..)| page.position).collect::<Vec<_>>())
        .bind(column(pages, |it| it.redirected.join("\n")))
        .bind(column(pages, |it| names_of(&it.also).join("\n")))
        .bind(pages.iter().map(|(page, ..)| page.asked_at()).collect::<Vec<_>>())
        .execute(&mut *tx)
        .await?;
    let contents = column(pages, |it| it.content.as_bytes().as_slice());
    Ok(content::read(&contents, tx).await?)
}
