//! What one process remembers of pages: what was last heard of a rendering, and contents that were
//! used lately. Bounded; what is not in it is asked for.

use std::sync::Arc;

use bytes::Bytes;
use weir_events::{
    position::Position,
    web::request::{AgentId, Hash256},
};
use weir_projections::web::cache::Identity;

use super::{Cached, forgotten::Forgotten};
use crate::registry::lru::Lru;

/// What remembering a rendering costs beside its texts, in bytes.
const OVERHEAD: u64 = 400;

/// What is known of renderings, without their contents, in one eighth of the memory, and contents in
/// the rest.
#[derive(Debug)]
pub(super) struct Memory {
    known: Lru<Identity, Known>,
    contents: Lru<Hash256, Bytes>,
    whole: Lru<Identity, Arc<Cached>>,
}

/// What was last heard of a rendering, and where in the log that stands.
#[derive(Debug)]
struct Known {
    position: Position,
    /// Nothing, where it is not there.
    page: Option<Arc<Cached>>,
}

/// What is known of a rendering that somebody asks for.
#[derive(Debug)]
pub(super) enum Seen {
    /// All of it.
    Whole(Arc<Cached>),
    /// All but its content.
    Bare(Arc<Cached>),
    /// It is not there, or not any more.
    Gone,
    /// Nothing.
    Unknown,
}

impl Memory {
    pub(super) fn new(max_bytes: u64) -> Self {
        Self {
            known: Lru::new(max_bytes / 8),
            contents: Lru::new(max_bytes / 8 * 7),
            // These hold what the others hold, too.
            whole: Lru::new(max_bytes / 8 * 7),
        }
    }

    /// What an agent may see in a cycle: everybody's first, for that is asked for most. What was forgotten
    /// since it was stored is not there any more, whoever has not heard of it yet.
    pub(super) fn lookup(
        &mut self,
        (key, variant): (&Hash256, &Hash256),
        agent: &AgentId,
        cycle: u64,
        forgotten: &Forgotten,
    ) -> Seen {
        let mut all_known = true;
        for owner in [None, Some(*agent)] {
            let identity = Identity { key: *key, variant: *variant, owner };
            let Some(known) = self.known.get(&identity) else {
                all_known = false;
                continue;
            };
            let is_good = |page: &&Arc<Cached>| {
                cycle < page.expires_at && forgotten.last(&page.names) <= page.asked_at
            };
            let Some(page) = known.page.as_ref().filter(is_good) else {
                continue;
            };
            let page = Arc::clone(page);
            return self.with_body(&identity, page);
        }
        if all_known { Seen::Gone } else { Seen::Unknown }
    }

    fn with_body(&mut self, identity: &Identity, page: Arc<Cached>) -> Seen {
        if let Some(whole) = self.whole.get(identity).filter(|it| it.content == page.content) {
            // A rendering that was stored again may live longer, with the same content.
            if whole.position == page.position {
                return Seen::Whole(Arc::clone(whole));
            }
        }
        let Some(body) = self.contents.get(&page.content).map(|body| body.clone()) else {
            return Seen::Bare(page);
        };
        let whole = Arc::new(Cached { body, ..(*page).clone() });
        self.fill(&whole);
        Seen::Whole(whole)
    }

    /// The rendering that an agent may see in a cycle, with or without its content.
    pub(super) fn current(
        &mut self,
        page: (&Hash256, &Hash256),
        agent: &AgentId,
        cycle: u64,
        forgotten: &Forgotten,
    ) -> Option<Arc<Cached>> {
        match self.lookup(page, agent, cycle, forgotten) {
            Seen::Whole(page) | Seen::Bare(page) => Some(page),
            Seen::Gone | Seen::Unknown => None,
        }
    }

