//! A real pgbouncer in transaction mode in front of a test database.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::{Child, Command, Stdio},
};

use sqlx::{Connection, PgConnection, postgres::PgConnectOptions};

use crate::{database::TestDatabase, deadline};

/// A running pgbouncer; ends when dropped.
#[derive(Debug)]
pub struct Pgbouncer {
    child: Child,
    /// The address of the database through it.
    pub url: String,
    _place: tempfile::TempDir,
}

impl Pgbouncer {
    /// Starts one for a database, with two server connections.
    ///
    /// # Panics
    /// When pgbouncer is not installed (`tools/test` installs it) or does not start.
    pub async fn start(database: &TestDatabase) -> Self {
        let behind: PgConnectOptions = database.url.parse().expect("a database address");
        let socket = behind
            .get_socket()
            .map_or_else(|| behind.get_host().to_owned(), |socket| socket.display().to_string());
        let place = tempfile::Builder::new().prefix("wb").tempdir_in("/var/tmp").expect("a place");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).expect("open it");
        let folder = place.path().display();
        let port = 6432;
        let settings = format!(
            "[databases]\n{name} = host={socket} port={server_port} user={user}\n\
             [pgbouncer]\nlisten_addr =\nlisten_port = {port}\nunix_socket_dir = {folder}\n\
             auth_type = any\npool_mode = transaction\ndefault_pool_size = 2\n\
             max_client_conn = 200\nlogfile = {folder}/log\npidfile = {folder}/pid\n",
            name = database.name,
            server_port = behind.get_port(),
            user = behind.get_username(),
        );
        let file = place.path().join("pgbouncer.ini");
        fs::write(&file, settings).expect("write its settings");
        // It refuses to be root, and the cluster's socket belongs to its owner.
        let owner =
            fs::metadata(&socket).ok().map(|meta| std::os::unix::fs::MetadataExt::uid(&meta));
        let mut command = Command::new("pgbouncer");
        command.arg("-q").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(uid) = owner {
            std::os::unix::process::CommandExt::uid(&mut command, uid);
        }
        let child = command.spawn().expect("pgbouncer is not installed: run tools/test");
        let url = format!(
            "postgres://{user}@localhost/{name}?host={folder}&port={port}",
            user = behind.get_username(),
            name = database.name,
        );
        let through: PgConnectOptions = url.parse().expect("an address");
        let through = through.statement_cache_capacity(0).extra_float_digits(None);
        deadline::until("pgbouncer answers", async || {
            PgConnection::connect_with(&through).await.map(drop)
        })
        .await;
        Self { child, url, _place: place }
    }
}

impl Drop for Pgbouncer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
