// The mock's sources of advisories: one well, one in trouble, one not enabled. A visit that is asked for ends at once.

export class MockSources {
  constructor({ empty = false } = {}) {
    const from = (ago) => new Date(Date.now() - ago * 1_000).toISOString();
    this.sources = empty
      ? []
      : [
          source("osv", "ok", 3_600, [part("npm", from(700), 211_402), part("pypi", from(640), 17_390, { n_unreadable: 3 })]),
          source("openssf", "failing", 7_200, [
            part(null, from(90_000), 48_112, {
              state: "failing",
              failed_at: from(900),
              cause: "openssf says 30112 advisories where it said 48112: too many are gone; look, and sync it with believe_losses",
              revision: "9f3c1e0a77d24b8cbb1a",
            }),
          ]),
          source("blocklist", "disabled", 60, []),
        ];
    this.visits = empty ? [] : Array.from({ length: 45 }, (_, index) => visit(900 - index, from(index * 3_600 + 640)));
  }

  answer({ name, what, query, method, body, json, problem }) {
    if (name === undefined) return json(200, { sources: this.sources });
    const found = this.sources.find((source) => source.name === name);
    if (!found) return problem(404, "No such source", `no source is called \`${name}\``);
    if (what === "history") {
      const before = Number(query.get("cursor") ?? Infinity);
      const rest = this.visits.filter(({ position, of }) => of === name && position < before);
      const visits = rest.slice(0, Number(query.get("limit") ?? 50));
      return json(200, { visits, next: rest.length > visits.length ? String(visits.at(-1).position) : null });
    }
    if (what !== "sync" || method !== "POST") return problem(404, "Not found", what);
    if (!found.enabled) return problem(409, "Source disabled", `${name} is not visited`);
    found.asked_at = new Date().toISOString();
    // A loss is only believed by who says so.
    if (body.believe_losses || name !== "openssf") {
      found.state = "ok";
      for (const one of found.parts) Object.assign(one, { state: "ok", succeeded_at: found.asked_at, cause: null });
      this.visits.unshift({ ...visit(901 + this.visits.length, found.asked_at), of: name, cause: null });
    }
    json(202, { name, history: `/api/security-sources/${name}/history` });
  }
}

function source(name, state, sync_interval_seconds, parts) {
  const advisories = parts
    .filter(({ ecosystem }) => ecosystem !== null)
    .map(({ ecosystem, n_records }) => ({ ecosystem, n_advisories: n_records }));
  return {
    name,
    state,
    enabled: state !== "disabled",
    ecosystems: ["pypi", "npm"],
    sync_interval_seconds,
    asked_at: null,
    n_advisories: parts.reduce((all, { n_records }) => all + n_records, 0),
    advisories,
    parts,
  };
}

function part(ecosystem, succeeded_at, n_records, more = {}) {
  return {
    ecosystem,
    state: "ok",
    started_at: succeeded_at,
    succeeded_at,
    failed_at: null,
    cause: null,
    next_due_at: new Date(Date.now() + 2_900_000).toISOString(),
    revision: "Sat, 28 Nov 2026 08:40:00 GMT",
    n_records,
    n_unreadable: 0,
    ...more,
  };
}

function visit(position, ended_at) {
  const failed = position % 7 === 0;
  const changed = position % 3 === 0 && !failed;
  return {
    of: position % 2 === 0 ? "osv" : "openssf",
    position,
    ecosystem: position % 2 === 0 ? "npm" : null,
    ended_at,
    duration_ms: failed ? 30_004 : changed ? 12_400 : 210,
    cause: failed ? "could not fetch the archive: no answer within 30 s" : null,
    revision: failed ? null : "Sat, 28 Nov 2026 08:40:00 GMT",
    n_records: changed ? 211_402 : 0,
    n_unreadable: 0,
    n_published: changed ? 14 : 0,
    n_changed: changed ? 3 : 0,
    n_withdrawn: changed ? 1 : 0,
  };
}
