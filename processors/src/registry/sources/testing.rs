//! A log in memory, and feeds for tests, in every shape that a hostile one could have.

use std::{
    collections::HashMap,
    io::Write as _,
    sync::{Mutex, MutexGuard},
};

use blake3::Hash;
use flate2::{Compression, Crc, write::DeflateEncoder};
use futures_util::future::BoxFuture;
use weir_aggregates::registry::advisory::{
    difference::{Difference, Missing},
    digest,
};
use weir_events::registry::{Ecosystem, Event};
use weir_log::append::AppendFault;

use super::{SyncFault, archive::Archive};
use crate::door::DoorFault;

/// A log that keeps its events in memory.
#[derive(Default)]
pub(crate) struct Memory {
    events: Mutex<Vec<(Ecosystem, Event)>>,
    /// How many batches are taken before the log is away.
    pub(crate) batches_left: Mutex<Option<usize>>,
    missing: Mutex<HashMap<Ecosystem, Missing>>,
}

impl Memory {
    fn events(&self) -> MutexGuard<'_, Vec<(Ecosystem, Event)>> {
        self.events.lock().unwrap()
    }

    /// What was appended since this was asked last: a letter for what happened, and the id.
    pub(crate) fn news(&self, since: &mut usize) -> Vec<String> {
        let events = self.events();
        let news = events[*since..].iter().map(|(_, event)| match event {
            Event::AdvisoryPublished(it) => format!("+{}", it.advisory.id),
            Event::AdvisoryChanged(it) => format!("~{}", it.advisory.id),
            Event::AdvisoryWithdrawn(it) => format!("-{}", it.id),
            other => panic!("{other:?}"),
        });
        let mut news: Vec<String> = news.collect();
        *since = events.len();
        news.sort();
        news
    }

    /// Whether an advisory stands there, published and not withdrawn.
    pub(crate) fn knows(&self, id: &str) -> bool {
        let last = |event: &Event| match event {
            Event::AdvisoryPublished(it) if it.advisory.id == id => Some(true),
            Event::AdvisoryWithdrawn(it) if it.id == id => Some(false),
            _ => None,
        };
        self.events().iter().filter_map(|(_, event)| last(event)).next_back() == Some(true)
    }
}

impl Archive for Memory {
    fn difference(&self, ecosystem: Ecosystem) -> BoxFuture<'_, Result<Difference, SyncFault>> {
        let mut known: HashMap<String, Hash> = HashMap::new();
        for (_, event) in self.events().iter().filter(|(its, _)| *its == ecosystem) {
            match event {
                Event::AdvisoryPublished(it) => {
                    let old = known.insert(it.advisory.id.clone(), digest::carried(&it.advisory));
                    assert_eq!(old, None, "published twice");
                }
                Event::AdvisoryChanged(it) => {
                    let old = known.insert(it.advisory.id.clone(), digest::carried(&it.advisory));
                    assert!(old.is_some(), "changed before it was published");
                }
                Event::AdvisoryWithdrawn(it) => assert!(known.remove(&it.id).is_some()),
                other => panic!("{other:?}"),
            }
        }
        let missing = self.missing.lock().unwrap().get(&ecosystem).cloned().unwrap_or_default();
        Box::pin(async { Ok(Difference::new(known).after(missing)) })
    }

    fn remember(&self, ecosystem: Ecosystem, missing: Missing) -> BoxFuture<'_, ()> {
        self.missing.lock().unwrap().insert(ecosystem, missing);
        Box::pin(async {})
    }

    fn append(
        &self,
        ecosystem: Ecosystem,
        events: Vec<Event>,
    ) -> BoxFuture<'_, Result<(), SyncFault>> {
        assert!((1..=1_000).contains(&events.len()), "{}", events.len());
        if let Some(left) = &mut *self.batches_left.lock().unwrap() {
            if *left == 0 {
                let away = AppendFault::Unavailable("away".to_owned());
                return Box::pin(async { Err(DoorFault::from(away).into()) });
            }
            *left -= 1;
        }
        self.events().extend(events.into_iter().map(|event| (ecosystem, event)));
        Box::pin(async { Ok(()) })
    }
}

/// A record about one version of an npm package of the same name.
pub(crate) fn record(id: &str, version: &str) -> String {
    record_of(id, "npm", version, "")
}

/// A record about an ecosystem, with more members.
pub(crate) fn record_of(id: &str, ecosystem: &str, version: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","modified":"2026-11-01T00:00:00Z"{more},"affected":[{{"package":
        {{"ecosystem":"{ecosystem}","name":"{}"}},"versions":["{version}"]}}]}}"#,
        id.to_lowercase()
    )
}

/// An entry to be packed.
#[derive(Clone)]
pub(crate) struct Packed {
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
    pub(crate) method: u16,
    pub(crate) flags: u16,
    /// What the directory says of its size and checksum, where that is not the truth.
    pub(crate) claimed: Option<u32>,
    pub(crate) crc: Option<u32>,
}

