// The mock's agents, the world's time, accounts in spark, quotas, and what agents ask persons about.

import { createHash } from "node:crypto";

const from = (seconds) => new Date(Date.now() + seconds * 1_000).toISOString();
export const hex = (seed) => createHash("sha256").update(seed).digest("hex");
const MAX_REASON = 500;

/** What each path needs, to see and to change. */
const SCOPES = {
  agents: ["agents:read", "agents:write"],
  accounts: ["mint:read", "mint:write"],
  grants: ["mint:read", "mint:write"],
  quotas: ["web:read", "web:write"],
  approvals: ["web:read", "web:write"],
};

export class MockWebPeople {
  constructor({ empty = false, driven = false, epoch = 3 } = {}) {
    this.empty = empty;
    this.nexus = {
      epoch,
      cycle: 47,
      tick: 4_711,
      clock: driven ? "driven" : "wall",
      tick_seconds: driven ? null : 60,
      ticks_per_cycle: 100,
      next_cycle_at: driven ? null : from(2_400),
    };
    this.agents = empty ? [] : [agent("reader", -86_400), agent("builder", -7_200), agent("scout", -90_000, { revoked_at: from(-4_000), revoked_by: "mira" })];
    this.accounts = new Map(this.agents.slice(0, 1).map(({ id }) => [id, account(id, { balance: 73, reserved: 4, granted: 100, paid: 27 })]));
    this.approvals = [];
    if (empty) return;
    this.ask("https://github.com/tokio-rs/tokio/issues/4321", { asked_at: from(-5_400), expires_at: from(420) });
    this.ask("https://api.github.com/repos/tokio-rs/tokio", { asked_at: from(-90), method: "POST" });
    this.ask("https://reddit.com/r/rust", { ...answered("denied", "deny", "not a place to learn from", 7_000), asked_at: from(-9_000) });
    this.ask("https://gitlab.com/inkscape/inkscape/-/blob/master/README.md", {
      ...answered("allowed", "allow", "it is the specification", 1_800),
      asked_at: from(-8_000),
    });
    this.ask("https://x.com/weir", { state: "expired", asked_at: from(-190_000), expires_at: from(-17_000) });
  }

  /** An agent asks now, unless it is said when. */
  ask(url, more = {}) {
    const host = new URL(url).hostname;
    this.approvals.push({
      approval: hex(`approval ${this.approvals.length}`),
      agent: this.agents[0]?.id ?? hex("nobody"),
      url,
      method: "GET",
      purpose: "learn why the scheduler was changed",
      host,
      reason: "a repository of code",
      asked_at: from(0),
      expires_at: from(86_400),
      state: "open",
      answer: null,
      position: this.approvals.length + 1,
      ...more,
    });
  }

  answer(asked) {
    const { path, method, may, problem } = asked;
    const [kind, what, id] = path.split("/").map(decodeURIComponent);
    if (kind === "nexus") return this.#nexus({ ...asked, what }), true;
    if (path === "web/access") return asked.json(200, this.#access()), true;
    const known = { access: ["agents"], mint: ["accounts", "grants"], web: ["quotas", "approvals"] }[kind]?.includes(what);
    if (!known) return false;
    const scope = SCOPES[what][method === "GET" ? 0 : 1];
    if (!may(scope)) return problem(403, "Missing scope", `this needs the scope ${scope}`), true;
    return this[`_${what}`]({ ...asked, id, verb: path.split("/")[3] }), true;
  }

  #access() {
    const { epoch, cycle, tick } = this.nexus;
    const access_level = epoch < 3 ? "closed" : epoch === 3 ? "read-only" : "read-write";
    return { epoch, cycle, tick, access_level, quota: epoch < 3 ? 0 : 5 + (epoch - 3) * 2, remaining: null };
  }

