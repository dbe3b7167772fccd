// The mock's profiles, and what their tokens wait for. The session is `admin`, who did not ask.

const from = (seconds) => new Date(Date.now() + seconds * 1_000).toISOString();

export class MockHolds {
  constructor({ empty = false } = {}) {
    this.profiles = empty
      ? []
      : [
          profile("agent", {
            min_age_hours: 168,
            quota: { downloads_per_hour: 100, downloads_per_day: 400, bytes_per_day: 2_000_000_000 },
            hold: ["new-package", "advisory"],
          }),
          profile("nightly", { mode: "enforce", severity_floor: "low" }),
          profile("trial", { mode: "audit" }),
        ];
    this.holds = [];
    if (empty) return;
    this.ask("pypi", "six", "1.17.0", "new-package", { requested_at: from(-5_400) });
    this.ask("npm", "lodash", "4.17.20", "advisory", { advisory: "GHSA-35jh-r3h4-6jhm", requested_at: from(-90) });
    this.ask("cargo", "admin-tools", "0.1.0", "new-version", { principal: "admin", requested_at: from(-30) });
    this.ask("pypi", "requests", "2.32.0", "new-package", {
      ...answered("allowed", "mira", "we use it elsewhere"),
      requested_at: from(-9_000),
    });
    this.ask("npm", "left-pad", "1.3.0", "new-package", {
      ...answered("denied", "mira", "eleven lines of code are no dependency"),
      requested_at: from(-8_000),
    });
  }

  /** Something is asked now, unless it is said when. */
  ask(ecosystem, name, version, ground, more = {}) {
    this.holds.push({
      id: `0193a1c0-0000-7000-8000-${String(this.holds.length).padStart(12, "0")}`,
      state: "pending",
      token: "0000000000000003",
      principal: "agent-7",
      ecosystem,
      package: name,
      version,
      file: `${name}-${version}.tar.gz`,
      ground,
      advisory: null,
      requested_at: from(0),
      until: from(600_000),
      answered_by: null,
      reason: null,
      ...more,
    });
  }

  answer({ path, method, body, json, problem }) {
    const [, what, id, word] = path.split("/").map(decodeURIComponent);
    if (what === "profiles") return this.#profiles({ name: id, method, body, json, problem });
    if (id === undefined) {
      const newest = (a, b) => b.requested_at.localeCompare(a.requested_at);
      return json(200, { holds: this.holds.toSorted(newest) });
    }
    const hold = this.holds.find((hold) => hold.id === id);
    if (!hold) return problem(404, "No such hold", `there is no hold ${id}, or its time is over`);
    if (hold.principal === "admin") return problem(409, "Second person", "`admin` asked, so somebody else has to answer");
    if (body.reason === "because") {
      const errors = [{ field: "reason", detail: "that is no reason" }];
      return problem(422, "Hold refused", "reason: that is no reason", {}, { errors });
    }
    if (hold.state !== "pending" && !hold.state.startsWith(word.slice(0, 3)) && !body.replace) {
      const stands = `\`${hold.answered_by}\` has ${hold.state} it: ${hold.reason}; to have it otherwise, replace that answer`;
      return problem(409, "Somebody has said otherwise", stands);
    }
    Object.assign(hold, answered(word === "allow" ? "allowed" : "denied", "admin", body.reason), {
      until: from(body.hours * 3_600),
    });
    json(204);
  }

  #profiles({ name, method, body, json, problem }) {
    if (method === "GET") return json(200, { profiles: this.profiles });
    const at = this.profiles.findIndex((profile) => profile.name === name);
    if (method === "DELETE") {
      if (at < 0) return problem(404, "No such profile", `there is no profile ${name}`);
      this.profiles.splice(at, 1);
      return json(204);
    }
    if (name !== name.toLowerCase()) {
      const errors = [{ field: "name", detail: `\`${name}\` is no name: 1 to 40 of a-z, 0-9, - and _` }];
      return problem(422, "Profile refused", "name: no name", {}, { errors });
    }
    const set = profile(name, body);
    if (at < 0) this.profiles.push(set);
    else this.profiles[at] = set;
    json(200, set);
  }
}

function answered(state, answered_by, reason) {
  return { state, answered_by, reason };
}

function profile(name, more) {
  const quota = { downloads_per_hour: null, downloads_per_day: null, bytes_per_day: null };
  return { name, mode: null, min_age_hours: 0, severity_floor: null, hold: [], ...more, quota: { ...quota, ...more.quota } };
}
