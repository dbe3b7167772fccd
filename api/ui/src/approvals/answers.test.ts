import { expect, it } from "vitest";
import type { Approval, ApprovalState } from "../api/approvals";
import { cannotAnswer, inTurn, settled, stateWords } from "./answers";

const approval = (id: string, state: ApprovalState, askedAt: string, word?: string): Approval => ({
  id,
  agent: "a",
  url: "https://github.com/six",
  method: "GET",
  purpose: "learn",
  host: "github.com",
  reason: "code",
  askedAt,
  expiresAt: "2026-11-29T00:00:00Z",
  state,
  answer: word === undefined ? null : { word, reason: "read", by: "ann", at: askedAt, until: askedAt },
  position: 1n,
});

it("puts who waits longest first, and keeps what is answered as the log has it", () => {
  const all = [
    approval("new", "open", "2026-11-28T03:00:00Z"),
    approval("no", "denied", "2026-11-28T02:00:00Z", "deny"),
    approval("old", "open", "2026-11-28T01:00:00Z"),
    approval("late", "expired", "2026-11-27T01:00:00Z"),
  ];
  expect(inTurn(all).map(({ id }) => id)).toEqual(["old", "new"]);
  expect(settled(all).map(({ id }) => id)).toEqual(["no", "late"]);
});

it("says why somebody cannot answer", () => {
  const open = approval("1", "open", "");
  const [before, after] = [Date.parse("2026-11-28T23:59:59Z"), Date.parse("2026-11-29T00:00:00Z")];
  expect(cannotAnswer({ principal: "ann", scopes: ["web:read"] }, open, before)).toContain("web:write");
  expect(cannotAnswer({ principal: "ann", scopes: ["web:write"] }, open, before)).toBe(undefined);
  const admin = { principal: "ann", scopes: ["admin"] };
  expect(cannotAnswer(admin, open, after)).toContain("ask again");
  expect(cannotAnswer(admin, approval("2", "over", "", "allow"), before)).toBe(undefined);
  expect(cannotAnswer(admin, approval("2", "over", "", "allow"), after)).toContain("ask again");
  expect(cannotAnswer(admin, approval("2", "denied", "", "deny"), after)).toBe(undefined);
});

it("says what became of an answer whose time is over", () => {
  expect(stateWords(approval("1", "expired", ""))).toBe("nobody answered in time");
  expect(stateWords(approval("1", "over", "", "allow"))).toBe("was allowed; its time is over");
  expect(stateWords(approval("1", "over", "", "deny"))).toBe("was denied; its time is over");
  expect(stateWords(approval("1", "allowed", "", "allow"))).toBe("");
});
