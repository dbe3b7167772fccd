import { expect, test } from "vitest";
import type { Report } from "../api/web-reports";
import { bars, COST, HIT_RATE, REQUESTS } from "./cycles";

const report = (cycle: number, more: Partial<Report>): Report => ({
  cycle,
  ended: true,
  requests: 0,
  hitRate: 0,
  domains: [],
  topUsers: [],
  codeFilterHits: 0,
  blocked: 0,
  ticks: 0,
  spark: 0,
  tax: 0,
  stateHash: null,
  endedAt: null,
  ...more,
});

test("bars go from the oldest cycle to the newest, and none between them is left out", () => {
  const newestFirst = [report(7, { requests: 9, blocked: 2 }), report(4, { requests: 1 })];
  const found = bars(newestFirst, REQUESTS);
  expect(found.map(({ at }) => at)).toEqual(["cycle 4", "cycle 5", "cycle 6", "cycle 7"]);
  expect(found.map(({ values }) => values)).toEqual([[1, 0], [], [], [7, 2]]);
  expect(found[3]?.words).toBe("cycle 7: 9 requests, 2 of them blocked");
  expect(found[1]?.words).toBe("cycle 5: nothing");
  expect(bars([], REQUESTS)).toEqual([]);
});

test("the cycle that has not ended says so, and its tax is not known", () => {
  const now = report(3, { ended: false, spark: 12, tax: null, hitRate: 0.5 });
  expect(bars([now], COST)[0]).toMatchObject({ words: "cycle 3, so far: 12 spark, and a tax of 0", values: [12, 0] });
  expect(bars([now], HIT_RATE)[0]?.words).toBe("cycle 3, so far: 50.0% from the cache");
});
