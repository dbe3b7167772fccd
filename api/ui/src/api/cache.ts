// What lies in the cache of this instance, how much it is used, and to have some of it forgotten.

import type { Json } from "../json/exact";
import { ask, query } from "./client";
import { list, text } from "./events";
import { maybe, number, object } from "./read";

export interface Kind {
  count: number;
  bytes: number;
  oldestAt: string | null;
  newestAt: string | null;
  hits: number;
  misses: number;
  /** From 0 to 1; `null` before the first request. */
  hitRate: number | null;
}

export interface Part {
  files: Kind;
  documents: Kind;
  hitRate: number | null;
  evictions: { lru: number; expired: number; purged: number; broken: number };
}

export interface Cache {
  since: string;
  maxBytes: number;
  /** From 0 to 1. */
  used: number;
  total: Part;
  ecosystems: (Part & { ecosystem: string })[];
}

export interface PurgeDraft {
  /** An ecosystem, or everything there is. */
  ecosystem: string | undefined;
  package: string;
  versions: string;
}

export interface Purged {
  files: number;
  bytes: number;
  documents: number;
}

export async function getCache(signal?: AbortSignal): Promise<Cache> {
  const answer = object(await ask("cache/stats", { signal }), "the cache");
  return {
    since: text(answer["since"]),
    maxBytes: number(answer["max_bytes"], "max_bytes"),
    used: number(answer["used"], "used"),
    total: toPart(answer["total"]),
    ecosystems: list(answer["ecosystems"]).map((value) => ({
      ecosystem: text(object(value, "an ecosystem")["ecosystem"]),
      ...toPart(value),
    })),
  };
}

export async function purgeCache({ ecosystem, ...draft }: PurgeDraft): Promise<Purged> {
  const asked =
    ecosystem === undefined
      ? query({ all: "true" })
      : query({ ecosystem, package: draft.package || undefined, versions: draft.versions || undefined });
  const answer = object(await ask(`cache${asked}`, { method: "DELETE" }), "the purge");
  return {
    files: number(answer["n_files"], "n_files"),
    bytes: number(answer["size_bytes"], "size_bytes"),
    documents: number(answer["n_documents"], "n_documents"),
  };
}

function toPart(value: Json | undefined): Part {
  const it = object(value, "a part of the cache");
  const evictions = object(it["evictions"], "evictions");
  return {
    files: toKind(it["files"]),
    documents: toKind(it["documents"]),
    hitRate: share(it["hit_rate"]),
    evictions: {
      lru: number(evictions["lru"], "lru"),
      expired: number(evictions["expired"], "expired"),
      purged: number(evictions["purged"], "purged"),
      broken: number(evictions["broken"], "broken"),
    },
  };
}

function toKind(value: Json | undefined): Kind {
  const it = object(value, "what is kept of a kind");
  return {
    count: number(it["n"], "n"),
    bytes: number(it["size_bytes"], "size_bytes"),
    oldestAt: maybe(it["oldest_at"]),
    newestAt: maybe(it["newest_at"]),
    hits: number(it["hits"], "hits"),
    misses: number(it["misses"], "misses"),
    hitRate: share(it["hit_rate"]),
  };
}

function share(value: Json | undefined): number | null {
  return value === null || value === undefined ? null : number(value, "a share");
}
