//! Many downloads of many versions by many people, as a busy month leaves them: in the log, and in the
//! read model that keeps who has what.

use sqlx::{Connection as _, Executor as _, PgConnection};
use weir_events::{
    registry::{Ecosystem, Event, PackageAllowed},
    timestamp::Timestamp,
};

use crate::{database::TestDatabase, events};

/// How many packages there are, and how many versions each has.
pub const PACKAGES: (u64, u64) = (2_000, 10);
/// How many tokens.
pub const TOKENS: u64 = 50;

/// Rows written in one statement.
const AT_ONCE: u64 = 250_000;
/// Positions of one partition of the log.
const PARTITION: i64 = weir_log::partition::PARTITION_EVENTS;

const ECOSYSTEM: Ecosystem = Ecosystem::Npm;

/// The name of the `n`-th package.
#[must_use]
pub fn package(n: u64) -> String {
    format!("package-{n:04}")
}

/// How many of `n` downloads were of the `version`-th version of the `package`-th package.
#[must_use]
pub fn n_of(n: u64, package: u64, version: u64) -> u64 {
    let (all, at) = (PACKAGES.0 * PACKAGES.1, package * PACKAGES.1 + version);
    n / all + u64::from(at < n % all)
}

const TABLES: &str = "
    CREATE TEMP TABLE of_version (n bigint PRIMARY KEY, package text, version text, file text,
        payload bytea);
    CREATE TEMP TABLE of_token (n bigint PRIMARY KEY, token text, principal text, meta bytea)";

const VERSIONS: &str = "INSERT INTO of_version
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bytea[])";

const WHO: &str = "INSERT INTO of_token
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[])";

/// The n-th download is of the n-th version, round and round, by the next one at each round.
const EVENTS: &str = "
    INSERT INTO log.events
        (position, version, recorded_at, kind, schema, stream, payload, meta, hash)
    SELECT $1 + g, g + 1, at, $2, $3, 'registry/decisions/' || to_char(at, 'YYYY-MM-DD') || '/npm',
        v.payload, w.meta, $4
    FROM generate_series($5::bigint, $6::bigint) g
        CROSS JOIN LATERAL (SELECT $7::timestamptz + g * $8::interval AS at) AS t
        JOIN of_version v ON v.n = g % $9 JOIN of_token w ON w.n = (g / $9) % $10";

const DOWNLOADS: &str = "
    INSERT INTO registry.downloads (ecosystem, package, version, token, principal, n_downloads,
        first_at, last_at, last_position)
    SELECT 'npm', v.package, v.version, w.token, w.principal, count(*), min(g.at), max(g.at), max(g.n)
    FROM (SELECT g AS n, $1::timestamptz + g * $2::interval AS at
            FROM generate_series(0, $3::bigint - 1) g) AS g
        JOIN of_version v ON v.n = g.n % $4 JOIN of_token w ON w.n = (g.n / $4) % $5
    GROUP BY v.package, v.version, w.token, w.principal";

const FILES: &str = "
    INSERT INTO registry.downloaded_files (ecosystem, package, version, file)
    SELECT 'npm', package, version, file FROM of_version WHERE n < $1";

/// Writes `n` downloads of the last days, evenly, the first one `days` ago. The log must not be open
/// anywhere, and the read models must be there.
///
/// # Panics
/// When Postgres refuses it.
pub async fn with_downloads(database: &TestDatabase, n: u64, now: Timestamp, days: i64) {
    let mut connection = database.intruder().await;
    templates(&mut connection).await;
    let n_versions = signed(PACKAGES.0 * PACKAGES.1);
    let first = now.plus_seconds(-days * 86_400).datetime();
    let micros = days * 86_400_000_000 / signed(n);
    let step = format!("{micros} microseconds");
    let mut tx = connection.begin().await.expect("begin");
    let base: i64 =
        sqlx::query_scalar("UPDATE log.head SET position = position + $1 RETURNING position - $1")
            .bind(signed(n))
            .fetch_one(&mut *tx)
            .await
            .expect("move the head");
    sqlx::query("SELECT log.ensure_partitions($1)")
        .bind(PARTITION)
        .execute(&mut *tx)
        .await
        .expect("make partitions");
    let kind = events::event(&download(0, 0)).kind;
    for from in (0..n).step_by(usize::try_from(AT_ONCE).expect("a number")) {
        sqlx::query(EVENTS)
            .bind(base + 1)
            .bind(kind.0)
            .bind(1_i16)
            .bind(vec![7_u8; 32])
            .bind(signed(from))
            .bind(signed((from + AT_ONCE).min(n)) - 1)
            .bind(first)
            .bind(&step)
            .bind(n_versions)
            .bind(signed(TOKENS))
            .execute(&mut *tx)
            .await
            .expect("fill the log");
    }
    sqlx::query(DOWNLOADS)
        .bind(first)
        .bind(&step)
        .bind(signed(n))
        .bind(n_versions)
        .bind(signed(TOKENS))
        .execute(&mut *tx)
        .await
        .expect("fill the downloads");
    sqlx::query(FILES).bind(signed(n)).execute(&mut *tx).await.expect("fill the files");
    tx.commit().await.expect("commit");
    connection.execute("ANALYZE").await.expect("analyze");
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).expect("a small number")
}

fn download(of: u64, version: u64) -> Event {
    let (name, version) = (package(of), format!("1.{version}.0"));
    let allowed = PackageAllowed {
        ecosystem: ECOSYSTEM,
        file: format!("{name}-{version}.tgz"),
        package: name,
        version: Some(version),
        sha256: None,
        policy_revision: 0,
        // Old, and not so old that no registry could have said it.
        published_at: Some(Timestamp::EPOCH.plus_seconds(50 * 365 * 86_400)),
        late: false,
        warning: None,
        excuse: None,
        profile: None,
        served: None,
        document: None,
    };
    allowed.into()
}

async fn templates(connection: &mut PgConnection) {
    sqlx::raw_sql(TABLES).execute(&mut *connection).await.expect("make tables");
    let (mut ns, mut packages, mut versions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut files, mut payloads) = (Vec::new(), Vec::new());
    for n in 0..PACKAGES.0 * PACKAGES.1 {
        let event = download(n / PACKAGES.1, n % PACKAGES.1);
        payloads.push(events::event(&event).payload.to_vec());
        let Event::PackageAllowed(allowed) = event else { continue };
        ns.push(signed(n));
        packages.push(allowed.package);
        versions.push(allowed.version.expect("a version"));
        files.push(allowed.file);
    }
    sqlx::query(VERSIONS)
        .bind(ns)
        .bind(packages)
        .bind(versions)
        .bind(files)
        .bind(payloads)
        .execute(&mut *connection)
        .await
        .expect("keep versions");
    let tokens: Vec<String> =
        (0..TOKENS).map(|n| format!("0190a1b2-0000-7000-8000-{n:012}")).collect();
    let principals: Vec<String> = (0..TOKENS).map(|n| format!("team-{}", n % 7)).collect();
    let meta = |(token, principal): (&String, &String)| {
        let meta = events::meta_of(principal, token);
        weir_events::codec::to_bytes("meta", &meta).expect("bytes")
    };
    let metas: Vec<_> = tokens.iter().zip(&principals).map(meta).collect();
    sqlx::query(WHO)
        .bind((0..TOKENS).map(signed).collect::<Vec<_>>())
        .bind(tokens)
        .bind(principals)
        .bind(metas)
        .execute(connection)
        .await
        .expect("keep tokens");
}
