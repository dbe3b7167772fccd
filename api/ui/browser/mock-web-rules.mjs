// The mock's rules about hosts, what would become of a request, and waivers. The session is `admin`.

const from = (seconds) => new Date(Date.now() + seconds * 1_000).toISOString();
const DAY = 86_400;
export const AGENT = "7f".repeat(32);
const DEFAULTS = [
  ["docs.rs", "allow", "documentation", "documentation and standards are what agents learn from"],
  ["en.wikipedia.org", "allow", "reference", "documentation and standards are what agents learn from"],
  ["github.com", "block", "code_repo", "agents write their own code: repositories are closed to them"],
  ["api.openai.com", "block", "ai_api", "agents do not ask other models through this gateway"],
];
const DERIVED = [
  ["**.packages.example", "block", "package_mgr", "packages come through the package firewall: ask it for them"],
];

export class MockWebRules {
  constructor({ empty = false, epoch = 3 } = {}) {
    this.epoch = epoch;
    this.derived = empty ? [] : DERIVED.map(said);
    this.rules = empty ? [] : DEFAULTS.map((rule, at) => ({ ...row(said(rule), "weir", at + 1), source: "default" }));
    if (!empty) {
      const own = said(["*.internal.example", "block", "private", "ours, and none of the agents' business"]);
      this.rules.unshift(row(own, "mira", 90));
    }
    this.waivers = empty
      ? []
      : [
          waiver(1, { pattern: "github.com", state: "granted", granted_by: "noor" }),
          waiver(2, { pattern: "api.gitlab.com:8443", reason: "the interface is described there, and nowhere else" }),
          waiver(3, { permits: "code", pattern: null, agent: AGENT, requested_by: "admin" }),
          waiver(4, { pattern: "old.example", state: "expired", granted_by: "noor", expires_at: from(-DAY) }),
        ];
  }

  answer({ path, query, method, body, json, problem }) {
    const [, kind, id, verb] = path.split("/").map(decodeURIComponent);
    if (kind === "check") return this.#check({ query, json, problem });
    if (kind === "waivers") return this.#waivers({ id, verb, method, body, json, problem });
    if (id === "import") return this.#import({ body, json, problem });
    if (method === "PUT") return this.#put({ body, json, problem });
    if (method === "DELETE") {
      const at = this.rules.findIndex(({ pattern }) => pattern === query.get("pattern"));
      if (at < 0) return problem(404, "No such domain rule", "there is no rule for this pattern");
      return this.rules.splice(at, 1), json(204);
    }
    const [search, action, category] = ["search", "action", "category"].map((name) => query.get(name) ?? "");
    const wanted = (rule) =>
      rule.pattern.includes(search) && (action === "" || rule.action === action) && (category === "" || rule.category === category);
    const limit = Number(query.get("limit") ?? 100);
    const before = Number(query.get("cursor") ?? Infinity);
    const all = this.rules.filter((rule) => wanted(rule) && rule.position < before);
    const rules = all.slice(0, limit);
    const next = all.length > limit ? String(rules.at(-1).position) : null;
    json(200, { rules, derived: before === Infinity ? this.derived.filter(wanted) : [], next });
  }

