//! A line between a log and its Postgres that can lose an answer: what was asked for is done, and
//! whoever asked never hears of it.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use sqlx::postgres::PgConnectOptions;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, UnixListener, UnixStream},
    sync::oneshot,
    task::JoinSet,
};

use crate::database::TestDatabase;

/// "Ready for query, in no transaction": whatever was asked for is committed or rolled back.
const READY: &[u8] = b"Z\0\0\0\x05I";

/// The most of one message that is searched, and of one answer that is swallowed.
const MAX_BYTES: usize = 1 << 20;

/// A running proxy; ends when dropped.
#[derive(Debug)]
pub struct Proxy {
    /// The address of the database through it.
    pub url: String,
    armed: Armed,
    _accepting: JoinSet<()>,
    _place: tempfile::TempDir,
}

/// An answer that is to be lost.
#[derive(Debug)]
pub struct Lost {
    /// Told once Postgres has answered, and the answer was swallowed.
    pub answered: oneshot::Receiver<()>,
    /// Closes the connection, on both sides.
    pub close: oneshot::Sender<()>,
}

#[derive(Debug)]
struct Trap {
    words: &'static [u8],
    then: Then,
}

/// What becomes of a connection on which the words were heard.
#[derive(Debug)]
enum Then {
    /// The answer is swallowed.
    Lose { answered: oneshot::Sender<()>, close: oneshot::Receiver<()> },
    /// The client's side is closed when it is told to; the server is left to what it does.
    Cut(oneshot::Receiver<()>),
}

type Armed = Arc<Mutex<Option<Trap>>>;

impl Proxy {
    /// Starts one before a database.
    ///
    /// # Panics
    /// When there is no place for its socket, or no runtime to work in.
    pub fn start(database: &TestDatabase) -> Self {
        let behind: PgConnectOptions = database.url.parse().expect("a database address");
        let place = tempfile::Builder::new().prefix("wp").tempdir_in("/var/tmp").expect("a place");
        let socket = place.path().join(".s.PGSQL.5432");
        let listener = UnixListener::bind(socket).expect("listen");
        let url = format!(
            "postgres://{user}@localhost/{name}?host={folder}&port=5432",
            user = behind.get_username(),
            name = database.name,
            folder = place.path().display(),
        );
        let armed = Armed::default();
        let traps = Arc::clone(&armed);
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, behind, traps));
        Self { url, armed, _accepting: accepting, _place: place }
    }

    /// Loses the answer to the next message with these words in it, on whichever connection it
    /// comes. Everything else is forwarded.
    pub fn lose_the_answer_to(&self, words: &'static [u8]) -> Lost {
        let (answered, told) = oneshot::channel();
        let (close, closed) = oneshot::channel();
        self.arm(Trap { words, then: Then::Lose { answered, close: closed } });
        Lost { answered: told, close }
    }

    /// Forwards the next message with these words in it, on whichever connection it comes, and cuts
    /// the client off when it is told to. The server goes on with what it was asked for.
    pub fn cut_after(&self, words: &'static [u8]) -> oneshot::Sender<()> {
        let (cut, told) = oneshot::channel();
        self.arm(Trap { words, then: Then::Cut(told) });
        cut
    }

    fn arm(&self, trap: Trap) {
        *self.armed.lock().unwrap_or_else(PoisonError::into_inner) = Some(trap);
    }
}

#[expect(clippy::disallowed_methods, reason = "a line to the test's own Postgres")]
async fn accept(listener: UnixListener, behind: PgConnectOptions, armed: Armed) {
    // Dropped with this task, and every connection with it.
    let mut lines = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        while lines.try_join_next().is_some() {}
        let folder = behind.get_socket().cloned().or_else(|| {
            let host = behind.get_host();
            host.starts_with('/').then(|| PathBuf::from(host))
        });
        let (host, port, armed) = (behind.get_host().to_owned(), behind.get_port(), armed.clone());
        lines.spawn(async move {
            // A server that is gone is, to the client, a connection that closes.
            if let Some(folder) = folder {
                if let Ok(s) = UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await {
                    drop(line(client, s, &armed).await);
                }
            } else if let Ok(server) = TcpStream::connect((host, port)).await {
                drop(line(client, server, &armed).await);
            }
        });
    }
}

/// One connection, until either side ends it or an answer on it is lost.
async fn line(
    mut client: UnixStream,
    mut server: impl AsyncRead + AsyncWrite + Unpin,
    armed: &Armed,
) -> std::io::Result<()> {
    let (mut asked, mut said) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    // What was asked since the server last said something: words may come in pieces.
    let mut asking: Vec<u8> = Vec::new();
    loop {
        tokio::select! {
            n = client.read(&mut asked) => {
                let n = n?;
                if n == 0 {
                    return Ok(());
                }
                asking.extend(&asked[..n]);
                assert!(asking.len() < MAX_BYTES, "a message too long for this proxy");
                let trap = sprung(armed, &asking);
                server.write_all(&asked[..n]).await?;
                match trap.map(|trap| trap.then) {
                    None => {}
                    Some(Then::Lose { answered, close }) => {
                        return lose(client, server, answered, close).await;
                    }
                    Some(Then::Cut(told)) => {
                        // The rest of the message may be still on its way.
                        forward_until(&mut client, &mut server, told).await?;
                        drop(client);
                        // Until the server has said everything: nobody hears it.
                        tokio::io::copy(&mut server, &mut tokio::io::sink()).await?;
                        return Ok(());
                    }
                }
            }
            n = server.read(&mut said) => {
                let n = n?;
                if n == 0 {
                    return Ok(());
                }
                asking.clear();
                client.write_all(&said[..n]).await?;
            }
        }
    }
}

fn sprung(armed: &Armed, asking: &[u8]) -> Option<Trap> {
    let mut armed = armed.lock().unwrap_or_else(PoisonError::into_inner);
    armed.take_if(|trap| asking.windows(trap.words.len()).any(|part| part == trap.words))
}

/// Hands on what the client still says, until it is told to stop.
async fn forward_until(
    client: &mut UnixStream,
    server: &mut (impl AsyncWrite + Unpin),
    told: oneshot::Receiver<()>,
) -> std::io::Result<()> {
    let mut asked = vec![0; 64 * 1024];
    let mut told = std::pin::pin!(told);
    loop {
        tokio::select! {
            // Whoever armed it may have gone: then it is time too.
            _ = &mut told => return Ok(()),
            n = client.read(&mut asked) => match n? {
                0 => return Ok(()),
                n => server.write_all(&asked[..n]).await?,
            },
        }
    }
}

/// Goes on asking, keeps the answer to itself, and closes when it is told to.
async fn lose(
    mut client: UnixStream,
    mut server: impl AsyncRead + AsyncWrite + Unpin,
    answered: oneshot::Sender<()>,
    close: oneshot::Receiver<()>,
) -> std::io::Result<()> {
    let (mut asked, mut said) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut swallowed: Vec<u8> = Vec::new();
    while !swallowed.ends_with(READY) {
        tokio::select! {
            n = client.read(&mut asked) => match n? {
                0 => return Ok(()),
                n => server.write_all(&asked[..n]).await?,
            },
            n = server.read(&mut said) => match n? {
                0 => return Ok(()),
                n => swallowed.extend(&said[..n]),
            },
        }
        assert!(swallowed.len() < MAX_BYTES, "an answer too long for this proxy");
    }
    // Whoever armed it may have gone: then there is nothing to wait for.
    if answered.send(()).is_ok() {
        close.await.unwrap_or_default();
    }
    Ok(())
}
