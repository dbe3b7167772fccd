// What cycles of the gateway added up to.

import type { Json } from "../json/exact";
import { ask, query } from "./client";
import { list, text } from "./events";
import { maybe, number, object } from "./read";

export interface Report {
  cycle: number;
  /** If not, this is what it has added up to so far. */
  ended: boolean;
  requests: number;
  /** From 0 to 1, of those that were answered. */
  hitRate: number;
  domains: string[];
  topUsers: { agent: string; requests: number }[];
  codeFilterHits: number;
  blocked: number;
  ticks: number;
  spark: number;
  /** `null` as long as the cycle has not ended. */
  tax: number | null;
  stateHash: string | null;
  endedAt: string | null;
}

/** Of cycles that have ended, the newest first. */
export async function getReports(limit: number, signal?: AbortSignal): Promise<Report[]> {
  const answer = object(await ask(`web/reports${query({ limit })}`, { signal }), "the reports");
  return list(answer["reports"]).map(toReport);
}

export async function getReport(cycle: number, signal?: AbortSignal): Promise<Report> {
  return toReport(await ask(`web/reports/${cycle}`, { signal }));
}

function toReport(value: Json): Report {
  const it = object(value, "a report");
  const tax = it["tax"] ?? null;
  return {
    cycle: number(it["cycle"], "cycle"),
    ended: it["ended"] === true,
    requests: number(it["total_requests"], "total_requests"),
    hitRate: number(it["cache_hit_rate"], "cache_hit_rate"),
    domains: list(it["domains_accessed"]).map(text),
    topUsers: list(it["top_users"]).map((value) => {
      const user = object(value, "an agent");
      return { agent: text(user["agent"]), requests: number(user["requests"], "requests") };
    }),
    codeFilterHits: number(it["code_filter_hits"], "code_filter_hits"),
    blocked: number(it["blocked_requests"], "blocked_requests"),
    ticks: number(it["tick_cost"], "tick_cost"),
    spark: number(it["spark_cost"], "spark_cost"),
    tax: tax === null ? null : number(tax, "tax"),
    stateHash: maybe(it["state_hash"]),
    endedAt: it["ended_position"] === null ? null : String(it["ended_position"]),
  };
}
