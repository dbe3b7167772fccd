//! A real redis-server of a test's own, what an intruder may do in it, and a line to it that stalls.

use std::{
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use redis::{AsyncCommands, Client, aio::MultiplexedConnection};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinSet,
};

use crate::deadline;

/// Its password.
const PASSWORD: &str = "open-sesame";

/// A running redis-server with a password, which keeps nothing on the disk; ends when dropped.
#[derive(Debug)]
pub struct RedisServer {
    child: Option<Child>,
    /// Its port on this machine.
    pub port: u16,
    folder: tempfile::TempDir,
}

impl RedisServer {
    /// Starts one.
    ///
    /// # Panics
    /// When redis-server is not installed (`tools/test` installs it) or does not start.
    pub async fn start() -> Self {
        let port = {
            let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            free.local_addr().expect("its address").port()
        };
        let folder = tempfile::Builder::new().prefix("wr").tempdir_in("/var/tmp").expect("a place");
        let mut server = Self { child: None, port, folder };
        server.run().await;
        server
    }

    /// Starts it where it was before it was killed. What it held is gone.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn run(&mut self) {
        let child = Command::new("redis-server")
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--requirepass", PASSWORD])
            .arg("--dir")
            .arg(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-server is not installed: run tools/test");
        self.child = Some(child);
        let client = client(&self.url());
        deadline::until("redis-server answers", async || {
            let mut connection = client.get_multiplexed_async_connection().await?;
            connection.ping::<String>().await
        })
        .await;
    }

    /// Ends it with no warning.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("kill redis-server");
            child.wait().expect("its end");
        }
    }

    /// Its address, with the password.
    pub fn url(&self) -> String {
        url(self.port)
    }

    /// A connection past every rule, as somebody with the password has it.
    ///
    /// # Panics
    /// When it does not answer.
    pub async fn intruder(&self) -> MultiplexedConnection {
        let connection = client(&self.url()).get_multiplexed_async_connection().await;
        connection.expect("connect to redis-server")
    }

    /// All keys, in order.
    ///
    /// # Panics
    /// When it does not answer.
    pub async fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.intruder().await.keys("*").await.expect("the keys");
        keys.sort();
        keys
    }

    /// All keys with their values, in order.
    ///
    /// # Panics
    /// When it does not answer.
    pub async fn all(&self) -> Vec<(String, Vec<u8>)> {
        let mut connection = self.intruder().await;
        let mut all = Vec::new();
        for key in self.keys().await {
            let value = connection.get(&key).await.expect("its value");
            all.push((key, value));
        }
        all
    }

    /// Puts values there, as they are.
    ///
    /// # Panics
    /// When it does not take them.
    pub async fn put(&self, values: &[(String, Vec<u8>)]) {
        let mut connection = self.intruder().await;
        for (key, value) in values {
            let () = connection.set(key, value).await.expect("put it there");
        }
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn url(port: u16) -> String {
    format!("redis://:{PASSWORD}@127.0.0.1:{port}/0")
}

#[expect(clippy::disallowed_methods, reason = "the harness is outside")]
fn client(url: &str) -> Client {
    Client::open(url).expect("an address of a Redis")
}

/// A line to a redis-server that can be stalled: it stays open, and nothing comes through.
#[derive(Debug)]
pub struct StallingLine {
    port: u16,
    stalled: Arc<Stalled>,
    _accepting: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Stalled {
    now: AtomicBool,
    over: Notify,
}

impl StallingLine {
    /// One that lets everything through so far.
    ///
    /// # Panics
    /// When there is no port.
    pub async fn to(server: &RedisServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let stalled = Arc::new(Stalled::default());
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, server.port, Arc::clone(&stalled)));
        Self { port, stalled, _accepting: accepting }
    }

    /// The address of the Redis through it.
    pub fn url(&self) -> String {
        url(self.port)
    }

    /// Stalls from now on, or no more.
    pub fn stall(&self, stalled: bool) {
        self.stalled.now.store(stalled, Ordering::SeqCst);
        self.stalled.over.notify_waiters();
    }
}

#[expect(clippy::disallowed_methods, reason = "a line to the test's own Redis")]
async fn accept(listener: TcpListener, port: u16, stalled: Arc<Stalled>) {
    // Dropped with this task, and every connection with it.
    let mut lines = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        while lines.try_join_next().is_some() {}
        let stalled = Arc::clone(&stalled);
        lines.spawn(async move {
            if let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await {
                drop(line(client, server, &stalled).await);
            }
        });
    }
}

async fn line(
    mut client: TcpStream,
    mut server: TcpStream,
    stalled: &Stalled,
) -> std::io::Result<()> {
    let (mut asked, mut said) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        tokio::select! {
            n = client.read(&mut asked) => {
                let n = n?;
                stalled.wait().await;
                server.write_all(&asked[..n]).await?;
                if n == 0 { return Ok(()); }
            }
            n = server.read(&mut said) => {
                let n = n?;
                stalled.wait().await;
                client.write_all(&said[..n]).await?;
                if n == 0 { return Ok(()); }
            }
        }
    }
}

impl Stalled {
    async fn wait(&self) {
        loop {
            let over = self.over.notified();
            if !self.now.load(Ordering::SeqCst) {
                return;
            }
            // A notification between the look and the wait is found at the next round.
            drop(tokio::time::timeout(Duration::from_millis(20), over).await);
        }
    }
}
