// The mock's read models: lag, dead letters, and replays that advance each time somebody looks.

const NAMES = [
  ["request_log", "web"],
  ["cache", "web"],
  ["domain_rules", "web"],
  ["block_log", "registry"],
  ["blocked_packages", "registry"],
  ["seen_versions", "registry"],
  ["sync_status", "registry"],
  ["runs", "runs"],
  ["run_events", "runs"],
  ["subscriptions", "topics"],
  ["authorities", "actors"],
];

export class MockProjections {
  constructor(head, present) {
    this.head = head;
    this.list = present
      ? NAMES.map(([name, subsystem], index) => ({
          name,
          subsystem,
          version: 1 + (index % 3),
          state: "live",
          behind: 0,
          lag: 0.02,
          owner: `worker-${index % 2}@node-${1 + (index % 3)}`,
          letters: [],
          replay: null,
        }))
      : [];
    if (!present) return;
    this.get("run_events").behind = 41;
    this.get("run_events").lag = 7.4;
    Object.assign(this.get("subscriptions"), { state: "stopped", owner: null, behind: 388, lag: 5_025 });
    Object.assign(this.get("authorities"), { state: "halted", owner: null, behind: 120, lag: 918 });
    this.get("block_log").letters = [
      [
        118,
        "PackageBlocked",
        'applying `PackageBlocked` to `block_log`: value too long for type character varying(64)\n  caused by: column "package"',
      ],
      [204, "RuleAdded", "applying `RuleAdded` to `block_log`: unknown mask `deny`"],
      [
        317,
        "PackageBlocked",
        'applying `PackageBlocked` to `block_log`: null value in column "reason" violates not-null constraint',
      ],
    ].map(([position, kind, error]) => ({ position, kind, error }));
    this.get("authorities").letters = [
      {
        position: 90,
        kind: "AuthorityQuarantined",
        error: "applying `AuthorityQuarantined` to `authorities`: deadlock detected",
      },
    ];
  }

  get(name) {
    return this.list.find((projection) => projection.name === name);
  }

  views() {
    return this.list.map((projection) => {
      this.#advance(projection);
      const { name, subsystem, version, state, behind, lag, owner, letters, replay } = projection;
      const lag_events = Math.min(behind, this.head());
      return {
        name,
        subsystem,
        version,
        state,
        owner,
        actor: `pekko://weir/system/projections/${name}`,
        position: this.head() - lag_events,
        lag_events,
        lag_seconds: lag,
        rate: state === "live" ? 3.9 : 0,
        dead_letters: letters.length,
        replay: replay && {
          build: replay.build,
          position: replay.position,
          target: replay.target,
          rate: 48_200.5,
          eta_seconds: Math.max(0, (replay.target - replay.position) / 48_200.5),
          started_at: replay.started_at,
          state: replay.state,
        },
      };
    });
  }

  answer({ name, what, position, verb, method, body, query, json, problem }) {
    const projection = this.get(name);
    if (!projection) return problem(404, "No such projection", `no projection is called \`${name}\``);
    if (what === "replay" && method === "POST") {
      if (projection.replay)
        return problem(409, "Replay running", `build ${projection.replay.build} of \`${name}\` is running`);
      const from = body.from ?? 0;
      if (from > this.head()) return problem(400, "Bad position", `the log ends at ${this.head()}`);
      this.startReplay(name, from);
      return json(202, { build: projection.replay.build });
    }
    if (what === "replay" && method === "DELETE") {
      if (!projection.replay) return problem(409, "No replay", `no replay of \`${name}\` is running`);
      projection.replay = null;
      return json(204);
    }
    if (what === "dead-letters" && position === undefined) {
      const from = Number(query.get("cursor") ?? 0);
      const limit = Number(query.get("limit") ?? 50);
      const dead_letters = projection.letters.slice(from, from + limit).map((letter) => ({
        projection: name,
        stream: "registry/decisions/2026-11-28/pypi",
        actor: `pekko://weir/system/projections/${name}`,
        attempts: 5,
        parked_at: new Date(Date.now() - 754_000).toISOString(),
        ...letter,
      }));
      return json(200, { dead_letters, next: from + limit < projection.letters.length ? String(from + limit) : null });
    }
    if (what === "dead-letters" && verb === "redeliver" && method === "POST") {
      const letter = projection.letters.find((letter) => letter.position === Number(position));
      if (!letter) return problem(404, "No such dead letter", `nothing is parked at ${position}`);
      if (letter.error.includes("deadlock"))
        return problem(409, "Failed again", `applying ${position} failed again: deadlock detected`);
      projection.letters = projection.letters.filter((other) => other !== letter);
      return json(200, { redelivered: true });
    }
    problem(404, "Not found", name);
  }

  startReplay(name, from = 0, { state = "running", steps = 8, share = 0 } = {}) {
    const target = 4_800_000 + this.head();
    this.get(name).replay = {
      build: 7,
      position: from + Math.round(target * share),
      target,
      step: steps === 0 ? 0 : target / steps,
      started_at: new Date().toISOString(),
      state,
    };
  }

  #advance(projection) {
    const { replay } = projection;
    if (!replay || replay.state !== "running") return;
    replay.position = Math.round(Math.min(replay.target, replay.position + replay.step));
    if (replay.position < replay.target) return;
    projection.replay = null;
    projection.version += 1;
  }
}
