// The world's time: epoch, cycle and tick, and what they let agents do.

import type { Json } from "../json/exact";
import { ask } from "./client";
import { text } from "./events";
import { maybe, number, object } from "./read";

export interface Nexus {
  epoch: number;
  cycle: number;
  tick: number;
  /** `wall` or `driven`; `null` until a worker has set it. */
  clock: string | null;
  tickSeconds: number | null;
  ticksPerCycle: number | null;
  nextCycleAt: string | null;
}

export async function getNexus(signal?: AbortSignal): Promise<Nexus> {
  return toNexus(await ask("nexus", { signal }));
}

/** What agents may do now, in the server's words. */
export interface Access {
  epoch: number;
  cycle: number;
  tick: number;
  /** `closed`, `read-only` or `read-write`. */
  level: string;
  /** Requests of an agent in a cycle. */
  quota: number;
}

export async function getAccess(signal?: AbortSignal): Promise<Access> {
  const it = object(await ask("web/access", { signal }), "what agents may do");
  return {
    epoch: number(it["epoch"], "epoch"),
    cycle: number(it["cycle"], "cycle"),
    tick: number(it["tick"], "tick"),
    level: text(it["access_level"]),
    quota: number(it["quota"], "quota"),
  };
}

export async function advanceEpoch(epoch: number, reason: string): Promise<Nexus> {
  return toNexus(await ask("nexus/epoch", { method: "POST", body: { epoch, reason } }));
}

export async function driveClock(ticks: number): Promise<Nexus> {
  return toNexus(await ask("nexus/ticks", { method: "POST", body: { ticks } }));
}

function toNexus(value: Json): Nexus {
  const it = object(value, "the world's time");
  const count = (key: string) => (it[key] == null ? null : number(it[key], key));
  return {
    epoch: number(it["epoch"], "epoch"),
    cycle: number(it["cycle"], "cycle"),
    tick: number(it["tick"], "tick"),
    clock: maybe(it["clock"]),
    tickSeconds: count("tick_seconds"),
    ticksPerCycle: count("ticks_per_cycle"),
    nextCycleAt: maybe(it["next_cycle_at"]),
  };
}
