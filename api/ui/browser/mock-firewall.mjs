// The mock's package firewall: figures, blocks, rules, tokens and a cache, made up but of one piece.

import { MockCache } from "./mock-cache.mjs";
import { MockHolds } from "./mock-holds.mjs";
import { MockSources } from "./mock-sources.mjs";
import { MockWaivers } from "./mock-waivers.mjs";

const HOUR = 3_600_000;

export class MockFirewall {
  constructor({ empty = false, scopes = ["admin"] } = {}) {
    this.empty = empty;
    this.scopes = scopes;
    /** Ecosystems that a client asked for although nothing is recorded. */
    this.seen = new Set();
    this.rules = empty
      ? []
      : [
          rule("0193a1c0-0000-7000-8000-00000000beef", "pypi", "six", ">=1.17", "not reviewed by security yet", "mark"),
          rule("0193a1c0-0000-7000-8000-000000000002", "npm", "@scope/*", "*", "we publish these ourselves", "hide"),
          rule("0193a1c0-0000-7000-8000-000000000003", "cargo", "time", "<0.2.23", "RUSTSEC-2020-0071", "deny-only"),
        ];
    this.tokens = [
      token("admin", ["admin"], { issued_by: "weir" }),
      token("ci", ["registry:pypi", "registry:npm"], { expires_at: "2027-03-01T00:00:00Z" }),
      token("agent-7", ["registry:pypi"], {
        profile: "agent",
        used: {
          downloads_this_hour: 93,
          downloads_today: 131,
          bytes_today: 2_000_000_000,
          quota: { downloads_per_hour: 100, downloads_per_day: 400, bytes_per_day: 2_000_000_000 },
        },
      }),
      token("agent-6", ["registry:pypi"], { expires_at: "2026-01-01T00:00:00Z", profile: "nightly" }),
      token("left-in-a-chat", ["rules:write"], { revoked_at: "2026-11-20T10:00:00Z" }),
    ];
    this.sources = new MockSources({ empty });
    this.holds = new MockHolds({ empty });
    this.waivers = new MockWaivers({ empty });
    this.cache = new MockCache({ empty });
    this.blocks = empty ? [] : Array.from({ length: 120 }, (_, index) => block(120 - index));
  }

  may(scope) {
    return this.scopes.includes("admin") || this.scopes.includes(scope);
  }

  /** Answers if the path is one of the firewall's. */
  answer({ path, query, method, body, json, problem }) {
    const [kind, id, what] = path.split("/").map(decodeURIComponent);
    if (kind === "dashboard") {
      if (!this.may("rules:read")) return lacking(problem, "rules:read");
      return json(200, this.#dashboard(query)), true;
    }
    if (kind === "blocks") {
      if (!this.may("rules:read")) return lacking(problem, "rules:read");
      return json(200, this.#blocks(query)), true;
    }
    if (kind === "rules") {
      const scope = method === "GET" ? "rules:read" : "rules:write";
      if (!this.may(scope)) return lacking(problem, scope);
      return this.#rules({ id, method, body, json, problem }), true;
    }
    if (path === "registry/rules/preview") {
      if (!this.may("rules:read")) return lacking(problem, "rules:read");
      return this.#preview({ body, json, problem }), true;
    }
    if (/^registry\/(holds|profiles|waivers)(\/|$)/.test(path)) {
      const scope = method === "GET" ? "rules:read" : "rules:write";
      if (!this.may(scope)) return lacking(problem, scope);
      const mock = id === "waivers" ? this.waivers : this.holds;
      return mock.answer({ path, query, method, body, json, problem }), true;
    }
    if (kind === "security-sources") {
      const scope = method === "GET" ? "rules:read" : "admin";
      if (!this.may(scope)) return lacking(problem, scope);
      return this.sources.answer({ name: id, what, query, method, body, json, problem }), true;
    }
    if (kind === "cache") {
      const scope = method === "GET" ? "rules:read" : "admin";
      if (!this.may(scope)) return lacking(problem, scope);
      return this.cache.answer({ query, method, json, problem }), true;
    }
    if (kind === "tokens") {
      if (!this.may("tokens:write")) return lacking(problem, "tokens:write");
      return this.#tokens({ id, method, body, json, problem }), true;
    }
    return false;
  }

  /** Knows two constraints: all, and one lower bound. */
  #preview({ body, json, problem }) {
    if (body.versions.includes("^") && body.ecosystem === "pypi") {
      const errors = [{ field: "versions", detail: "`^1` is no constraint of pypi: expected an operator" }];
      return problem(422, "Rule refused", "versions: no constraint", {}, { errors });
    }
    const seen = body.package === "six" ? ["1.17.0", "1.16.0", "1.15.0"] : [];
    const least = /^>=(.*)$/.exec(body.versions)?.[1] ?? "";
    const view = (version, at) => ({
      package: "six",
      version,
      n_allowed: 31 * at + 2,
      n_blocked: at,
      last_seen: new Date(Date.now() - (at + 1) * HOUR).toISOString(),
    });
    const all = seen.map(view);
    const [hit, left] = [true, false].map((wanted) => all.filter(({ version }) => version >= least === wanted));
    json(200, { of: "asked_for_here", complete: true, hit, left });
  }

  #rules({ id, method, body, json, problem }) {
    if (method === "GET") return json(200, { rules: this.rules });
    if (method !== "DELETE" && body.versions.includes("^") && body.ecosystem === "pypi") {
      const errors = [{ field: "versions", detail: "`^1` is no constraint of pypi: expected an operator" }];
      return problem(422, "Rule refused", "versions: no constraint", {}, { errors });
    }
    const at = this.rules.findIndex((rule) => rule.id === id);
    if (method === "POST") this.rules.push(rule(`0193a1c0-${this.rules.length}`, body.ecosystem, body.package, body.versions, body.reason, body.mask));
    else if (at < 0) return problem(404, "No such rule", `there is no rule ${id}`);
    else if (method === "DELETE") return this.rules.splice(at, 1), json(204);
    else Object.assign(this.rules[at], body);
    json(method === "POST" ? 201 : 200, this.rules.at(at < 0 ? -1 : at));
  }

