// Accounts in spark: what agents pay with.

import type { Json } from "../json/exact";
import { ask, atLeast, query } from "./client";
import { list, text, type Position } from "./events";
import { maybe, number, object } from "./read";

export interface SparkAccount {
  /** An agent's id, or another name; `treasury` is where charges go. */
  account: string;
  /** With what is set aside. */
  balance: number;
  /** Set aside for requests that are under way. */
  reserved: number;
  granted: number;
  paid: number;
}

export interface Accounts {
  byName: ReadonlyMap<string, SparkAccount>;
  /** Whether these are all: then who is not among them has none. */
  complete: boolean;
}

// The API gives a thousand at once.
const MOST_PAGES = 10;

export async function getAccounts(known: Position | undefined, signal?: AbortSignal): Promise<Accounts> {
  const byName = new Map<string, SparkAccount>();
  let after: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const asked = query({ after, min_position: atLeast(known) });
    const answer = object(await ask(`mint/accounts${asked}`, { signal }), "the list of accounts");
    for (const account of list(answer["accounts"]).map(toAccount)) byName.set(account.account, account);
    after = maybe(answer["next"]) ?? undefined;
    if (after === undefined) break;
  }
  return { byName, complete: after === undefined };
}

/** Gives the balance after it. */
export async function grantSpark(account: string, amount: number, reason: string): Promise<number> {
  const body = { account, amount, reason };
  return number(object(await ask("mint/grants", { method: "POST", body }), "the grant")["balance"], "balance");
}

function toAccount(value: Json): SparkAccount {
  const it = object(value, "an account");
  const count = (key: string) => number(it[key], key);
  return {
    account: text(it["account"]),
    balance: count("balance"),
    reserved: count("reserved"),
    granted: count("granted"),
    paid: count("paid"),
  };
}
