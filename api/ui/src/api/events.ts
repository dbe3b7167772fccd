// Events as the API gives them, with positions as `bigint`.

import { isObject, parseExact, toInteger, type Json } from "../json/exact";
import { ask, query } from "./client";

export type Position = bigint;

export interface EventView {
  position: Position;
  stream: string;
  version: Json;
  kind: string;
  subsystem: string;
  recordedAt: string;
  meta: { [key: string]: Json };
  payload: Json;
  hash: string;
  /** The whole document as it came, for the tree and for copying. */
  document: { [key: string]: Json };
}

export interface EventPage {
  /** Newest last. */
  events: EventView[];
  head: Position;
}

/** The structural part of a query: what the server filters by. */
export interface EventFilter {
  stream?: string | undefined;
  principal?: string | undefined;
  kinds: string[];
  subsystems: string[];
}

export interface Kind {
  code: number;
  name: string;
  subsystem: string;
  schema: number;
  doc: string;
}

export function toEvent(value: Json | string): EventView {
  const document = typeof value === "string" ? parseExact(value) : value;
  if (!isObject(document)) throw new TypeError("an event is not an object");
  return {
    position: toInteger(document["position"], "position"),
    stream: text(document["stream"]),
    version: document["version"] ?? null,
    kind: text(document["kind"]),
    subsystem: text(document["subsystem"]),
    recordedAt: text(document["recorded_at"]),
    meta: isObject(document["meta"]) ? document["meta"] : {},
    payload: document["payload"] ?? null,
    hash: text(document["hash"]),
    document,
  };
}

export async function getPage(
  filter: EventFilter,
  range: { after?: Position; before?: Position; limit: number },
  signal?: AbortSignal,
): Promise<EventPage> {
  const answer = await ask(
    `events${query({ ...range, stream: filter.stream, principal: filter.principal, kind: filter.kinds.join(","), subsystem: filter.subsystems.join(",") })}`,
    { signal },
  );
  if (!isObject(answer)) throw new TypeError("a page of events is not an object");
  return { events: list(answer["events"]).map(toEvent), head: toInteger(answer["head"], "head") };
}

export async function getEvent(position: Position, signal?: AbortSignal): Promise<EventView> {
  return toEvent(await ask(`events/${position}`, { signal }));
}

export async function getChain(position: Position, signal?: AbortSignal): Promise<EventView[]> {
  const answer = await ask(`events/${position}/chain`, { signal });
  return isObject(answer) ? list(answer["events"]).map(toEvent) : [];
}

export async function getKinds(signal?: AbortSignal): Promise<Kind[]> {
  const answer = await ask("kinds", { signal });
  return isObject(answer) ? (list(answer["kinds"]) as unknown as Kind[]) : [];
}

export function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
