//! The configuration file, through every layer: the module of `weir` itself, which is a program and
//! cannot be linked, so its sources are compiled here.
#![no_main]
#![expect(dead_code, unused_imports, reason = "the commands of `weir` use the rest")]

use std::{fs, path::PathBuf, sync::LazyLock};

use libfuzzer_sys::fuzz_target;

#[path = "../../../tools/src"]
mod sources {
    pub(crate) mod config;
    pub(crate) mod environment;
}

// The names they have in `weir`.
pub(crate) use sources::{config, environment};

static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("weir-fuzz.{}.yaml", std::process::id())));

fuzz_target!(|text: &[u8]| {
    fs::write(&*FILE, text).expect("a file");
    match config::load(Some(&FILE), &PathBuf::from("/nowhere"), &[]) {
        Ok(loaded) => assert!(!loaded.values.is_empty()),
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
});
