// Who may answer a hold, and what a hold asks, in words.

import type { Hold } from "../api/holds";
import { lacking, type Session } from "../api/session";

const GROUNDS: Record<string, string> = {
  "new-package": "nothing of this package was ever delivered here",
  "new-version": "nothing of this version was ever delivered here",
  advisory: "an advisory warns of it",
};

/** Why a person is asked. */
export function askedBecause({ ground, advisory }: Pick<Hold, "ground" | "advisory">): string {
  return advisory === null ? (GROUNDS[ground] ?? ground) : `${advisory} warns of it`;
}

/** Why this session cannot answer; the server decides, this only spares people buttons that would be refused. */
export function cannotAnswer(session: Session, hold: Pick<Hold, "principal">): string | undefined {
  const own = session.principal === hold.principal;
  return lacking(session, "rules:write") ?? (own ? "You asked, so somebody else has to answer" : undefined);
}

/** Those that wait, the longest waiting first; and those that were answered, the newest first. */
export function split(holds: readonly Hold[]): { waiting: Hold[]; answered: Hold[] } {
  const waits = ({ state }: Hold) => state === "pending";
  return { waiting: holds.filter(waits).reverse(), answered: holds.filter((hold) => !waits(hold)) };
}

/** How long an answer may hold, in hours. */
export const TIMES = [
  { value: "1", label: "one hour" },
  { value: "24", label: "one day" },
  { value: "168", label: "7 days" },
  { value: "720", label: "30 days" },
  { value: "8760", label: "one year" },
];
