import { expect, it } from "vitest";
import { toEvent } from "../api/events";
import { isNews, newestOf } from "./news";

const KINDS = ["PackageRequested", "HoldAnswered"];
const event = (kind: string) =>
  toEvent({ position: 7, stream: "registry/holds", kind, subsystem: "registry", recorded_at: "", meta: {}, hash: "" });

it("asks again for an event of its kinds, among others, and for no other", () => {
  const other = event("PackageAllowed");
  expect(isNews({ is: "events", events: [other, event("HoldAnswered")] }, KINDS)).toBe(true);
  expect(isNews({ is: "events", events: [other] }, KINDS)).toBe(false);
});

it("asks again when the stream opens or the log is another, and not for a heartbeat", () => {
  expect(isNews({ is: "resync", reason: "restored" }, KINDS)).toBe(true);
  expect(isNews({ is: "head", head: 7n, opening: true }, KINDS)).toBe(true);
  expect(isNews({ is: "head", head: 7n, opening: false }, KINDS)).toBe(false);
  expect(isNews({ is: "stopped" }, KINDS)).toBe(false);
});

it("knows the newest of its events, and none of another log", () => {
  const at = (position: number, kind: string) => ({ ...event(kind), position: BigInt(position) });
  const events = [at(7, "HoldAnswered"), at(8, "PackageRequested"), at(9, "PackageAllowed")];
  expect(newestOf({ is: "events", events }, KINDS)).toBe(8n);
  expect(newestOf({ is: "events", events: [at(9, "PackageAllowed")] }, KINDS)).toBe(undefined);
  expect(newestOf({ is: "resync", reason: "restored" }, KINDS)).toBe(undefined);
});
