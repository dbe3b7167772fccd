import { expect, it } from "vitest";
import type { QuotaUse } from "../api/agents";
import { barsOf, barWords, drawnCycles, levelOf, looksLikeKey, nameOf, quotaOf, short, whole } from "./words";

const use = (cycle: number, more: Partial<QuotaUse> = {}): QuotaUse => ({
  cycle,
  agent: "a",
  used: 3,
  max: 5,
  exhausted: false,
  requests: 3,
  cached: 0,
  blocked: 0,
  failed: 0,
  ticks: 9,
  spark: 6,
  tax: 0,
  ...more,
});

it("knows what later epochs will let agents do", () => {
  expect([0, 2, 3, 4, 10].map(levelOf)).toEqual(["closed", "closed", "read-only", "read-write", "read-write"]);
  expect([0, 2, 3, 4, 10].map(quotaOf)).toEqual([0, 0, 5, 7, 19]);
});

it("names an agent by its name, or by the beginning of its id", () => {
  const id = "0fb2f95c".padEnd(64, "0");
  expect(nameOf([{ id, name: "reader" }], id)).toBe("reader");
  expect(nameOf([], id)).toBe("0fb2f95c…");
  expect(nameOf(undefined, id)).toBe("0fb2f95c…");
  expect(short("treasury")).toBe("treasury");
});

it("sees what cannot be a key, and what is no number of something", () => {
  expect(looksLikeKey(` ${"0a".repeat(32)} `)).toBe(true);
  for (const bad of ["", "0A".repeat(32), "0".repeat(63), "-----BEGIN PUBLIC KEY-----"]) expect(looksLikeKey(bad)).toBe(false);
  expect(["1", " 40 ", "0", "-1", "1.5", "ten", ""].map(whole)).toEqual([1, 40, undefined, undefined, undefined, undefined, undefined]);
});

it("draws the last cycles, and no cycle before the first", () => {
  expect(drawnCycles({ cycle: 0 })).toEqual([0]);
  expect(drawnCycles({ cycle: 41 })).toHaveLength(12);
  expect(drawnCycles({ cycle: 41 }).at(-1)).toBe(41);
});

it("tells nothing used from what is not known", () => {
  const cycles = [
    { cycle: 1, uses: { byAgent: new Map(), complete: false } },
    { cycle: 2, uses: { byAgent: new Map(), complete: true } },
    { cycle: 3, uses: undefined },
    { cycle: 4, uses: { byAgent: new Map([["a", use(4)]]), complete: false } },
  ];
  expect(barsOf("a", cycles).map(barWords)).toEqual([
    "cycle 1: not known",
    "cycle 2: nothing",
    "cycle 3: not known",
    "cycle 4: 3 of 5 used",
  ]);
  const full = use(5, { used: 5, cached: 2, blocked: 1, failed: 1, exhausted: true });
  expect(barWords({ cycle: 5, use: full })).toBe(
    "cycle 5: 5 of 5 used, 2 from the cache, 1 blocked, 1 failed; it asked for more",
  );
});
