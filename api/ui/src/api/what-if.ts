// A policy tried on the past: what it would change about what was asked for.

import type { Json } from "../json/exact";
import { lines } from "./client";
import { list, text } from "./events";
import { Problem } from "./problem";
import { maybe, number, object } from "./read";

export interface Trial {
  policy: string;
  days: number;
  facts: string;
}

export interface Progress {
  looked: number;
  toLook: number;
  judged: number;
  blocked: number;
  allowed: number;
  rate: number;
}

export interface Changed {
  blocked: number;
  allowed: number;
}

export interface ByVersion extends Changed {
  ecosystem: string;
  package: string;
  version: string | null;
  told: string | null;
}

export interface ByToken extends Changed {
  principal: string;
  token: string | null;
}

export interface ByDay extends Changed {
  day: string;
}

export interface Listed<T> {
  total: number;
  beyond: number;
  rows: T[];
}

export interface Outcome extends Changed {
  since: string;
  facts: string;
  complete: boolean;
  byOnePolicy: boolean;
  judged: number;
  otherwise: number;
  ageUnknown: number;
  versionUnknown: number;
  unreadable: number;
  versions: Listed<ByVersion>;
  tokens: Listed<ByToken>;
  days: ByDay[];
  rate: number;
}

/** Tries a policy; tells how far it is, and gives what was found. To abort is to end the work. */
export async function tryPolicy(
  { policy, days, facts }: Trial,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Outcome> {
  for await (const value of lines("registry/what-if", { policy, days, facts, limit: 200 }, signal)) {
    const line = object(value, "a line");
    if (line["progress"]) onProgress(toProgress(line["progress"]));
    if (line["problem"]) {
      const problem = object(line["problem"], "a problem");
      throw new Problem(number(problem["status"], "status"), text(problem["title"]), maybe(problem["detail"]) ?? "");
    }
    if (line["result"]) return toOutcome(line["result"]);
  }
  throw new Problem(0, "The answer broke off", "The server ended it before its end; try again.");
}

function toProgress(value: Json): Progress {
  const it = object(value, "the progress");
  return {
    looked: number(it["n_looked"], "n_looked"),
    toLook: number(it["n_to_look"], "n_to_look"),
    judged: number(it["n_judged"], "n_judged"),
    blocked: number(it["n_newly_blocked"], "n_newly_blocked"),
    allowed: number(it["n_newly_allowed"], "n_newly_allowed"),
    rate: number(it["rate"], "rate"),
  };
}

function changed(it: { [key: string]: Json }): Changed {
  return {
    blocked: number(it["n_newly_blocked"], "n_newly_blocked"),
    allowed: number(it["n_newly_allowed"], "n_newly_allowed"),
  };
}

function listed<T>(value: Json | undefined, what: string, row: (it: { [key: string]: Json }) => T): Listed<T> {
  const it = object(value, what);
  return {
    total: number(it["n_rows"], "n_rows"),
    beyond: number(it["n_beyond"], "n_beyond"),
    rows: list(it["rows"]).map((value) => row(object(value, "a row"))),
  };
}

function toOutcome(value: Json): Outcome {
  const it = object(value, "the result");
  return {
    ...changed(it),
    since: text(it["since"]),
    facts: text(it["facts"]),
    complete: it["complete"] === true,
    byOnePolicy: it["by_one_policy"] === true,
    judged: number(it["n_judged"], "n_judged"),
    otherwise: number(it["n_answered_otherwise"], "n_answered_otherwise"),
    ageUnknown: number(it["n_age_unknown"], "n_age_unknown"),
    versionUnknown: number(it["n_version_unknown"], "n_version_unknown"),
    unreadable: number(it["n_unreadable"], "n_unreadable"),
    versions: listed(it["by_version"], "by_version", (row) => ({
      ...changed(row),
      ecosystem: text(row["ecosystem"]),
      package: text(row["package"]),
      version: maybe(row["version"]),
      told: maybe(row["told"]),
    })),
    tokens: listed(it["by_token"], "by_token", (row) => ({
      ...changed(row),
      principal: text(row["principal"]),
      token: maybe(row["token"]),
    })),
    days: list(it["by_day"]).map((value) => {
      const row = object(value, "a day");
      return { ...changed(row), day: text(row["day"]) };
    }),
    rate: number(it["rate"], "rate"),
  };
}
