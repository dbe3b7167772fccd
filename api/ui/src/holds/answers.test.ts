import { expect, it } from "vitest";
import { toHold } from "../api/holds";
import { askedBecause, cannotAnswer, split } from "./answers";

const hold = (id: string, state: string, more: { [key: string]: string | null } = {}) =>
  toHold({ id, state, principal: "robot", ground: "new-package", advisory: null, ...more });

it("is answered by a person who may, and did not ask", () => {
  const asked = hold("1", "pending");
  expect(cannotAnswer({ principal: "ann", scopes: ["rules:write"] }, asked)).toBeUndefined();
  expect(cannotAnswer({ principal: "ann", scopes: ["admin"] }, asked)).toBeUndefined();
  expect(cannotAnswer({ principal: "ann", scopes: ["rules:read"] }, asked)).toMatch("rules:write");
  expect(cannotAnswer({ principal: "robot", scopes: ["admin"] }, asked)).toMatch("somebody else");
});

it("shows who waits longest first, and the last answer first", () => {
  // As the API gives them: the newest first.
  const all = [hold("4", "pending"), hold("3", "denied"), hold("2", "pending"), hold("1", "allowed")];
  const { waiting, answered } = split(all);
  expect(waiting.map(({ id }) => id)).toEqual(["2", "4"]);
  expect(answered.map(({ id }) => id)).toEqual(["3", "1"]);
});

it("says why a person is asked, also for a ground of a newer server", () => {
  expect(askedBecause(hold("1", "pending"))).toMatch("ever delivered");
  expect(askedBecause(hold("1", "pending", { ground: "advisory", advisory: "GHSA-1" }))).toBe("GHSA-1 warns of it");
  expect(askedBecause(hold("1", "pending", { ground: "new-owner" }))).toBe("new-owner");
});

it("takes no state that it does not know", () => {
  expect(() => hold("1", "lost")).toThrow("lost");
});
