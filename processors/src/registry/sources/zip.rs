//! Archives as bulk feeds come: read entry by entry, within bounds on everything.
//!
//! Written here, because a feed has hundreds of thousands of small entries: the directory streams
//! by and is never kept, so that memory does not grow with it. Of the names only the last part is
//! looked at, and no file is ever written, so that no name leads anywhere. Entries that lie over
//! each other (the way small archives hold petabytes) are noticed by their sum. Format: PKWARE's
//! APPNOTE 6.3, sections 4.3 and 4.5; stored and deflated entries.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    os::unix::fs::FileExt,
};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::registry::zip_end::{CENTRAL, End, EndFault, Header, Structure, cut, fixed};

const LOCAL: Structure = (30, *b"PK\x03\x04");

/// How much larger an entry may be packed than it is: what deflate adds to what it cannot pack is a few
/// bytes in thousands.
const SLACK_BYTES: u64 = 64 << 10;

/// Below this an archive may be as well packed as it likes.
const SMALL_BYTES: u64 = 64 << 20;

/// What an archive may have at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How many entries it may have.
    pub(super) entries: u64,
    /// How large an entry may be that is read; larger ones are only named.
    pub(super) entry_bytes: u64,
    /// How large all entries may be together.
    pub(super) total_bytes: u64,
    /// How many bytes may come of one.
    pub(super) ratio: u64,
}

/// The archive cannot be read, or not safely.
#[derive(Debug, thiserror::Error)]
pub enum ZipFault {
    /// The file cannot be read.
    #[error("could not read the archive")]
    Io(#[from] io::Error),
    /// It is damaged, cut short or no archive.
    #[error("this is no archive: {0}")]
    Malformed(&'static str),
    /// It is more than it may be.
    #[error("the archive is refused: {0}")]
    Bomb(String),
}

/// An entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The last part of its name.
    pub(super) name: String,
    /// Why its content cannot be had; without one it is in the buffer.
    pub(super) fault: Option<&'static str>,
}

/// An archive being read.
pub(super) struct Zip<'f> {
    file: &'f File,
    directory: BufReader<Window<'f>>,
    bounds: Bounds,
    length: u64,
    n_left: u64,
    n_packed: u64,
    n_total: u64,
    packed: Vec<u8>,
    inflate: Decompress,
}

