// The operator's rules: what is forbidden, and why.

import type { Json } from "../json/exact";
import { ask, lastWritten, query } from "./client";
import { list, text } from "./events";
import { object } from "./read";

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
