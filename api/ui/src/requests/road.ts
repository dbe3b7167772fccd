// The road of a request through the gateway, stop by stop in the order they are passed: how far it came, and what held it.

import { levelOf } from "../agents/words";
import type { Redirect, WebRequest } from "../api/web-requests";
import { bytes, plural } from "../parts/format";

/** `spared`: it went past without; `unreached`: it did not come so far. */
export type StopState = "passed" | "stopped" | "waiting" | "spared" | "unreached";

export interface Stop {
  name: (typeof STOPS)[number];
  state: StopState;
  words: string;
}

const STOPS = ["request", "epoch", "pace", "quota", "rules", "cache", "spark", "outside", "filter", "answer"] as const;

const HELD_BY: Record<string, Stop["name"]> = {
  PortalClosed: "epoch",
  ReadOnlyEpoch: "epoch",
  RateLimited: "pace",
  QuotaExceeded: "quota",
  DomainBlocked: "rules",
  InvalidUrl: "request",
  InvalidRequest: "request",
};

/** Where it was held; what was admitted and not answered was held on its way outside. */
function heldAt({ error, epoch }: WebRequest): Stop["name"] | undefined {
  if (error === null) return undefined;
  if (epoch !== null) return "outside";
  if (error.name === "PermissionDenied") return error.reason.includes("spark") ? "spark" : "request";
  return HELD_BY[error.name] ?? "request";
}

export function roadOf(request: WebRequest): Stop[] {
  const held = heldAt(request);
  const end = held ?? (request.state === "submitted" ? "outside" : "answer");
  const last = STOPS.indexOf(end);
  return STOPS.map((name, index) => {
    if (index > last) return { name, state: "unreached", words: request.state === "submitted" ? "not yet" : "it did not come so far" };
    if (name === held) return { name, state: "stopped", words: request.error?.reason ?? "" };
    if (name === "outside" && request.state === "submitted") {
      return { name, state: "waiting", words: `${request.host} is being asked` };
    }
    const spared = request.cached ? sparedBy(name, request.epoch !== null) : undefined;
    if (spared !== undefined) return { name, state: "spared", words: spared };
    return { name, state: "passed", words: passedWords(name, request) };
  });
}

/** What an answer from the cache, or one that another request had fetched, went past. */
function sparedBy(name: Stop["name"], admitted: boolean): string | undefined {
  if (name === "outside") return admitted ? "another request was fetching the same" : "nothing left for it";
  return name === "spark" && !admitted ? "what is cached costs none" : undefined;
}

function passedWords(name: Stop["name"], request: WebRequest): string {
  switch (name) {
    case "request":
      return `signed by its agent in tick ${request.tick}`;
    case "epoch":
      return request.epoch === null ? "open" : `${request.epoch}, ${levelOf(request.epoch)}`;
    case "pace":
      return "not too often";
    case "quota":
      return `within that of cycle ${request.cycle}`;
    case "rules":
      return `${request.host} was allowed`;
    case "cache":
      return request.cached && request.epoch === null ? "the page was there" : "the page was not there";
    case "spark":
      return "enough was set aside";
    case "outside":
      return `${hops(request.hosts) || request.host} answered ${request.status ?? "nothing"}`;
    case "filter":
      return filterWords(request);
    case "answer":
      return `${bytes(request.contentSize)}${request.contentType ? ` of ${request.contentType}` : ""}`;
  }
}

/** The hosts in order: the first, and where it was sent on to. */
export function hops(hosts: readonly string[]): string {
  return hosts.join(" → ");
}

/** What was said of where a redirect led. */
export function redirectWords({ allowed, rule, reason }: Redirect): string {
  return `${allowed ? "allowed" : "blocked"}${rule === null ? "" : ` by ${rule}`}: ${reason}`;
}

export function filterWords(request: Pick<WebRequest, "stripsCode" | "codeBlocksRemoved" | "bytesStripped" | "method">): string {
  if (request.method === "HEAD") return "a HEAD has nothing to take code out of";
  const { codeBlocksRemoved: removed, bytesStripped } = request;
  if (request.stripsCode === false) return "code was to stay, by a waiver";
  return removed === 0 && bytesStripped === 0
    ? "no code was found"
    : `${plural(removed, "piece")} of code taken out, ${bytes(bytesStripped)}`;
}

/** What it cost, as paid: ticks, spark, and the tax on that. */
export function costWords({ tickCost, sparkCost, tax }: Pick<WebRequest, "tickCost" | "sparkCost" | "tax">): string {
  return `${plural(tickCost, "tick")}, ${sparkCost} spark${tax > 0 ? ` and ${tax} tax` : ""}`;
}

/** The address whose verdict explains it: where a redirect was refused, that of the host it led to. */
export function addressToExplain({ url, host, domain }: Pick<WebRequest, "url" | "host" | "domain">): string {
  return domain === null || domain === host ? url : `https://${domain.includes(":") && !domain.startsWith("[") ? `[${domain}]` : domain}/`;
}

/** A word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

// The API looks for at most so many.
const MOST_WORDS = 200;

/** The command line that lists it, and those like it. */
export function listLine({ agent, cycle, url }: Pick<WebRequest, "agent" | "cycle" | "url">): string {
  const words = [...url].slice(0, MOST_WORDS).join("");
  return `weir web requests --agent ${agent} --cycle ${cycle} ${quoted(words)}`;
}
