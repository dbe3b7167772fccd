// What epochs let agents do, names of agents, and what a form about time and spark says.

import type { Agent, QuotaUse } from "../api/agents";
import type { Nexus } from "../api/nexus";

/** What an epoch lets agents do, for what is not yet: of the present, the server says it. */
export function levelOf(epoch: number): string {
  return epoch < 3 ? "closed" : epoch === 3 ? "read-only" : "read-write";
}

/** Requests of an agent in a cycle of an epoch. */
export function quotaOf(epoch: number): number {
  return epoch < 3 ? 0 : 5 + (epoch - 3) * 2;
}

const LEVELS: Record<string, string> = {
  closed: "agents may ask nothing",
  "read-only": "agents may read pages (GET, HEAD)",
  "read-write": "agents may read pages, send (POST) and use APIs",
};

export function levelWords(level: string): string {
  return LEVELS[level] ?? level;
}

/** The first digits of an id: enough to tell a few agents apart, and said to be the beginning. */
export function short(id: string): string {
  return id.length > 12 ? `${id.slice(0, 8)}…` : id;
}

/** The name of an agent where it is known, or the beginning of its id. */
export function nameOf(agents: readonly Pick<Agent, "id" | "name">[] | undefined, id: string): string {
  return agents?.find((agent) => agent.id === id)?.name ?? short(id);
}

/** An ed25519 public key as the API takes it; what else it is, is for the server to say. */
export function looksLikeKey(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text.trim());
}

/** A whole number of at least one, or none. */
export function whole(text: string): number | undefined {
  const value = /^\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : 0;
  return value > 0 ? value : undefined;
}

/** How many cycles are drawn. */
export const DRAWN = 12;

/** The cycles that are drawn, the present one last. */
export function drawnCycles({ cycle }: Pick<Nexus, "cycle">): number[] {
  const first = Math.max(0, cycle - DRAWN + 1);
  return Array.from({ length: cycle - first + 1 }, (_, index) => first + index);
}

/** What an agent used of a cycle: `undefined` is not known, `null` is nothing. */
export type Bar = { cycle: number; use: QuotaUse | null | undefined };

/** What is known of a cycle. */
export interface CycleUses {
  byAgent: ReadonlyMap<string, QuotaUse>;
  /** Whether these are all agents that used something. */
  complete: boolean;
}

export function barsOf(agent: string, cycles: readonly { cycle: number; uses: CycleUses | undefined }[]): Bar[] {
  return cycles.map(({ cycle, uses }) => {
    const use = uses?.byAgent.get(agent);
    return { cycle, use: use ?? (uses?.complete ? null : undefined) };
  });
}

/** A bar in words. */
export function barWords({ cycle, use }: Bar): string {
  if (use === undefined) return `cycle ${cycle}: not known`;
  if (use === null) return `cycle ${cycle}: nothing`;
  const rest = [
    use.cached > 0 ? `${use.cached} from the cache` : "",
    use.blocked > 0 ? `${use.blocked} blocked` : "",
    use.failed > 0 ? `${use.failed} failed` : "",
  ].filter((word) => word !== "");
  return `cycle ${cycle}: ${use.used} of ${use.max} used${rest.length > 0 ? `, ${rest.join(", ")}` : ""}${use.exhausted ? "; it asked for more" : ""}`;
}
