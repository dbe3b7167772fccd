// The steps of a chart: those the server leaves out had nothing in them.

import type { Dashboard } from "../api/dashboard";

export interface Step {
  at: number;
  allowed: number;
  blocked: number;
}

const WIDTH = { hour: 3_600_000, day: 86_400_000 };

export function steps({ step, since, until, overTime }: Pick<Dashboard, "step" | "since" | "until" | "overTime">): Step[] {
  const width = WIDTH[step];
  const first = Date.parse(since);
  const length = Math.floor((Date.parse(until) - first) / width) + 1;
  const all = Array.from({ length }, (_, index) => ({ at: first + index * width, allowed: 0, blocked: 0 }));
  for (const { at, allowed, blocked } of overTime) {
    const found = all[Math.floor((Date.parse(at) - first) / width)];
    if (!found) continue;
    found.allowed += allowed;
    found.blocked += blocked;
  }
  return all;
}
