// What came in while the list stood still.

import type { EventView } from "../api/events";
import { isObject, type Json } from "../json/exact";

/** What the log says of requests. */
export const REQUEST_KINDS = ["WebRequestSubmitted", "WebRequestCompleted", "WebRequestBlocked", "WebRequestFailed"];

// More are not told apart.
export const MOST = 1_000;

/** The request that an event begins, by agent and id. One that was fetched began before it was answered. */
export function begins({ kind, payload }: Pick<EventView, "kind" | "payload">): string | undefined {
  if (!REQUEST_KINDS.includes(kind) || !isObject(payload)) return undefined;
  const asked: Json | undefined = payload["asked"];
  if (!isObject(asked)) return undefined;
  const first = kind === "WebRequestSubmitted" || kind === "WebRequestBlocked" || (kind === "WebRequestCompleted" && payload["cached"] === true);
  return first ? `${String(asked["agent"])}/${String(asked["request"])}` : undefined;
}

/** Those that came before and those that events begin, but for what is on the list; the same set where nothing is new. */
export function arrived(
  before: ReadonlySet<string>,
  events: readonly EventView[],
  listed: ReadonlySet<string>,
): ReadonlySet<string> {
  const fresh = events.map(begins).filter((key) => key !== undefined && !before.has(key) && !listed.has(key));
  if (fresh.length === 0 || before.size >= MOST) return before;
  return new Set([...before, ...(fresh as string[])].slice(0, MOST));
}
