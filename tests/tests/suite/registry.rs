//! Real package clients install through Weir from the real upstreams, and are told why not.

mod asking;
mod cache;
mod caches;
mod canary;
mod cargo;
mod check;
mod clients;
mod crowd;
mod dashboard;
mod docker;
mod evidence;
mod go;
mod holds;
mod home;
mod impact;
mod licences;
mod lookalikes;
mod made;
mod matrix;
mod measured;
mod memory;
mod npm;
mod old_http;
mod prefixed;
mod profiles;
mod pypi;
mod quotas;
mod redis;
mod reports;
mod reserved;
mod sources;
mod trust;
mod waivers;
mod what_if;

use std::process::Output;

/// All that a client printed.
fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}
