import { expect, test } from "vitest";
import { steps } from "./steps";

const row = (at: string, ecosystem: string, allowed: number, blocked: number) => ({
  at,
  ecosystem,
  allowed,
  blocked,
  filtered: 0,
});

test("steps without an entry are there with nothing in them, and ecosystems are added up", () => {
  const found = steps({
    step: "hour",
    since: "2026-11-28T00:00:00Z",
    until: "2026-11-28T03:20:00Z",
    overTime: [
      row("2026-11-28T01:00:00Z", "npm", 2, 1),
      row("2026-11-28T01:00:00Z", "pypi", 3, 0),
      row("2026-11-28T03:00:00Z", "npm", 1, 0),
      row("2026-11-28T09:00:00Z", "npm", 7, 7),
    ],
  });
  expect(found.map(({ allowed, blocked }) => [allowed, blocked])).toEqual([
    [0, 0],
    [5, 1],
    [0, 0],
    [1, 0],
  ]);
});
