import { expect, it } from "vitest";
import { toWaiver } from "../api/waivers";
import { cannotGrant, idsOf, stands } from "./acts";

const waiver = (state: string) => toWaiver({ id: "1", state, requested_by: "ann", waives: [] });

it("is granted by a second person who may", () => {
  const asked = waiver("waiting");
  expect(cannotGrant({ principal: "bob", scopes: ["rules:write"] }, "rules:write", asked)).toBeUndefined();
  expect(cannotGrant({ principal: "ann", scopes: ["admin"] }, "rules:write", asked)).toMatch("somebody else");
  expect(cannotGrant({ principal: "bob", scopes: ["rules:read"] }, "rules:write", asked)).toMatch("rules:write");
});

it("can be taken back while it counts or waits", () => {
  expect(["waiting", "granted", "revoked", "expired"].map((state) => stands(waiver(state)))).toEqual([true, true, false, false]);
  expect(() => waiver("lost")).toThrow("lost");
});

it("reads ids with anything between them, once each", () => {
  expect(idsOf(" GHSA-1, CVE-2\nGHSA-1 ")).toEqual(["GHSA-1", "CVE-2"]);
  expect(idsOf("  ")).toEqual([]);
});
