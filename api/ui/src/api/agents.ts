// Agents: whose signatures count, and what they have used of their quotas.

import type { Json } from "../json/exact";
import { ask, atLeast, query } from "./client";
import { list, text, type Position } from "./events";
import { maybe, number, object } from "./read";

export interface Agent {
  /** SHA-256 of its public key. */
  id: string;
  name: string;
  publicKey: string;
  registeredAt: string;
  registeredBy: string;
  revokedAt: string | null;
  revokedBy: string | null;
}

export interface AgentPage {
  agents: Agent[];
  next: string | undefined;
}

/** Newest first. */
export async function getAgents(
  cursor: string | undefined,
  known: Position | undefined,
  signal?: AbortSignal,
): Promise<AgentPage> {
  const asked = query({ limit: 100, cursor, min_position: atLeast(known) });
  const answer = object(await ask(`access/agents${asked}`, { signal }), "the list of agents");
  return { agents: list(answer["agents"]).map(toAgent), next: maybe(answer["next"]) ?? undefined };
}

export async function getAgent(id: string, signal?: AbortSignal): Promise<Agent> {
  const asked = query({ min_position: atLeast(undefined) });
  return toAgent(await ask(`access/agents/${encodeURIComponent(id)}${asked}`, { signal }));
}

/** The newest thousand, for their names. */
export async function getAgentNames(signal?: AbortSignal): Promise<Agent[]> {
  const answer = object(await ask(`access/agents${query({ limit: 1_000 })}`, { signal }), "the list of agents");
  return list(answer["agents"]).map(toAgent);
}

/** Gives its id. */
export async function registerAgent(name: string, publicKey: string): Promise<string> {
  const body = { name, public_key: publicKey };
  return text(object(await ask("access/agents", { method: "POST", body }), "the agent")["id"]);
}

export async function revokeAgent(id: string): Promise<void> {
  await ask(`access/agents/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/** What an agent has used of a cycle. */
export interface QuotaUse {
  cycle: number;
  agent: string;
  used: number;
  /** 0 where nothing was admitted. */
  max: number;
  /** It asked for more. */
  exhausted: boolean;
  requests: number;
  cached: number;
  blocked: number;
  failed: number;
  ticks: number;
  spark: number;
  tax: number;
}

export interface QuotaPage {
  quotas: QuotaUse[];
  next: string | undefined;
}

/** Of all agents, in one cycle. */
export async function getQuotasIn(cycle: number, known: Position | undefined, signal?: AbortSignal): Promise<QuotaPage> {
  return toQuotas(await ask(`web/quotas${query({ cycle, limit: 1_000, min_position: atLeast(known) })}`, { signal }));
}

/** Of one agent, the newest cycle first. */
export async function getQuotasOf(agent: string, before: string | undefined, signal?: AbortSignal): Promise<QuotaPage> {
  const asked = query({ agent, before, limit: 20, min_position: atLeast(undefined) });
  return toQuotas(await ask(`web/quotas${asked}`, { signal }));
}

function toQuotas(value: Json): QuotaPage {
  const answer = object(value, "the list of quotas");
  return { quotas: list(answer["quotas"]).map(toUse), next: maybe(answer["next"]) ?? undefined };
}

function toAgent(value: Json): Agent {
  const it = object(value, "an agent");
  return {
    id: text(it["id"]),
    name: text(it["name"]),
    publicKey: text(it["public_key"]),
    registeredAt: text(it["registered_at"]),
    registeredBy: text(it["registered_by"]),
    revokedAt: maybe(it["revoked_at"]),
    revokedBy: maybe(it["revoked_by"]),
  };
}

function toUse(value: Json): QuotaUse {
  const it = object(value, "what an agent has used");
  const count = (key: string) => number(it[key], key);
  return {
    cycle: count("cycle"),
    agent: text(it["agent"]),
    used: count("used"),
    max: count("max"),
    exhausted: it["exhausted"] === true,
    requests: count("n_requests"),
    cached: count("n_cached"),
    blocked: count("n_blocked"),
    failed: count("n_failed"),
    ticks: count("tick_cost"),
    spark: count("spark_cost"),
    tax: count("tax"),
  };
}