    /// Hears of a rendering. What is older than what is known changes nothing; that it was looked for in
    /// vain does not stand in the log at all, and is older than all of it.
    pub(super) fn learn(
        &mut self,
        identity: &Identity,
        position: Position,
        page: Option<Arc<Cached>>,
    ) {
        let vain = page.is_none() && position == Position::START;
        let stays = |known: &Known| known.position > position || (vain && known.page.is_some());
        if self.known.peek(identity).is_some_and(stays) {
            return;
        }
        let texts = page.as_ref().map_or(0, |page| {
            let warnings: usize = page.filtered.warnings.iter().map(String::len).sum();
            let redirected: usize = page.redirected.iter().map(String::len).sum();
            page.url.len() + page.content_type.len() + warnings + redirected + page.names.size()
        });
        let weight = OVERHEAD + texts as u64;
        if page.is_none() {
            self.whole.remove(identity);
        }
        drop(self.known.put(*identity, Known { position, page }, weight));
    }

    /// Keeps a rendering at hand with its content.
    pub(super) fn fill(&mut self, whole: &Arc<Cached>) {
        let identity = Identity { key: whole.key, variant: whole.variant, owner: whole.owner };
        self.keep(whole.content, whole.body.clone());
        drop(self.whole.put(identity, Arc::clone(whole), whole.size() + OVERHEAD));
    }

    pub(super) fn content(&mut self, hash: &Hash256) -> Option<Bytes> {
        self.contents.get(hash).map(|content| content.clone())
    }

    pub(super) fn keep(&mut self, hash: Hash256, content: Bytes) {
        let weight = content.len() as u64 + OVERHEAD / 4;
        drop(self.contents.put(hash, content, weight));
    }

    /// Forgets everything: it is of another life of the log.
    pub(super) fn clear(&mut self, max_bytes: u64) {
        *self = Self::new(max_bytes);
    }
}

#[cfg(test)]
mod tests {
    use weir_events::web::{content::FilterReport, request::HttpMethod};

    use super::{super::Names, *};

    const KEY: Hash256 = Hash256::new([1; 32]);
    const VARIANT: Hash256 = Hash256::new([2; 32]);
    const ANN: AgentId = AgentId::new([3; 32]);
    const BOB: AgentId = AgentId::new([4; 32]);

    fn page(owner: Option<AgentId>, body: &'static str, expires_at: u64) -> Arc<Cached> {
        let body = Bytes::from_static(body.as_bytes());
        Arc::new(Cached {
            key: KEY,
            variant: VARIANT,
            owner,
            url: "https://docs.rs/".to_owned(),
            method: HttpMethod::Get,
            status: 200,
            content_type: "text/plain".to_owned(),
            content: Hash256::new(*blake3::hash(&body).as_bytes()),
            filtered: FilterReport::default(),
            redirected: Vec::new(),
            expires_at,
            position: Position::START,
            asked_at: Position::START,
            names: Names::default(),
            body,
        })
    }

    fn learn(memory: &mut Memory, position: i64, page: &Arc<Cached>) {
        let identity = Identity { key: KEY, variant: VARIANT, owner: page.owner };
        let stored = Cached { position: Position(position), ..(**page).clone() };
        memory.learn(&identity, Position(position), Some(Arc::new(stored)));
        memory.keep(page.content, page.body.clone());
    }

    fn gone(memory: &mut Memory, position: i64, owner: Option<AgentId>) {
        memory.learn(&Identity { key: KEY, variant: VARIANT, owner }, Position(position), None);
    }

    fn look(memory: &mut Memory, variant: &Hash256, agent: &AgentId, cycle: u64) -> Seen {
        memory.lookup((&KEY, variant), agent, cycle, &Forgotten::new())
    }

    fn body(memory: &mut Memory, agent: &AgentId, cycle: u64) -> Option<Bytes> {
        match look(memory, &VARIANT, agent, cycle) {
            Seen::Whole(page) => Some(page.body.clone()),
            _ => None,
        }
    }

    #[test]
    fn what_is_an_agents_own_is_shown_to_nobody_else() {
        let mut memory = Memory::new(1 << 20);
        learn(&mut memory, 1, &page(Some(ANN), "ann's", 9));
        assert_eq!(body(&mut memory, &ANN, 1).unwrap(), "ann's");
        assert!(matches!(look(&mut memory, &VARIANT, &BOB, 1), Seen::Unknown));
        gone(&mut memory, 0, None);
        gone(&mut memory, 0, Some(BOB));
        assert!(matches!(look(&mut memory, &VARIANT, &BOB, 1), Seen::Gone));
        learn(&mut memory, 2, &page(None, "everybody's", 9));
        assert_eq!(body(&mut memory, &BOB, 1).unwrap(), "everybody's");
        assert!(matches!(look(&mut memory, &KEY, &ANN, 1), Seen::Unknown), "another rendering");
    }

