// Who may answer for a blocked request, for how long, and the order in which questions stand.

import type { Approval, ApprovalState } from "../api/approvals";
import { lacking, type Session } from "../api/session";

/** How long an answer may hold, in seconds. */
export const TIMES = [
  { value: "900", label: "15 minutes" },
  { value: "3600", label: "one hour" },
  { value: "86400", label: "one day" },
  { value: "604800", label: "7 days" },
];

export const TONE: Record<ApprovalState, "good" | "warn" | "bad" | "soft"> = {
  open: "warn",
  expired: "soft",
  allowed: "good",
  denied: "bad",
  over: "soft",
};

/** Why this session cannot answer; the server decides, this only spares people buttons that would be refused. */
export function cannotAnswer(
  session: Session,
  { state, expiresAt }: Pick<Approval, "state" | "expiresAt">,
  now = Date.now(),
): string | undefined {
  // An answer that stands can be replaced for as long as it does.
  const stands = state === "allowed" || state === "denied";
  const late = !stands && Date.parse(expiresAt) <= now;
  return lacking(session, "web:write") ?? (late ? "It was asked too long ago; the agent has to ask again" : undefined);
}

/** Those that wait, the longest waiting first. */
export function inTurn(approvals: readonly Approval[]): Approval[] {
  return approvals.filter(({ state }) => state === "open").sort((a, b) => a.askedAt.localeCompare(b.askedAt));
}

/** Those that do not wait any more, as the log has them, the newest first. */
export function settled(approvals: readonly Approval[]): Approval[] {
  return approvals.filter(({ state }) => state !== "open");
}

/** What a state means to who reads it. */
export function stateWords({ state, answer }: Pick<Approval, "state" | "answer">): string {
  if (state === "expired") return "nobody answered in time";
  if (state !== "over" || answer === null) return "";
  return `was ${answer.word === "allow" ? "allowed" : "denied"}; its time is over`;
}
