//! How much memory a Weir takes, as Linux counts it.

use std::fs;

use crate::weir::Weir;

/// What it takes now, in KiB.
pub fn now(weir: &Weir) -> u64 {
    read(weir, "VmRSS:")
}

/// The most it has taken so far, in KiB.
pub fn most(weir: &Weir) -> u64 {
    read(weir, "VmHWM:")
}

fn read(weir: &Weir, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", weir.pid())).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("its memory");
    line.split_whitespace().next().and_then(|kib| kib.parse().ok()).expect("a number")
}