  #tokens({ id, method, body, json, problem }) {
    if (method === "GET") return json(200, { tokens: this.tokens, next: null });
    if (method === "DELETE") {
      const found = this.tokens.find((token) => token.id === id);
      if (!found) return problem(404, "No such token", `there is no token ${id}`);
      found.revoked_at = new Date().toISOString();
      return json(200, { id, revoked: true });
    }
    if (body.name === "root") {
      const errors = [{ field: "name", detail: "a name like that says nothing" }];
      return problem(422, "Token refused", "name: a name like that says nothing", {}, { errors });
    }
    if (body.profile && !this.holds.profiles.some(({ name }) => name === body.profile)) {
      const errors = [{ field: "profile", detail: `there is no profile \`${body.profile}\`` }];
      return problem(422, "Token refused", "profile: there is none of this name", {}, { errors });
    }
    const made = token(body.name, body.scopes, {
      profile: body.profile ?? null,
      expires_at: body.expires_in_seconds ? new Date(Date.now() + body.expires_in_seconds * 1_000).toISOString() : null,
    });
    this.tokens.unshift(made);
    json(201, { ...made, secret: `rf_${made.id}_${"s".repeat(43)}` });
  }

  #blocks(query) {
    const wanted = (name, of) => (query.has(name) ? (block) => of(block) === query.get(name) : () => true);
    const tests = [
      ...["ecosystem", "package", "version", "source", "principal"].map((name) => wanted(name, (block) => block[name])),
      wanted("rule", ({ rule_id }) => rule_id),
      wanted("advisory", ({ advisory }) => advisory?.id),
    ];
    const before = Number(query.get("cursor") ?? Infinity);
    const limit = Number(query.get("limit") ?? 50);
    const found = this.blocks.filter((block) => block.position < before && tests.every((test) => test(block)));
    const blocks = found.slice(0, limit);
    return { blocks, next: found.length > limit ? String(blocks.at(-1).position) : null };
  }

  #dashboard(query) {
    const range = query.get("range") ?? "24h";
    const step = range === "24h" || range === "7d" ? "hour" : "day";
    const width = step === "hour" ? HOUR : 24 * HOUR;
    const n = { "24h": 24, "7d": 168, "30d": 30, "90d": 90 }[range];
    const until = Date.UTC(2026, 10, 28, 9, 20);
    const since = Math.floor(until / width) * width - (n - 1) * width;
    const chosen = query.get("ecosystem") ?? "";
    const ecosystems = ["pypi", "npm", "cargo"].filter((name) => chosen === "" || name === chosen);
    const over_time = this.empty
      ? []
      : Array.from({ length: n }, (_, index) => index).flatMap((index) =>
          ecosystems.map((ecosystem, at) => ({
            at: new Date(since + index * width).toISOString(),
            ecosystem,
            allowed: Math.round(40 + 36 * Math.sin((index + at * 4) / 3.4)) * (at + 1),
            blocked: index % 5 === at ? 3 + at : 0,
            filtered: index % 4 === at ? 1 : 0,
          })),
        );
    const sum = (rows) =>
      rows.reduce(
        (all, row) => ({
          allowed: all.allowed + row.allowed,
          blocked: all.blocked + row.blocked,
          filtered: all.filtered + row.filtered,
        }),
        { allowed: 0, blocked: 0, filtered: 0 },
      );
    return {
      range,
      step,
      since: new Date(since).toISOString(),
      until: new Date(until).toISOString(),
      recorded: sum(over_time),
      by_ecosystem: this.empty
        ? []
        : ecosystems.map((ecosystem) => ({ ecosystem, ...sum(over_time.filter((row) => row.ecosystem === ecosystem)) })),
      over_time,
      top_packages: this.empty
        ? []
        : [
            ["npm", "lodash", 812, 14],
            ["pypi", "requests", 640, 0],
            ["npm", "@types/node", 402, 0],
            ["cargo", "serde", 377, 0],
            ["pypi", "six", 120, 31],
          ]
            .filter(([ecosystem]) => ecosystems.includes(ecosystem))
            .map(([ecosystem, name, allowed, blocked]) => ({ ecosystem, package: name, allowed, blocked })),
      top_since: "2026-11-27T00:00:00Z",
      instance: {
        started_at: new Date(Date.now() - 7 * HOUR).toISOString(),
        cache_hit_rate: this.empty ? null : 0.8731,
        ecosystems: ecosystems.map((ecosystem, at) => ({
          ecosystem,
          prefix: `/${ecosystem}`,
          requests: this.empty ? Number(this.seen.has(ecosystem)) : 4_100 - at * 700,
          not_modified: this.empty ? 0 : 1_204 - at * 300,
          failed: this.empty ? 0 : at,
          blocked: 0,
          filtered: 0,
          cache_hits: this.empty ? 0 : 2_120 - at * 200,
          cache_misses: this.empty ? 0 : 308,
          stale: 0,
          upstream_requests: this.empty ? 0 : 340,
          upstream_failures: this.empty ? 0 : at * 2,
        })),
      },
    };
  }
}

