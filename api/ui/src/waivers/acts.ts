// What can be done to a waiver, by whom, and what stands beside it, in words.

import { lacking, type Session } from "../api/session";
import type { Waiver } from "../api/waivers";

/** Why this session cannot grant it; the server decides, this only spares people buttons that would be refused. */
export function cannotGrant(session: Session, scope: string, waiver: Pick<Waiver, "requestedBy">): string | undefined {
  const own = session.principal === waiver.requestedBy;
  return lacking(session, scope) ?? (own ? "You asked for it, so somebody else has to grant it" : undefined);
}

/** Whether it counts, or may come to count. */
export function stands({ state }: Pick<Waiver, "state">): boolean {
  return state === "waiting" || state === "granted";
}

/** Ids as a person writes them: with spaces or commas between. */
export function idsOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((id) => id !== ""))];
}

export const DAYS = [
  { value: "1", label: "one day" },
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "one year" },
];
