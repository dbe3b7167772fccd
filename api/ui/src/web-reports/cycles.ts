// Reports as a chart has them: the oldest first, and a bar for every cycle between the first and the last.

import type { Report } from "../api/web-reports";
import { grouped, plural, share } from "../parts/format";
import type { Bar } from "../parts/chart";

/** What a report shows in one chart. */
export interface Plot {
  values: (report: Report) => number[];
  words: (report: Report) => string;
}

export const REQUESTS: Plot = {
  values: ({ requests, blocked }) => [Math.max(0, requests - blocked), blocked],
  words: ({ requests, blocked }) => `${plural(requests, "request")}, ${grouped(blocked)} of them blocked`,
};
export const HIT_RATE: Plot = {
  values: ({ hitRate }) => [hitRate],
  words: ({ hitRate }) => `${share(hitRate)} from the cache`,
};
export const COST: Plot = {
  values: ({ spark, tax }) => [spark, tax ?? 0],
  words: ({ spark, tax }) => `${grouped(spark)} spark, and a tax of ${grouped(tax ?? 0)}`,
};
export const CODE: Plot = {
  values: ({ codeFilterHits }) => [codeFilterHits],
  words: ({ codeFilterHits }) => `${plural(codeFilterHits, "answer")} had code taken out`,
};

/** A cycle that has no report had nothing in it. */
export function bars(reports: readonly Report[], { values, words }: Plot): Bar[] {
  const cycles = reports.map(({ cycle }) => cycle);
  if (cycles.length === 0) return [];
  const first = Math.min(...cycles);
  const of = new Map(reports.map((report) => [report.cycle, report]));
  return Array.from({ length: Math.max(...cycles) - first + 1 }, (_, index) => {
    const cycle = first + index;
    const report = of.get(cycle);
    const at = `cycle ${cycle}`;
    if (!report) return { key: cycle, at, words: `${at}: nothing`, values: [] };
    const soFar = report.ended ? "" : ", so far";
    return { key: cycle, at, words: `${at}${soFar}: ${words(report)}`, values: values(report) };
  });
}