impl Packed {
    pub(crate) fn new(name: &str, body: &[u8]) -> Self {
        let (name, body) = (name.to_owned(), body.to_vec());
        Self { name, body, method: 8, flags: 0, claimed: None, crc: None }
    }

    pub(crate) fn stored(name: &str, body: &[u8]) -> Self {
        Self { method: 0, ..Self::new(name, body) }
    }
}

fn header(mark: [u8; 4], shorts: &[u16], rest: &[&[u8]]) -> Vec<u8> {
    let mut bytes = mark.to_vec();
    for short in shorts {
        bytes.extend(short.to_le_bytes());
    }
    for part in rest {
        bytes.extend(*part);
    }
    bytes
}

struct Made {
    entry: Packed,
    packed: Vec<u8>,
    crc: u32,
    offset: usize,
}

fn bodies(entries: &[Packed]) -> (Vec<u8>, Vec<Made>) {
    let (mut archive, mut made) = (Vec::new(), Vec::new());
    for entry in entries {
        let packed = if entry.method == 8 {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&entry.body).unwrap();
            encoder.finish().unwrap()
        } else {
            entry.body.clone()
        };
        let mut crc = Crc::new();
        crc.update(&entry.body);
        let crc = entry.crc.unwrap_or_else(|| crc.sum());
        let offset = archive.len();
        // As writers that cannot seek do: the sizes stand in the directory only.
        let name_length = u16::try_from(entry.name.len()).unwrap();
        archive.extend(header(
            *b"PK\x03\x04",
            &[20, entry.flags | 8, entry.method, 0, 0],
            &[&[0; 12], &name_length.to_le_bytes(), &[0; 2], entry.name.as_bytes(), &packed],
        ));
        made.push(Made { entry: entry.clone(), packed, crc, offset });
    }
    (archive, made)
}

fn finish(mut archive: Vec<u8>, made: &[Made], is_wide: bool) -> Vec<u8> {
    let directory = archive.len();
    for Made { entry, packed, crc, offset } in made {
        let total = entry.claimed.unwrap_or_else(|| u32::try_from(entry.body.len()).unwrap());
        let narrow = |n: usize| if is_wide { u32::MAX } else { u32::try_from(n).unwrap() };
        let mut extra = Vec::new();
        if is_wide {
            extra.extend(header([9, 0, 1, 0], &[], &[b"x"]));
            extra.extend(header([1, 0, 24, 0], &[], &[]));
            for n in [total as usize, packed.len(), *offset] {
                extra.extend((n as u64).to_le_bytes());
            }
        }
        let lengths = [entry.name.len(), extra.len()].map(|n| u16::try_from(n).unwrap());
        archive.extend(header(
            *b"PK\x01\x02",
            &[20, 20, entry.flags | 8, entry.method, 0, 0],
            &[
                &crc.to_le_bytes(),
                &narrow(packed.len()).to_le_bytes(),
                &narrow(total as usize).to_le_bytes(),
                &lengths[0].to_le_bytes(),
                &lengths[1].to_le_bytes(),
                &[0; 10],
                &narrow(*offset).to_le_bytes(),
                entry.name.as_bytes(),
                &extra,
            ],
        ));
    }
    let (size, n) = (archive.len() - directory, made.len());
    if is_wide {
        let end = archive.len() as u64;
        let numbers = [n, n, size, directory].map(|n| (n as u64).to_le_bytes()).concat();
        archive.extend(header(*b"PK\x06\x06", &[44, 0, 0, 0, 45, 45, 0, 0, 0, 0], &[&numbers]));
        archive.extend(header(*b"PK\x06\x07", &[0, 0], &[&end.to_le_bytes(), &[1, 0, 0, 0]]));
    }
    let short = if is_wide { u16::MAX } else { u16::try_from(n).unwrap() };
    let long = |n: usize| if is_wide { u32::MAX } else { u32::try_from(n).unwrap() }.to_le_bytes();
    let comment = b"made for a test";
    let length = u16::try_from(comment.len()).unwrap().to_le_bytes();
    let rest: [&[u8]; 4] = [&long(size), &long(directory), &length, comment];
    archive.extend(header(*b"PK\x05\x06", &[0, 0, short, short], &rest));
    archive
}

/// An archive.
pub(crate) fn zip(entries: &[Packed]) -> Vec<u8> {
    let (archive, made) = bodies(entries);
    finish(archive, &made, false)
}

/// The same in the form for more than four gigabytes.
pub(crate) fn wide(entries: &[Packed]) -> Vec<u8> {
    let (archive, made) = bodies(entries);
    finish(archive, &made, true)
}

/// An archive whose directory names the same bytes several times.
pub(crate) fn overlapping(entries: &[Packed], n_times: usize) -> Vec<u8> {
    let (archive, made) = bodies(entries);
    let again = std::iter::repeat_with(|| bodies(entries).1).take(n_times).flatten();
    let made: Vec<Made> = made.into_iter().chain(again).collect();
    finish(archive, &made, false)
}
