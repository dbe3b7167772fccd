import { expect, it } from "vitest";
import { toEvent } from "../api/events";
import { isNews } from "./news";

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
