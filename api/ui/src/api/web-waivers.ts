// Waivers of the gateway: a host that is reached although it is blocked, or code that may stay.

import type { Json } from "../json/exact";
import { ask } from "./client";
import { list, text } from "./events";
import { maybe, object } from "./read";

export type WebWaiverState = "waiting" | "granted" | "expired";
export type Permits = "host" | "code";

export interface WebWaiver {
  id: string;
  state: WebWaiverState;
  permits: Permits;
  /** The hosts it is about; none: all. */
  pattern: string | null;
  /** The agent it is for; none: all. */
  agent: string | null;
  reason: string;
  owner: string;
  expiresAt: string;
  requestedBy: string;
  grantedBy: string | null;
}

export interface WebWaiverDraft {
  permits: Permits;
  pattern: string;
  agent: string;
  reason: string;
  owner: string;
  days: number;
}

/** Those in force and those that wait; what has ended stands in the log. */
export async function getWebWaivers(signal?: AbortSignal): Promise<WebWaiver[]> {
  return list(object(await ask("web/waivers", { signal }), "the list of waivers")["waivers"]).map(toWaiver);
}

export async function requestWebWaiver({ pattern, agent, ...rest }: WebWaiverDraft): Promise<WebWaiver> {
  const body: { [key: string]: Json } = { ...rest };
  if (pattern !== "") body["pattern"] = pattern;
  if (agent !== "") body["agent"] = agent;
  return toWaiver(await ask("web/waivers", { method: "POST", body }));
}

export async function grantWebWaiver(id: string): Promise<void> {
  await ask(`web/waivers/${encodeURIComponent(id)}/grant`, { method: "POST" });
}

export async function revokeWebWaiver(id: string, reason: string): Promise<void> {
  await ask(`web/waivers/${encodeURIComponent(id)}/revoke`, { method: "POST", body: { reason } });
}

function toWaiver(value: Json): WebWaiver {
  const it = object(value, "a waiver");
  const [state, permits] = [text(it["state"]), text(it["permits"])];
  if (state !== "waiting" && state !== "granted" && state !== "expired")
    throw new TypeError(`no state of a waiver is called ${state}`);
  if (permits !== "host" && permits !== "code") throw new TypeError(`no waiver permits ${permits}`);
  return {
    id: text(it["id"]),
    state,
    permits,
    pattern: maybe(it["pattern"]),
    agent: maybe(it["agent"]),
    reason: text(it["reason"]),
    owner: text(it["owner"]),
    expiresAt: text(it["expires_at"]),
    requestedBy: text(it["requested_by"]),
    grantedBy: maybe(it["granted_by"]),
  };
}
