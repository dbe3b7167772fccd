//! Where a zip ends, and where the directory of what it holds stands. To be read before anything believes
//! in the numbers that stand there. Format: PKWARE's APPNOTE 6.3, sections 4.3.14 to 4.3.16.

use std::{fs::File, io, os::unix::fs::FileExt as _};

/// A structure: how long its fixed part is, and what it begins with.
pub(super) type Structure = (usize, [u8; 4]);

const END: Structure = (22, *b"PK\x05\x06");
const END64: Structure = (56, *b"PK\x06\x06");
const LOCATOR64: Structure = (20, *b"PK\x06\x07");
const MAX_COMMENT_BYTES: u64 = 0xffff;

/// The header of an entry in the directory.
pub(super) const CENTRAL: Structure = (46, *b"PK\x01\x02");

/// How long that is at least.
pub(super) const ENTRY_BYTES: u64 = CENTRAL.0 as u64;

/// The end cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum EndFault {
    /// The file cannot be read.
    #[error("could not read the archive")]
    Io(#[source] io::Error),
    /// It is damaged, cut short or no archive.
    #[error("{0}")]
    Malformed(&'static str),
}

/// The end of a zip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    /// Where the directory begins.
    pub(super) directory_at: u64,
    /// How long it is.
    pub(super) directory_bytes: u64,
    /// How many entries it has.
    pub(super) n_entries: u64,
    /// Whether whoever reads it finds the same: the directory ends where the end begins, all is on one
    /// disk, and nothing behind could be taken for another end.
    pub(super) is_plain: bool,
}

/// The fixed part of a structure.
pub(super) struct Header<'b>(pub(super) &'b [u8]);

impl Header<'_> {
    pub(super) fn u16(&self, at: usize) -> u16 {
        self.0.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes)
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        self.0.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
    }

    pub(super) fn u64(&self, at: usize) -> u64 {
        self.0.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
    }
}

pub(super) fn cut(fault: io::Error) -> EndFault {
    if fault.kind() == io::ErrorKind::UnexpectedEof {
        return EndFault::Malformed("it is cut short");
    }
    EndFault::Io(fault)
}

/// The fixed part of a structure that stands somewhere.
pub(super) fn fixed<const N: usize>(
    file: &File,
    at: u64,
    (_, mark): Structure,
    missing: &'static str,
) -> Result<[u8; N], EndFault> {
    let mut header = [0; N];
    file.read_exact_at(&mut header, at).map_err(cut)?;
    if header.starts_with(&mark) { Ok(header) } else { Err(EndFault::Malformed(missing)) }
}

impl End {
    /// Reads the end of a file of this length.
    pub(super) fn of(file: &File, length: u64) -> Result<Self, EndFault> {
        const NO_END: EndFault = EndFault::Malformed("it has no end, perhaps it was cut short");
        let tail_at = length.saturating_sub(END.0 as u64 + MAX_COMMENT_BYTES);
        let mut tail = vec![0; usize::try_from(length - tail_at).map_err(|_| NO_END)?];
        file.read_exact_at(&mut tail, tail_at).map_err(cut)?;
        let fits = |at: &usize| {
            let header = Header(tail.get(*at..).unwrap_or_default());
            header.0.starts_with(&END.1) && header.0.len() == END.0 + usize::from(header.u16(20))
        };
        let last = tail.len().checked_sub(END.0).ok_or(NO_END)?;
        let at = (0..=last).rev().find(fits).ok_or(NO_END)?;
        let behind = tail.get(at + END.1.len()..).unwrap_or_default();
        let sole = !behind.windows(END.1.len()).any(|bytes| bytes == END.1);
        let end = Header(tail.get(at..).unwrap_or_default());
        let end_at = tail_at + at as u64;
        let (n, size, offset) = (end.u16(10), end.u32(12), end.u32(16));
        if n != u16::MAX && size != u32::MAX && offset != u32::MAX {
            let one_disk = end.u32(4) == 0 && end.u16(8) == n;
            let (offset, size) = (u64::from(offset), u64::from(size));
            return Ok(Self {
                directory_at: offset,
                directory_bytes: size,
                n_entries: u64::from(n),
                is_plain: sole && one_disk && offset + size == end_at,
            });
        }
        let locator_at = end_at.checked_sub(LOCATOR64.0 as u64).ok_or(NO_END)?;
        let locator: [u8; LOCATOR64.0] =
            fixed(file, locator_at, LOCATOR64, "its end is incomplete")?;
        let locator = Header(&locator);
        let end_at = locator.u64(8);
        let end: [u8; END64.0] = fixed(file, end_at, END64, "its end is not where it says")?;
        let end = Header(&end);
        let (offset, size, n) = (end.u64(48), end.u64(40), end.u64(32));
        let one_disk =
            locator.u32(4) == 0 && locator.u32(16) <= 1 && end.u64(16) == 0 && end.u64(24) == n;
        // Nothing is in between that could be another one.
        let abuts = end.u64(4) == END64.0 as u64 - 12
            && end_at.checked_add(END64.0 as u64) == Some(locator_at)
            && offset.checked_add(size) == Some(end_at);
        Ok(Self {
            directory_at: offset,
            directory_bytes: size,
            n_entries: n,
            is_plain: sole && one_disk && abuts,
        })
    }

    /// Whether the directory begins with an entry, where it has any. Who looks for the first one and does
    /// not find it may believe in an end that stands before this one, and that nobody has looked at.
    pub(super) fn begins(&self, file: &File) -> Result<bool, EndFault> {
        if self.n_entries == 0 {
            return Ok(true);
        }
        let mut mark = [0; 4];
        file.read_exact_at(&mut mark, self.directory_at).map_err(cut)?;
        Ok(mark == CENTRAL.1)
    }
}
