// The mock's web gateway, as far as requests, agents, time, accounts and approvals go: made up, but of one piece.

import { hex, MockWebPeople } from "./mock-web-people.mjs";

const from = (seconds) => new Date(Date.now() + seconds * 1_000).toISOString();

const PAGES = [
  ["https://docs.rs/tokio/latest/tokio/sync/index.html", "learn how a semaphore is shared"],
  ["https://en.wikipedia.org/wiki/Weir", "know what a weir is before one is named so"],
  ["https://www.rfc-editor.org/rfc/rfc9457", "learn what a problem document has to say"],
  ["https://developer.mozilla.org/en-US/docs/Web/API/EventSource?q='quoted'&x=1", "learn how a stream resumes"],
];
const REFUSED = { status_code: null, content_size: 0, content_type: null, hosts: [], code_blocks_removed: 0, bytes_stripped: 0 };
const NOT_ADMITTED = { ...REFUSED, strips_code: null, interaction: null, epoch: null, tick_cost: 0, spark_cost: 0, tax: 0 };
const no = (code, name, reason, more = {}) => ({ state: "blocked", ...NOT_ADMITTED, error: { code, name, reason }, ...more });

/** What comes of the nth request; most are answered. */
const ENDS = [
  { warnings: ["high code density detected", "the page was cut at 65536 bytes"] },
  {},
  no(0x702, "DomainBlocked", "`github.com` is blocked: a repository of code", {
    url: "https://github.com/tokio-rs/tokio",
    domain: "github.com",
    purpose: "read how the scheduler parks its threads",
  }),
  { cached: true, epoch: null, strips_code: null, interaction: null, hosts: [], tick_cost: 1, spark_cost: 0, tax: 0 },
  {
    hosts: ["docs.rs", "static.docs.rs"],
    redirects: [{ url: "https://static.docs.rs/", action: "allow", rule: "static.docs.rs", reason: "documentation of crates" }],
  },
  no(0x701, "QuotaExceeded", "5 of 5 requests of this cycle are used"),
  {
    ...REFUSED,
    state: "failed",
    error: { code: 0x703, name: "Timeout", reason: "the outside did not answer within 10000 ms" },
    tick_cost: 1,
    spark_cost: 1,
    tax: 0,
  },
  {
    ...REFUSED,
    state: "blocked",
    hosts: ["docs.rs"],
    redirects: [
      { url: "https://raw.github.com/x", action: "block", rule: "github.com", reason: "a repository of code" },
    ],
    domain: "raw.github.com",
    error: { code: 0x702, name: "DomainBlocked", reason: "`raw.github.com` is blocked: a repository of code" },
    tick_cost: 1,
    spark_cost: 1,
  },
  no(0x705, "PermissionDenied", "insufficient spark: 1 of 3 is free"),
  { method: "HEAD", content_size: 0, code_blocks_removed: 0, bytes_stripped: 0 },
];

export class MockWebRequests {
  constructor({ empty = false, driven = false, forgotten = false, epoch = 3 } = {}) {
    /** What was given is no longer kept. */
    this.forgotten = forgotten;
    this.people = new MockWebPeople({ empty, driven, epoch });
    this.requests = [];
    if (!empty) for (let position = 1; position <= 120; position += 1) this.ask({}, position);
  }

  /** Something is asked now; what came of it is made up, but for what is said. */
  ask(more = {}, position = this.requests.length + 1) {
    const [url, purpose] = PAGES[position % PAGES.length];
    const end = ENDS[position % ENDS.length];
    const age = (this.requests.length === 0 ? 120 : Math.max(0, 120 - position)) * 77;
    const made = {
      id: hex(`request ${position}`),
      agent: this.people.agents.length > 0 ? this.people.agents[position % 2].id : hex("nobody"),
      url,
      method: "GET",
      purpose,
      state: "completed",
      status_code: 200,
      content_size: 18_204 + position,
      content_type: "text/html; charset=utf-8",
      cached: false,
      domain: null,
      error: null,
      tick_cost: 3,
      spark_cost: 2,
      tax: 1,
      code_blocks_removed: position % 7,
      bytes_stripped: (position % 7) * 412,
      warnings: [],
      strips_code: true,
      interaction: "rest-get",
      redirects: [],
      approval: null,
      epoch: 3,
      cycle: 47 - Math.floor(Math.max(0, 120 - position) / 30),
      created_at: 4_590 + position,
      recorded_at: from(-age),
      position,
      settled_position: position + 1,
      ...end,
      ...more,
    };
    const host = new URL(made.url).hostname;
    this.requests.unshift({ hosts: [host], ...made, host, blocked: made.state === "blocked", block_reason: made.error?.reason ?? null });
    return this.requests[0];
  }

  /** Answers if the path is one of the gateway's. */
  answer(asked) {
    if (this.people.answer(asked)) return true;
    const { path, query, may, json, problem, plain } = asked;
    const [kind, what, id, part] = path.split("/").map(decodeURIComponent);
    if (kind !== "web" || what !== "requests") return false;
    if (!may("web:read")) return problem(403, "Missing scope", "this needs the scope web:read"), true;
    if (id === undefined) return this.#list(query, { json, problem }), true;
    const found = this.requests.find((request) => request.id === id && (!query.has("agent") || request.agent === query.get("agent")));
    if (!found) return problem(404, "No such request", `there is no request \`${id}\``), true;
    if (part === undefined) return json(200, found), true;
    if (this.forgotten) return problem(404, "No content", "what was given for this request is no longer kept"), true;
    const text = `# ${found.host}\n\n<script>alert("never run")</script>\n\nA semaphore is shared by counting.\n\n[code removed: 14 lines of rust]\n`;
    return plain(text, { "weir-content-type": found.content_type ?? "" }), true;
  }

  #list(query, { json, problem }) {
    const state = query.get("state");
    if (state && !["submitted", "completed", "blocked", "failed"].includes(state)) {
      return problem(400, "Bad parameter", "state: a request is one of submitted, completed, blocked, failed");
    }
    if (query.has("cycle") && !/^\d+$/.test(query.get("cycle"))) {
      return problem(400, "Bad parameter", `cycle: \`${query.get("cycle")}\` cannot be read: invalid digit found in string`);
    }
    const words = query.get("q")?.toLowerCase() ?? "";
    const before = Number(query.get("cursor") ?? Infinity);
    const limit = Number(query.get("limit") ?? 50);
    const found = this.requests.filter(
      (request) =>
        request.position < before &&
        (!state || request.state === state) &&
        (!query.has("agent") || request.agent === query.get("agent")) &&
        (!query.has("host") || request.host === query.get("host").toLowerCase()) &&
        (!query.has("cached") || String(request.cached) === query.get("cached")) &&
        (!query.has("cycle") || request.cycle === Number(query.get("cycle"))) &&
        `${request.url} ${request.purpose}`.toLowerCase().includes(words),
    );
    const requests = found.slice(0, limit);
    json(200, { requests, next: found.length > limit ? String(requests.at(-1).position) : null });
  }
}
