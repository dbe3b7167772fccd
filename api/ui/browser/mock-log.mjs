// A made-up log for the mock: plausible events of several sub-systems, in chains of cause and effect.

import { createHash } from "node:crypto";

export const KINDS = [
  [0x1101, "TokenIssued", "access", "A token was issued to a principal"],
  [0x1200, "CycleStarted", "nexus", "A new cycle began; quotas start over"],
  [0x1302, "Transferred", "mint", "Spark moved from one account to another"],
  [0x2004, "SubscriptionApproved", "topics", "An operator approved a subscription"],
  [0x3001, "RunStarted", "runs", "A worker took a run and started it"],
  [0x3002, "RunCompleted", "runs", "A run came to its end"],
  [0x4001, "PackageAllowed", "registry", "A version passed the firewall"],
  [0x4002, "PackageBlocked", "registry", "A version was refused, with the rule that did it"],
  [0x4005, "RuleAdded", "registry", "An operator added a rule"],
  [0x4006, "RuleRemoved", "registry", "An operator removed a rule"],
  [0x403a, "PackageRequested", "registry", "Somebody's token waits for a person's word"],
  [0x403b, "HoldAnswered", "registry", "A person has said whether something that waits may pass"],
  [0x5003, "AuthorityQuarantined", "actors", "A peer was set aside after failures"],
  [0x6000, "WebRequestSubmitted", "web", "An agent asked the gateway for a page"],
  [0x6001, "WebRequestCompleted", "web", "A page was fetched, filtered and answered"],
  [0x6002, "WebRequestBlocked", "web", "A request of an agent was refused, and why"],
  [0x6003, "WebRequestFailed", "web", "A request of an agent came to nothing"],
  [0x6020, "CacheHit", "web", "A request was answered from the cache"],
  [0x6060, "WebApprovalRequested", "web", "An agent asked a human about a blocked request"],
  [0x6061, "WebApprovalAnswered", "web", "A human has answered for a blocked request"],
  [0x1201, "EpochAdvanced", "nexus", "The epoch advanced: agents may do more"],
  [0x1301, "SparkGranted", "mint", "An account was given spark"],
].map(([code, name, subsystem, doc]) => ({ code, name, subsystem, schema: 1, doc }));

const BY_NAME = new Map(KINDS.map((kind) => [kind.name, kind]));

// One story is a correlation; each step names its cause by index.
const STORIES = [
  [
    ["WebRequestSubmitted", null],
    ["Transferred", 0],
    ["WebRequestCompleted", 0],
    ["CacheHit", 2],
  ],
  [["PackageAllowed", null]],
  [
    ["RunStarted", null],
    ["WebRequestSubmitted", 0],
    ["Transferred", 1],
    ["WebRequestCompleted", 1],
    ["RunCompleted", 0],
  ],
  [["PackageBlocked", null]],
  [
    ["PackageAllowed", null],
    ["PackageAllowed", 0],
  ],
  [
    ["RuleAdded", null],
    ["PackageBlocked", 0],
  ],
  [["SubscriptionApproved", null]],
  [["CycleStarted", null]],
];
const PACKAGES = ["six", "requests", "left-pad", "serde", "golang.org/x/text", "lodash", "numpy", "tokio"];
const PAGES = [
  "https://docs.rs/tokio/latest/tokio/",
  "https://en.wikipedia.org/wiki/Weir",
  "https://www.rfc-editor.org/rfc/rfc9457",
  "https://developer.mozilla.org/en-US/docs/Web/API/EventSource",
];

const uuid = (seed) =>
  createHash("sha256")
    .update(seed)
    .digest("hex")
    .replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*/, "$1-$2-7$3-8$4-$5");

