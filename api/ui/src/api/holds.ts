// Holds: what tokens of a profile wait for, and what persons said.

import type { Json } from "../json/exact";
import { ask } from "./client";
import { list, text } from "./events";
import { maybe, object } from "./read";

export type HoldState = "pending" | "allowed" | "denied";
const STATES: readonly string[] = ["pending", "allowed", "denied"] satisfies HoldState[];

export interface Hold {
  id: string;
  state: HoldState;
  token: string;
  principal: string;
  ecosystem: string;
  package: string;
  /** `null` where the file's name does not tell. */
  version: string | null;
  file: string;
  ground: string;
  advisory: string | null;
  requestedAt: string;
  /** Until when it can be answered, or its answer holds. */
  until: string;
  answeredBy: string | null;
  reason: string | null;
}

export type Word = "allow" | "deny";

/** Those whose time is not over, the newest first. */
export async function getHolds(signal?: AbortSignal): Promise<Hold[]> {
  const answer = object(await ask("registry/holds", { signal }), "the list of holds");
  return list(answer["holds"]).map(toHold);
}

/** A person's word; to put it in the place of one that stands has to be said. */
export async function answerHold(id: string, word: Word, answer: { reason: string; hours: number; replace: boolean }) {
  await ask(`registry/holds/${encodeURIComponent(id)}/${word}`, { method: "POST", body: answer });
}

export function toHold(value: Json): Hold {
  const it = object(value, "a hold");
  const state = text(it["state"]);
  if (!STATES.includes(state)) throw new TypeError(`no state of a hold is called ${state}`);
  return {
    id: text(it["id"]),
    state: state as HoldState,
    token: text(it["token"]),
    principal: text(it["principal"]),
    ecosystem: text(it["ecosystem"]),
    package: text(it["package"]),
    version: maybe(it["version"]),
    file: text(it["file"]),
    ground: text(it["ground"]),
    advisory: maybe(it["advisory"]),
    requestedAt: text(it["requested_at"]),
    until: text(it["until"]),
    answeredBy: maybe(it["answered_by"]),
    reason: maybe(it["reason"]),
  };
}
