import { expect, it } from "vitest";
import { toEvent } from "../api/events";
import { arrived, begins, MOST } from "./arrivals";

const event = (kind: string, request: string, more: Record<string, boolean> = {}) =>
  toEvent({
    position: 7,
    stream: "web/agent/a/3",
    kind,
    subsystem: "web",
    recorded_at: "",
    meta: {},
    payload: { asked: { agent: "a", request }, ...more },
    hash: "",
  });

it("knows the event that a request begins with", () => {
  expect(begins(event("WebRequestSubmitted", "1"))).toBe("a/1");
  expect(begins(event("WebRequestBlocked", "1"))).toBe("a/1");
  expect(begins(event("WebRequestCompleted", "1", { cached: true }))).toBe("a/1");
  expect(begins(event("WebRequestCompleted", "1", { cached: false }))).toBe(undefined);
  expect(begins(event("WebRequestFailed", "1"))).toBe(undefined);
  expect(begins(event("WebCacheStored", "1"))).toBe(undefined);
  expect(begins({ kind: "WebRequestSubmitted", payload: null })).toBe(undefined);
});

it("counts a request once, and none that is on the list", () => {
  const events = [event("WebRequestSubmitted", "1"), event("WebRequestBlocked", "1"), event("WebRequestSubmitted", "2")];
  const first = arrived(new Set(), events, new Set(["a/2"]));
  expect([...first]).toEqual(["a/1"]);
  expect(arrived(first, events, new Set(["a/2"]))).toBe(first);
});

it("holds no more than it says", () => {
  const events = Array.from({ length: MOST + 5 }, (_, index) => event("WebRequestSubmitted", String(index)));
  const all = arrived(new Set(), events, new Set());
  expect(all.size).toBe(MOST);
  expect(arrived(all, [event("WebRequestSubmitted", "one more")], new Set())).toBe(all);
});
