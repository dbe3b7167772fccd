// The mock's past: an impact that is known, and a policy that is tried in a few steps.

const AT = "2026-11-20T10:00:00Z";

/** Answers if the path is about the past. */
export function answerPast({ path, method, body, empty, json, problem, lines }) {
  const asked = /^registry\/impact\/(.+)$/.exec(path);
  if (asked) return impact(decodeURIComponent(asked[1]), { empty, json, problem }), true;
  if (path === "registry/what-if" && method === "POST") return whatIf(body, { problem, lines }), true;
  return false;
}

function impact(name, { empty, json, problem }) {
  if (name.startsWith("CVE-0000")) return problem(404, "Nothing is called so", `no advisory and no rule is called \`${name}\``);
  const none = empty || name === "GHSA-none";
  const version = (version, cached) => ({
    ecosystem: "npm",
    package: "lodash",
    version,
    hit: "before 4.17.21",
    n_principals: 2,
    n_downloads: 9,
    first_at: AT,
    last_at: AT,
    files: [{ file: `lodash-${version}.tgz`, cached }],
  });
  json(200, {
    name,
    names: [name, "CVE-2021-23337"],
    records: [{ source: "osv", ecosystem: "npm", id: name, summary: "Command injection in lodash" }],
    complete: true,
    n_principals: none ? 0 : 2,
    n_downloads: none ? 0 : 18,
    n_cached: none ? 0 : 1,
    first_at: none ? null : AT,
    last_at: none ? null : AT,
    versions: none ? [] : [version("4.17.20", true), version("4.17.19", false)],
    downloads: none
      ? []
      : ["ci", "agent-7"].map((principal, index) => ({
          ecosystem: "npm",
          package: "lodash",
          version: "4.17.20",
          principal,
          token: `0193a1c0-0000-7000-8000-00000000000${index}`,
          n_downloads: 9 - index,
          first_at: AT,
          last_at: AT,
          last_position: 40 - index,
        })),
    next: null,
  });
}

function whatIf({ policy, days, facts }, { problem, lines }) {
  if (policy.includes("awful")) {
    const errors = [{ field: "policy:3:19", detail: "`awful` is none of low, medium, high, critical" }];
    return problem(422, "The policy makes no sense", "policy:3:19: `awful` is none of low, medium, high, critical", {}, { errors });
  }
  const steps = policy.includes("slow") ? Infinity : 3;
  const nothing = policy.trim() === "";
  const n = nothing ? 0 : 37;
  const counts = { n_newly_blocked: n, n_newly_allowed: nothing ? 0 : 2 };
  const row = (more, blocked) => ({ ...more, n_newly_blocked: blocked, n_newly_allowed: 1, first_at: AT, last_at: AT });
  const rows = (all) => ({ n_rows: nothing ? 0 : all.length, n_beyond: 0, rows: nothing ? [] : all });
  const progress = (step) => ({
    progress: { n_looked: step * 20_000, n_to_look: 80_000, n_judged: step * 16_000, rate: 210_000, ...counts },
  });
  const told = "Blocked by Weir: unmaintained (rule new-1)";
  const stands = { passing: 48_000, warned: 0, refused: 210 };
  const result = {
    days,
    facts,
    since: AT,
    complete: true,
    upto: 80_000,
    by_one_policy: true,
    n_judged: 48_210,
    n_were_allowed: 48_000,
    in_force: stands,
    tried: stands,
    ...counts,
    n_answered_otherwise: 4,
    n_age_unknown: 0,
    n_version_unknown: 0,
    n_outside: 0,
    n_unreadable: 0,
    by_version: rows([
      row({ ecosystem: "npm", package: "left-pad", version: "1.2.0", source: "rules", id: "new-1", told }, 30),
      row({ ecosystem: "npm", package: "left-pad", version: "1.1.0", source: "rules", id: "new-1", told }, 7),
    ]),
    by_token: rows([row({ principal: "ci", token: "0193a1c0" }, 37), row({ principal: "agent-7", token: null }, 0)]),
    by_day: nothing ? [] : [{ day: "2026-11-20", ...counts }],
    duration_ms: 230,
    rate: 210_000,
  };
  lines((step) => (step < steps ? progress(step) : { result }));
}
