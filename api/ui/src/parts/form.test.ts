import { expect, it } from "vitest";
import { narrows } from "./filters";
import { trimmed } from "./form";

it("sends texts without the space around them, and all else as it is", () => {
  const draft = { reason: "  too old ", days: "7", hold: [" new "], everything: true };
  expect(trimmed(draft)).toEqual({ reason: "too old", days: "7", hold: [" new "], everything: true });
});

it("takes a list for narrowed as soon as one filter says something", () => {
  expect(narrows({ host: "", agent: undefined })).toBe(false);
  expect(narrows({ host: "", agent: "reader" })).toBe(true);
});
