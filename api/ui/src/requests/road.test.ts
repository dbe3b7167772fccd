import { expect, it } from "vitest";
import { toRequest, type WebRequest } from "../api/web-requests";
import { addressToExplain, costWords, filterWords, listLine, quoted, redirectWords, roadOf } from "./road";

const PAGE = {
  id: "01".repeat(32),
  agent: "a9".repeat(32),
  url: "https://docs.rs/six?q=7#top",
  host: "docs.rs",
  method: "GET",
  purpose: "learn how six counts",
  state: "completed",
  status_code: 200,
  content_size: 1_234,
  content_type: "text/html",
  cached: false,
  domain: null,
  error: null,
  tick_cost: 3,
  spark_cost: 2,
  tax: 1,
  code_blocks_removed: 2,
  bytes_stripped: 140,
  warnings: [],
  strips_code: true,
  interaction: "rest-get",
  hosts: ["docs.rs", "static.docs.rs"],
  redirects: [{ url: "https://static.docs.rs/six", action: "allow", rule: "static.docs.rs", reason: "documentation" }],
  approval: null,
  epoch: 3,
  cycle: 7,
  created_at: 777,
  recorded_at: "2026-11-28T00:00:00Z",
  position: 12,
  settled_position: 13,
};
const request = (more: Partial<typeof PAGE> | Record<string, unknown> = {}): WebRequest =>
  toRequest({ ...PAGE, ...more } as Parameters<typeof toRequest>[0]);
const refused = (name: string, reason = "no", more = {}) =>
  request({ state: "blocked", status_code: null, epoch: null, strips_code: null, hosts: [], error: { code: 1792, name, reason }, ...more });
const states = (it: WebRequest) => Object.fromEntries(roadOf(it).map(({ name, state }) => [name, state]));
const words = (it: WebRequest) => Object.fromEntries(roadOf(it).map(({ name, words }) => [name, words]));

it("passes every stop where it was answered, by the hosts it was sent on to", () => {
  expect(new Set(Object.values(states(request())))).toEqual(new Set(["passed"]));
  expect(words(request())).toMatchObject({
    epoch: "3, read-only",
    quota: "within that of cycle 7",
    outside: "docs.rs → static.docs.rs answered 200",
    filter: "2 pieces of code taken out, 140 B",
    answer: "1.2 kB of text/html",
  });
});

it("is stopped where the error says, and comes no further", () => {
  for (const [name, stop] of [
    ["PortalClosed", "epoch"],
    ["ReadOnlyEpoch", "epoch"],
    ["RateLimited", "pace"],
    ["QuotaExceeded", "quota"],
    ["DomainBlocked", "rules"],
    ["InvalidUrl", "request"],
    ["SomethingNew", "request"],
  ] as const) {
    const road = roadOf(refused(name));
    const at = road.findIndex(({ state }) => state === "stopped");
    expect(road[at]).toEqual({ name: stop, state: "stopped", words: "no" });
    expect(road.slice(0, at).every(({ state }) => state === "passed")).toBe(true);
    expect(road.slice(at + 1).every(({ state }) => state === "unreached")).toBe(true);
  }
});

it("tells a balance that is too small from a permission that is not there", () => {
  expect(states(refused("PermissionDenied", "insufficient spark: 0 free, 2 needed"))["spark"]).toBe("stopped");
  expect(states(refused("PermissionDenied", "code needs a waiver"))["request"]).toBe("stopped");
});

it("is stopped outside by whatever comes after it was admitted, also by a rule about where it was sent on to", () => {
  for (const name of ["FetchFailed", "Timeout", "TooManyRedirects", "DomainBlocked"]) {
    const it = refused(name, "no", { epoch: 4, hosts: ["docs.rs"] });
    expect(states(it)).toMatchObject({ rules: "passed", spark: "passed", outside: "stopped", filter: "unreached" });
  }
});

it("leaves nothing outside for what was cached, and pays for what another one fetched", () => {
  const hit = request({ cached: true, epoch: null, strips_code: null, hosts: [] });
  expect(states(hit)).toMatchObject({ cache: "passed", spark: "spared", outside: "spared", answer: "passed" });
  expect(words(hit)["cache"]).toBe("the page was there");
  const joined = request({ cached: true, hosts: [] });
  expect(states(joined)).toMatchObject({ cache: "passed", spark: "passed", outside: "spared" });
  expect(words(joined)["outside"]).toBe("another request was fetching the same");
});

it("waits outside while it is under way", () => {
  const it = request({ state: "submitted", status_code: null, settled_position: null, hosts: [] });
  expect(states(it)).toMatchObject({ spark: "passed", outside: "waiting", filter: "unreached" });
  expect(words(it)["answer"]).toBe("not yet");
});

it("says what was taken out, or why nothing was", () => {
  const it = { stripsCode: true, codeBlocksRemoved: 0, bytesStripped: 0, method: "GET" };
  expect(filterWords(it)).toBe("no code was found");
  expect(filterWords({ ...it, stripsCode: false })).toBe("code was to stay, by a waiver");
  expect(filterWords({ ...it, method: "HEAD" })).toBe("a HEAD has nothing to take code out of");
  expect(filterWords({ ...it, codeBlocksRemoved: 1, bytesStripped: 9 })).toBe("1 piece of code taken out, 9 B");
  expect(costWords({ tickCost: 1, sparkCost: 0, tax: 0 })).toBe("1 tick, 0 spark");
  expect(costWords(request())).toBe("3 ticks, 2 spark and 1 tax");
});

it("explains the host that was refused, not the one that led there", () => {
  expect(addressToExplain(request())).toBe("https://docs.rs/six?q=7#top");
  expect(addressToExplain(request({ domain: "docs.rs" }))).toBe("https://docs.rs/six?q=7#top");
  expect(addressToExplain(request({ domain: "github.com" }))).toBe("https://github.com/");
  expect(addressToExplain(request({ domain: "::1" }))).toBe("https://[::1]/");
});

it("writes a line that a shell reads as one word each, whatever an agent asked for", () => {
  expect(quoted("https://docs.rs/six")).toBe("https://docs.rs/six");
  expect(quoted("https://x.y/?a=1&b='; rm -rf $HOME")).toBe(String.raw`'https://x.y/?a=1&b='\''; rm -rf $HOME'`);
  const line = listLine(request({ url: `https://docs.rs/${"x".repeat(300)}?` }));
  expect(line.startsWith(`weir web requests --agent ${"a9".repeat(32)} --cycle 7 https://docs.rs/`)).toBe(true);
  expect(line.split(" ").at(-1)).toHaveLength(200);
});

it("says of every redirect where it led, and what was said of that", () => {
  const it = request({
    redirects: [
      { url: "https://static.docs.rs/six", action: "allow", rule: "static.docs.rs", reason: "documentation" },
      { url: "http://10.0.0.1/", action: "block", rule: null, reason: "it does not stand in the world outside (redirect 2)" },
    ],
  });
  expect(it.redirects.map(({ url }) => url)).toEqual(["https://static.docs.rs/six", "http://10.0.0.1/"]);
  expect(it.redirects.map(redirectWords)).toEqual([
    "allowed by static.docs.rs: documentation",
    "blocked: it does not stand in the world outside (redirect 2)",
  ]);
});
