// The mock's waivers. The session is `admin`; malware, and what ends in `evil`, needs a second person.

const from = (seconds) => new Date(Date.now() + seconds * 1_000).toISOString();
const DAY = 86_400;

export class MockWaivers {
  constructor({ empty = false } = {}) {
    this.waivers = empty
      ? []
      : [
          waiver(1, "pypi", "six", "==1.17.0", { state: "granted", granted_by: "mira", granted_at: from(-3_000) }),
          waiver(2, "npm", "lodash", "<4.17.21", {
            waives: ["GHSA-35jh-r3h4-6jhm", "CVE-2021-23337"],
            reason: "the template function is not reachable from what we serve, and 4.17.21 breaks the reports",
            owner: "team blue",
          }),
          waiver(3, "npm", "@scope/*", "*", { requested_by: "admin", token: "0000000000000002" }),
          waiver(4, "cargo", "time", "<0.2.23", {
            state: "revoked",
            granted_by: "noor",
            requested_by: "ci",
            ended_by: "mira",
            ended_at: from(-600),
            end_reason: "the fair is over",
          }),
          waiver(5, "go", "golang.org/x/text", "v0.3.6", {
            state: "expired",
            requested_by: "admin",
            granted_by: "admin",
            expires_at: from(-DAY),
          }),
        ];
  }

  answer({ path, query, method, body, json, problem }) {
    const [, , id, verb] = path.split("/").map(decodeURIComponent);
    if (method === "GET") {
      const state = query.get("state");
      const waivers = this.waivers.filter((waiver) => !state || waiver.state === state);
      return json(200, { waivers, next: null });
    }
    if (id === undefined) return this.#request({ body, json, problem });
    const found = this.waivers.find((waiver) => waiver.id === id);
    if (!found || !["waiting", "granted"].includes(found.state)) {
      return problem(404, "No such waiver", `there is no waiver ${id}`);
    }
    if (verb === "grant") {
      if (found.requested_by === "admin") return problem(409, "Second person", "`admin` asked for it");
      Object.assign(found, { state: "granted", granted_by: "admin", granted_at: from(0) });
    } else Object.assign(found, { state: "revoked", ended_by: "admin", ended_at: from(0), end_reason: body.reason });
    json(204);
  }

  #request({ body, json, problem }) {
    if (body.versions.includes("^") && body.ecosystem === "pypi") {
      const errors = [{ field: "versions", detail: "`^1` is no constraint of pypi: expected an operator" }];
      return problem(422, "Waiver refused", "versions: no constraint", {}, { errors });
    }
    const { days, ...rest } = body;
    const second = body.package.endsWith("evil");
    const made = waiver(this.waivers.length + 1, body.ecosystem, body.package, body.versions, {
      ...rest,
      state: second ? "waiting" : "granted",
      expires_at: from(days * DAY),
      requested_by: "admin",
      requested_at: from(0),
      granted_by: second ? null : "admin",
    });
    this.waivers.unshift(made);
    json(201, made);
  }
}

function waiver(n, ecosystem, name, versions, more) {
  return {
    id: `0193a1c0-0000-7000-8000-${String(n).padStart(12, "0")}`,
    state: "waiting",
    ecosystem,
    package: name,
    versions,
    waives: [],
    token: null,
    reason: "needed for the fair",
    owner: "team blue, blue@weir.example",
    expires_at: from(7 * DAY),
    position: n,
    requested_by: "mira",
    requested_at: from(-7_200),
    granted_by: null,
    granted_at: null,
    ended_by: null,
    ended_at: null,
    end_reason: null,
    ...more,
  };
}
