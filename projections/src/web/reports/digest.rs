//! SHA-256 of what is known of a request, or of a page that is cached: every field in turn, numbers as
//! eight bytes, the first the highest, texts and binaries after their length, what may be missing
//! after a 0 or a 1; redirects, and the approval of a hit, only where there are any. Nothing of it is a
//! time of day, nor a place in the log. What was published of cycles before a digest changed stands as it
//! was published.

use sha2::{Digest as _, Sha256};
use weir_events::web::{
    Asked, WebCacheStored, WebRedirect, WebRequestBlocked, WebRequestCompleted, WebRequestFailed,
    WebRequestSubmitted,
    content::{ContentFilter, FilterReport},
    request::{ApiInteractionKind, Cost},
};

/// A digest.
pub(super) type Digest = [u8; 32];

struct Canon(Sha256);

impl Canon {
    fn of(asked: &Asked, state: u8) -> Self {
        let mut canon = Self(Sha256::new());
        canon.0.update(b"weir.portal.request.v2");
        canon.bytes(asked.request.as_bytes());
        canon.bytes(asked.agent.as_bytes());
        canon.text(&asked.url);
        canon.number(u64::from(asked.method.as_byte()));
        canon.text(&asked.purpose);
        canon.number(asked.cycle);
        canon.number(asked.tick);
        canon.number(u64::from(state));
        canon
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn if_any(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            None => self.0.update([0]),
            Some(bytes) => {
                self.0.update([1]);
                self.bytes(bytes);
            }
        }
    }

    fn cost(&mut self, cost: Cost, tax: u64) {
        self.number(cost.ticks);
        self.number(cost.spark);
        self.number(tax);
    }

    fn texts(&mut self, texts: &[String]) {
        self.number(texts.len() as u64);
        for text in texts {
            self.text(text);
        }
    }

    /// Nothing, where there are none: what was made before there were any stays what it was.
    fn redirects(&mut self, redirects: &[WebRedirect]) {
        for it in redirects {
            self.text(&it.url);
            self.text(it.action.as_str());
            self.if_any(it.rule.as_deref().map(str::as_bytes));
            self.text(&it.reason);
        }
    }

    fn filter(&mut self, filter: &ContentFilter) {
        let ContentFilter {
            strip_code_blocks,
            strip_inline_code,
            transform_apis,
            transform_examples,
            max_size,
            format,
        } = *filter;
        for is_on in [strip_code_blocks, strip_inline_code, transform_apis, transform_examples] {
            self.number(u64::from(is_on));
        }
        self.number(u64::from(max_size));
        self.text(format.as_str());
    }

    fn filtered(&mut self, report: &FilterReport) {
        self.number(u64::from(report.code_blocks_removed));
        self.number(report.bytes_stripped);
        self.number(u64::from(report.transformations));
        self.texts(&report.warnings);
    }

    fn end(self) -> Digest {
        self.0.finalize().into()
    }
}

pub(super) fn submitted(it: &WebRequestSubmitted) -> Digest {
    let mut canon = Canon::of(&it.asked, 0);
    canon.number(match it.interaction {
        ApiInteractionKind::RestGet => 0,
        ApiInteractionKind::RestPost => 1,
        ApiInteractionKind::GraphQL => 2,
        ApiInteractionKind::WebsocketSnap => 3,
    });
    canon.bytes(it.key.as_bytes());
    canon.filter(&it.filter);
    canon.number(u64::from(it.epoch));
    canon.number(u64::from(it.quota));
    canon.bytes(it.transfer.as_bytes());
    canon.cost(it.reserved, 0);
    canon.if_any(it.approval.as_ref().map(|approval| approval.as_bytes().as_slice()));
    canon.end()
}

pub(super) fn completed(it: &WebRequestCompleted) -> Digest {
    let mut canon = Canon::of(&it.asked, 1);
    canon.number(u64::from(it.status));
    canon.text(&it.content_type);
    canon.if_any(it.variant.as_ref().map(|variant| variant.as_bytes().as_slice()));
    canon.bytes(it.content.as_bytes());
    canon.number(it.content_size);
    canon.number(u64::from(it.cached));
    canon.cost(it.cost, it.tax);
    canon.filtered(&it.filtered);
    canon.texts(&it.hosts);
    canon.redirects(&it.redirects);
    if let Some(approval) = &it.approval {
        canon.bytes(approval.as_bytes());
    }
    canon.end()
}

pub(super) fn blocked(it: &WebRequestBlocked) -> Digest {
    let mut canon = Canon::of(&it.asked, 2);
    canon.number(u64::from(it.code));
    canon.text(&it.error);
    canon.text(&it.reason);
    canon.if_any(it.domain.as_deref().map(str::as_bytes));
    canon.cost(it.cost, it.tax);
    canon.texts(&it.hosts);
    canon.redirects(&it.redirects);
    canon.end()
}

pub(super) fn failed(it: &WebRequestFailed) -> Digest {
    let mut canon = Canon::of(&it.asked, 3);
    canon.number(u64::from(it.code));
    canon.text(&it.error);
    canon.text(&it.reason);
    canon.cost(it.cost, it.tax);
    canon.texts(&it.hosts);
    canon.redirects(&it.redirects);
    canon.end()
}

pub(super) fn stored(it: &WebCacheStored) -> Digest {
    let mut canon = Canon(Sha256::new());
    canon.0.update(b"weir.portal.page.v2");
    canon.bytes(it.key.as_bytes());
    canon.bytes(it.variant.as_bytes());
    canon.if_any(it.owner.as_ref().map(|owner| owner.as_bytes().as_slice()));
    canon.text(&it.url);
    canon.number(u64::from(it.method.as_byte()));
    canon.number(u64::from(it.status));
    canon.text(&it.content_type);
    canon.bytes(it.content.as_bytes());
    canon.number(it.content_size);
    canon.filtered(&it.filtered);
    canon.if_any(it.title.as_deref().map(str::as_bytes));
    canon.bytes(it.request.as_bytes());
    canon.number(it.cycle);
    canon.number(u64::from(it.ttl));
    canon.texts(&it.redirected);
    for also in &it.also {
        canon.bytes(also.as_bytes());
    }
    canon.end()
}

/// The hash of the portal's state at the end of a cycle.
pub(super) fn state(cycle: u64, before: Digest, requests: Digest, pages: Digest) -> Digest {
    let mut hasher = Sha256::new();
    hasher.update(b"weir.portal.state.v1");
    hasher.update(cycle.to_be_bytes());
    for part in [before, requests, pages] {
        hasher.update(part);
    }
    hasher.finalize().into()
}
