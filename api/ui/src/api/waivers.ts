// Waivers: what may pass in spite of a "no", for how long, and who said so.

import type { Json } from "../json/exact";
import { ask, lastWritten, query } from "./client";
import { list, text } from "./events";
import { maybe, object } from "./read";

export const WAIVER_STATES = ["waiting", "granted", "revoked", "expired"] as const;
export type WaiverState = (typeof WAIVER_STATES)[number];

export interface WaiverDraft {
  ecosystem: string;
  package: string;
  versions: string;
  /** Rules and advisories, by id; none: everything but malware. */
  waives: string[];
  /** The one token that may pass; empty: everybody may. */
  token: string;
  reason: string;
  owner: string;
  days: number;
}

export interface Waiver {
  id: string;
  state: WaiverState;
  ecosystem: string;
  package: string;
  versions: string;
  waives: string[];
  token: string | null;
  reason: string;
  owner: string;
  expiresAt: string;
  requestedBy: string;
  requestedAt: string;
  grantedBy: string | null;
  grantedAt: string | null;
  endedBy: string | null;
  endedAt: string | null;
  endReason: string | null;
}

export async function getWaivers(
  state: string,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<{ waivers: Waiver[]; next: string | undefined }> {
  const asked = query({ state, limit: 50, cursor, min_position: lastWritten() });
  const answer = object(await ask(`registry/waivers${asked}`, { signal }), "the list of waivers");
  return { waivers: list(answer["waivers"]).map(toWaiver), next: maybe(answer["next"]) ?? undefined };
}

/** Says whether it is in force, or waits for a second person. */
export async function requestWaiver({ token, ...rest }: WaiverDraft): Promise<Waiver> {
  const body: { [key: string]: Json } = { ...rest };
  if (token !== "") body["token"] = token;
  return toWaiver(await ask("registry/waivers", { method: "POST", body }));
}

export async function grantWaiver(id: string): Promise<void> {
  await ask(`registry/waivers/${encodeURIComponent(id)}/grant`, { method: "POST" });
}

export async function revokeWaiver(id: string, reason: string): Promise<void> {
  await ask(`registry/waivers/${encodeURIComponent(id)}/revoke`, { method: "POST", body: { reason } });
}

export function toWaiver(value: Json): Waiver {
  const it = object(value, "a waiver");
  const state = text(it["state"]) as WaiverState;
  if (!WAIVER_STATES.includes(state)) throw new TypeError(`no state of a waiver is called ${state}`);
  return {
    id: text(it["id"]),
    state,
    ecosystem: text(it["ecosystem"]),
    package: text(it["package"]),
    versions: text(it["versions"]),
    waives: list(it["waives"]).map(text),
    token: maybe(it["token"]),
    reason: text(it["reason"]),
    owner: text(it["owner"]),
    expiresAt: text(it["expires_at"]),
    requestedBy: text(it["requested_by"]),
    requestedAt: text(it["requested_at"]),
    grantedBy: maybe(it["granted_by"]),
    grantedAt: maybe(it["granted_at"]),
    endedBy: maybe(it["ended_by"]),
    endedAt: maybe(it["ended_at"]),
    endReason: maybe(it["end_reason"]),
  };
}
