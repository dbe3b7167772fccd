// The tail's state in the address: `?q=<query>&paused=<position>&at=<position>`. What cannot be read is left out.

import type { Position } from "../api/events";

export interface TailSearch {
  /** The query as typed. */
  q?: string | undefined;
  /** Where the view is frozen. */
  paused?: string | undefined;
  /** The event shown in full. */
  at?: string | undefined;
}

export function readTailSearch(search: Record<string, unknown>): TailSearch {
  const result: TailSearch = {};
  if (typeof search["q"] === "string" && search["q"].trim() !== "") result.q = search["q"];
  const paused = digits(search["paused"]);
  if (paused !== undefined) result.paused = paused;
  const at = digits(search["at"]);
  if (at !== undefined) result.at = at;
  return result;
}

export function toPosition(value: string | undefined): Position | undefined {
  return value === undefined ? undefined : BigInt(value);
}

/** Search strings are plain: no JSON in them, so that people can write and read them. */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(search)) {
    if (typeof value === "string" && value !== "") parameters.set(key, value);
  }
  // Colons, slashes and commas are legal in a query and are what the grammar is made of.
  const text = parameters.toString().replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%2C", ",");
  return text === "" ? "" : `?${text}`;
}

function digits(value: unknown): string | undefined {
  // A position is a signed 64-bit integer in the log.
  return typeof value === "string" && /^\d{1,19}$/.test(value) ? String(BigInt(value)) : undefined;
}