  #put({ body, json, problem }) {
    if (body.pattern.includes("/")) {
      const errors = [{ field: "pattern", detail: `\`${body.pattern}\` is no pattern: a host has no slash` }];
      return problem(422, "Domain rule refused", "pattern: a host has no slash", {}, { errors });
    }
    this.#set(body);
    json(200, body);
  }

  #set(rule) {
    this.rules = this.rules.filter(({ pattern }) => pattern !== rule.pattern);
    const position = Math.max(0, ...this.rules.map(({ position }) => position)) + 1;
    this.rules.unshift(row(rule, "admin", position));
  }

  /** Reads all lines before the first is set. */
  #import({ body, json, problem }) {
    const lines = body.split("\n").map((line) => line.trim());
    const rules = [];
    for (const [at, line] of lines.entries()) {
      if (line === "") continue;
      try {
        rules.push(JSON.parse(line));
      } catch {
        const detail = `line ${at + 1}: expected value at column 1`;
        return problem(400, "Bad body", detail, {}, { errors: [{ field: `line ${at + 1}`, detail }] });
      }
    }
    for (const rule of rules) this.#set(rule);
    json(200, { rules: rules.length, changed: rules.length });
  }

  /** Knows the quota of one agent, which has none left for the host `used.example`. */
  #check({ query, json, problem }) {
    const url = query.get("url") ?? "";
    const bad = (field, detail) => problem(400, "Bad parameter", `${field}: ${detail}`, {}, { errors: [{ field, detail }] });
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return bad("url", `the address is not acceptable: \`${url}\` has no scheme`);
    const agent = query.get("agent");
    if (agent && !/^[0-9a-f]{64}$/.test(agent)) return bad("agent", `\`${agent}\` cannot be read: it is not 64 hexadecimal digits`);
    const { hostname: host, port, href } = new URL(url);
    const matching = [
      ...this.derived.filter(() => host.endsWith("packages.example")),
      ...this.rules.filter(({ pattern, action }) => pattern === host || (action === "block" && host.endsWith(`.${pattern}`))).map(bare),
    ].sort((one, other) => other.action.localeCompare(one.action));
    const [first] = matching;
    const waiver = this.waivers.find(({ state, permits, pattern }) => state === "granted" && permits === "host" && pattern === host);
    const waived = waiver && first?.action !== "allow" ? waiver : undefined;
    const action = waived ? "allow" : (first?.action ?? "block");
    const reason = waived?.reason ?? first?.reason ?? "no rule";
    const method = query.get("method") ?? "GET";
    const gate = (name, detail, error) => ({ gate: name, outcome: error ? "refuses" : "passes", detail, error: error?.[0] ?? null, wire_code: error?.[1] ?? null });
    const closed = method === "POST" && this.epoch < 4;
    const gates = [
      ...(agent ? [gate("agent", "it is registered and not revoked")] : []),
      closed
        ? gate("epoch", `epoch ${this.epoch} is read-only: no POST`, ["ReadOnlyEpoch", 0x0700])
        : gate("epoch", `epoch ${this.epoch} allows ${method}`),
      ...(agent
        ? [
            gate("pace", "at most 1 in a tick, and there is room in tick 4921"),
            host === "used.example"
              ? gate("quota", "5 of 5 requests of this cycle are used", ["QuotaExceeded", 0x0701])
              : gate("quota", "3 of 5 are used in cycle 47"),
          ]
        : []),
      action === "allow" ? gate("host", reason) : gate("host", `\`${host}\` is blocked: ${reason}`, ["DomainBlocked", 0x0702]),
      ...(agent ? [gate("spark", "3 spark are needed, tax included, and 61 are free")] : []),
      {
        ...gate("address", `what \`${host}\` resolves to is judged when it is asked, and so is every redirect`),
        outcome: "later",
      },
    ];
    json(200, {
      passes: gates.every(({ outcome }) => outcome !== "refuses"),
      url: href,
      host,
      port: port === "" ? (url.startsWith("https") ? 443 : 80) : Number(port),
      method,
      agent,
      action,
      rule: first?.pattern ?? null,
      category: first?.category ?? null,
      reason,
      waived_by: waived?.id ?? null,
      matching,
      waivers: waiver ? [waiver.id] : [],
      epoch: this.epoch,
      cycle: 47,
      tick: 4_921,
      gates,
      cached: agent ? false : null,
      keeps_code: agent ? agent === AGENT && this.waivers.some(({ permits, state }) => permits === "code" && state === "granted") : null,
    });
  }

  #waivers({ id, verb, method, body, json, problem }) {
    if (method === "GET") return json(200, { waivers: this.waivers });
    if (id === undefined) {
      if (body.pattern?.includes("/")) {
        const errors = [{ field: "pattern", detail: `\`${body.pattern}\` is no pattern: a host has no slash` }];
        return problem(422, "Waiver refused", "pattern: a host has no slash", {}, { errors });
      }
      const { days, ...rest } = body;
      const made = waiver(this.waivers.length + 1, { agent: null, ...rest, expires_at: from(days * DAY), requested_by: "admin" });
      this.waivers.push(made);
      return json(201, made);
    }
    const at = this.waivers.findIndex((waiver) => waiver.id === id);
    if (at < 0) return problem(404, "No such waiver", `there is no waiver ${id}`);
    if (verb === "revoke") return this.waivers.splice(at, 1), json(204);
    if (this.waivers[at].requested_by === "admin") return problem(409, "Second person", "`admin` asked for it");
    Object.assign(this.waivers[at], { state: "granted", granted_by: "admin" });
    json(204);
  }
}

function said([pattern, action, category, reason]) {
  return { pattern, action, category, reason };
}

function bare({ pattern, action, category, reason }) {
  return { pattern, action, category, reason };
}

function row(rule, by, position) {
  return { ...rule, source: "operator", created_at: from(-DAY), updated_at: from(-3_600), updated_by: by, position };
}

function waiver(n, more) {
  return {
    id: `0193a1c0-0000-7000-8000-${String(n).padStart(12, "0")}`,
    state: "waiting",
    permits: "host",
    pattern: null,
    agent: null,
    reason: "its documentation is there",
    owner: "team blue, blue@weir.example",
    expires_at: from(7 * DAY),
    requested_by: "mira",
    granted_by: null,
    ...more,
  };
}
