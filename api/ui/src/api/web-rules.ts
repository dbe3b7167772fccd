// The gateway's rules about hosts, and what would become of a request.

import type { Json } from "../json/exact";
import { ask, lastWritten, query } from "./client";
import { list, text } from "./events";
import { maybe, number, object } from "./read";

export const ACTIONS = ["allow", "block"] as const;
export const METHODS = ["GET", "HEAD", "POST"] as const;
export type Action = (typeof ACTIONS)[number];

export interface WebRuleDraft {
  pattern: string;
  action: Action;
  category: string;
  reason: string;
}

/** Who says so: Weir from the start, an operator, or the package firewall's own set-up. */
export type Source = "default" | "operator" | "derived";

export interface WebRule extends WebRuleDraft {
  source: Source;
  /** Nobody changes what is derived. */
  changed: { at: string; by: string } | undefined;
}

export interface WebRulePage {
  rules: WebRule[];
  derived: WebRule[];
  next: string | undefined;
}

export interface WebRuleFilter {
  search?: string | undefined;
  action?: string | undefined;
  category?: string | undefined;
}

export async function getWebRules(
  { search, action, category }: WebRuleFilter,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<WebRulePage> {
  const asked = query({ search, action, category, limit: 100, cursor, min_position: lastWritten() });
  const answer = object(await ask(`web/rules${asked}`, { signal }), "the list of rules");
  return {
    rules: list(answer["rules"]).map(toRule),
    derived: list(answer["derived"]).map((value) => ({ ...toDraft(value), source: "derived", changed: undefined })),
    next: maybe(answer["next"]) ?? undefined,
  };
}

export async function setWebRule(draft: WebRuleDraft): Promise<void> {
  await ask("web/rules", { method: "PUT", body: { ...draft } });
}

export async function removeWebRule(pattern: string): Promise<void> {
  await ask(`web/rules${query({ pattern })}`, { method: "DELETE" });
}

/** Sets many rules: one JSON object a line. */
export async function importWebRules(lines: string): Promise<{ rules: number; changed: number }> {
  const answer = object(await ask("web/rules/import", { method: "POST", raw: lines }), "the import");
  return { rules: number(answer["rules"], "rules"), changed: number(answer["changed"], "changed") };
}

export type Outcome = "passes" | "refuses" | "later" | "unneeded";

export interface Gate {
  gate: string;
  outcome: Outcome;
  detail: string;
  error: string | null;
  wireCode: number | null;
}

/** What would become of a request. */
export interface Check {
  passes: boolean;
  url: string;
  host: string;
  port: number;
  method: string;
  agent: string | null;
  action: Action;
  rule: string | null;
  reason: string;
  waivedBy: string | null;
  matching: WebRuleDraft[];
  waivers: string[];
  epoch: number;
  cycle: number;
  tick: number;
  gates: Gate[];
  cached: boolean | null;
  keepsCode: boolean | null;
}

export interface Question {
  url: string;
  agent: string;
  method: string;
}

export async function getCheck(question: Question, signal?: AbortSignal): Promise<Check> {
  const it = object(await ask(`web/check${query({ ...question })}`, { signal }), "the verdict");
  return {
    passes: it["passes"] === true,
    url: text(it["url"]),
    host: text(it["host"]),
    port: number(it["port"], "port"),
    method: text(it["method"]),
    agent: maybe(it["agent"]),
    action: toAction(it["action"]),
    rule: maybe(it["rule"]),
    reason: text(it["reason"]),
    waivedBy: maybe(it["waived_by"]),
    matching: list(it["matching"]).map(toDraft),
    waivers: list(it["waivers"]).map(text),
    epoch: number(it["epoch"], "epoch"),
    cycle: number(it["cycle"], "cycle"),
    tick: number(it["tick"], "tick"),
    gates: list(it["gates"]).map(toGate),
    cached: maybeTrue(it["cached"]),
    keepsCode: maybeTrue(it["keeps_code"]),
  };
}

function toGate(value: Json): Gate {
  const it = object(value, "a gate");
  const outcome = text(it["outcome"]);
  if (!["passes", "refuses", "later", "unneeded"].includes(outcome)) throw new TypeError(`no gate says \`${outcome}\``);
  const code = it["wire_code"] ?? null;
  return {
    gate: text(it["gate"]),
    outcome: outcome as Outcome,
    detail: text(it["detail"]),
    error: maybe(it["error"]),
    wireCode: code === null ? null : number(code, "wire_code"),
  };
}

function toRule(value: Json): WebRule {
  const it = object(value, "a rule");
  const source = it["source"] === "default" ? "default" : "operator";
  return { ...toDraft(value), source, changed: { at: text(it["updated_at"]), by: text(it["updated_by"]) } };
}

function toDraft(value: Json): WebRuleDraft {
  const it = object(value, "a rule");
  return {
    pattern: text(it["pattern"]),
    action: toAction(it["action"]),
    category: text(it["category"]),
    reason: text(it["reason"]),
  };
}

function toAction(value: Json | undefined): Action {
  const action = ACTIONS.find((action) => action === value);
  if (!action) throw new TypeError(`a rule allows or blocks, and does not \`${text(value)}\``);
  return action;
}

function maybeTrue(value: Json | undefined): boolean | null {
  return typeof value === "boolean" ? value : null;
}