    #[test]
    fn it_is_shown_before_the_cycle_it_expires_in() {
        let mut memory = Memory::new(1 << 20);
        learn(&mut memory, 1, &page(None, "everybody's", 5));
        gone(&mut memory, 0, Some(ANN));
        assert!(body(&mut memory, &ANN, 4).is_some());
        assert!(matches!(look(&mut memory, &VARIANT, &ANN, 5), Seen::Gone));
        // Stored again with the same content.
        learn(&mut memory, 2, &page(None, "everybody's", 7));
        assert!(body(&mut memory, &ANN, 6).is_some());
        assert!(matches!(look(&mut memory, &VARIANT, &ANN, 7), Seen::Gone));
    }

    #[test]
    fn what_is_older_than_what_is_known_changes_nothing() {
        let mut memory = Memory::new(1 << 20);
        gone(&mut memory, 5, None);
        gone(&mut memory, 0, Some(ANN));
        learn(&mut memory, 4, &page(None, "old", 9));
        assert!(matches!(look(&mut memory, &VARIANT, &ANN, 1), Seen::Gone));
        learn(&mut memory, 6, &page(None, "new", 9));
        gone(&mut memory, 5, None);
        assert_eq!(body(&mut memory, &ANN, 1).unwrap(), "new");
        gone(&mut memory, 7, None);
        assert!(matches!(look(&mut memory, &VARIANT, &ANN, 1), Seen::Gone));
    }

    #[test]
    fn what_was_just_stored_gives_way_to_what_was_heard_since() {
        let mut memory = Memory::new(1 << 20);
        gone(&mut memory, 0, None);
        gone(&mut memory, 0, Some(ANN));
        learn(&mut memory, 7, &page(None, "just stored", 9));
        assert_eq!(body(&mut memory, &ANN, 1).unwrap(), "just stored");
        // Somebody looked before it was there.
        gone(&mut memory, 0, None);
        assert!(body(&mut memory, &ANN, 1).is_some());
        gone(&mut memory, 8, None);
        learn(&mut memory, 7, &page(None, "just stored", 9));
        assert!(body(&mut memory, &ANN, 1).is_none(), "it was purged since");
    }

    /// Nothing once counted for more than an old purge, and an old page that has expired.
    #[test]
    fn what_is_stored_again_is_shown_at_once() {
        let mut memory = Memory::new(1 << 20);
        gone(&mut memory, 0, Some(ANN));
        learn(&mut memory, 3, &page(None, "the first", 5));
        assert!(body(&mut memory, &ANN, 5).is_none(), "it has expired");
        learn(&mut memory, 6, &page(None, "the second", 9));
        assert_eq!(body(&mut memory, &ANN, 5).unwrap(), "the second");
        gone(&mut memory, 7, None);
        learn(&mut memory, 8, &page(None, "the third", 9));
        assert_eq!(body(&mut memory, &ANN, 5).unwrap(), "the third");
        // The tail says the same a moment later.
        learn(&mut memory, 8, &page(None, "the third", 9));
        assert_eq!(body(&mut memory, &ANN, 5).unwrap(), "the third");
    }

    #[test]
    fn contents_go_first_and_are_asked_for_again() {
        let mut memory = Memory::new(8_000);
        learn(&mut memory, 1, &page(None, "everybody's", 9));
        memory.keep(KEY, Bytes::from(vec![0; 6_890]));
        assert!(matches!(look(&mut memory, &VARIANT, &ANN, 1), Seen::Bare(_)));
        memory.fill(&page(None, "everybody's", 9));
        assert_eq!(body(&mut memory, &ANN, 1).unwrap(), "everybody's");
        memory.clear(8_000);
        assert!(matches!(look(&mut memory, &VARIANT, &ANN, 1), Seen::Unknown));
    }
}
