// The mock's cached pages, the words in them, and what cycles added up to.

import { AGENT } from "./mock-web-rules.mjs";

// The world's time is that of `mock-web-people.mjs`.
const CYCLE = 47;
const HASH = (n) => n.toString(16).padStart(4, "0").repeat(16);

export class MockWebPages {
  constructor({ empty = false } = {}) {
    this.empty = empty;
    this.purged = [];
    this.pages = empty ? [] : Array.from({ length: 120 }, (_, index) => page(120 - index));
  }

  answer({ path, query, method, json, problem }) {
    const [, kind, id] = path.split("/");
    if (kind === "reports") return this.#reports({ id, query, json, problem });
    if (kind === "search") return this.#search({ query, json });
    if (method === "DELETE") return this.#purge({ query, json, problem });
    const [host, url, owner, shared] = ["host", "url", "owner", "shared"].map((name) => query.get(name) ?? "");
    const before = Number(query.get("cursor") ?? Infinity);
    const limit = Number(query.get("limit") ?? 50);
    const all = this.pages.filter(
      (page) =>
        page.position < before &&
        (host === "" || page.host === host) &&
        (url === "" || page.url === url) &&
        (owner === "" || page.owner === owner) &&
        (shared === "" || String(page.shared) === shared),
    );
    const pages = all.slice(0, limit);
    json(200, {
      n_pages: this.pages.length,
      n_bytes: this.pages.reduce((sum, page) => sum + page.content_size, 0),
      pages,
      next: all.length > limit ? String(pages.at(-1).position) : null,
    });
  }

  #purge({ query, json, problem }) {
    const [url, host] = ["url", "host"].map((name) => query.get(name));
    this.purged.push(query.toString());
    if (host?.includes("/")) return problem(400, "Bad parameter", `host: \`${host}\` is no host`);
    const kept = this.pages.filter((page) => page.url !== url && page.host !== host);
    const n_pages = this.pages.length - kept.length;
    this.pages = kept;
    json(200, { n_pages });
  }

  #search({ query, json }) {
    const words = query.get("q");
    const found = this.empty || words.includes("zzz") ? [] : this.pages.slice(0, 4);
    json(200, {
      pages: found.map(({ url, title, content_type, request, owner, expires_at }, at) => ({
        url,
        title,
        snippet:
          at === 1
            ? `An <img src=x onerror=alert(1)> in a **${words}** is text, and so is <b>this</b>.`
            : `A **${words}** keeps what comes in order; whoever takes from a **${words}** gets what came first.`,
        rank: 0.9 - at / 10,
        content_type,
        request,
        owner,
        expires_at,
      })),
    });
  }

  #reports({ id, query, json, problem }) {
    if (id === undefined) {
      const limit = Number(query.get("limit") ?? 50);
      const n = this.empty ? 0 : Math.min(limit, CYCLE);
      return json(200, { reports: Array.from({ length: n }, (_, index) => report(CYCLE - 1 - index)), next: null });
    }
    const cycle = Number(id);
    if (cycle > CYCLE) return problem(404, "No such report", `there is no report of cycle \`${id}\``);
    if (this.empty) return json(200, { ...report(cycle, 0), ended: false, tax: null, state_hash: null, ended_position: null });
    if (cycle < CYCLE) return json(200, report(cycle));
    json(200, { ...report(cycle), ended: false, tax: null, state_hash: null, ended_position: null, published_position: null });
  }
}

function page(n) {
  const own = n % 5 === 0;
  const host = ["docs.rs", "en.wikipedia.org", "doc.rust-lang.org"][n % 3];
  return {
    key: HASH(n),
    variant: HASH(n % 2 === 0 ? 0xbeef : 0xcafe),
    owner: own ? AGENT : null,
    shared: !own,
    url: `https://${host}/queues/${n}/${n % 7 === 0 ? "a-long-way-down/".repeat(6) : ""}`,
    host,
    method: "GET",
    status: n % 11 === 0 ? 404 : 200,
    title: n % 4 === 0 ? null : `Queues, part ${n}: what <b>comes</b> first`,
    content_type: "text/html; charset=utf-8",
    content_size: 900 + n * 371,
    code_blocks_removed: n % 6,
    request: HASH(4_000 + n),
    created_at: CYCLE - (n % 4),
    expires_at: CYCLE + 4 - (n % 5),
    n_hits: (n * 7) % 23,
    position: n,
  };
}

function report(cycle, much = 1) {
  const requests = Math.round((60 + 40 * Math.sin(cycle / 3)) * much);
  const blocked = cycle % 4 === 0 ? Math.round(requests / 6) : 0;
  const spark = (requests - blocked) * 2;
  return {
    cycle,
    ended: true,
    total_requests: requests,
    cache_hit_rate: much * (0.5 + 0.4 * Math.sin(cycle / 5)),
    domains_accessed: much === 0 ? [] : ["doc.rust-lang.org", "docs.rs", "en.wikipedia.org"],
    top_users: much === 0 ? [] : [AGENT, "a1".repeat(32), "03".repeat(32)].map((agent, at) => ({ agent, requests: Math.round(requests / (at + 2)) })),
    code_filter_hits: Math.round(requests / 3),
    blocked_requests: blocked,
    tick_cost: (requests - blocked) * 3,
    spark_cost: spark,
    tax: Math.round(spark / 20),
    state_hash: HASH(cycle),
    ended_position: cycle * 8,
    published_position: cycle * 8 + 1,
  };
}
