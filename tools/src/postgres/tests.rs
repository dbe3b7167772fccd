//! The private Postgres with a real server, as root and as anybody.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::mpsc;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use tempfile::TempDir;

use super::*;

const SOON: Duration = Duration::from_mins(1);

/// A folder the account that runs Postgres can get to, also when Weir is root.
fn open_dir() -> TempDir {
    let dir = tempfile::Builder::new().prefix("weir").tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    dir
}

fn options(data_dir: &Path) -> ClusterOptions {
    ClusterOptions { data_dir: data_dir.to_owned(), bindir: None, port: None }
}

fn start(data_dir: &Path) -> Cluster {
    Cluster::start(options(data_dir)).unwrap()
}

/// Waits for a fact, and says which one did not come.
fn await_that(fact: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {SOON:?}: {fact}");
        thread::park_timeout(process::LOOK_AGAIN);
    }
}

async fn connect(url: &str) -> Result<PgConnection, sqlx::Error> {
    url.parse::<PgConnectOptions>()?.connect().await
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

/// One value from the cluster, as text.
fn ask(cluster: &Cluster, sql: &'static str) -> String {
    block_on(async {
        let mut connection = connect(&cluster.url()).await.unwrap();
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    })
}

fn kill_9(pid: u32) {
    process::signal(pid, Signal::KILL);
}

#[test]
fn a_new_cluster_is_private_durable_and_gone_after_stop() {
    let dir = open_dir();
    let cluster = start(&dir.path().join("data"));
    let pid = cluster.pid().unwrap();
    for (setting, value) in [
        ("SHOW listen_addresses", ""),
        ("SHOW fsync", "on"),
        ("SHOW full_page_writes", "on"),
        ("SHOW synchronous_commit", "on"),
        ("SHOW data_checksums", "on"),
        ("SHOW wal_compression", "pglz"),
        ("SHOW max_connections", "200"),
        ("SHOW idle_in_transaction_session_timeout", "1min"),
        ("SHOW server_encoding", "UTF8"),
        ("SHOW timezone", "UTC"),
        ("SELECT datcollate::text FROM pg_database WHERE datname = current_database()", "C"),
        ("SELECT current_user::text || '@' || current_database()", "weir@weir"),
        ("SELECT count(*)::text FROM pg_hba_file_rules", "1"),
    ] {
        assert_eq!(ask(&cluster, setting), value, "{setting}");
    }
    for private in [cluster.socket_dir().to_owned(), cluster.layout.pgdata.clone()] {
        let meta = fs::metadata(&private).unwrap();
        assert_eq!(meta.mode() & 0o777, 0o700, "{}", private.display());
        assert_eq!(meta.uid(), cluster.layout.account.uid);
    }
    assert_ne!(cluster.layout.account.uid, 0);
    let pgdata = cluster.layout.pgdata.clone();
    cluster.stop();
    assert!(!process::is_alive(pid));
    assert_eq!(PidFile::read(&pgdata), None, "a clean stop removes the pid file");
}

#[test]
fn a_killed_postmaster_is_started_again_and_a_living_one_left_alone() {
    let dir = open_dir();
    let mut cluster = start(dir.path());
    assert_eq!(cluster.supervise(&|| false).unwrap(), Restarted::No);
    block_on(async {
        let mut connection = connect(&cluster.url()).await.unwrap();
        let create = sqlx::query("CREATE TABLE kept AS SELECT 'yes' AS word");
        create.execute(&mut connection).await.unwrap();
    });
    let url = cluster.url();
    let killed = cluster.pid().unwrap();
    kill_9(killed);
    await_that("the postmaster is dead", || !cluster.is_running());
    assert_eq!(PidFile::read(&cluster.layout.pgdata).unwrap().pid, killed, "it is stale");

    let Restarted::Yes { after, .. } = cluster.supervise(&|| false).unwrap() else {
        panic!("nothing was started")
    };
    assert!(after.contains("signal: 9"), "{after}");
    assert_ne!(cluster.pid(), Some(killed));
    assert_eq!(cluster.url(), url);
    assert_eq!(ask(&cluster, "SELECT word FROM kept"), "yes");
}

#[test]
fn a_backend_that_outlives_its_postmaster_does_not_block_the_next() {
    let dir = open_dir();
    let mut cluster = start(dir.path());
    let url = cluster.url();
    let busy = thread::spawn(move || {
        block_on(async {
            let mut connection = connect(&url).await.unwrap();
            let endless = sqlx::query("SELECT sum(n) FROM generate_series(1, 1000000000000) AS n");
            endless.execute(&mut connection).await.unwrap_err()
        })
    });
    await_that("the query runs", || {
        let running = "SELECT count(*)::text FROM pg_stat_activity \
                       WHERE state = 'active' AND query LIKE '%generate_series%' \
                       AND pid <> pg_backend_pid()";
        ask(&cluster, running) == "1"
    });
    kill_9(cluster.pid().unwrap());
    await_that("the postmaster is dead", || !cluster.is_running());
    assert!(matches!(cluster.supervise(&|| false).unwrap(), Restarted::Yes { .. }));
    assert_eq!(ask(&cluster, "SELECT 'back'"), "back");
    busy.join().unwrap();
}

#[test]
fn a_number_that_is_another_programs_now_is_no_obstacle_wherever_it_was_left() {
    let dir = open_dir();
    let cluster = start(dir.path());
    let pgdata = cluster.layout.pgdata.clone();
    let account = cluster.layout.account.clone();
    let places = [pidfile::path(&pgdata), cluster.address.lock_file()];
    let texts = places.clone().map(|path| fs::read_to_string(path).unwrap());
    cluster.stop();
    // Only a process of its own account can fool Postgres.
    let mut other = process::server_command(Path::new("/bin/sleep"), &account);
    let mut other = other.arg("600").spawn().unwrap();
    // Both, and the one beside the socket alone: a start that failed leaves it so.
    for n_left in [2, 1] {
        for (path, text) in places.iter().zip(&texts).rev().take(n_left) {
            let (_, rest) = text.split_once('\n').unwrap();
            fs::write(path, format!("{}\n{rest}", other.id())).unwrap();
        }
        let cluster = start(dir.path());
        assert_eq!(ask(&cluster, "SELECT 'up'"), "up");
        assert!(other.try_wait().unwrap().is_none(), "the other program was left alone");
        cluster.stop();
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_second_start_uses_the_running_cluster_and_leaves_it_running() {
    let dir = open_dir();
    let mut first = start(dir.path());
    let mut second =
        Cluster::start(ClusterOptions { port: Some(7), ..options(dir.path()) }).unwrap();
    assert_eq!(second.pid(), first.pid());
    assert_eq!(second.url(), first.url(), "where it really listens, not where it was asked to");
    assert!(second.is_running());
    second.stop();
    assert!(first.is_running());
    assert_eq!(ask(&first, "SELECT 'still here'"), "still here");
}

#[test]
fn who_uses_a_cluster_owns_it_when_its_owner_has_stopped() {
    let dir = open_dir();
    let first = start(dir.path());
    let mut second = start(dir.path());
    let stopped = first.pid().unwrap();
    first.stop();
    assert!(matches!(second.supervise(&|| false).unwrap(), Restarted::Yes { .. }));
    let pid = second.pid().unwrap();
    assert_ne!(pid, stopped);
    assert_eq!(ask(&second, "SELECT 'mine now'"), "mine now");
    second.stop();
    assert!(!process::is_alive(pid));
}

/// As after a kill -9 of Weir: nobody is left to stop it.
#[cfg(target_os = "linux")]
#[test]
fn postgres_ends_cleanly_with_the_thread_that_started_it() {
    let dir = open_dir();
    let data_dir = dir.path().to_owned();
    let (pid, pgdata) = thread::spawn(move || {
        let cluster = start(&data_dir);
        let facts = (cluster.pid().unwrap(), cluster.layout.pgdata.clone());
        std::mem::forget(cluster);
        facts
    })
    .join()
    .unwrap();
    await_that("the postmaster has ended", || !process::serves(pid, &pgdata));
    await_that("its shutdown was clean", || PidFile::read(&pgdata).is_none());
}

#[test]
fn a_path_too_long_for_a_socket_falls_back_to_a_short_private_one() {
    let dir = open_dir();
    let data_dir = dir.path().join("d".repeat(120));
    let cluster = start(&data_dir);
    let short = cluster.socket_dir().to_owned();
    assert!(!short.starts_with(&data_dir), "{}", short.display());
    assert_eq!(fs::metadata(&short).unwrap().mode() & 0o777, 0o700);
    assert_eq!(ask(&cluster, "SELECT 'reached'"), "reached");
    let second = start(&data_dir);
    assert_eq!(second.socket_dir(), short);
    second.stop();
    cluster.stop();
    fs::remove_dir_all(short).unwrap();
}

#[test]
fn a_short_folder_that_somebody_else_laid_there_is_refused() {
    let dir = open_dir();
    let layout = Layout::prepare(&dir.path().join("data")).unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let refused = layout.make_private(&link).unwrap_err();
    assert!(matches!(refused, PostgresFault::Io { doing: "use", .. }), "{refused}");
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&real, Some(4242), Some(4242)).unwrap();
        let refused = layout.make_private(&real).unwrap_err();
        assert!(matches!(refused, PostgresFault::Io { doing: "use", .. }), "{refused}");
    }
}

#[test]
fn a_cluster_of_another_major_version_is_refused_by_both_names() {
    let dir = open_dir();
    let layout = Layout::prepare(dir.path()).unwrap();
    layout.make_private(&layout.pgdata).unwrap();
    layout.write(&layout.pgdata.join("PG_VERSION"), "9\n").unwrap();
    let refused = Cluster::start(options(dir.path())).unwrap_err();
    let PostgresFault::WrongMajor { stored: 9, found, .. } = refused else { panic!("{refused}") };
    let message = refused.to_string();
    assert!(message.contains("made by Postgres 9"), "{message}");
    assert!(message.contains(&format!("is {found}")), "{message}");
}

#[test]
fn without_a_server_the_message_names_the_package_to_install() {
    let dir = open_dir();
    let layout = Layout::prepare(dir.path()).unwrap();
    let nowhere = Places { path: vec![dir.path().to_owned()], ..Places::default() };
    let message = binaries::find(None, &nowhere, &layout, None).unwrap_err().to_string();
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let remedy = binaries::remedy(std::env::consts::OS, &release);
    assert!(message.starts_with("no Postgres server"), "{message}");
    assert!(message.ends_with(&remedy) && remedy.contains("install"), "{message}");
}

#[test]
fn a_configured_folder_without_a_server_is_not_passed_over() {
    let dir = open_dir();
    let bindir = Some(dir.path().to_owned());
    let refused =
        Cluster::start(ClusterOptions { bindir, ..options(dir.path()) }).unwrap_err().to_string();
    assert!(refused.contains(&format!("configured `{}`", dir.path().display())), "{refused}");
}

#[test]
fn a_data_directory_closed_to_the_account_is_named() {
    let dir = open_dir();
    let closed = dir.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    let started = Cluster::start(options(&closed.join("data")));
    if rustix::process::geteuid().is_root() {
        let refused = started.unwrap_err();
        let PostgresFault::Unreachable { closed: Some(at), .. } = &refused else {
            panic!("{refused}")
        };
        assert_eq!(at, &closed);
    } else {
        assert!(started.unwrap().is_running());
    }
}

#[test]
fn a_half_made_cluster_is_made_anew() {
    let dir = open_dir();
    let layout = Layout::prepare(dir.path()).unwrap();
    let half = dir.path().join("pgdata.new");
    layout.make_private(&half).unwrap();
    fs::write(half.join("PG_VERSION"), "15\n").unwrap();
    let cluster = start(dir.path());
    assert_eq!(ask(&cluster, "SELECT 'whole'"), "whole");
    assert!(!half.exists());
}

#[test]
fn a_supervised_cluster_heals_until_it_is_told_to_stop() {
    let dir = open_dir();
    let data_dir = dir.path().to_owned();
    let (tell, told) = mpsc::channel::<()>();
    let (first, pids) = mpsc::channel();
    let pgdata = data_dir.canonicalize().unwrap().join("pgdata");
    let main = thread::spawn(move || {
        let cluster = start(&data_dir);
        first.send(cluster.pid().unwrap()).unwrap();
        cluster.run_until(|| told.try_recv().is_ok());
    });
    let killed = pids.recv_timeout(SOON).unwrap();
    kill_9(killed);
    let mut healed = None;
    await_that("another postmaster is ready", || {
        healed = PidFile::of_living(&pgdata).filter(|file| file.ready && file.pid != killed);
        healed.is_some()
    });
    tell.send(()).unwrap();
    main.join().unwrap();
    assert!(!process::is_alive(healed.unwrap().pid));
}

#[test]
fn a_start_that_is_called_off_leaves_nothing_running_and_can_be_tried_again() {
    let dir = open_dir();
    let mut cluster = start(dir.path());
    kill_9(cluster.pid().unwrap());
    await_that("the postmaster is dead", || !cluster.is_running());
    assert!(matches!(cluster.supervise(&|| true), Err(PostgresFault::Interrupted)));
    assert_eq!(cluster.pid(), None);
    assert!(PidFile::of_living(&cluster.layout.pgdata).is_none());
    let Restarted::Yes { after, .. } = cluster.supervise(&|| false).unwrap() else {
        panic!("nothing was started")
    };
    assert_eq!(after, "an earlier start failed");
    assert_eq!(ask(&cluster, "SELECT 'again'"), "again");
}

/// As when a volume is moved to a machine where that number is nobody's.
#[test]
fn a_cluster_of_an_account_unknown_here_is_taken_over_whole() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = open_dir();
    let cluster = start(dir.path());
    let (pgdata, uid) = (cluster.layout.pgdata.clone(), cluster.layout.account.uid);
    cluster.stop();
    let account = Layout::prepare(dir.path()).unwrap().account;
    let nobody = account::Account { uid: 54_321, gid: 54_321, ..account };
    layout::chown_all(&pgdata, &nobody).unwrap();
    let cluster = start(dir.path());
    assert_eq!(ask(&cluster, "SELECT 'ours'"), "ours");
    for path in [pgdata.clone(), pgdata.join("PG_VERSION"), pgdata.join("base")] {
        assert_eq!(fs::metadata(&path).unwrap().uid(), uid, "{}", path.display());
    }
}