  #nexus({ what, method, body, may, json, problem }) {
    if (method === "GET") return json(200, this.nexus);
    if (!may("nexus:write")) return problem(403, "Missing scope", "this needs the scope nexus:write");
    if (what === "epoch") {
      const bad = body.epoch <= this.nexus.epoch && `the epoch is ${this.nexus.epoch}, and only advances: ${body.epoch} is not after it`;
      if (bad) return refused(problem, "Epoch refused", "epoch", bad);
      this.nexus.epoch = body.epoch;
    } else {
      if (this.nexus.clock !== "driven") return problem(409, "Clock not driven", "the clock follows the wall clock");
      if (body.ticks > 1_000_000) return refused(problem, "Epoch refused", "ticks", "a clock moves by 1 to 1000000 ticks");
      this.nexus.tick += body.ticks;
      this.nexus.cycle = Math.floor(this.nexus.tick / this.nexus.ticks_per_cycle);
    }
    json(200, this.nexus);
  }

  _agents({ id, method, body, json, problem }) {
    const found = this.agents.find((agent) => agent.id === id);
    if (method === "POST") {
      if (!/^[0-9a-f]{64}$/.test(body.public_key)) return refused(problem, "Agent refused", "public_key", "expected 64 lower-case hexadecimal digits");
      const taken = this.agents.find(({ public_key }) => public_key === body.public_key);
      if (taken) return problem(409, "Agent exists", `this key is registered as \`${taken.name}\``);
      const made = agent(body.name, 0, { public_key: body.public_key, registered_by: "admin" });
      this.agents.unshift(made);
      return json(201, { id: made.id, name: made.name, public_key: made.public_key });
    }
    if (id === undefined) return json(200, { agents: this.agents, next: null });
    if (!found) return problem(404, "No such agent", "there is no such agent");
    if (method === "GET") return json(200, found);
    Object.assign(found, { revoked_at: from(0), revoked_by: "admin" });
    json(200, { id, revoked: true });
  }

  _accounts({ json }) {
    json(200, { accounts: [...this.accounts.values()], next: null });
  }

  _grants({ body, json, problem }) {
    if (body.amount > 1_000_000) return refused(problem, "Grant refused", "amount", "at most 1000000 at once here");
    if (body.reason.length > MAX_REASON) return refused(problem, "Grant refused", "reason", "a reason has 1 to 500 characters");
    const known = this.accounts.get(body.account) ?? account(body.account, {});
    known.balance += body.amount;
    known.granted += body.amount;
    this.accounts.set(body.account, known);
    json(201, { account: body.account, amount: body.amount, balance: known.balance, free: known.balance - known.reserved });
  }

  /** What the nth agent used of a cycle; nobody used anything before cycle 38. */
  #use(agent, cycle) {
    const at = this.agents.findIndex(({ id }) => id === agent);
    const used = at < 0 || cycle < 38 || cycle > 47 ? 0 : (cycle * 7 + at * 3) % 6;
    const exhausted = used === 5 && at === 0;
    return {
      cycle,
      agent,
      used,
      max: 5,
      exhausted,
      n_requests: used + 2 + Number(exhausted),
      n_cached: 1,
      n_blocked: 1 + Number(exhausted),
      n_failed: Number(used > 3),
      tick_cost: used * 3 + 1,
      spark_cost: used * 2,
      tax: used,
    };
  }

  _quotas({ query, json }) {
    const used = ({ used }) => used > 0;
    if (query.has("agent")) {
      const before = Number(query.get("before") ?? this.nexus.cycle + 1);
      const cycles = Array.from({ length: before }, (_, index) => before - 1 - index);
      const all = cycles.map((cycle) => this.#use(query.get("agent"), cycle)).filter(used);
      const quotas = all.slice(0, 5);
      return json(200, { quotas, next: all.length > 5 ? String(quotas.at(-1).cycle) : null });
    }
    const cycle = Number(query.get("cycle") ?? this.nexus.cycle);
    json(200, { quotas: this.agents.map(({ id }) => this.#use(id, cycle)).filter(used), next: null });
  }

  _approvals({ id, query, method, body, json, problem }) {
    if (method === "GET") {
      const newest = this.approvals.toSorted((a, b) => b.position - a.position);
      const approvals = query.get("open") === "true" ? newest.filter(({ state }) => state === "open") : newest;
      return json(200, { approvals, next: null });
    }
    const found = this.approvals.find(({ approval }) => approval === id);
    if (!found) return problem(404, "No such approval", "nobody has asked for this");
    if (body.reason === "because") return refused(problem, "Approval refused", "reason", "that is no reason");
    const state = body.word === "allow" ? "allowed" : "denied";
    if (found.answer && found.state !== state && !body.replace) {
      return problem(409, "Answered otherwise", `\`${found.answer.by}\` has answered \`${found.answer.word}\` already, until ${found.answer.until}`);
    }
    Object.assign(found, answered(state, body.word, body.reason, body.seconds), { position: this.approvals.length + 1 });
    found.answer.by = "admin";
    json(200, { approval: id, until: found.answer.until });
  }
}

function refused(problem, title, field, detail) {
  return problem(422, title, `${field}: ${detail}`, {}, { errors: [{ field, detail }] });
}

function answered(state, word, reason, seconds) {
  return { state, answer: { word, reason, by: "mira", at: from(-60), until: from(seconds) } };
}

function agent(name, age, more = {}) {
  const public_key = more.public_key ?? hex(`key ${name}`);
  return {
    id: hex(public_key),
    name,
    public_key,
    registered_at: from(age),
    registered_by: "mira",
    revoked_at: null,
    revoked_by: null,
    ...more,
  };
}

function account(name, more) {
  return { account: name, balance: 0, reserved: 0, granted: 0, paid: 0, tax: 0, n_transfers: 9, position: 7, changed_at: from(-60), ...more };
}
