// How the package firewall fares.

import type { Json } from "../json/exact";
import { ask, query } from "./client";
import { list, text } from "./events";
import { number, object } from "./read";

export interface Counts {
  allowed: number;
  blocked: number;
  filtered: number;
}

export interface Served {
  ecosystem: string;
  requests: number;
  notModified: number;
  failed: number;
  blocked: number;
  hits: number;
  misses: number;
  stale: number;
  upstreamRequests: number;
  upstreamFailures: number;
}

export interface Dashboard {
  step: "hour" | "day";
  since: string;
  until: string;
  recorded: Counts;
  byEcosystem: (Counts & { ecosystem: string })[];
  overTime: (Counts & { ecosystem: string; at: string })[];
  topPackages: { ecosystem: string; package: string; allowed: number; blocked: number }[];
  topSince: string;
  startedAt: string;
  cacheHitRate: number | null;
  served: Served[];
}

export async function getDashboard(range: string, ecosystem: string, signal?: AbortSignal): Promise<Dashboard> {
  const answer = object(await ask(`dashboard${query({ range, ecosystem })}`, { signal }), "the dashboard");
  const instance = object(answer["instance"], "the instance");
  const rate = instance["cache_hit_rate"];
  return {
    step: answer["step"] === "day" ? "day" : "hour",
    since: text(answer["since"]),
    until: text(answer["until"]),
    recorded: toCounts(answer["recorded"]),
    byEcosystem: list(answer["by_ecosystem"]).map((row) => ({ ...toCounts(row), ecosystem: ecosystemOf(row) })),
    overTime: list(answer["over_time"]).map((row) => ({
      ...toCounts(row),
      ecosystem: ecosystemOf(row),
      at: text(object(row, "a step")["at"]),
    })),
    topPackages: list(answer["top_packages"]).map((row) => {
      const it = object(row, "a package");
      return {
        ecosystem: ecosystemOf(row),
        package: text(it["package"]),
        allowed: number(it["allowed"], "allowed"),
        blocked: number(it["blocked"], "blocked"),
      };
    }),
    topSince: text(answer["top_since"]),
    startedAt: text(instance["started_at"]),
    cacheHitRate: rate === null ? null : number(rate, "the hit rate"),
    served: list(instance["ecosystems"]).map(toServed),
  };
}

function ecosystemOf(row: Json): string {
  return text(object(row, "a row")["ecosystem"]);
}

function toCounts(value: Json | undefined): Counts {
  const it = object(value, "counts");
  return {
    allowed: number(it["allowed"], "allowed"),
    blocked: number(it["blocked"], "blocked"),
    filtered: number(it["filtered"], "filtered"),
  };
}

function toServed(value: Json): Served {
  const it = object(value, "an ecosystem");
  return {
    ecosystem: text(it["ecosystem"]),
    requests: number(it["requests"], "requests"),
    notModified: number(it["not_modified"], "not_modified"),
    failed: number(it["failed"], "failed"),
    blocked: number(it["blocked"], "blocked"),
    hits: number(it["cache_hits"], "cache_hits"),
    misses: number(it["cache_misses"], "cache_misses"),
    stale: number(it["stale"], "stale"),
    upstreamRequests: number(it["upstream_requests"], "upstream_requests"),
    upstreamFailures: number(it["upstream_failures"], "upstream_failures"),
  };
}
