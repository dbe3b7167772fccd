//! Archives of feeds: whatever the bytes are, what comes of them stays within the bounds. The reader
//! is private to its crate, so its source is compiled here.
#![no_main]

use std::{
    fs::{self, File},
    path::PathBuf,
    sync::LazyLock,
};

use libfuzzer_sys::fuzz_target;

#[path = "../../../processors/src/registry/sources"]
mod sources {
    mod zip;

    const BOUNDS: zip::Bounds =
        zip::Bounds { entries: 100, entry_bytes: 64 << 10, total_bytes: 1 << 20, ratio: 200 };

    pub(crate) fn read(file: &std::fs::File) {
        let Ok(mut zip) = zip::Zip::open(file, BOUNDS) else { return };
        let (mut body, mut n_entries, mut n_bytes) = (Vec::new(), 0, 0);
        while let Ok(Some(entry)) = zip.next(&mut body) {
            n_entries += 1;
            assert!(!entry.name.contains('/'));
            if entry.fault.is_none() {
                assert!(body.len() as u64 <= BOUNDS.entry_bytes);
                n_bytes += body.len() as u64;
            }
        }
        assert!(n_entries <= BOUNDS.entries && n_bytes <= BOUNDS.total_bytes);
    }
}

static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("weir-fuzz.{}.zip", std::process::id())));

fuzz_target!(|bytes: &[u8]| {
    fs::write(&*FILE, bytes).expect("a file");
    sources::read(&File::open(&*FILE).expect("the file"));
});