/** Events from `first` on, endlessly; the same for the same start. */
export function* stories(first) {
  let position = first;
  for (let story = first; ; story += 1) {
    const steps = STORIES[(story * 7 + 3) % STORIES.length];
    const start = position;
    for (const [name, cause] of steps) {
      yield event(position, name, `story ${start}`, cause === null ? null : start + cause);
      position += 1;
    }
  }
}

export function event(position, name, correlation, cause, payload = payloadOf(name, position)) {
  const kind = BY_NAME.get(name);
  return {
    position,
    stream: streamOf(name, position),
    version: position,
    kind: name,
    kind_code: kind.code,
    subsystem: kind.subsystem,
    schema: 1,
    recorded_at: new Date().toISOString().replace("Z", "421Z"),
    meta: {
      event_id: uuid(`event ${position}`),
      actor: `pekko://weir/user/${kind.subsystem}`,
      correlation_id: uuid(correlation),
      causation_id: cause === null ? null : uuid(`event ${cause}`),
      command_id: uuid(`command ${position}`),
      principal: position % 3 === 0 ? "admin" : "agent-7",
      traceparent:
        position % 4 === 0
          ? null
          : `00-${createHash("md5").update(String(position)).digest("hex")}-00f067aa0ba902b7-01`,
    },
    payload,
    hash: createHash("sha256").update(`leaf ${position}`).digest("hex"),
  };
}

function streamOf(name, position) {
  if (name === "PackageRequested" || name === "HoldAnswered") return "registry/holds";
  if (name.startsWith("Package"))
    return `registry/decisions/2026-11-28/${["pypi", "npm", "cargo", "go"][position % 4]}`;
  if (name.startsWith("Rule")) return "registry/rules";
  if (name.startsWith("Web")) return `web/agent/${uuid(`agent ${position % 3}`).slice(0, 8)}/41`;
  if (name.startsWith("Run")) return `runs/${uuid(`run ${position % 9}`)}`;
  return {
    CacheHit: "web/cache/9f3a11",
    Transferred: "mint/treasury",
    CycleStarted: "nexus",
    EpochAdvanced: "nexus",
    SparkGranted: "mint/agent",
    SubscriptionApproved: "topics/subscription/rust/7c1f",
    TokenIssued: "access/token/t1",
    AuthorityQuarantined: "actors/peer-a",
  }[name];
}

function payloadOf(name, position) {
  const name_ = PACKAGES[position % PACKAGES.length];
  if (name === "PackageBlocked")
    return {
      ecosystem: "pypi",
      package: name_,
      version: "1.17.0",
      rule: 12,
      reason: "too young: published 3 days ago, 14 are required",
      advisories: [],
    };
  if (name === "PackageAllowed")
    return {
      ecosystem: "npm",
      package: name_,
      version: "4.17.21",
      size_bytes: 1_412_415 + position,
      sha256: createHash("sha256").update(name_).digest("hex"),
    };
  if (name === "RuleAdded")
    return {
      id: position,
      ecosystem: "pypi",
      package: name_,
      versions: ">=1.17",
      reason: "unmaintained",
      mask: "mark",
      condition: { all: [{ age_days: { less_than: 14 } }, { downloads: { less_than: 1000 } }] },
    };
  if (name === "Transferred") return { from: "agent-7", to: "treasury", spark: 2, balance: position * 3 };
  if (name === "CycleStarted") return { epoch: 3, cycle: 41, tick: position };
  if (name.startsWith("Web"))
    return {
      request: uuid(`request ${position}`),
      method: "GET",
      url: PAGES[position % PAGES.length],
      status: 200,
      cost: { ticks: 3, spark: 2 },
      filtered: { code_blocks_removed: position % 7, bytes_stripped: 18_204, warnings: [] },
      purpose: "learn how the protocol frames its messages",
    };
  if (name.startsWith("Run"))
    return {
      run: uuid(`run ${position % 9}`),
      agent: "echo",
      attempt: 1,
      input: { text: `Summarise page ${position}` },
    };
  return { id: position, note: `made up for ${name}` };
}
