// The operator's rules: what is forbidden, and why.

import type { Json } from "../json/exact";
import { ask, lastWritten, query } from "./client";
import { list, text } from "./events";
import { number, object } from "./read";

export interface RuleDraft {
  ecosystem: string;
  package: string;
  versions: string;
  reason: string;
  mask: string;
}

export interface Rule extends RuleDraft {
  id: string;
  changedAt: string;
  changedBy: string;
}

export async function getRules(signal?: AbortSignal): Promise<Rule[]> {
  const answer = object(await ask(`rules${query({ min_position: lastWritten() })}`, { signal }), "the list of rules");
  return list(answer["rules"]).map(toRule);
}

export async function saveRule(id: string | undefined, draft: RuleDraft): Promise<void> {
  const body: { [key: string]: Json } = { ...draft };
  if (id === undefined) await ask("rules", { method: "POST", body });
  else await ask(`rules/${encodeURIComponent(id)}`, { method: "PUT", body });
}

/** A version that was asked for through this Weir. */
export interface Seen {
  package: string;
  version: string;
  allowed: number;
  blocked: number;
  lastSeen: string;
}

/** What a rule would hit and leave, of the versions that were asked for here. */
export interface Preview {
  complete: boolean;
  hit: Seen[];
  left: Seen[];
}

export async function previewRule(draft: RuleDraft): Promise<Preview> {
  const { reason, ...rest } = draft;
  const body: { [key: string]: Json } = reason === "" ? rest : { ...rest, reason };
  const answer = object(await ask("registry/rules/preview", { method: "POST", body }), "the preview");
  if (answer["of"] !== "asked_for_here") throw new TypeError("the preview is of something that this page does not know");
  return { complete: answer["complete"] === true, hit: list(answer["hit"]).map(toSeen), left: list(answer["left"]).map(toSeen) };
}

function toSeen(value: Json): Seen {
  const it = object(value, "a version");
  return {
    package: text(it["package"]),
    version: text(it["version"]),
    allowed: number(it["n_allowed"], "n_allowed"),
    blocked: number(it["n_blocked"], "n_blocked"),
    lastSeen: text(it["last_seen"]),
  };
}

export async function removeRule(id: string): Promise<void> {
  await ask(`rules/${encodeURIComponent(id)}`, { method: "DELETE" });
}

function toRule(value: Json): Rule {
  const it = object(value, "a rule");
  return {
    id: text(it["id"]),
    ecosystem: text(it["ecosystem"]),
    package: text(it["package"]),
    versions: text(it["versions"]),
    reason: text(it["reason"]),
    mask: text(it["mask"]),
    changedAt: text(it["changed_at"]),
    changedBy: text(it["changed_by"]),
  };
}
