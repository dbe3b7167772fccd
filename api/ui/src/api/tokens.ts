// Tokens: who may pass. A secret is in one answer, once.

import type { Json } from "../json/exact";
import { ask, lastWritten, query } from "./client";
import { list, text } from "./events";
import { toQuota, type Quota } from "./profiles";
import { maybe, number, object } from "./read";

/** What a token has used of its profile's quota, by the hours and days of UTC. */
export interface Used {
  downloadsThisHour: number;
  downloadsToday: number;
  bytesToday: number;
  quota: Quota;
}

export interface Token {
  id: string;
  name: string;
  scopes: string[];
  issuedAt: string;
  issuedBy: string;
  expiresAt: string | null;
  revokedAt: string | null;
  profile: string | null;
  /** `null` where nothing of it is counted. */
  used: Used | null;
}

export async function getTokens(
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<{ tokens: Token[]; next: string | undefined }> {
  const asked = query({ limit: 100, cursor, min_position: lastWritten() });
  const answer = object(await ask(`tokens${asked}`, { signal }), "the list of tokens");
  return { tokens: list(answer["tokens"]).map(toToken), next: maybe(answer["next"]) ?? undefined };
}

export async function issueToken(
  name: string,
  scopes: string[],
  expiresInSeconds: number | undefined,
  profile: string,
): Promise<{ name: string; secret: string }> {
  const body: { [key: string]: Json } = { name, scopes };
  if (expiresInSeconds !== undefined) body["expires_in_seconds"] = expiresInSeconds;
  if (profile !== "") body["profile"] = profile;
  const answer = object(await ask("tokens", { method: "POST", body }), "the token");
  return { name: text(answer["name"]), secret: text(answer["secret"]) };
}

export async function revokeToken(id: string): Promise<void> {
  await ask(`tokens/${encodeURIComponent(id)}`, { method: "DELETE" });
}

function toToken(value: Json): Token {
  const it = object(value, "a token");
  return {
    id: text(it["id"]),
    name: text(it["name"]),
    scopes: list(it["scopes"]).map(text),
    issuedAt: text(it["issued_at"]),
    issuedBy: text(it["issued_by"]),
    expiresAt: maybe(it["expires_at"]),
    revokedAt: maybe(it["revoked_at"]),
    profile: maybe(it["profile"]),
    used: it["used"] === null || it["used"] === undefined ? null : toUsed(it["used"]),
  };
}

function toUsed(value: Json): Used {
  const it = object(value, "what a token has used");
  return {
    downloadsThisHour: number(it["downloads_this_hour"], "downloads_this_hour"),
    downloadsToday: number(it["downloads_today"], "downloads_today"),
    bytesToday: number(it["bytes_today"], "bytes_today"),
    quota: toQuota(it["quota"]),
  };
}
