// What is cached of the outside, to look for words in it, and to have some of it forgotten.

import type { Json } from "../json/exact";
import { ask, lastWritten, query } from "./client";
import { list, text } from "./events";
import { maybe, number, object } from "./read";

/** A rendering of a page. */
export interface WebPage {
  variant: string;
  /** The agent it was fetched for, where nobody else is shown it. */
  owner: string | null;
  url: string;
  host: string;
  method: string;
  status: number;
  title: string | null;
  contentType: string;
  size: number;
  codeBlocksRemoved: number;
  /** The request that fetched it; `null` to an agent, where it is another one's. */
  request: string | null;
  storedIn: number;
  /** The cycle from which on it is not shown any more. */
  expiresIn: number;
  hits: number;
  position: string;
}

export interface WebPages {
  /** All in all, and how many bytes that is; who acts for an agent is not told. */
  all: { count: number; bytes: number } | undefined;
  pages: WebPage[];
  next: string | undefined;
}

export interface WebPageFilter {
  host?: string | undefined;
  url?: string | undefined;
  owner?: string | undefined;
  shared?: string | undefined;
}

/** A page that words were found in. */
export interface Found {
  url: string;
  title: string | null;
  /** Plain text; what was found stands between `**`. */
  snippet: string;
  contentType: string;
  /** `null` to an agent, where it is another one's. */
  request: string | null;
  owner: string | null;
  expiresIn: number;
}

export async function getWebPages(
  { host, url, owner, shared }: WebPageFilter,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<WebPages> {
  const asked = query({ host, url, owner, shared, limit: 50, cursor, min_position: lastWritten() });
  const answer = object(await ask(`web/cache${asked}`, { signal }), "the cached pages");
  return {
    all:
      answer["n_pages"] === null
        ? undefined
        : { count: number(answer["n_pages"], "n_pages"), bytes: number(answer["n_bytes"], "n_bytes") },
    pages: list(answer["pages"]).map(toPage),
    next: maybe(answer["next"]) ?? undefined,
  };
}

/** Forgets the page at an address, or all pages of a host; says how many renderings that were. */
export async function purgeWebPages(what: { url: string } | { host: string }): Promise<number> {
  const answer = object(await ask(`web/cache${query({ ...what })}`, { method: "DELETE" }), "the purge");
  return number(answer["n_pages"], "n_pages");
}

export async function findInPages(words: string, agent: string, signal?: AbortSignal): Promise<Found[]> {
  const asked = query({ q: words, agent, limit: 50, min_position: lastWritten() });
  return list(object(await ask(`web/search${asked}`, { signal }), "what was found")["pages"]).map(toFound);
}

function toPage(value: Json): WebPage {
  const it = object(value, "a page");
  return {
    variant: text(it["variant"]),
    owner: maybe(it["owner"]),
    url: text(it["url"]),
    host: text(it["host"]),
    method: text(it["method"]),
    status: number(it["status"], "status"),
    title: maybe(it["title"]),
    contentType: text(it["content_type"]),
    size: number(it["content_size"], "content_size"),
    codeBlocksRemoved: number(it["code_blocks_removed"], "code_blocks_removed"),
    request: maybe(it["request"]),
    storedIn: number(it["created_at"], "created_at"),
    expiresIn: number(it["expires_at"], "expires_at"),
    hits: number(it["n_hits"], "n_hits"),
    position: String(it["position"] ?? ""),
  };
}

function toFound(value: Json): Found {
  const it = object(value, "a page");
  return {
    url: text(it["url"]),
    title: maybe(it["title"]),
    snippet: text(it["snippet"]),
    contentType: text(it["content_type"]),
    request: maybe(it["request"]),
    owner: maybe(it["owner"]),
    expiresIn: number(it["expires_at"], "expires_at"),
  };
}