function lacking(problem, scope) {
  problem(403, "Missing scope", `this needs scope \`${scope}\``);
  return true;
}

function block(position) {
  const [ecosystem, name, version] = [
    ["pypi", "six", "1.17.0"],
    ["npm", "lodash", "4.17.20"],
    ["cargo", "time", "0.1.43"],
    ["npm", "@scope/left-pad", "1.3.0"],
  ][position % 4];
  const by = ["rule", "advisory", "age"][position % 3];
  return {
    position,
    at: new Date(Date.UTC(2026, 10, 28, 9, 0) - (120 - position) * 77_000).toISOString(),
    ecosystem,
    package: name,
    version: position % 11 === 0 ? null : version,
    file: `${name.split("/").at(-1)}-${version}.tar.gz`,
    source: { rule: "rules", advisory: "osv", age: "minimum-age" }[by],
    rule_id: by === "rule" ? "0193a1c0-0000-7000-8000-00000000beef" : null,
    reason:
      by === "rule"
        ? `${name} ${version} is blocked: not reviewed by security yet`
        : by === "advisory"
          ? `${name} ${version} is blocked: GHSA-35jh-r3h4-6jhm, command injection (high)`
          : `${name} ${version} is blocked: too young, it must be 72 h old`,
    mask: ["mark", "hide", "deny-only"][position % 3],
    principal: ["ci", "agent-7", "mira"][position % 3],
    advisory:
      by === "advisory"
        ? { id: "GHSA-35jh-r3h4-6jhm", severity: "high", hit: "before 4.17.21", fixed_by: "4.17.21" }
        : null,
  };
}

function rule(id, ecosystem, name, versions, reason, mask) {
  return {
    id,
    ecosystem,
    package: name,
    versions,
    reason,
    mask,
    position: 7,
    changed_at: "2026-11-27T15:00:00Z",
    changed_by: "admin",
  };
}

let made = 0;

function token(name, scopes, more) {
  made += 1;
  return {
    id: made.toString(16).padStart(16, "0"),
    name,
    scopes,
    issued_at: "2026-11-12T08:00:00Z",
    issued_by: "admin",
    expires_at: null,
    revoked_at: null,
    profile: null,
    used: null,
    ...more,
  };
}
