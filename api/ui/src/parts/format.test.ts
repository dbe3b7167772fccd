import { expect, it } from "vitest";
import { ago, bytes, duration, grouped, percent, plural, rate, share } from "./format";

it("groups any size exactly", () => {
  expect(grouped(9007199254740993n)).toBe("9,007,199,254,740,993");
  expect(plural(1n, "event")).toBe("1 event");
  expect(plural(2_000, "event")).toBe("2,000 events");
});

it("shortens durations and never shows negative time", () => {
  expect([-3, 0, 0.42, 9.96, 12, 125, 3_600, 90_061, 400_000].map(duration)).toEqual([
    "0 s",
    "0 s",
    "0.4 s",
    "10 s",
    "12 s",
    "2 min 5 s",
    "1 h 0 min",
    "25 h 1 min",
    "4 d",
  ]);
  expect(ago("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:00:03.4Z"))).toBe("3 s ago");
  expect(ago("2026-01-01T00:00:09Z", Date.parse("2026-01-01T00:00:00Z"))).toBe("just now");
});

it("computes percent of positions beyond 2^53", () => {
  expect(percent(9007199254740993n, 18014398509481986n)).toBe(50);
  expect(percent(0n, 0n)).toBe(100);
  expect(percent(7n, 5n)).toBe(100);
});

it("keeps rates short", () => {
  expect([0, 0.25, 42, 12_345.6].map(rate)).toEqual(["0", "0.3", "42", "12,346"]);
});

it("sizes and shares read well at every size", () => {
  const sizes = [0, 999, 34_031, 1_500_000_000, 50_000_000_000, 3e15].map(bytes);
  expect(sizes).toEqual(["0 B", "999 B", "34 kB", "1.5 GB", "50 GB", "3,000 TB"]);
  expect([share(null), share(0), share(0.9734), share(1)]).toEqual(["–", "0.0%", "97.3%", "100.0%"]);
});
