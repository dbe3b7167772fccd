// Requests of agents: what they asked of the outside, what became of it, and what they were given.

import { toInteger, type Json } from "../json/exact";
import { ask, askText, atLeast, query } from "./client";
import { list, text, type Position } from "./events";
import { maybe, number, object } from "./read";

/** In the words of the API; `submitted` is what is under way. */
export const REQUEST_STATES = ["submitted", "completed", "blocked", "failed"] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

export interface WebRequest {
  id: string;
  agent: string;
  url: string;
  host: string;
  method: string;
  purpose: string;
  state: RequestState;
  /** `null` where the outside did not answer. */
  status: number | null;
  contentSize: number;
  contentType: string | null;
  cached: boolean;
  /** The host that was refused, where it was one. */
  domain: string | null;
  error: { code: number; name: string; reason: string } | null;
  tickCost: number;
  sparkCost: number;
  tax: number;
  codeBlocksRemoved: number;
  bytesStripped: number;
  warnings: string[];
  /** `null` where it was not admitted. */
  stripsCode: boolean | null;
  interaction: string | null;
  /** Those that were contacted, in order: the first, and where it was sent on to. */
  hosts: string[];
  /** Where redirects led, in order, and what was said of that. */
  redirects: Redirect[];
  /** The approval of a human that it was let through by. */
  approval: string | null;
  /** `null` where it was not admitted. */
  epoch: number | null;
  cycle: number;
  tick: number;
  at: string;
  /** The event it begins with. */
  position: Position;
  /** The event it ends with. */
  settled: Position | null;
}

export interface Redirect {
  /** Without its query. */
  url: string;
  allowed: boolean;
  /** The pattern of the rule that said so, where one did. */
  rule: string | null;
  reason: string;
}

export const REQUEST_FILTERS = ["agent", "host", "q", "state", "cached", "cycle"] as const;
export type RequestFilter = { [K in (typeof REQUEST_FILTERS)[number]]?: string | undefined };

export interface RequestPage {
  requests: WebRequest[];
  next: string | undefined;
}

/** Newest first. `known` is a position that the answer has to know of. */
export async function getRequests(
  filter: RequestFilter,
  cursor: string | undefined,
  known: Position | undefined,
  signal?: AbortSignal,
): Promise<RequestPage> {
  const asked = query({ ...filter, limit: 50, cursor, min_position: atLeast(known) });
  const answer = object(await ask(`web/requests${asked}`, { signal }), "the list of requests");
  return { requests: list(answer["requests"]).map(toRequest), next: maybe(answer["next"]) ?? undefined };
}

/** Agents choose the ids of their requests: without its agent, one may be another's. */
export async function getRequest(id: string, agent: string | undefined, signal?: AbortSignal): Promise<WebRequest> {
  return toRequest(await ask(`web/requests/${encodeURIComponent(id)}${query({ agent })}`, { signal }));
}

export interface Content {
  text: string;
  /** What it is said to be. */
  type: string;
}

export async function getContent({ id, agent }: Pick<WebRequest, "id" | "agent">, signal?: AbortSignal): Promise<Content> {
  return askText(`web/requests/${encodeURIComponent(id)}/content${query({ agent })}`, signal);
}

export function toRequest(value: Json): WebRequest {
  const it = object(value, "a request");
  const count = (key: string) => number(it[key], key);
  const state = text(it["state"]);
  if (!(REQUEST_STATES as readonly string[]).includes(state)) {
    throw new TypeError(`no state of a request is called ${state}`);
  }
  const error = it["error"] ? object(it["error"], "an error") : null;
  return {
    id: text(it["id"]),
    agent: text(it["agent"]),
    url: text(it["url"]),
    host: text(it["host"]),
    method: text(it["method"]),
    purpose: text(it["purpose"]),
    state: state as RequestState,
    status: typeof it["status_code"] === "number" ? it["status_code"] : null,
    contentSize: count("content_size"),
    contentType: maybe(it["content_type"]),
    cached: it["cached"] === true,
    domain: maybe(it["domain"]),
    error: error && { code: number(error["code"], "code"), name: text(error["name"]), reason: text(error["reason"]) },
    tickCost: count("tick_cost"),
    sparkCost: count("spark_cost"),
    tax: count("tax"),
    codeBlocksRemoved: count("code_blocks_removed"),
    bytesStripped: count("bytes_stripped"),
    warnings: list(it["warnings"]).map(text),
    stripsCode: typeof it["strips_code"] === "boolean" ? it["strips_code"] : null,
    interaction: maybe(it["interaction"]),
    hosts: list(it["hosts"]).map(text),
    redirects: list(it["redirects"]).map(toRedirect),
    approval: maybe(it["approval"]),
    epoch: typeof it["epoch"] === "number" ? it["epoch"] : null,
    cycle: count("cycle"),
    tick: count("created_at"),
    at: text(it["recorded_at"]),
    position: toInteger(it["position"], "position"),
    settled: it["settled_position"] == null ? null : toInteger(it["settled_position"], "settled_position"),
  };
}

function toRedirect(value: Json): Redirect {
  const it = object(value, "a redirect");
  return { url: text(it["url"]), allowed: it["action"] === "allow", rule: maybe(it["rule"]), reason: text(it["reason"]) };
}