#[test]
fn what_is_no_cluster_is_not_started_over() {
    let dir = open_dir();
    let layout = Layout::prepare(dir.path()).unwrap();
    layout.make_private(&layout.pgdata).unwrap();
    let refused = Cluster::start(options(dir.path())).unwrap_err();
    assert!(
        matches!(&refused, PostgresFault::Io { doing: "read the version in", .. }),
        "{refused}"
    );
    layout.write(&layout.pgdata.join("PG_VERSION"), "seventeen\n").unwrap();
    let refused = chain(&Cluster::start(options(dir.path())).unwrap_err());
    assert!(refused.ends_with("PG_VERSION`: it says `seventeen`"), "{refused}");
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = Cluster::start(options(&file.join("data"))).unwrap_err();
    assert!(
        matches!(&refused, PostgresFault::Io { doing: "make the data directory", .. }),
        "{refused}"
    );
    fs::create_dir(dir.path().join("other")).unwrap();
    fs::create_dir(dir.path().join("other/owner.lock")).unwrap();
    let refused = Cluster::start(options(&dir.path().join("other"))).unwrap_err();
    assert!(matches!(&refused, PostgresFault::Io { doing: "open the lock file", .. }), "{refused}");
}

/// A folder with programs that say they are of this version.
fn server_of(folder: &Path, major: u32) -> std::path::PathBuf {
    let bin = folder.join(major.to_string()).join("bin");
    fs::create_dir_all(&bin).unwrap();
    for program in ["initdb", "postgres"] {
        let path = bin.join(program);
        fs::write(&path, format!("#!/bin/sh\necho 'postgres (PostgreSQL) {major}.1'\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    }
    bin
}

#[test]
fn of_several_servers_the_one_that_made_the_cluster_is_taken_and_none_that_is_too_old() {
    let dir = open_dir();
    let layout = Layout::prepare(&dir.path().join("data")).unwrap();
    let [newest, older, ancient] = [17, 15, 12].map(|major| server_of(dir.path(), major));
    let places = Places { families: vec![(dir.path().to_owned(), "", "bin")], ..Places::default() };
    let find = |stored| binaries::find(None, &places, &layout, stored);
    assert_eq!(find(None).unwrap().bindir, newest);
    assert_eq!(find(Some(15)).unwrap().bindir, older);
    let PostgresFault::WrongMajor { stored: 16, found: 17, .. } = find(Some(16)).unwrap_err()
    else {
        panic!("a server of another version was taken")
    };
    let PostgresFault::TooOld { bindir, found: 12, .. } = find(Some(12)).unwrap_err() else {
        panic!("a server that is too old was taken")
    };
    assert_eq!(bindir, ancient);
}
