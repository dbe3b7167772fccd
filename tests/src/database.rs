//! A database per test: cloned from a migrated template on one private cluster, never dropped (the
//! cluster is thrown away).

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
};

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::sync::OnceCell;
use uuid::Uuid;
use weir_log::{
    Log, LogOptions,
    database::{Database, Pooler},
    lifecycle::Lifecycle,
    migrate,
};

use crate::deadline;

/// A fresh, migrated database.
#[derive(Debug)]
pub struct TestDatabase {
    /// Its name in the cluster.
    pub name: String,
    /// Its address.
    pub url: String,
}

/// A log on a test database, with its background tasks.
#[derive(Debug)]
pub struct TestLog {
    /// The log.
    pub log: Log,
    /// Its background tasks.
    pub lifecycle: Lifecycle,
}

impl TestDatabase {
    /// Makes one.
    ///
    /// # Panics
    /// When no cluster is to be had: run `tools/test`, or build the `weir` binary first.
    pub async fn create() -> Self {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        let cluster = cluster();
        let template = TEMPLATE.get_or_init(|| template(&cluster)).await;
        let name = format!("test_{}", fresh().simple());
        let mut admin = admin(&cluster).await;
        let create = format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY wal_log");
        admin.execute(AssertSqlSafe(create)).await.expect("clone the template");
        Self { url: at(&cluster, &name), name }
    }

    /// The database, for a process with `n` connections.
    pub fn database(&self, n: u32) -> Database {
        Database::new(&self.url, Pooler::None, n).expect("a database address")
    }

    /// Its log, as one more process would open it.
    pub async fn log(&self) -> TestLog {
        self.log_with(self.database(4), &LogOptions::default()).await
    }

    /// Its log, opened with other options, or another way to the database.
    pub async fn log_with(&self, database: Database, options: &LogOptions) -> TestLog {
        let lifecycle = Lifecycle::new();
        let log = Log::open(database, options, fresh(), &lifecycle).await.expect("open the log");
        TestLog { log, lifecycle }
    }

    /// A connection past every rule, as somebody with the database's password has it.
    pub async fn intruder(&self) -> PgConnection {
        let mut connection = PgConnection::connect(&self.url).await.expect("connect");
        connection
            .execute("SET session_replication_role = replica")
            .await
            .expect("switch triggers off");
        connection
    }

    /// How much it takes on the disk.
    pub async fn size_bytes(&self) -> i64 {
        sqlx::query_scalar("SELECT pg_database_size(current_database())")
            .fetch_one(&mut self.intruder().await)
            .await
            .expect("its size")
    }

    /// Drops it: for what is too large to stay until the cluster is thrown away.
    pub async fn forget(&self) {
        let mut admin = admin(&cluster()).await;
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        admin.execute(AssertSqlSafe(drop)).await.expect("drop the database");
    }
}

/// A fresh id.
pub fn fresh() -> Uuid {
    Uuid::from_u128(rand::random())
}

/// The address of another database in the same cluster.
pub fn at(cluster: &str, name: &str) -> String {
    let (path, query) = cluster.split_once('?').map_or((cluster, ""), |parts| parts);
    let server = path.rsplit_once('/').map_or(path, |(server, _)| server);
    format!("{server}/{name}?{query}")
}

async fn admin(cluster: &str) -> PgConnection {
    PgConnection::connect(cluster).await.expect("connect to the cluster")
}

/// The template of these very migrations, made once by whoever comes first.
async fn template(cluster: &str) -> String {
    let mut hash = blake3::Hasher::new();
    for (_, _, sql) in migrate::MIGRATIONS {
        hash.update(sql.as_bytes());
    }
    let name = format!("weir_template_{}", &hash.finalize().to_hex()[..16]);
    let mut admin = admin(cluster).await;
    admin.execute("SELECT pg_advisory_lock(7400)").await.expect("lock");
    let made = sqlx::query("SELECT 1 FROM pg_database WHERE datname = $1")
        .bind(&name)
        .fetch_optional(&mut admin)
        .await
        .expect("look for the template");
    if made.is_none() {
        make_template(&mut admin, cluster, &name).await;
    }
    admin.execute("SELECT pg_advisory_unlock(7400)").await.expect("unlock");
    name
}

async fn make_template(admin: &mut PgConnection, cluster: &str, name: &str) {
    let making = format!("{name}_making");
    for statement in
        [format!("DROP DATABASE IF EXISTS {making}"), format!("CREATE DATABASE {making}")]
    {
        admin.execute(AssertSqlSafe(statement)).await.expect("make the template");
    }
    let database = Database::new(&at(cluster, &making), Pooler::None, 2).expect("an address");
    migrate::migrate(&database).await.expect("migrate the template");
    database.close().await;
    // A session that is closed takes a moment to be gone.
    deadline::until("the template is left alone", async || {
        let sessions: i64 =
            sqlx::query_scalar("SELECT count(*) FROM pg_stat_activity WHERE datname = $1")
                .bind(&making)
                .fetch_one(&mut *admin)
                .await
                .expect("look at sessions");
        if sessions == 0 { Ok(()) } else { Err(format!("{sessions} sessions")) }
    })
    .await;
    let rename = format!("ALTER DATABASE {making} RENAME TO {name}");
    admin.execute(AssertSqlSafe(rename)).await.expect("name the template");
}

/// The address of the cluster: the one `tools/test` started, or one of this process's own.
///
/// # Panics
/// When there is neither, nor a `weir` binary to start one with.
pub fn cluster() -> String {
    static CLUSTER: OnceLock<String> = OnceLock::new();
    CLUSTER.get_or_init(|| variable("WEIR_TEST_DATABASE_URL").unwrap_or_else(own_cluster)).clone()
}

/// Ends when this process does: its standard input closes with it.
static CHILD: Mutex<Option<Child>> = Mutex::new(None);

fn own_cluster() -> String {
    let place = tempfile::Builder::new().prefix("weir-cluster-").tempdir_in("/var/tmp");
    // Kept: the server outlives this function, and its folder must too.
    let place = place.expect("a place for a cluster").keep();
    // Whoever kills this process closes that input; the folder goes when the server has gone.
    let mut child = Command::new("sh")
        .args(["-c", r#""$0" postgres --data-dir "$1/data"; rm -rf "$1""#])
        .arg(weir_binary())
        .arg(&place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("start a cluster with `weir postgres`");
    let stdout = child.stdout.take().expect("its output");
    let mut url = String::new();
    BufReader::new(stdout).read_line(&mut url).expect("its address");
    assert!(!url.trim().is_empty(), "`weir postgres` did not start: run tools/test");
    *CHILD.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
    url.trim().to_owned()
}

/// The `weir` binary under test.
///
/// # Panics
/// When it was not built.
pub fn weir_binary() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("the build folder");
    let binary = folder.join("weir");
    assert!(binary.exists(), "{} is missing: run tools/test, or cargo build", binary.display());
    binary
}

/// The folder that everything is built into, with what `tools/test` fetches beside it.
///
/// # Panics
/// When this test does not lie in one.
pub fn target() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    // target/debug/deps/suite-…
    test.ancestors().nth(3).expect("the target folder").to_owned()
}

/// A variable of the test run's environment.
#[expect(clippy::disallowed_methods, reason = "the suites are told where their cluster is")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether the long counts were asked for.
pub fn long() -> bool {
    variable("WEIR_LONG").is_some()
}