/// A part of a file, read from its start.
struct Window<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl Read for Window<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        let read = self.file.read_at(buffer.get_mut(..wanted).unwrap_or_default(), self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl From<EndFault> for ZipFault {
    fn from(fault: EndFault) -> Self {
        match fault {
            EndFault::Io(fault) => Self::Io(fault),
            EndFault::Malformed(what) => Self::Malformed(what),
        }
    }
}

impl<'f> Zip<'f> {
    pub(super) fn open(file: &'f File, bounds: Bounds) -> Result<Self, ZipFault> {
        let length = file.metadata()?.len();
        let End { directory_at, directory_bytes, n_entries, .. } = End::of(file, length)?;
        let end = directory_at.checked_add(directory_bytes).filter(|end| *end <= length);
        let end = end.ok_or(ZipFault::Malformed("its directory is not where it says"))?;
        if n_entries > bounds.entries {
            let most = bounds.entries;
            return Err(ZipFault::Bomb(format!("{n_entries} entries, {most} are read at most")));
        }
        Ok(Self {
            file,
            directory: BufReader::with_capacity(64 << 10, Window { file, at: directory_at, end }),
            bounds,
            length,
            n_left: n_entries,
            n_packed: 0,
            n_total: 0,
            packed: Vec::new(),
            inflate: Decompress::new(false),
        })
    }

    /// The next entry, with its content in `body`; folders are passed over.
    pub(super) fn next(&mut self, body: &mut Vec<u8>) -> Result<Option<Entry>, ZipFault> {
        loop {
            if self.n_left == 0 {
                return Ok(None);
            }
            self.n_left -= 1;
            let mut fixed = [0; CENTRAL.0];
            self.directory.read_exact(&mut fixed).map_err(cut)?;
            let header = Header(&fixed);
            if !fixed.starts_with(&CENTRAL.1) {
                return Err(ZipFault::Malformed("its directory is damaged"));
            }
            let lengths = [28, 30, 32].map(|at| usize::from(header.u16(at)));
            let mut rest = vec![0; lengths.iter().sum()];
            self.directory.read_exact(&mut rest).map_err(cut)?;
            let (name, rest) = rest.split_at_checked(lengths[0]).unwrap_or_default();
            let sizes = sizes(&header, rest.get(..lengths[1]).unwrap_or_default());
            let name = name.rsplit(|b| *b == b'/').next().unwrap_or_default();
            if name.is_empty() {
                continue;
            }
            self.weigh(sizes)?;
            let name = String::from_utf8_lossy(name).into_owned();
            let (flags, method, crc) = (header.u16(8), header.u16(10), header.u32(16));
            let fault = if flags & 1 != 0 {
                Some("it is encrypted")
            } else if sizes.total > self.bounds.entry_bytes {
                Some("it is too large")
            } else if sizes.packed > self.bounds.entry_bytes.saturating_add(SLACK_BYTES) {
                Some("it is packed to more than it may hold")
            } else {
                self.content(method, crc, sizes, body)?
            };
            return Ok(Some(Entry { name, fault }));
        }
    }

    /// Counts an entry in, before anything of it is unpacked.
    fn weigh(&mut self, sizes: Sizes) -> Result<(), ZipFault> {
        let Bounds { total_bytes, ratio, .. } = self.bounds;
        self.n_packed = self.n_packed.saturating_add(sizes.packed);
        self.n_total = self.n_total.saturating_add(sizes.total);
        let bomb = if self.n_packed > self.length {
            "its entries lie over each other".to_owned()
        } else if self.n_total > total_bytes {
            format!("more than {total_bytes} bytes come of it")
        } else if self.n_total > SMALL_BYTES.max(self.n_packed.saturating_mul(ratio)) {
            format!("more than {ratio} bytes come of one")
        } else {
            return Ok(());
        };
        Err(ZipFault::Bomb(bomb))
    }

    /// Reads the content of an entry; says what is wrong with it.
    fn content(
        &mut self,
        method: u16,
        crc: u32,
        sizes: Sizes,
        body: &mut Vec<u8>,
    ) -> Result<Option<&'static str>, ZipFault> {
        let missing = "an entry is not where its directory says";
        let local: [u8; LOCAL.0] = fixed(self.file, sizes.offset, LOCAL, missing)?;
        let names = [26, 28].map(|at| u64::from(Header(&local).u16(at)));
        let at = sizes.offset.saturating_add(LOCAL.0 as u64 + names[0] + names[1]);
        // Both are bounded by `next`.
        let size = |n: u64| usize::try_from(n).map_err(|_| ZipFault::Malformed(missing));
        let (n_packed, n_total) = (size(sizes.packed)?, size(sizes.total)?);
        self.packed.resize(n_packed, 0);
        self.file.read_exact_at(&mut self.packed, at).map_err(cut)?;
        body.clear();
        match method {
            0 if n_packed == n_total => body.extend_from_slice(&self.packed),
            8 => {
                // One byte more than is said, so that more is noticed.
                body.reserve_exact(n_total + 1);
                self.inflate.reset(false);
                let done = self.inflate.decompress_vec(&self.packed, body, FlushDecompress::Finish);
                if !matches!(done, Ok(Status::StreamEnd)) || body.len() != n_total {
                    return Ok(Some("it cannot be unpacked to what the directory says"));
                }
            }
            _ => return Ok(Some("it is packed in a way that is not known here")),
        }
        let mut sum = Crc::new();
        sum.update(body);
        Ok((sum.sum() != crc).then_some("it is damaged"))
    }
}

/// What the directory says of an entry.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    packed: u64,
    total: u64,
    offset: u64,
}

/// The sizes of an entry; those that do not fit stand in its extra field 1.
fn sizes(header: &Header<'_>, mut extra: &[u8]) -> Sizes {
    let mut wide: &[u8] = &[];
    while let Some((tag, rest)) = extra.split_at_checked(4) {
        let tag = Header(tag);
        let (field, rest) = rest.split_at_checked(usize::from(tag.u16(2))).unwrap_or((rest, &[]));
        if tag.u16(0) == 1 {
            wide = field;
            break;
        }
        extra = rest;
    }
    let mut size = |at| match header.u32(at) {
        u32::MAX => {
            let (value, rest) = wide.split_at_checked(8).unwrap_or_default();
            wide = rest;
            // Where it is missing nothing fits, and the entry is refused.
            if value.is_empty() { u64::MAX } else { Header(value).u64(0) }
        }
        narrow => u64::from(narrow),
    };
    let (total, packed, offset) = (size(24), size(20), size(42));
    Sizes { packed, total, offset }
}

#[cfg(test)]
mod tests;
