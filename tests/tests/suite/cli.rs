//! The commands as a person or a script meets them: what they print and what they change, and with
//! which words and code they end when they cannot.

mod agents;
mod config;
mod databases;
mod dead_letters;
mod doctor;
mod events;
mod init;
mod offline;
mod packages;
mod private;
mod rules;
mod running;
mod tokens;
mod unreachable;
mod web;

use std::{
    io::Write as _,
    process::{Output, Stdio},
};

use serde_json::Value;
use tokio::net::TcpSocket;
use weir_tests::weir::{Part, Place, Weir};

/// A command that has ended.
#[derive(Debug)]
struct Ran {
    command: String,
    code: Option<i32>,
    /// The data that it printed.
    out: String,
    /// What it said beside them.
    err: String,
}

impl Ran {
    fn new(arguments: &[&str], output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        let command = format!("weir {}", arguments.join(" "));
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        Self { command, code: output.status.code(), out, err }
    }

    /// What it printed, if it ended well.
    fn done(self) -> String {
        self.ends(0, &[]).out
    }

    /// The same, read as JSON.
    fn json(self) -> Value {
        let command = self.command.clone();
        let out = self.done();
        serde_json::from_str(&out).unwrap_or_else(|fault| panic!("`{command}`: {fault}: {out}"))
    }

    /// Asserts how it ended, and with which words; answers itself.
    fn ends(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "`{}`: {}{}", self.command, self.out, self.err);
        for words in words {
            let said = self.out.contains(words) || self.err.contains(words);
            assert!(said, "`{}` lacks `{words}`: {}{}", self.command, self.out, self.err);
        }
        self
    }
}

fn run(place: &Place, arguments: &[&str]) -> Ran {
    Ran::new(arguments, &place.run(arguments))
}

/// Runs a command that is fed from a pipe.
fn fed(place: &Place, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = place.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("start weir");
    // It may end without reading.
    drop(child.stdin.take().expect("its input").write_all(input));
    Ran::new(arguments, &child.wait_with_output().expect("its output"))
}

/// A running Weir, and the machine where its operator types.
struct Desk {
    place: Place,
    weir: Weir,
}

impl Desk {
    async fn open() -> Self {
        // With a configuration, nobody looks for one among the clients of this machine.
        let bare = "logging: {level: info}\n";
        Self::at(Place::on_a_test_database().await.setting(bare)).await
    }

    async fn at(place: Place) -> Self {
        let weir = place.start(Part::Up).await;
        Self { place, weir }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        run(&self.place, arguments)
    }

    /// Waits until a read model shows all that has happened.
    async fn shows(&self, projection: &str) {
        let head = self.weir.client.get("/api/status").await.expect(200).json()["head"].clone();
        self.weir.client.reaches(projection, head.as_i64().expect("a position")).await;
    }
}

/// A program in a folder, which prints what a script says.
fn program(folder: &std::path::Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::create_dir_all(folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a program");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a program");
}

/// An address of this machine where nobody listens, nor anybody else can as long as the socket is kept.
fn nobody() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let url = format!("http://{}", socket.local_addr().expect("its address"));
    (socket, url)
}
