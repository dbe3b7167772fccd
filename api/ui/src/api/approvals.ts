// Approvals: blocked requests that agents have asked a person about, and what was answered.

import { toInteger, type Json } from "../json/exact";
import { ask, atLeast, query } from "./client";
import { list, text, type Position } from "./events";
import { object } from "./read";

export const APPROVAL_STATES = ["open", "expired", "allowed", "denied", "over"] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

export interface Approval {
  id: string;
  agent: string;
  url: string;
  method: string;
  purpose: string;
  /** The host that is blocked, and why. */
  host: string;
  reason: string;
  askedAt: string;
  /** When nobody has to answer any more. */
  expiresAt: string;
  state: ApprovalState;
  answer: { word: string; reason: string; by: string; at: string; until: string } | null;
  position: Position;
}

export interface ApprovalPage {
  approvals: Approval[];
  /** The position to go on before. */
  next: Position | undefined;
}

/** Newest first. `known` is a position that the answer has to know of. */
export async function getApprovals(
  { open, before, known }: { open?: boolean; before?: Position | undefined; known?: Position | undefined },
  signal?: AbortSignal,
): Promise<ApprovalPage> {
  const asked = query({ open: open ? "true" : undefined, before, min_position: atLeast(known) });
  const answer = object(await ask(`web/approvals${asked}`, { signal }), "the list of approvals");
  const next = answer["next"];
  return {
    approvals: list(answer["approvals"]).map(toApproval),
    next: next == null ? undefined : toInteger(next, "next"),
  };
}

export type Word = "allow" | "deny";

/** A person's word; to put it in the place of one that stands has to be said. */
export async function answerApproval(
  id: string,
  word: Word,
  answer: { reason: string; seconds: number; replace: boolean },
): Promise<void> {
  await ask(`web/approvals/${encodeURIComponent(id)}/answer`, { method: "POST", body: { word, ...answer } });
}

export function toApproval(value: Json): Approval {
  const it = object(value, "an approval");
  const state = text(it["state"]);
  if (!(APPROVAL_STATES as readonly string[]).includes(state)) {
    throw new TypeError(`no state of an approval is called ${state}`);
  }
  const answer = it["answer"] ? object(it["answer"], "an answer") : null;
  return {
    id: text(it["approval"]),
    agent: text(it["agent"]),
    url: text(it["url"]),
    method: text(it["method"]),
    purpose: text(it["purpose"]),
    host: text(it["host"]),
    reason: text(it["reason"]),
    askedAt: text(it["asked_at"]),
    expiresAt: text(it["expires_at"]),
    state: state as ApprovalState,
    answer: answer && {
      word: text(answer["word"]),
      reason: text(answer["reason"]),
      by: text(answer["by"]),
      at: text(answer["at"]),
      until: text(answer["until"]),
    },
    position: toInteger(it["position"], "position"),
  };
}
