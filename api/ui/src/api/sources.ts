// Where advisories come from: how each source stands, when it was visited, and to have it visited now.

import { toInteger, type Json } from "../json/exact";
import { ask, lastWritten, query } from "./client";
import { list, text, type Position } from "./events";
import { maybe, number, object } from "./read";

export type SourceState = "disabled" | "ok" | "syncing" | "never" | "failing";
const STATES: readonly string[] = ["disabled", "ok", "syncing", "never", "failing"] satisfies SourceState[];

export interface Part {
  /** `null`: all that the source has. */
  ecosystem: string | null;
  state: SourceState;
  startedAt: string | null;
  succeededAt: string | null;
  failedAt: string | null;
  cause: string | null;
  nextDueAt: string | null;
  revision: string | null;
  records: number;
  unreadable: number;
}

export interface Source {
  name: string;
  state: SourceState;
  ecosystems: string[];
  intervalSeconds: number;
  askedAt: string | null;
  /** Advisories, or the rules of a blocklist. */
  advisories: number;
  byEcosystem: { ecosystem: string; advisories: number }[];
  parts: Part[];
}

export interface Visit {
  position: Position;
  ecosystem: string | null;
  endedAt: string;
  durationMs: number;
  cause: string | null;
  revision: string | null;
  records: number;
  unreadable: number;
  published: number;
  changed: number;
  withdrawn: number;
}

export async function getSources(signal?: AbortSignal): Promise<Source[]> {
  const asked = query({ min_position: lastWritten() });
  const answer = object(await ask(`security-sources${asked}`, { signal }), "the list of sources");
  return list(answer["sources"]).map(toSource);
}

export async function getVisits(
  name: string,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<{ visits: Visit[]; next: string | undefined }> {
  const asked = query({ limit: 20, cursor });
  const path = `security-sources/${encodeURIComponent(name)}/history${asked}`;
  const answer = object(await ask(path, { signal }), "the list of visits");
  return { visits: list(answer["visits"]).map(toVisit), next: maybe(answer["next"]) ?? undefined };
}

export async function syncSource(name: string, believeLosses: boolean): Promise<void> {
  const path = `security-sources/${encodeURIComponent(name)}/sync`;
  await ask(path, { method: "POST", body: { believe_losses: believeLosses } });
}

function toState(value: Json | undefined): SourceState {
  const state = text(value);
  if (!STATES.includes(state)) throw new TypeError(`no state of a source is called ${state}`);
  return state as SourceState;
}

function toSource(value: Json): Source {
  const it = object(value, "a source");
  return {
    name: text(it["name"]),
    state: toState(it["state"]),
    ecosystems: list(it["ecosystems"]).map(text),
    intervalSeconds: number(it["sync_interval_seconds"], "sync_interval_seconds"),
    askedAt: maybe(it["asked_at"]),
    advisories: number(it["n_advisories"], "n_advisories"),
    byEcosystem: list(it["advisories"]).map((row) => {
      const count = object(row, "a count");
      return { ecosystem: text(count["ecosystem"]), advisories: number(count["n_advisories"], "n_advisories") };
    }),
    parts: list(it["parts"]).map(toPart),
  };
}

function toPart(value: Json): Part {
  const it = object(value, "a part of a source");
  return {
    ecosystem: maybe(it["ecosystem"]),
    state: toState(it["state"]),
    startedAt: maybe(it["started_at"]),
    succeededAt: maybe(it["succeeded_at"]),
    failedAt: maybe(it["failed_at"]),
    cause: maybe(it["cause"]),
    nextDueAt: maybe(it["next_due_at"]),
    revision: maybe(it["revision"]),
    records: number(it["n_records"], "n_records"),
    unreadable: number(it["n_unreadable"], "n_unreadable"),
  };
}

function toVisit(value: Json): Visit {
  const it = object(value, "a visit");
  return {
    position: toInteger(it["position"], "position"),
    ecosystem: maybe(it["ecosystem"]),
    endedAt: text(it["ended_at"]),
    durationMs: number(it["duration_ms"], "duration_ms"),
    cause: maybe(it["cause"]),
    revision: maybe(it["revision"]),
    records: number(it["n_records"], "n_records"),
    unreadable: number(it["n_unreadable"], "n_unreadable"),
    published: number(it["n_published"], "n_published"),
    changed: number(it["n_changed"], "n_changed"),
    withdrawn: number(it["n_withdrawn"], "n_withdrawn"),
  };
}
